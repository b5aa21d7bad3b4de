"""A browser's session: a random name in a cookie that stands for a token. Owns which sessions there are; knows no HTTP.

The token itself never lies in the browser. A session ends with its token, after a quiet week, and with the server.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:
    from vault_memory.surfaces.auth.callers import Caller
    from vault_memory.surfaces.auth.private_file import Secrets
    from vault_memory.surfaces.auth.tokens import TokenStore

QUIET_SECONDS: Final = 7 * 24 * 3600.0
MAX_SESSIONS: Final = 200


class _Session(Struct):
    token: str
    used: float


class Sessions:
    """The sessions of one server; used from its event loop only.

    Args:
        tokens: who is let in; asked again at every use, so that a revoked token ends its sessions.
        secrets: makes unguessable names.
        clock: seconds that only rise.
    """

    def __init__(self, tokens: TokenStore, secrets: Secrets, clock: Callable[[], float]) -> None:
        self._tokens = tokens
        self._secrets = secrets
        self._clock = clock
        self._known: dict[str, _Session] = {}

    def start(self, token: str) -> str | None:
        """The name of a new session of that token; None when the token is not known."""
        if self._tokens.caller(token) is None:
            return None
        self._known = {name: one for name, one in self._known.items() if not self._expired(one)}
        while len(self._known) >= MAX_SESSIONS:
            del self._known[min(self._known, key=lambda name: self._known[name].used)]
        name = self._secrets()
        self._known[name] = _Session(token, self._clock())
        return name

    def caller(self, name: str) -> Caller | None:
        """Whom the session stands for; None for one that ended or never was."""
        session = self._known.get(name)
        if session is None:
            return None
        caller = None if self._expired(session) else self._tokens.caller(session.token)
        if caller is None:
            del self._known[name]
        session.used = self._clock()
        return caller

    def end(self, name: str) -> None:
        """Forget the session."""
        self._known.pop(name, None)

    def _expired(self, session: _Session) -> bool:
        return self._clock() - session.used > QUIET_SECONDS
