"""From a caller's arguments to a request model. Owns leniency and the wording of refusals; runs no operation.

One parser serves every surface, so that the command line, MCP and REST refuse the same things in the same words.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin

from msgspec import Struct
from msgspec.structs import replace

from vault_memory.errors import InvalidRequest

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails

    R = TypeVar("R", bound=BaseModel)
else:
    R = TypeVar("R")

Shape = Literal["text", "integer", "number", "bool", "time", "choice", "list", "map", "other"]

_EXAMPLES: Final[Mapping[Shape, str]] = {
    "text": 'text, such as "deploy"',
    "integer": "a whole number, such as 5",
    "number": "a number, such as 0.5",
    "bool": "true or false",
    "time": "a date or time, such as 2026-04-06T14:12:00Z",
    "list": 'a list, such as ["a", "b"]',
    "map": 'an object, such as {"key": "value"}',
}


class FieldShape(Struct, frozen=True):
    """What a request field takes: its shape, whether null is a value, for a choice the allowed values."""

    shape: Shape
    nullable: bool = False
    choices: tuple[str, ...] = ()
    lists: bool = False
    """True for a map whose values are lists, such as relations."""


def parse(model: type[R], arguments: Mapping[str, Any], *, lenient: bool) -> tuple[R, tuple[str, ...]]:
    """The request that `arguments` describe, and warnings about what was ignored.

    Lenient (language models, command lines, query strings): lists as JSON text or comma text, objects as JSON text,
    numbers as text, a number where text is wanted; null or an empty text for an optional field means "not given";
    unknown arguments are left out with a warning. Otherwise (programs): unknown arguments are refused and nothing
    but the usual JSON types is accepted.

    Raises:
        InvalidRequest: names every field in question with what it takes and, for a misspelt name, the nearest.
    """
    from pydantic import ValidationError

    known = model.model_fields
    warnings = tuple(_ignored(name, known) for name in arguments if name not in known) if lenient else ()
    given = _lenient(known, arguments) if lenient else dict(arguments)
    try:
        return model.model_validate(given), warnings
    except ValidationError as error:
        raise _refusal(known, error.errors(include_url=False, include_input=False)) from None


def shape_of(annotation: Any) -> FieldShape:
    """The shape of a field by its annotation; `other` for what has no textual form (nested requests)."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return shape_of(get_args(annotation)[0])
    if origin in (Union, UnionType):
        parts = get_args(annotation)
        inner = [shape_of(part) for part in parts if part is not NoneType]
        return replace(inner[0], nullable=NoneType in parts) if len(inner) == 1 else _OTHER
    if origin is Literal:
        return FieldShape("choice", choices=tuple(str(value) for value in get_args(annotation)))
    if origin in (list, tuple, set, frozenset):
        return FieldShape("list")
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return FieldShape("map", lists=shape_of(get_args(annotation)[1]).shape == "list")
    return FieldShape(_PLAIN.get(annotation, "other"))


_OTHER: Final = FieldShape("other")
_PLAIN: Final[Mapping[Any, Shape]] = {
    str: "text", int: "integer", float: "number", bool: "bool", datetime: "time", dict: "map", list: "list",
}  # fmt: skip


def nearest(word: str, candidates: Collection[str]) -> str | None:
    """The candidate that looks most like `word`, or None when none comes close."""
    from difflib import get_close_matches

    folded = {candidate.lower().replace("_", "-"): candidate for candidate in sorted(candidates)}
    found = get_close_matches(word.lower().replace("_", "-"), list(folded), n=1)
    return folded[found[0]] if found else None


def as_list(text: str) -> list[Any]:
    """The items of a list given as JSON text (`["a", "b"]`) or as comma text (`a, b`); blank items are dropped."""
    if text.lstrip().startswith("["):
        try:
            value = json.loads(text)
        except ValueError:
            pass
        else:
            return list(value)
    return [part.strip() for part in text.split(",") if part.strip()]


