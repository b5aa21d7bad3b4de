"""The `vault-memory` command: the lazy group of commands, and how every ending becomes an exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

import click

from vault_memory import __version__
from vault_memory.errors import InvalidRequest, VaultError
from vault_memory.surfaces.cli import output
from vault_memory.surfaces.cli.catalogue import SECTIONS, Command, catalogue
from vault_memory.surfaces.cli.settings import Settings, common_options

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

PROGRAM = "vault-memory"
INTERRUPTED = 130


class LazyGroup(click.Group):
    """A group that knows its commands by name and summary and imports one only when it is used."""

    def __init__(self, commands: Mapping[str, Command], **attrs: Any) -> None:
        super().__init__(**attrs)
        self.rows = commands

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the overview."""
        return list(self.rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now, or None."""
        row = self.rows.get(cmd_name)
        return row.load() if row else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, with the nearest name in the refusal."""
        if args and args[0] not in self.rows and not args[0].startswith("-"):
            raise _unknown_command(args[0], self.rows)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The names that begin so, with their summaries; nothing is imported for them."""
        from click.shell_completion import CompletionItem

        names = [CompletionItem(row.name, help=row.summary) for row in self.rows.values()]
        return [item for item in names if item.value.startswith(incomplete)] + click.Command.shell_complete(
            self, ctx, incomplete
        )

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The overview by section; nothing is imported for it."""
        for section in SECTIONS:
            rows = [(row.name, row.summary) for row in self.rows.values() if row.section == section]
            if rows:
                with formatter.section(section):
                    formatter.write_dl(rows)


def _unknown_command(name: str, rows: Mapping[str, Command]) -> InvalidRequest:
    from vault_memory.surfaces.arguments import nearest

    close = nearest(name, rows)
    hint = f"did you mean '{close}'?" if close else f"{PROGRAM} --help lists the commands"
    return InvalidRequest.of("command", f"there is no command '{name}'", allowed=list(rows), hint=hint)


def application(commands: Mapping[str, Command] | None = None) -> click.Group:
    """The whole command line."""
    version = click.version_option(__version__, "--version", message="%(prog)s %(version)s")
    group = LazyGroup(
        catalogue() if commands is None else commands,
        name=PROGRAM,
        params=common_options(),
        help="Long-term memory for AI agents and people, kept as plain Markdown notes.",
        epilog=f"{PROGRAM} COMMAND --help explains a command. Exit codes: docs/errors.md.",
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
        callback=_start,
    )
    return version(group)


def _start() -> None:
    """Turn logging on, before the command runs, when it was asked for."""
    from vault_memory.surfaces.cli import log

    log.start(Settings.current().verbose)


def run(arguments: Sequence[str], commands: Mapping[str, Command] | None = None) -> int:
    """Run one command line and return its exit code. What was not foreseen is raised (see `report_bug`)."""
    with_json = "--json" in arguments
    try:
        result = application(commands).main(list(arguments), prog_name=PROGRAM, standalone_mode=False)
    except VaultError as error:
        return output.problem(error, as_json=with_json)
    except click.ClickException as error:
        return output.problem(_as_request_error(error), as_json=with_json)
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    return result if isinstance(result, int) else 0


def _as_request_error(error: click.ClickException) -> InvalidRequest:
    field = getattr(getattr(error, "param", None), "name", None) or getattr(error, "option_name", None)
    hint = ""
    if isinstance(error, click.UsageError) and error.ctx is not None:
        hint = f"{error.ctx.command_path} --help explains it"
    return InvalidRequest.of(field or "arguments", error.format_message(), hint=hint)


def report_bug(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Say shortly that this is a bug; the trace goes to the log alone, since it may hold what was in a note."""
    from vault_memory.surfaces.cli import log

    place = log.record_bug(kind, error, trace)
    output.bug(f"unexpected {kind.__name__}; this is a bug in vault-memory", place)
