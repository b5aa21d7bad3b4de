"""The JSON schema of a tool: the listed fields of its request model, as short as it can be said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pydantic import BaseModel

_KEPT: Final = ("type", "enum", "items", "minimum", "maximum", "maxLength", "additionalProperties")


def input_schema(model: type[BaseModel], names: Sequence[str]) -> dict[str, Any]:
    """An object schema of these fields; a field that may be null is simply not required.

    Unknown fields are not forbidden here, because a call with one is answered and the field named in a warning.
    """
    full = model.model_json_schema()
    properties = {name: _short(full["properties"][name], full.get("$defs", {})) for name in names}
    required = [name for name in full.get("required", ()) if name in properties]
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return schema | {"required": required} if required else schema


def _short(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    chosen = _not_null(field)
    short = {key: chosen[key] for key in _KEPT if key in chosen and chosen[key] is not True}
    if "items" in short:
        short["items"] = {key: value for key, value in short["items"].items() if key in ("type", "enum")}
    if text := field.get("description"):
        short["description"] = text
    return short


def _not_null(field: Mapping[str, Any]) -> Mapping[str, Any]:
    options = [option for option in field.get("anyOf", ()) if option.get("type") != "null"]
    return options[0] if options else field
