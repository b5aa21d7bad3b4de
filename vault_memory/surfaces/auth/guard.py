"""One guard round everything the server answers: no foreign name, no foreign page, no answer that a browser keeps.

A web page can make a browser send requests to this machine, under a name of its own (DNS rebinding) or with its own
origin. Both are refused for every path, reads and static pages included, before anything else is looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_HEADERS: Final = (
    (b"cache-control", b"no-store"),
    (
        b"content-security-policy",
        b"default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
        b"frame-ancestors 'none'",
    ),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
)
_DEFAULT_PORTS: Final = {"http": "80", "https": "443"}


class Guard:
    """ASGI middleware that lets in only requests that name this server and come from none or from its own pages.

    Args:
        app: what is guarded.
        names: further host names under which the server is reached (a proxy's public name), without port.
    """

    def __init__(self, app: ASGIApp, names: Collection[str] = ()) -> None:
        self._app = app
        self._names = LOOPBACK | {name.lower() for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 403, or pass on and add the headers that the answer does not set itself."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif reason := self._refusal(scope["headers"]):
            await _refuse(scope, receive, send, reason)
        else:
            await self._app(scope, receive, _with_headers(send))

    def _refusal(self, headers: Iterable[tuple[bytes, bytes]]) -> str:
        hosts = [value.decode("latin-1").lower() for name, value in headers if name == b"host"]
        origins = [value.decode("latin-1").lower() for name, value in headers if name == b"origin"]
        if len(hosts) != 1 or _host_name(hosts[0]) not in self._names:
            return "this server is not reached under that host name"
        if any(not self._own(origin, hosts[0]) for origin in origins):
            return "requests from another site's pages are refused"
        return ""

    def _own(self, origin: str, host: str) -> bool:
        """Whether the origin is a page of this server: a name of ours and the port that the request came to."""
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        if parts.scheme not in _DEFAULT_PORTS or origin != f"{parts.scheme}://{parts.netloc}":
            return False
        default = _DEFAULT_PORTS[parts.scheme]
        return _host_name(parts.netloc) in self._names and (_port(parts.netloc) or default) == (_port(host) or default)


def is_loopback(host: str) -> bool:
    """Whether an address to listen on is reached from this machine alone."""
    return host in ("localhost", "::1") or host.startswith("127.")


def _host_name(netloc: str) -> str:
    """`netloc` without its port; empty when it is malformed."""
    name, port = netloc, _port(netloc)
    if port:
        name = netloc[: -len(port) - 1]
    return name if not name.endswith(":") else ""


def _port(netloc: str) -> str:
    _, colon, port = netloc.rpartition(":")
    return port if colon and port.isascii() and port.isdigit() else ""


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = [*message.get("headers", ())]
            names = {name.lower() for name, _ in given}
            message = {**message, "headers": given + [pair for pair in _HEADERS if pair[0] not in names]}
        await send(message)

    return sending


async def _refuse(scope: Scope, receive: Receive, send: Send, reason: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": reason})
        return
    from vault_memory.surfaces.rest.messages import problem

    body: dict[str, Any] = {"status": 403, "code": "not_allowed", "title": "Not allowed", "detail": reason}
    await problem(body)(scope, receive, _with_headers(send))
