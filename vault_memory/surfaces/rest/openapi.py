"""The OpenAPI 3.1 description of the native and the contract's routes, made from the request models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from vault_memory import __version__
from vault_memory.operations.table import OPERATIONS, Operation
from vault_memory.surfaces.rest.native import PREFIX

_REF: Final = "#/components/schemas/{model}"
_PROBLEM_REF: Final = {"$ref": "#/components/responses/Problem"}
_ANY_OBJECT: Final = {"type": "object"}
_IF_MATCH: Final = {
    "name": "If-Match", "in": "header", "schema": {"type": "string"},
    "description": "Write only if the note still has this revision, in quotes.",
}  # fmt: skip
_SCOPE_HEADERS: Final = (
    {"$ref": "#/components/parameters/Project"},
    {"$ref": "#/components/parameters/Actor"},
)
_PROBLEM: Final = {
    "type": "object",
    "required": ["type", "title", "status", "code", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string"},
        "detail": {"type": "string"},
        "hint": {"type": "string"},
        "errors": {"type": "array", "items": _ANY_OBJECT},
    },
}


def document(operations: Mapping[str, Operation] = OPERATIONS) -> dict[str, Any]:
    """The whole description."""
    schemas: dict[str, Any] = {"Problem": _PROBLEM}
    paths: dict[str, Any] = {}
    for operation in operations.values():
        paths[f"{PREFIX}/{operation.name}"] = _path(operation, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "vault-memory",
            "version": __version__,
            "description": "Long-term memory for agents and people, kept as Markdown notes. Every operation is one"
            " route; answers are the same JSON that the command line prints with --json.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "paths": paths | _contract_paths(),
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas,
            "parameters": {
                "Project": _header("Vault-Project", "See this project and what is global; '*': all."),
                "Actor": _header("Vault-Actor", "See this actor's memories only; '*': all."),
            },
            "responses": {
                "Problem": _content("A refusal.", "#/components/schemas/Problem", "application/problem+json")
            },
        },
    }


def _path(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    model, _ = operation.load()
    schema = model.model_json_schema(ref_template=_REF)
    schemas.update(_cleaned(schema.pop("$defs", {})))
    schema = schemas[model.__name__] = _cleaned(schema)
    writes = operation.kind != "read"
    body = {
        "required": bool(schema.get("required")),
        "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{model.__name__}"}}},
    }
    header = [_IF_MATCH] if writes and "if_revision" in schema.get("properties", {}) else []
    common = {"summary": operation.summary, "tags": [operation.kind], "responses": _responses()}
    post = {
        "operationId": operation.name, **common, "requestBody": body, "parameters": [*header, *_SCOPE_HEADERS],
    }  # fmt: skip
    if writes:
        return {"post": post}
    query = [*_query(schema), *_SCOPE_HEADERS]
    return {"post": post, "get": {"operationId": f"{operation.name}_by_query", **common, "parameters": query}}


def _query(schema: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    required = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        shown = {key: value for key, value in field.items() if key != "description"}
        yield {
            "name": name, "in": "query", "required": name in required, "schema": shown,
            "description": field.get("description", ""),
        }  # fmt: skip


def _cleaned(value: Any) -> Any:
    """The schema without the hints for the command line."""
    if isinstance(value, dict):
        return {key: _cleaned(item) for key, item in value.items() if key != "cli"}
    return [_cleaned(item) for item in value] if isinstance(value, list) else value


def _responses(status: str = "200", text: str = "The answer.") -> dict[str, Any]:
    ok = {"description": text, "content": {"application/json": {"schema": _ANY_OBJECT}}}
    refusals = ("400", "401", "403", "404", "409", "412", "413", "415", "422", "423", "428", "429", "503", "507")
    return {status: ok, **dict.fromkeys(refusals, _PROBLEM_REF)}


def _contract_paths() -> dict[str, Any]:
    from vault_memory.surfaces.rest.contract import DEFAULTS, EDITABLE, NEW

    ref = {"name": "ref", "in": "path", "required": True, "schema": {"type": "string"},
           "description": "Id, path (percent-encoded) or title."}  # fmt: skip
    names = [{"name": n, "in": "query", "schema": {"type": _type(n)}, "description": ""} for n in sorted(DEFAULTS)]
    one = {"parameters": [ref, *_SCOPE_HEADERS], "tags": ["contract"]}
    empty = {key: value for key, value in _responses().items() if key != "200"} | {"204": {"description": "Deleted."}}
    return {
        "/memories": {
            "get": {"operationId": "contract_list", "summary": "List memories in a fixed order.", "tags": ["contract"],
                    "parameters": [*names, *_SCOPE_HEADERS], "responses": _responses()},
            "post": {"operationId": "contract_create", "summary": "Store a memory.", "tags": ["contract"],
                     "requestBody": _fields(NEW, ["content"]), "responses": _responses("201", "Stored.")},
        },
        "/memories/{ref}": {
            "get": {"operationId": "contract_get", "summary": "Read a memory.", **one, "responses": _responses()},
            "patch": {"operationId": "contract_update", "summary": "Change a memory.", **one,
                      "requestBody": _fields(EDITABLE, []), "responses": _responses()},
            "delete": {"operationId": "contract_delete", "summary": "Delete a memory softly.", **one,
                       "responses": empty},
        },
    }  # fmt: skip


def _fields(names: frozenset[str], required: list[str]) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": {name: {} for name in sorted(names)}}
    schema |= {"additionalProperties": False} | ({"required": required} if required else {})
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def _type(name: str) -> str:
    return "integer" if name in ("limit", "offset") else "string"


def _header(name: str, text: str) -> dict[str, Any]:
    return {"name": name, "in": "header", "schema": {"type": "string"}, "description": text}


def _content(text: str, ref: str, kind: str) -> dict[str, Any]:
    return {"description": text, "content": {kind: {"schema": {"$ref": ref}}}}
