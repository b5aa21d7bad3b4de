"""`vault-memory edit`: a memory's note in the person's own editor, which writes it; we only say what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from vault_memory.surfaces.cli.settings import Settings, common_options

if TYPE_CHECKING:
    from vault_memory.memory.model import Memory
    from vault_memory.operations.context import Context


def _edit(ref: str) -> int:
    from vault_memory.operations.result import WriteResult
    from vault_memory.surfaces.cli.output import emit

    settings = Settings.current()
    with settings.open(touch=False) as ctx:
        before = _read(ctx, ref)
        click.edit(filename=str(ctx.vault.root / before.path))
        after = _read(ctx, before.path)
        outcome = "unchanged" if after.revision == before.revision else "edited"
        return emit("edit", WriteResult(outcome, after, after.revision, warnings=_odd(after)), (), settings)


def _read(ctx: Context, ref: str) -> Memory:
    from vault_memory.surfaces.dispatch import call, operation_named

    memory: Memory = call(ctx, operation_named("get"), {"refs": [ref]}).result.memories[0].memory
    return memory


def _odd(memory: Memory) -> tuple[str, ...]:
    """What the edit left odd: the note is kept as it is, but the person may want to know now."""
    return tuple(f"line {finding.line or '?'}: {finding.reason}" for finding in memory.findings)


edit = click.Command(
    "edit",
    params=[click.Argument(["ref"]), *common_options()],
    help="Open a memory's note in your editor ($VISUAL, $EDITOR).\n\nWhat you save is kept byte for byte.",
    callback=_edit,
)
