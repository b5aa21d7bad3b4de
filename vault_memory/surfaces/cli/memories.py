"""`vault-memory memories`: what is remembered for the project of this folder, listed, searched or deleted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from vault_memory.surfaces.cli.settings import Settings, common_options


def _memories(query: str | None, only_global: bool, delete: str | None, limit: int) -> int:
    from vault_memory.memory.scope import Scope
    from vault_memory.operations.table import OPERATIONS
    from vault_memory.surfaces.cli import output
    from vault_memory.surfaces.dispatch import call, opened

    settings = Settings.current()
    slug = None if only_global else _project(settings)
    name, arguments = _wanted(query, delete, limit, only_global)
    with opened(settings.root(), scope=Scope(slug, None), environ=os.environ) as ctx:
        answer = call(ctx, OPERATIONS[name], arguments)
    output.hint(f"project {slug or 'global'}", settings)
    return output.emit(name, answer.result, answer.warnings, settings)


def _wanted(query: str | None, delete: str | None, limit: int, only_global: bool) -> tuple[str, dict[str, Any]]:
    """The operation that is meant, and its arguments."""
    if delete:
        return "delete", {"ref": delete}
    only = {"project": "global"} if only_global else {}
    if query:
        return "search", {"query": query, "limit": limit, **only}
    return "list", {"limit": limit, "sort": "updated_at", "status": "active", **only}


def _project(settings: Settings) -> str | None:
    from vault_memory.harness.projects import project_here

    return settings.project or project_here(settings.root(), Path.cwd(), home=Path.home()).slug


memories = click.Command(
    "memories",
    params=[
        click.Argument(["query"], required=False),
        click.Option(["--global", "only_global"], is_flag=True, help="Only what holds for every project."),
        click.Option(["--delete"], metavar="REF", help="Delete this one (softly; restore brings it back)."),
        click.Option(["--limit"], type=click.IntRange(1, 100), default=20, show_default=True, help="How many at most."),
        *common_options(),
    ],
    help="List what is remembered for this folder's project, newest first, or search it with QUERY.",
    callback=_memories,
)