def _lenient(known: Mapping[str, FieldInfo], arguments: Mapping[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for name, value in arguments.items():
        info = known.get(name)
        if info is None or (value in (None, "") and not info.is_required()):
            continue
        given[name] = _converted(shape_of(info.annotation), value)
    return given


def _converted(field: FieldShape, value: Any) -> Any:
    shape = field.shape
    if shape == "list":
        return _listed(value)
    if shape == "map":
        found = _object(value) if isinstance(value, str) else value
        return _with_lists(found) if field.lists and isinstance(found, Mapping) else found
    if shape in ("text", "choice") and isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    if shape in ("integer", "number", "bool") and isinstance(value, str):
        return value.strip()
    return value


def _listed(value: Any) -> Any:
    if isinstance(value, str):
        return as_list(value)
    return value if isinstance(value, (list, tuple)) else [value]


def _with_lists(value: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _listed(item) for key, item in value.items()}


def _object(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _ignored(name: str, known: Collection[str]) -> str:
    close = nearest(name, known)
    return f"unknown argument '{name}' was ignored" + (f"; did you mean '{close}'?" if close else "")


def _refusal(known: Mapping[str, FieldInfo], found: Iterable[ErrorDetails]) -> InvalidRequest:
    errors = [_field_error(known, item) for item in found]
    detail = "; ".join(f"{error['field']}: {error['message']}" for error in errors)
    return InvalidRequest(detail, errors=errors)


def _field_error(known: Mapping[str, FieldInfo], item: ErrorDetails) -> dict[str, Any]:
    name = ".".join(str(part) for part in item["loc"]) or "request"
    info = known.get(name)
    code, context = item["type"], item.get("ctx", {})
    if code == "extra_forbidden":
        return _unknown(name, known)
    if code == "missing":
        return {"field": name, "message": f"is required: {_example(info)}" if info else "is required"}
    if code == "value_error" and "error" in context:
        return {"field": name, "message": str(context["error"])}
    if code in _BOUNDS and info is not None:
        return _out_of_bounds(name, info)
    if code == "literal_error" and info is not None:
        choices = list(shape_of(info.annotation).choices)
        return {"field": name, "message": f"must be one of {', '.join(choices)}", "allowed": choices}
    if info is not None and len(item["loc"]) == 1 and code.endswith(("_type", "_parsing", "_from_float")):
        return {"field": name, "message": f"must be {_example(info)}"}
    return {"field": name, "message": item["msg"][:1].lower() + item["msg"][1:]}


def _unknown(name: str, known: Collection[str]) -> dict[str, Any]:
    close = nearest(name, known)
    message = f"unknown argument; did you mean '{close}'?" if close else "unknown argument"
    return {"field": name, "message": message, "allowed": sorted(known)}


_BOUNDS: Final = frozenset({"greater_than_equal", "less_than_equal"})
"""Complaints that name the bounds; one that a value may not reach says so in its own message."""


def bounds(info: FieldInfo) -> tuple[float | None, float | None]:
    """The least and the greatest value that a number field takes (inclusive); None where it is open."""
    low = high = None
    for part in _constraints(info):
        low = getattr(part, "ge", low)
        high = getattr(part, "le", high)
    return low, high


def _constraints(info: FieldInfo) -> list[Any]:
    """A field's own constraints and those inside `Annotated[...] | None`."""
    found = list(info.metadata)
    for part in (info.annotation, *get_args(info.annotation)):
        if get_origin(part) is Annotated:
            found += [item for meta in get_args(part)[1:] for item in getattr(meta, "metadata", [meta])]
    return found


def _out_of_bounds(name: str, info: FieldInfo) -> dict[str, Any]:
    low, high = bounds(info)
    if low is not None and high is not None:
        text = f"must be between {low:g} and {high:g}"
    else:
        text = f"must be {low:g} or more" if low is not None else f"must be at most {high:g}"
    return {"field": name, "message": text, "allowed": {"minimum": low, "maximum": high}}


def _example(info: FieldInfo) -> str:
    shape = shape_of(info.annotation)
    return f"one of {', '.join(shape.choices)}" if shape.choices else _EXAMPLES.get(shape.shape, "of another type")
