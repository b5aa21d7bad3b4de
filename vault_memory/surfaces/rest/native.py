"""`/v1/<operation>`: one route for each row of the table of operations. Parses, calls, renders; decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from starlette.routing import Route

from vault_memory.errors import InvalidRequest, VaultError
from vault_memory.operations.result import to_json
from vault_memory.operations.table import OPERATIONS, Operation
from vault_memory.surfaces.arguments import nearest
from vault_memory.surfaces.rest.access import asker
from vault_memory.surfaces.rest.etags import etag, expected_revision
from vault_memory.surfaces.rest.messages import answer, failure, read_json

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from vault_memory.surfaces.dispatch import Answer
    from vault_memory.surfaces.rest.service import Service

PREFIX: Final = "/v1"


def routes(service: Service, operations: Mapping[str, Operation] = OPERATIONS) -> list[Route]:
    """POST for every operation, GET as well for those that only read."""
    made = []
    for operation in operations.values():
        methods = ["POST", "GET"] if operation.kind == "read" else ["POST"]
        made.append(Route(f"{PREFIX}/{operation.name}", _endpoint(service, operation), methods=methods))
    return made


def _endpoint(service: Service, operation: Operation) -> Any:
    async def endpoint(request: Request) -> Response:
        reading = request.method in ("GET", "HEAD")
        arguments = _from_query(request, operation) if reading else await read_json(request, optional=True)
        stated = _add_precondition(request, operation, arguments)
        try:
            who = asker(request, actor=_take_actor(request, arguments))
            found = await service.run(who, operation, arguments, lenient=reading)
        except VaultError as error:
            return failure(error, precondition=stated)
        return _rendered(found)

    endpoint.__doc__ = operation.summary
    return endpoint


def _from_query(request: Request, operation: Operation) -> dict[str, Any]:
    """The query's parameters; one that comes several times is a list.

    Raises:
        InvalidRequest: a parameter that the operation does not have; the error names those it has.
    """
    model, _ = operation.load()
    given: dict[str, Any] = {}
    for name in request.query_params:
        if name not in model.model_fields:
            near = nearest(name, model.model_fields)
            message = f"unknown argument; did you mean '{near}'?" if near else "unknown argument"
            raise InvalidRequest.of(name, message, allowed=sorted(model.model_fields))
        values = request.query_params.getlist(name)
        given[name] = values if len(values) > 1 else values[0]
    return given


def _add_precondition(request: Request, operation: Operation, arguments: dict[str, Any]) -> bool:
    """Make If-Match the revision that the operation expects; whether there was one."""
    revision = expected_revision(request)
    if revision is None or "if_revision" not in operation.load()[0].model_fields:
        return False
    arguments["if_revision"] = revision
    return True


def _take_actor(request: Request, arguments: dict[str, Any]) -> str | None:
    """The actor that the arguments name: it decides what the request sees. `*` asks for all and is no filter."""
    actor = arguments.get("actor")
    if not isinstance(actor, str) or not actor:
        return None
    if actor == "*":
        del arguments["actor"]
    return actor


def _rendered(found: Answer) -> Response:
    document = to_json(found.result)
    if found.warnings and isinstance(document, dict):
        document["warnings"] = [*found.warnings, *(document.get("warnings") or ())]
    return answer(document, headers=etag(_revision(found.result)))


def _revision(result: Any) -> str | None:
    """The revision of the one memory that was read or written; None for other answers."""
    memories = getattr(result, "memories", None)
    if isinstance(memories, tuple):
        return memories[0].revision if len(memories) == 1 else None
    revision = getattr(result, "revision", None)
    return revision if isinstance(revision, str) else None
