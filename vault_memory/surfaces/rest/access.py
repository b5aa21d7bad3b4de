"""From a request to who asks: the bearer token, the project and the actor it names. Owns what needs no token."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from starlette.requests import Request

from vault_memory.surfaces.auth.callers import Caller
from vault_memory.surfaces.dashboard.routes import OPEN_PREFIX, SESSION, session_caller
from vault_memory.surfaces.rest.messages import HttpProblem, problem
from vault_memory.surfaces.rest.service import Asker

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from vault_memory.surfaces.auth.oauth.entrance import Entrance
    from vault_memory.surfaces.auth.tokens import TokenStore
    from vault_memory.surfaces.dashboard.sessions import Sessions
    from vault_memory.surfaces.rest.limits import Rates

OPEN: Final = frozenset({"/", "/health", "/api/health", "/api/docs", "/docs", "/docs.css", "/v1/openapi.json"})
"""What holds nothing of the vault and needs no token."""
PROJECT_HEADER: Final = "vault-project"
ACTOR_HEADER: Final = "vault-actor"
_BODIES: Final = frozenset({"POST", "PUT", "PATCH"})


class Access:
    """ASGI middleware: who asks is known, does not ask too often, and writes with a content type no form can send.

    Args:
        app: what is asked.
        tokens: the vault's tokens.
        sessions: the browsers that are signed in.
        rates: how often one caller may ask.
        entrance: where programs sign in through a browser; None: nowhere.
    """

    def __init__(
        self, app: ASGIApp, tokens: TokenStore, sessions: Sessions, rates: Rates, entrance: Entrance | None = None
    ) -> None:
        self._app = app
        self._tokens = tokens
        self._sessions = sessions
        self._rates = rates
        self._entrance = entrance

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on with `state["caller"]` set."""
        if scope["type"] == "http":
            request = Request(scope)
            try:
                scope.setdefault("state", {})["caller"] = self._admitted(request)
            except HttpProblem as refusal:
                await problem(refusal.body, refusal.headers)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _admitted(self, request: Request) -> Caller | None:
        caller = self._caller(request)
        signing_in = self._entrance is not None and self._entrance.opens(request.url.path)
        if caller is None and not signing_in and not _open(request):
            raise HttpProblem(
                401, "not_signed_in", "Token needed",
                "send a token: Authorization: Bearer …; `vault-memory token` on the server shows the owner's",
                {"WWW-Authenticate": self._challenge(request)},
            )  # fmt: skip
        who = f"token {caller.name}" if caller is not None else f"address {request.client and request.client.host}"
        if wait := self._rates.wait_seconds(who):
            raise HttpProblem(
                429, "too_many_requests", "Too many requests", "slow down a little", {"Retry-After": str(wait)}
            )
        if not signing_in:
            _check_content_type(request)
        return caller

    def _caller(self, request: Request) -> Caller | None:
        if token := _bearer(request):
            caller = self._tokens.caller(token)
            if caller is None and self._entrance is not None:
                caller = self._entrance.caller(token, request.url.path)
            return caller
        return session_caller(request, self._sessions)

    def _challenge(self, request: Request) -> str:
        if self._entrance is None:
            return 'Bearer realm="vault-memory"'
        return self._entrance.challenge(request.url.path, presented=bool(_bearer(request)))


def _bearer(request: Request) -> str:
    """The token in the request's header; empty without one."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _open(request: Request) -> bool:
    path = request.url.path
    return path in OPEN or path == SESSION or path.startswith(OPEN_PREFIX)


def asker(request: Request, *, project: str | None = None, actor: str | None = None, lenient: bool = False) -> Asker:
    """The caller of this request with the scope it asks for in headers, or in `project` and `actor` of its arguments.

    Raises:
        NotAllowed: the token is bound to another project or actor.
    """
    caller: Caller = request.state.caller
    where = request.headers.get(PROJECT_HEADER) or project
    whose = request.headers.get(ACTOR_HEADER) or actor
    return Asker(caller, caller.scope(where, whose), lenient)


def _check_content_type(request: Request) -> None:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    length = request.headers.get("content-length", "0")
    carries = request.method in _BODIES or length != "0" or "transfer-encoding" in request.headers
    if request.method in ("GET", "HEAD", "OPTIONS") or not carries:
        return
    if kind != "application/json":
        raise HttpProblem(
            415, "unsupported_media_type", "JSON needed", "send the body as JSON with Content-Type: application/json"
        )
