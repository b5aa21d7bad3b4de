"""`export`, `import` and `backup`: the commands that name files and folders, seen with the owner's eyes."""

from __future__ import annotations

import sys
from typing import Any

import click

from vault_memory.surfaces.cli.settings import Settings, common_options

_EVERYTHING = "*"


def _run(operation: str, given: dict[str, Any], **context: Any) -> int:
    """Run the operation; who names no actor or project is the owner and sees all of them."""
    from msgspec.structs import replace

    from vault_memory.operations.table import OPERATIONS
    from vault_memory.surfaces.cli.output import emit, write
    from vault_memory.surfaces.cli.progress import waiting
    from vault_memory.surfaces.dispatch import call

    settings = Settings.current()
    owner = replace(settings, project=settings.project or _EVERYTHING, actor=settings.actor or _EVERYTHING)
    arguments = {name: value for name, value in given.items() if value not in (None, (), False)}
    with owner.open(**context) as ctx, waiting(operation, settings):
        answer = call(ctx, OPERATIONS[operation], arguments, lenient=True)
    inline = getattr(answer.result, "data", None)
    if inline is not None:
        write(inline if isinstance(inline, str) else _json(inline))
        return 0
    if operation == "import" and not settings.json:
        _tell(answer.result)
    return emit(operation, answer.result, answer.warnings, settings)


def _tell(report: Any) -> None:
    """One line about the whole import; the table of what needs saying follows."""
    from vault_memory.surfaces.cli.blocks import Line
    from vault_memory.surfaces.cli.output import show

    counts = ", ".join(f"{number} {outcome}" for outcome, number in report.counts.items()) or "nothing"
    verb = "imported" if report.executed else "the plan (nothing was changed; --execute carries it out)"
    show([Line(f"{verb}: {counts}, from {report.format}")])


def _json(document: Any) -> str:
    from vault_memory.surfaces.cli.output import as_json

    return as_json(document)


def _export(**given: Any) -> int:
    return _run("export", given)


def _import(source: str, allow_secret: bool, **given: Any) -> int:
    where = {"data": sys.stdin.read()} if source == "-" else {"source": source}
    return _run("import", {**where, **given}, allow_secrets=allow_secret)


def _backup(**given: Any) -> int:
    return _run("backup", given)


_FILTERS = (
    ("status", "Only this status; comma-separated for several (default: all)."),
    ("memory-type", "Only this type."),
    ("tag", "Only memories with exactly this tag."),
    ("domain", "Only this domain."),
    ("created-after", "Created at or after this time."),
    ("created-before", "Created before this time."),
)

export = click.Command(
    "export",
    params=[
        click.Argument(["to"], required=False, metavar="[PLACE]"),
        click.Option(
            ["--format"],
            metavar="json|notes|memstack|actor|server-memory",
            help="json and notes (a folder) lose nothing (default: json).",
        ),
        click.Option(["--attachments/--no-attachments"], default=None, help="Also the files that notes link to."),
        *(click.Option([f"--{name}"], metavar="TEXT", help=text) for name, text in _FILTERS),
        *common_options(),
    ],
    help="Write out memories with everything that is known of them: to a new file or folder, or to stdout.",
    callback=_export,
)

import_ = click.Command(
    "import",
    params=[
        click.Argument(["source"], metavar="PLACE"),
        click.Option(
            ["--format"],
            metavar="json|notes|memstack|memai|actor|server-memory",
            help="What it is; recognised when it is not named.",
        ),
        click.Option(
            ["--on-clash", "on_clash"],
            metavar="skip|replace|keep_both",
            help="When an id or text is here already (default: skip).",
        ),
        click.Option(["--memory-project", "project"], metavar="NAME", help="The project of records that name none."),
        click.Option(["--memory-actor", "actor"], metavar="NAME", help="The actor of records that name none."),
        click.Option(["--execute"], is_flag=True, help="Carry the plan out; otherwise it is only shown."),
        click.Option(["--allow-secret"], is_flag=True, help="Take in records that hold keys or passwords."),
        click.Option(["--reason"], metavar="TEXT", help="Why; goes to the history."),
        *common_options(),
    ],
    help="Take in memories from an export or from another system (PLACE: a file, a folder, - for stdin).\n\n"
    "The plan is shown first; --execute carries it out in one commit. A record that cannot be taken is named and left"
    " out. The same import a second time changes nothing.",
    callback=_import,
)

backup = click.Command(
    "backup",
    params=[
        click.Argument(["to"], metavar="FOLDER"),
        click.Option(["--zip"], is_flag=True, help="One zip file instead of a folder."),
        *common_options(),
    ],
    help="Copy all notes, the files they link to, their usage and the vault's settings to a dated folder or zip.",
    callback=_backup,
)
