"""`vault-memory mcp`: the server on standard input and output, which end together with the process that started it."""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from vault_memory.harness.binding import Binding
    from vault_memory.operations.context import Context
    from vault_memory.upkeep import Upkeep
    from vault_memory.vault import Vault

_CLOSING_SECONDS: Final = 4.0
"""A kill at any moment harms nothing, so what has not ended by then may go on in the next process."""


def serve_stdio(
    root: Callable[[], Path],
    bind: Callable[[Vault, Path], Binding],
    *,
    profile: str = "core",
    environ: Mapping[str, str],
) -> None:
    """Serve until standard input closes; then commit what waits and return.

    `root` finds the vault and `bind` the project of the folder in which the client works: its first root, where it
    names any, else the working folder. They are asked at the first call, so that a vault which does not exist is no
    reason to die: every call says so, and it is found when it appears.
    """
    logging.basicConfig(stream=sys.stderr, level=environ.get("VAULT_MEMORY_LOG", "WARNING").upper())
    gc.disable()  # a collection during the big import costs a tenth of it
    import anyio
    from mcp.server.stdio import stdio_server

    from vault_memory.surfaces.mcp.roots import Roots
    from vault_memory.surfaces.mcp.server import make_server

    gc.enable()
    gc.freeze()
    opened = _Opened(root, bind, environ)
    server = make_server(opened.context, profile, roots=Roots(opened.learn))

    async def run() -> None:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    _end_on_sigterm(opened)
    try:
        anyio.run(run)
    finally:
        opened.close()


def _end_on_sigterm(opened: _Opened) -> None:
    """On SIGTERM let a write that is under way end, commit what waits, and exit with 0.

    The process is left at once then: a thread that waits for the client's next line could not be ended otherwise.
    """
    if threading.current_thread() is not threading.main_thread():
        return

    def finish() -> None:
        closing = threading.Thread(target=opened.close, name="vault-closing", daemon=True)
        closing.start()
        closing.join(_CLOSING_SECONDS)
        os._exit(0)

    def end(number: int, frame: FrameType | None) -> None:
        threading.Thread(target=finish, name="vault-ending", daemon=True).start()

    signal.signal(signal.SIGTERM, end)


class _Opened:
    """The vault, opened at the first call and kept."""

    def __init__(
        self, root: Callable[[], Path], bind: Callable[[Vault, Path], Binding], environ: Mapping[str, str]
    ) -> None:
        self._root = root
        self._bind = bind
        self._cwd = Path.cwd()
        self._environ = environ
        self._lock = threading.Lock()
        self._vault: Vault | None = None
        self._binding: Binding | None = None
        self._upkeep: Upkeep | None = None
        self._listed = False

    def learn(self, folders: list[Path]) -> None:
        """The client works in these folders."""
        if folders:
            self._cwd = folders[0]

    def context(self, writes: bool) -> Context:
        """The context of one call; before the first one that writes, its project is noted in the vault's list."""
        from vault_memory.operations.context import Context

        vault, binding = self._opened()
        agent, session = self._who()
        if writes and not self._listed:
            from vault_memory.harness.binding import list_project

            list_project(vault, binding, agent=agent, session=session)
            self._listed = True
        return Context(vault, binding.scope, vault.clock(), agent, session, source="agent")

    def _who(self) -> tuple[str | None, str | None]:
        """The agent and session that write, as far as the client's environment tells."""
        names = ("VAULT_MEMORY_SESSION", "CLAUDE_CODE_SESSION_ID")
        session = next((self._environ[name] for name in names if self._environ.get(name)), None)
        return self._environ.get("VAULT_MEMORY_AGENT") or None, session

    def close(self) -> None:
        if self._upkeep is not None:
            self._upkeep.stop()
        if self._vault is not None:
            self._vault.close()

    def _opened(self) -> tuple[Vault, Binding]:
        with self._lock:
            if self._vault is None:
                from vault_memory.config import load_config
                from vault_memory.upkeep import Upkeep
                from vault_memory.vault import Vault

                root = self._root()
                vault = Vault.open(root, load_config(root, environ=self._environ))
                self._binding = self._bind(vault, self._cwd)
                self._vault = vault
                self._upkeep = Upkeep(self._vault)
                self._upkeep.start()
            assert self._binding is not None
            return self._vault, self._binding
