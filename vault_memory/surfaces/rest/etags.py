"""Revisions as entity tags: ETag out, If-Match and If-None-Match in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vault_memory.surfaces.rest.messages import HttpProblem

if TYPE_CHECKING:
    from starlette.requests import Request

ANY: Final = "*"


def etag(revision: str | None) -> dict[str, str]:
    """The header that states a revision; none for None."""
    return {"ETag": f'"{revision}"'} if revision else {}


def expected_revision(request: Request) -> str | None:
    """The revision in If-Match; None when there is none or any will do.

    Raises:
        HttpProblem: several, or a weak one, which never match (412).
    """
    text = request.headers.get("if-match", "").strip()
    if text in ("", ANY):
        return None
    if len(text) < 3 or text[0] != '"' or text[-1] != '"' or '"' in text[1:-1]:
        detail = 'If-Match takes one revision in quotes, as ETag states it: "…"'
        raise HttpProblem(412, "precondition_failed", "Precondition failed", detail)
    return text[1:-1]


def is_current(request: Request, revision: str) -> bool:
    """Whether If-None-Match names the revision, so that nothing needs to be sent."""
    tags = [tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")]
    return f'"{revision}"' in tags or ANY in tags
