"""The application: which routes there are and what stands round them, in which order. Owns nothing else."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from vault_memory.errors import VaultError
from vault_memory.surfaces.auth.guard import Guard
from vault_memory.surfaces.dashboard import routes as dashboard
from vault_memory.surfaces.dashboard.owner import OwnerRoutes
from vault_memory.surfaces.dashboard.sessions import Sessions
from vault_memory.surfaces.rest import native, pages
from vault_memory.surfaces.rest.access import Access
from vault_memory.surfaces.rest.actor import ActorApi
from vault_memory.surfaces.rest.contract import Contract
from vault_memory.surfaces.rest.limits import Rates
from vault_memory.surfaces.rest.mcp_http import McpOverHttp
from vault_memory.surfaces.rest.messages import HttpProblem, failure, problem
from vault_memory.surfaces.rest.metrics import Counted, Metrics
from vault_memory.surfaces.rest.service import Service
from vault_memory.surfaces.rest.watching import Feed, Watching

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from vault_memory.surfaces.auth.oauth.entrance import Entrance
    from vault_memory.surfaces.auth.tokens import TokenStore
    from vault_memory.upkeep import Upkeep
    from vault_memory.vault import Vault

BURST: Final = 4.0
"""How many seconds' worth of requests a caller may send at once."""
log = logging.getLogger(__name__)


class Options(Struct, frozen=True):
    """How a server behaves.

    Attributes:
        readonly: refuse every write.
        names: further host names it goes by.
        rate: how often one caller may ask each second; 0: as often as it likes.
        public_url: the address under which programs may sign in through a browser; empty: they cannot.
    """

    readonly: bool = False
    names: Collection[str] = ()
    rate: float = 500.0
    public_url: str = ""


def make_app(
    vault: Vault,
    upkeep: Upkeep,
    tokens: TokenStore,
    options: Options,
    *,
    stopping: Callable[[], bool],
    entrance: Entrance | None = None,
) -> Starlette:
    """The application over an open vault.

    Args:
        vault: stays open until the application has ended.
        upkeep: running, for what it says of itself.
        tokens: who is let in.
        options: how the server behaves.
        stopping: whether the server is going down, so that endless answers end.
        entrance: where programs sign in through a browser; None: nowhere.
    """
    rates = Rates(options.rate, BURST * options.rate, time.monotonic)
    service, metrics = Service(vault, readonly=options.readonly), Metrics()
    sessions = Sessions(tokens, lambda: secrets.token_urlsafe(32), time.monotonic)
    feed, mcp = Feed(lambda: vault.catalog.generation, stopping), McpOverHttp(service)
    return Starlette(
        routes=[
            *Watching(service, upkeep, metrics, feed).routes(),
            *dashboard.routes(sessions, readonly=options.readonly),
            *OwnerRoutes(service, tokens).routes(),
            *pages.routes(),
            *native.routes(service),
            *Contract(service).routes(),
            *ActorApi(service).routes(),
            *mcp.routes(),
            *(entrance.routes() if entrance is not None else ()),
        ],
        middleware=[
            Middleware(Guard, names=options.names),
            Middleware(Counted, metrics=metrics),
            Middleware(Access, tokens=tokens, sessions=sessions, rates=rates, entrance=entrance),
        ],
        exception_handlers=_handlers(),
        lifespan=lambda app: _running(feed, mcp),
    )


@asynccontextmanager
async def _running(feed: Feed, mcp: McpOverHttp) -> AsyncIterator[None]:
    async with feed.running(), mcp.running():
        yield


def _handlers() -> dict[Any, Any]:
    return {HTTPException: _not_routed, HttpProblem: _refused, VaultError: _failed, Exception: _unexpected}


async def _not_routed(request: Request, error: Any) -> Response:
    """No such path, or not with this method."""
    titles = {404: "No such path", 405: "Method not allowed"}
    body = {"status": error.status_code, "code": "not_found" if error.status_code == 404 else "method_not_allowed"}
    detail = f"there is nothing at {request.method} {request.url.path}; /docs lists what there is"
    return problem({**body, "title": titles.get(error.status_code, error.detail), "detail": detail}, error.headers)


async def _refused(request: Request, error: Any) -> Response:
    return problem(error.body, error.headers)


async def _failed(request: Request, error: Any) -> Response:
    return failure(error)


async def _unexpected(request: Request, error: Any) -> Response:
    """A bug: the answer tells nothing of it, the log all."""
    body = {"status": 500, "code": "unexpected", "title": "Unexpected error"}
    return problem({**body, "detail": "an unexpected error; the server's log has the details"})
