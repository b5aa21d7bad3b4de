"""Bodies of requests and answers: strict JSON in and out, failures as problem objects. Knows no operation."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from vault_memory.errors import VaultError

MAX_BODY_BYTES: Final = 8 * 1024 * 1024
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")


class HttpProblem(Exception):
    """A request that is refused before any operation hears of it.

    Args:
        status: the HTTP status.
        code: a word for programs.
        title: the kind of refusal, in a few words.
        detail: what is wrong with this request.
        headers: headers that belong to the refusal.
    """

    def __init__(
        self, status: int, code: str, title: str, detail: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.headers = headers
        self.body = {"status": status, "code": code, "title": title, "detail": detail}


def answer(document: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON answer; only what strict JSON knows goes out."""
    return Response(encoded(document), status, headers, "application/json")


def encoded(document: Any) -> bytes:
    """The document as strict JSON in UTF-8.

    Raises:
        ValueError: it holds what JSON has no word for (NaN, infinity).
    """
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def problem(body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    """A failure as RFC 9457 has it."""
    full = {"type": f"urn:vault-memory:{body.get('code', 'error')}", **body}
    return Response(encoded(_plain(full)), full["status"], headers, "application/problem+json")


def failure(error: VaultError, *, precondition: bool = False) -> Response:
    """The problem object of an operation's refusal.

    Args:
        error: the refusal.
        precondition: the caller stated the revision in If-Match, so a conflict is a failed precondition (412).
    """
    body = error.problem()
    if precondition and body["code"] == "revision_conflict":
        body["status"] = 412
    return problem(body, {"Retry-After": "1"} if error.retryable else None)


async def read_json(request: Request, *, optional: bool = False) -> dict[str, Any]:
    """The JSON object in the request's body; with `optional`, an empty body is an empty object.

    Raises:
        HttpProblem: too large (413), or no JSON object (400).
    """
    data = await read_body(request)
    if optional and not data.strip():
        return {}
    try:
        found = json.loads(data.decode("utf-8"), parse_constant=_refused, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise _malformed(f"the body is no valid JSON: {error}") from None
    if not isinstance(found, dict):
        raise _malformed("the body must be a JSON object")
    if _SURROGATE.search(data):
        _check_text(found)
    return found


async def read_body(request: Request) -> bytes:
    """The body, as long as it keeps to the limit.

    Raises:
        HttpProblem: it does not (413).
    """
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared[:20]) > MAX_BODY_BYTES:
        raise _too_large()
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MAX_BODY_BYTES:
            raise _too_large()
        parts.append(part)
    return b"".join(parts)


def _check_text(found: Any) -> None:
    try:
        json.dumps(found, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise _malformed("the body holds half a character (a lone surrogate)") from None


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key comes twice in one object")
    return found


def _malformed(detail: str) -> HttpProblem:
    return HttpProblem(400, "malformed_request", "Malformed request", detail)


def _too_large() -> HttpProblem:
    return HttpProblem(413, "too_large", "Too large", f"the body may have at most {MAX_BODY_BYTES:,} bytes")


def _plain(value: Any) -> Any:
    """Details of a problem as JSON data, whatever an error carries along."""
    from vault_memory.operations.result import to_json

    found = to_json(value)
    return json.loads(json.dumps(found, default=str, ensure_ascii=False))
