"""A click command from an operation: its request model's fields become arguments and options.

Values stay text here; one parser (`surfaces/arguments.py`) converts and refuses them for every surface alike.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from vault_memory.errors import InvalidRequest
from vault_memory.operations.table import Operation
from vault_memory.surfaces.arguments import FieldShape, as_list, bounds, shape_of
from vault_memory.surfaces.cli.settings import Settings, common_names, common_options

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from vault_memory.operations.context import Context
    from vault_memory.surfaces.dispatch import Answer

STDIN: Final = "-"
FROM_STDIN: Final = frozenset({"content", "query", "text"})
"""Positional fields that are read from stdin when they are missing and stdin is not a terminal."""

SECRET_BEARING: Final = frozenset({"content", "text"})
"""Fields whose text the secrets gate reads; only a person at the command line may overrule it."""

COUNTING: Final = frozenset({"reindex"})
"""Operations that tell how far they are."""

ABOUT_THIS_MACHINE: Final = frozenset({"doctor", "status"})
"""Operations to whose answer the command line adds what it knows of the coding agents here."""

_METAVARS: Final = {
    "text": "TEXT", "integer": "N", "number": "NUMBER", "time": "TIME", "list": "TEXT", "map": "KEY=VALUE",
}  # fmt: skip


def command_for(name: str, operation: Operation) -> click.Command:
    """The command `name`, which runs `operation` on the vault that is meant."""
    model, _ = operation.load()
    fields = {key: info for key, info in model.model_fields.items() if _shown(key, info)}

    def run(*, allow_secret: bool = False, **given: Any) -> int:
        return _run(operation, _arguments(fields, given), allow_secrets=allow_secret)

    own = [_parameter(key, info) for key, info in fields.items()]
    if operation.kind == "write" and SECRET_BEARING & fields.keys() and operation.name not in COUNTING:
        own.append(click.Option(["--allow-secret"], is_flag=True, help="Store it although it holds a secret."))
    return click.Command(
        name,
        params=[*own, *common_options()],
        help=_help(operation.summary, model.__doc__),
        short_help=operation.summary,
        callback=run,
    )


def _run(operation: Operation, arguments: Mapping[str, Any], *, allow_secrets: bool = False) -> int:
    from vault_memory.surfaces.cli.output import emit

    settings = Settings.current()
    with settings.open(allow_secrets=allow_secrets) as ctx:
        answer = _called(ctx, operation, arguments, settings)
    return emit(operation.name, answer.result, answer.warnings, settings)


def _called(ctx: Context, operation: Operation, arguments: Mapping[str, Any], settings: Settings) -> Answer:
    """The answer, with a bar where the operation counts its steps, else with a spinner."""
    from vault_memory.surfaces.cli.progress import bar, waiting
    from vault_memory.surfaces.dispatch import call

    if operation.name in COUNTING:
        from vault_memory.operations.reindex import reindexed

        with bar(settings) as progress:
            return call(ctx, operation, arguments, function=lambda ctx, request: reindexed(ctx, request, progress))
    with waiting(operation.name, settings):
        if operation.name in ABOUT_THIS_MACHINE:
            from vault_memory.surfaces.cli.doctor import examined

            return call(ctx, operation, arguments, function=examined)
        return call(ctx, operation, arguments)


def _shown(name: str, info: FieldInfo) -> bool:
    """Not hidden, and with a textual form."""
    return not _hints(info).get("hidden") and shape_of(info.annotation).shape != "other"


def _hints(info: FieldInfo) -> Mapping[str, Any]:
    extra = info.json_schema_extra
    found = extra.get("cli") if isinstance(extra, dict) else None
    return found if isinstance(found, dict) else {}


def _parameter(name: str, info: FieldInfo) -> click.Parameter:
    hints, shape = _hints(info), shape_of(info.annotation)
    if hints.get("positional"):
        several = shape.shape == "list"
        return click.Argument([name], required=False, nargs=-1 if several else 1, metavar=_place(name, info, several))
    flags = [name, *hints.get("flags", [_flag(name, shape)])]
    if shape.shape == "bool":
        return click.Option(flags, is_flag=True, default=None, help=_option_help(info))
    several = shape.shape in ("list", "map")
    return click.Option(flags, multiple=several, metavar=_metavar(shape), help=_option_help(info))


def _flag(name: str, field: FieldShape) -> str:
    """`--name`; `--memory-project` where `--project` already says who is looking; `--no-name` beside a yes or no."""
    word = (f"memory_{name}" if name in common_names() else name).replace("_", "-")
    return f"--{word}/--no-{word}" if field.shape == "bool" else f"--{word}"


def _place(name: str, info: FieldInfo, several: bool) -> str:
    text = name.upper() + ("..." if several else "")
    return text if info.is_required() and name not in FROM_STDIN else f"[{text}]"


def _metavar(shape: FieldShape) -> str:
    return "|".join(shape.choices) if shape.choices else _METAVARS[shape.shape]


def _option_help(info: FieldInfo) -> str:
    parts = [(info.description or "").rstrip(".")]
    low, high = bounds(info)
    if low is not None and high is not None:
        parts.append(f"{low:g} to {high:g}")
    if isinstance(info.default, (str, int, float)) and info.default not in ("", False):
        parts.append(f"default: {'yes' if info.default is True else info.default}")
    if shape_of(info.annotation).shape == "list":
        parts.append("repeat it, or separate with commas")
    return parts[0] + (f" ({'; '.join(parts[1:])})" if parts[1:] else "") + "."


def _help(summary: str, doc: str | None) -> str:
    """The operation's line, and what the request model's docstring says after its own first line."""
    _, _, further = (doc or "").strip().partition("\n\n")
    return f"{summary}\n\n{further}" if further else summary


def _arguments(fields: Mapping[str, FieldInfo], given: Mapping[str, Any]) -> dict[str, Any]:
    """The operation's arguments: what was given, stdin where it is meant, nothing that was left out."""
    arguments: dict[str, Any] = {}
    for name, info in fields.items():
        value = given.get(name)
        if value in (STDIN, (STDIN,)) or (value in (None, ()) and _reads_stdin(name, info)):
            value = _stdin(name) if value != (STDIN,) else tuple(_stdin(name).splitlines())
        if value not in (None, ()):
            arguments[name] = _shaped(name, info, value)
    return arguments


def _shaped(name: str, info: FieldInfo, value: Any) -> Any:
    """Repeated options as the list or the object they stand for; an empty text clears what may be empty."""
    if not isinstance(value, tuple):
        return None if value == "" and not info.is_required() else value
    field = shape_of(info.annotation)
    if field.shape == "map":
        return _pairs(name, value, always_lists=field.lists)
    if _hints(info).get("positional"):
        return list(value)
    return [item for part in value for item in as_list(part)]


def _reads_stdin(name: str, info: FieldInfo) -> bool:
    wanted = name in FROM_STDIN and bool(_hints(info).get("positional")) and info.is_required()
    return wanted and not sys.stdin.isatty()


def _stdin(name: str) -> str:
    data = sys.stdin.buffer.read()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidRequest.of(name, f"stdin is not valid UTF-8 (byte {error.start})") from None


def _pairs(name: str, texts: tuple[str, ...], *, always_lists: bool) -> dict[str, Any]:
    """`key=value` texts as an object; a key that comes more than once has a list."""
    pairs: dict[str, list[str]] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise InvalidRequest.of(name, f"must be KEY=VALUE, not '{text}'")
        pairs.setdefault(key.strip(), []).append(value)
    return {key: values if always_lists or len(values) > 1 else values[0] for key, values in pairs.items()}
