"""`/memories`: the contract's retrieval and lifecycle rules as a thin cover over list, get, remember, update, delete.

The envelope has the contract's five members and no more; what there is to say beside it stands in `Vault-Warning`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from starlette.responses import Response
from starlette.routing import Route

from vault_memory.errors import InvalidRequest, VaultError
from vault_memory.operations.request import MAX_PAGE
from vault_memory.operations.result import to_json
from vault_memory.operations.table import OPERATIONS
from vault_memory.surfaces.arguments import nearest
from vault_memory.surfaces.rest.access import asker
from vault_memory.surfaces.rest.etags import etag, expected_revision, is_current
from vault_memory.surfaces.rest.messages import answer, failure, read_json

if TYPE_CHECKING:
    from starlette.requests import Request

    from vault_memory.surfaces.dispatch import Answer
    from vault_memory.surfaces.rest.service import Service

DEFAULTS: Final[Mapping[str, str | None]] = {
    "status": None, "memory_type": None, "tag": None, "q": None, "sort": "created_at", "limit": "10", "offset": "0",
}  # fmt: skip
"""The query fields of the contract and what they are when left out."""
EDITABLE: Final = frozenset({"content", "tags", "memory_type", "status", "title", "importance", "confidence", "reason"})
NEW: Final = frozenset({*EDITABLE, "project", "domain", "metadata", "idempotency_key"})
_ENVELOPE: Final = ("items", "total", "limit", "offset", "has_more")


class Contract:
    """The endpoints of the contract over one service."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def routes(self) -> list[Route]:
        """The collection and the single memory; a path as reference is percent-encoded."""
        one = "/memories/{ref:path}"
        return [
            Route("/memories", self.list, methods=["GET"]),
            Route("/memories", self.create, methods=["POST"]),
            Route(one, self.get, methods=["GET"]),
            Route(one, self.update, methods=["PATCH"]),
            Route(one, self.delete, methods=["DELETE"]),
        ]

    async def list(self, request: Request) -> Response:
        """A page in the contract's envelope."""
        given = dict(request.query_params)
        _only(given, DEFAULTS)
        arguments, warnings = _capped({name: value for name, value in given.items() if value != ""})
        found = await self._run(request, "list", arguments, from_text=True)
        document = to_json(found.result)
        warnings = [*warnings, *found.warnings, *document["warnings"]]
        return answer({name: document[name] for name in _ENVELOPE}, headers=_warning(warnings))

    async def create(self, request: Request) -> Response:
        """Store a memory: 201, with its address."""
        given = await read_json(request)
        _only(given, NEW)
        if "content" not in given:
            raise InvalidRequest.of("content", "is required")
        arguments = {"memory_type": "fact", "on_duplicate": "keep_both", "force": True, **_without_null(given)}
        found = await self._run(request, "remember", arguments)
        where = {"Location": f"/memories/{quote(found.result.memory.ref, safe='')}"}
        return self._memory(found, 201, where)

    async def get(self, request: Request) -> Response:
        """One memory; 304 when the client has it."""
        found = await self._run(request, "get", {"refs": [_ref(request)]})
        view = found.result.memories[0]
        if is_current(request, view.revision):
            return Response(status_code=304, headers=etag(view.revision))
        return answer(to_json(view), headers=etag(view.revision))

    async def update(self, request: Request) -> Response:
        """Change what is named; the version rises only when something changed."""
        given = await read_json(request)
        _only(given, EDITABLE)
        return await self._write(request, "update", given)

    async def delete(self, request: Request) -> Response:
        """Delete softly: 204."""
        return await self._write(request, "delete", {})

    async def _write(self, request: Request, operation: str, given: Mapping[str, Any]) -> Response:
        revision = expected_revision(request)
        stated = {"if_revision": revision} if revision else {}
        try:
            found = await self._run(request, operation, {**given, "ref": _ref(request), **stated})
        except VaultError as error:
            return failure(error, precondition=bool(stated))
        if operation == "delete":
            return Response(status_code=204, headers=_warning([*found.warnings, *found.result.warnings]))
        return self._memory(found)

    async def _run(
        self, request: Request, name: str, arguments: Mapping[str, Any], *, from_text: bool = False
    ) -> Answer:
        who = asker(request, lenient=True)
        return await self._service.run(who, OPERATIONS[name], arguments, lenient=from_text)

    def _memory(self, found: Answer, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
        result = found.result
        warning = _warning([*found.warnings, *result.warnings])
        document = to_json(result.memory)
        return answer(document, status, {**(headers or {}), **etag(result.revision), **warning})


def _ref(request: Request) -> str:
    return str(request.path_params["ref"])


def _only(given: Mapping[str, Any], allowed: Mapping[str, Any] | frozenset[str]) -> None:
    """Refuse a field that the contract does not have, naming those it has."""
    for name in given:
        if name not in allowed:
            near = nearest(name, list(allowed))
            message = f"unknown field; did you mean '{near}'?" if near else "unknown field"
            raise InvalidRequest.of(name, message, allowed=sorted(allowed))


def _capped(arguments: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """The page size, brought down to the most there is."""
    limit = arguments.get("limit", "")
    if limit.isascii() and limit.isdigit() and int(limit[:9]) > MAX_PAGE:
        return {**arguments, "limit": str(MAX_PAGE)}, [f"limit was brought down to {MAX_PAGE}"]
    return arguments, []


def _without_null(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}


def _warning(warnings: list[str]) -> dict[str, str]:
    """Warnings as a header, which holds ASCII text on one line."""
    text = "; ".join(" ".join(warning.split()) for warning in warnings)
    return {"Vault-Warning": text.encode("ascii", "replace").decode("ascii")} if text else {}
