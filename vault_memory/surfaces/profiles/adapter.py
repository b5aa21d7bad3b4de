"""Tools that speak another system's words: their parameters, their schema, reading a call, running our operations.

Owns leniency and clamping for them. A tool's own code gets clean values and returns JSON data.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from vault_memory.errors import InvalidRequest, MemoryNotFound, NotAllowed
from vault_memory.memory.scope import ANY, Scope
from vault_memory.surfaces.mcp.tools import Hint, Opener

if TYPE_CHECKING:
    from vault_memory.operations.context import Context

Kind = Literal["text", "integer", "number", "bool", "list", "map", "maps"]
Arguments = Mapping[str, Any]
Work = Callable[["Context", Arguments], Any]
_SCHEMAS: Final[Mapping[Kind, dict[str, Any]]] = {
    "text": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "bool": {"type": "boolean"},
    "list": {"type": "array", "items": {"type": "string"}},
    "map": {"type": "object"},
    "maps": {"type": "array", "items": {"type": "object"}},
}
_MISSING: Final = object()


class Param(Struct, frozen=True):
    """One parameter. A number outside `low` and `high` is brought inside, with a warning."""

    name: str
    kind: Kind
    description: str
    required: bool = False
    default: Any = None
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()

    def schema(self) -> dict[str, Any]:
        """Its JSON schema."""
        schema = dict(_SCHEMAS[self.kind])
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.low is not None:
            schema["minimum"] = self.low
        if self.high is not None:
            schema["maximum"] = self.high
        if self.default not in (None, ""):
            schema["default"] = self.default
        return schema | {"description": self.description}


class AdapterTool(Struct, frozen=True):
    """One tool of a profile that stands for another system's."""

    name: str
    description: str
    params: tuple[Param, ...]
    hint: Hint
    work: Work

    @property
    def writes(self) -> bool:
        """Whether a call may change something."""
        return self.hint != "read"

    def schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""
        properties = {param.name: param.schema() for param in self.params}
        required = [param.name for param in self.params if param.required]
        return {"type": "object", "properties": properties} | ({"required": required} if required else {})

    def answer(self, open_context: Opener, arguments: Arguments) -> tuple[str, ...]:
        """The exact JSON of the answer; what there is to warn of stands in `warnings`, or beside a list.

        Raises:
            VaultError: whatever the arguments or the operation call for.
        """
        from vault_memory.operations.result import to_json

        given, warnings = read(self.params, arguments)
        ctx = replace(open_context(self.writes), lenient=True)
        result = to_json(self.work(ctx, given))
        if isinstance(result, dict) and (said := [*warnings, *result.get("warnings", ())]):
            return (_text(result | {"warnings": said}),)
        return (_text(result), *(f"warning: {warning}" for warning in warnings))


def read(params: Sequence[Param], arguments: Arguments) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Clean values for every parameter (its default when it is not given), and what there is to warn of.

    Raises:
        InvalidRequest: a required one is missing, or one cannot be read.
    """
    from vault_memory.surfaces.arguments import nearest

    known = {param.name: param for param in params}
    warnings: list[str] = []
    for name in arguments:
        if name not in known:
            close = nearest(name, known) if known else None
            warnings.append(f"unknown argument '{name}' was ignored" + (f"; did you mean '{close}'?" if close else ""))
    given: dict[str, Any] = {}
    for param in params:
        value = arguments.get(param.name, _MISSING)
        if value is _MISSING or value is None or (value == "" and not param.required):
            if param.required:
                raise InvalidRequest.of(param.name, "is required")
            given[param.name] = param.default
            continue
        given[param.name] = _clamped(param, _converted(param, value), warnings)
    return given, tuple(warnings)


def _converted(param: Param, value: Any) -> Any:
    try:
        converted = _READERS[param.kind](value)
    except (ValueError, TypeError):
        raise InvalidRequest.of(param.name, f"must be {_SCHEMAS[param.kind]['type']}") from None
    if param.choices and converted not in param.choices:
        raise InvalidRequest.of(param.name, f"unknown value '{converted}'", allowed=list(param.choices))
    return converted


def _clamped(param: Param, value: Any, warnings: list[str]) -> Any:
    if param.kind not in ("integer", "number"):
        return value
    bounded = value
    if param.low is not None:
        bounded = max(bounded, param.low)
    if param.high is not None:
        bounded = min(bounded, param.high)
    if bounded != value:
        warnings.append(f"{param.name} was set to {bounded:g}: it must be from {param.low:g} to {param.high:g}")
    return int(bounded) if param.kind == "integer" else bounded


def _plain(value: Any) -> str:
    if isinstance(value, (bool, list, dict)):
        raise ValueError
    return str(value)


def _whole(value: Any) -> int:
    number = float(value)
    if isinstance(value, bool) or number != int(number):
        raise ValueError
    return int(number)


def _number(value: Any) -> float:
    number = float(value)
    if isinstance(value, bool) or number != number:
        raise ValueError
    return number


def _flag(value: Any) -> bool:
    words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    if isinstance(value, bool):
        return value
    if str(value).lower() not in words:
        raise ValueError
    return words[str(value).lower()]


def _listed(value: Any) -> list[str]:
    from vault_memory.surfaces.arguments import as_list

    items = as_list(value) if isinstance(value, str) else value if isinstance(value, list) else [value]
    return [_plain(item) for item in items]


def _mapped(value: Any) -> dict[str, Any]:
    found = json.loads(value) if isinstance(value, str) else value
    if not isinstance(found, dict):
        raise ValueError
    return found


def _maps(value: Any) -> list[Any]:
    found = json.loads(value) if isinstance(value, str) else value
    if not isinstance(found, list):
        raise ValueError
    return found


_READERS: Final[Mapping[Kind, Callable[[Any], Any]]] = {
    "text": _plain, "integer": _whole, "number": _number, "bool": _flag, "list": _listed, "map": _mapped, "maps": _maps,
}  # fmt: skip


def run(ctx: Context, operation: str, **arguments: Any) -> Any:
    """An operation's result; arguments that are None are not given.

    Raises:
        VaultError: whatever the operation calls for.
    """
    from vault_memory.operations.table import OPERATIONS
    from vault_memory.surfaces.dispatch import call

    given = {name: value for name, value in arguments.items() if value is not None}
    return call(ctx, OPERATIONS[operation], given).result


def as_actor(ctx: Context, actor: str | None) -> Context:
    """The context of an actor that a caller names; who is bound to one can be no other.

    Raises:
        NotAllowed: the session is bound to another actor.
    """
    bound = ctx.scope.actor
    if actor in (None, bound):
        return ctx
    if actor == "*" or isinstance(bound, str):
        raise NotAllowed("this session is bound to another actor" if bound else "name one actor")
    return replace(ctx, scope=Scope(ctx.scope.project, actor))


def any_actor(ctx: Context) -> Context:
    """The context for tools that take an id and no actor: who may name any actor reaches any memory by its id."""
    return ctx if isinstance(ctx.scope.actor, str) else replace(ctx, scope=Scope(ctx.scope.project, ANY))


def found(ctx: Context, ref: str) -> Any:
    """The memory in full (a View), or None when there is none."""
    try:
        return run(ctx, "get", refs=[ref]).memories[0]
    except MemoryNotFound:
        return None


def _text(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, indent=1)
