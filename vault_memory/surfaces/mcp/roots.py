"""Which folders the client works in, asked of it once, before its first call is answered. Owns that question only:
what the folders mean is the business of who listens. A client that cannot say is no reason to fail."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

import anyio
import mcp_types as types
from mcp import MCPError

if TYPE_CHECKING:
    from mcp.server.session import ServerSession

_SECONDS: Final = 2.0


class Roots:
    """Asks one client; `learn` is told the folders that exist here, in the client's order."""

    def __init__(self, learn: Callable[[list[Path]], None]) -> None:
        self._learn = learn
        self._lock = anyio.Lock()
        self._asked = False

    async def ask(self, session: ServerSession) -> None:
        """Ask, unless that was done; calls that come meanwhile wait for the answer."""
        async with self._lock:
            if self._asked:
                return
            self._asked = True
            capabilities = session.client_capabilities
            if capabilities is None or capabilities.roots is None:
                return
            with suppress(MCPError, ValueError), anyio.move_on_after(_SECONDS):
                answer = await session.send_request(types.ListRootsRequest(), types.ListRootsResult)
                self._learn(folders(str(root.uri) for root in answer.roots))


def folders(uris: Iterable[str]) -> list[Path]:
    """The `file:` URIs that are folders of this machine."""
    parts = [urlsplit(uri) for uri in uris]
    paths = [Path(url2pathname(part.path)) for part in parts if part.scheme == "file"]
    return [path for path in paths if path.is_dir()]
