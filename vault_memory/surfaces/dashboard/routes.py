"""`/`, `/assets/…` and `/session`: the dashboard's files, and signing in and out. Serves nothing else."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import Response
from starlette.routing import Route

from vault_memory.surfaces.rest.messages import HttpProblem, answer, read_json

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from starlette.requests import Request

    from vault_memory.surfaces.auth.callers import Caller
    from vault_memory.surfaces.dashboard.sessions import Sessions

PAGE_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types dompurify"
)
"""Our own files and nothing inline; text becomes HTML only through the sanitiser."""
TYPES: Final = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
SESSION: Final = "/session"
"""Asked by browsers that are not signed in yet; tells of the vault nothing."""
OPEN_PREFIX: Final = "/assets/"
"""What lies below holds nothing of the vault and needs no token."""


def routes(sessions: Sessions, *, readonly: bool) -> list[Route]:
    """Everything the dashboard needs besides `/v1`.

    Args:
        sessions: where signing in leads.
        readonly: whether the server refuses every write, so that the pages offer none.
    """
    signing = _Signing(sessions, readonly)
    return [
        Route("/", _index, methods=["GET"]),
        Route(OPEN_PREFIX + "{path:path}", _asset, methods=["GET"]),
        Route(SESSION, signing.who, methods=["GET"]),
        Route(SESSION, signing.sign_in, methods=["POST"]),
        Route(SESSION, signing.sign_out, methods=["DELETE"]),
    ]


def cookie_name(request: Request) -> str:
    """The cookie of this server: browsers share cookies between ports, so each port has a name of its own."""
    return f"vault_memory_{request.url.port or 0}"


def session_caller(request: Request, sessions: Sessions) -> Caller | None:
    """Whom the request's cookie stands for; None without one, or when another site's page made the request."""
    name = request.cookies.get(cookie_name(request))
    if not name or request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return None
    return sessions.caller(name)


class _Signing:
    def __init__(self, sessions: Sessions, readonly: bool) -> None:
        self._sessions = sessions
        self._readonly = readonly

    async def who(self, request: Request) -> Response:
        """Whom the browser is signed in as: null when it is not, which is no failure."""
        caller: Caller | None = request.state.caller
        return answer({"caller": self._described(caller) if caller is not None else None})

    async def sign_in(self, request: Request) -> Response:
        """Exchange a token for a cookie that no script can read and no other site can send."""
        token = (await read_json(request)).get("token")
        name = self._sessions.start(token.strip()) if isinstance(token, str) else None
        caller = self._sessions.caller(name) if name is not None else None
        if name is None or caller is None:
            raise HttpProblem(401, "not_signed_in", "Not the token", "that is no token of this vault")
        response = answer({"caller": self._described(caller)})
        response.set_cookie(
            cookie_name(request), name, httponly=True, samesite="strict", secure=request.url.scheme == "https"
        )
        return response

    async def sign_out(self, request: Request) -> Response:
        """End the session."""
        self._sessions.end(request.cookies.get(cookie_name(request), ""))
        response = answer({})
        response.delete_cookie(cookie_name(request), httponly=True, samesite="strict")
        return response

    def _described(self, caller: Caller) -> dict[str, Any]:
        return {
            "name": caller.name, "project": caller.project, "actor": caller.actor,
            "readonly": caller.readonly or self._readonly,
        }  # fmt: skip


async def _index(request: Request) -> Response:
    return _file(request, "index.html")


async def _asset(request: Request) -> Response:
    return _file(request, request.path_params["path"])


def _file(request: Request, path: str) -> Response:
    found = _assets().get(path)
    if found is None:
        raise HttpProblem(404, "not_found", "No such path", f"the dashboard has no file {path!r}")
    data, tag = found
    headers = {"ETag": tag, "Cache-Control": "no-cache", "Content-Security-Policy": PAGE_POLICY}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    kind = TYPES.get(PurePosixPath(path).suffix, "text/plain")
    return Response(data, headers=headers, media_type=kind)


@cache
def _assets() -> dict[str, tuple[bytes, str]]:
    """The files by their path below `static`, with their tags: read once, so that no path ever reaches the disk."""
    found: dict[str, tuple[bytes, str]] = {}
    _collect(files(__package__) / "static", "", found)
    return found


def _collect(folder: Traversable, prefix: str, found: dict[str, tuple[bytes, str]]) -> None:
    for item in folder.iterdir():
        if item.is_dir():
            _collect(item, f"{prefix}{item.name}/", found)
        else:
            data = item.read_bytes()
            found[prefix + item.name] = data, f'"{hashlib.sha256(data).hexdigest()[:20]}"'
