"""`/mcp` and `/mcp/{profile}`: MCP over HTTP for many clients at once, of both protocol eras.

Every request is admitted before it comes here; a session stays with the token that opened it. A client that names no
project sees and writes what is global: an agent is never let loose on everything by accident.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.routing import Route

from vault_memory.errors import VaultError
from vault_memory.surfaces.mcp.server import make_server
from vault_memory.surfaces.profiles.profile import PROFILES
from vault_memory.surfaces.rest.access import ACTOR_HEADER, PROJECT_HEADER
from vault_memory.surfaces.rest.messages import MAX_BODY_BYTES, failure, problem
from vault_memory.surfaces.rest.service import Asker

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from vault_memory.operations.context import Context
    from vault_memory.surfaces.auth.callers import Caller
    from vault_memory.surfaces.rest.service import Service

DEFAULT_PROFILE: Final = "core"
MAX_SESSIONS: Final = 1_000
_asking: ContextVar[Asker] = ContextVar("asking")
"""Who asks; each request, and each session that a request opens, has its own."""


class McpOverHttp:
    """One MCP server for each profile, all over one service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._managers: Mapping[str, StreamableHTTPSessionManager] = {
            profile: StreamableHTTPSessionManager(
                make_server(self._context, profile), max_request_body_size=MAX_BODY_BYTES, max_sessions=MAX_SESSIONS
            )
            for profile in PROFILES
        }

    def routes(self) -> list[Route]:
        """The default profile and each by its name."""
        endpoint = _Endpoint(self)
        return [Route("/mcp", endpoint), Route("/mcp/{profile}", endpoint)]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Sessions live inside this."""
        async with AsyncExitStack() as stack:
            for manager in self._managers.values():
                await stack.enter_async_context(manager.run())
            yield

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request of a client."""
        request = Request(scope)
        manager = self._managers.get(request.path_params.get("profile", DEFAULT_PROFILE))
        if manager is None:
            body = {"status": 404, "code": "not_found", "title": "No such profile"}
            detail = f"there is no such profile; there are {', '.join(sorted(self._managers))}"
            await problem({**body, "detail": detail})(scope, receive, send)
            return
        caller: Caller = request.state.caller
        try:
            asker = Asker(caller, caller.scope(_named(request, "project"), _named(request, "actor"), unbound=False))
        except VaultError as error:
            await failure(error)(scope, receive, send)
            return
        scope["user"] = AuthenticatedUser(_access_token(asker))
        kept = _asking.set(asker)
        try:
            await manager.handle_request(scope, receive, send)
        finally:
            _asking.reset(kept)

    def _context(self, writes: bool) -> Context:
        asker = _asking.get()
        self._service.allow(asker.caller, writes=writes)
        return self._service.context(asker, agent=True)


class _Endpoint:
    """An ASGI application, so that the router leaves method and body alone."""

    def __init__(self, server: McpOverHttp) -> None:
        self._server = server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._server.handle(scope, receive, send)


def _named(request: Request, what: str) -> str | None:
    """The project or actor that a client names, in a header or in the address."""
    header = {"project": PROJECT_HEADER, "actor": ACTOR_HEADER}[what]
    return request.headers.get(header) or request.query_params.get(what) or None


def _access_token(asker: Asker) -> AccessToken:
    """What ties a session to who opened it: the token's name and what it was asked to see."""
    name = asker.caller.name
    who = "owner" if name is None else f"token {name}"
    return AccessToken(token="", scopes=[], client_id=who, subject=repr(asker.scope))
