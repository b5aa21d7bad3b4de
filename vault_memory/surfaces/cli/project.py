"""`vault-memory project`: which project a folder is, and how to name, bind, pin and merge projects."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vault_memory.surfaces.cli.settings import Settings, common_options

if TYPE_CHECKING:
    from vault_memory.harness.edits import FileChange
    from vault_memory.memory.project_id import RepositoryFacts


def _show(action: str, name: str | None, into: str | None, title: str, dry_run: bool) -> int:
    settings = Settings.current()
    match action:
        case "show":
            return _here(settings)
        case "list":
            return _list(settings)
        case "pin":
            return _changed(settings, _pin(_named(action, name)), dry_run)
        case "bind":
            return _changed(settings, _bind(settings, name, title), dry_run)
        case "create":
            from vault_memory.harness.project_edits import plan_create

            return _changed(settings, plan_create(settings.root(), _named(action, name), title=title), dry_run)
        case _:
            return _merge(settings, _named(action, name), _named(action, into), dry_run)


def _facts() -> RepositoryFacts:
    from vault_memory.files.repository import repository_facts

    return repository_facts(Path.cwd())


def _here(settings: Settings) -> int:
    from vault_memory.harness.projects import project_here

    found = project_here(settings.root(), Path.cwd(), home=Path.home())
    fields = {
        "project": found.slug or "none",
        "status": found.status,
        "id": found.identity,
        "remote": (found.remote or "").partition(":")[2],
        "asks for": found.claims or "",
        "why": found.reason,
    }
    return _emit(settings, {key.replace(" ", "_"): value for key, value in fields.items()})


def _list(settings: Settings) -> int:
    from vault_memory.harness.projects import load_registry
    from vault_memory.surfaces.cli import output
    from vault_memory.surfaces.cli.blocks import Table

    projects = load_registry(settings.root()).projects.values()
    if settings.json:
        from vault_memory.operations.result import to_json

        output.write(output.as_json({"projects": [to_json(project) for project in projects]}))
        return 0
    rows = tuple((project.slug, project.title, ", ".join(project.remotes)) for project in projects)
    output.show([Table(("project", "title", "remotes"), rows)])
    return 0


def _pin(name: str) -> FileChange:
    from vault_memory.harness.project_edits import plan_pin

    return plan_pin(Path(_facts().top), name)


def _bind(settings: Settings, name: str | None, title: str) -> FileChange:
    """The person's own word that this repository is that project, a stranger's remote included."""
    from vault_memory.harness.project_edits import plan_bind
    from vault_memory.harness.projects import project_here

    found = project_here(settings.root(), Path.cwd(), home=Path.home())
    return plan_bind(settings.root(), _named("bind", name or found.claims or found.slug), _facts(), title=title)


def _merge(settings: Settings, old: str, into: str, dry_run: bool) -> int:
    """First the notes, one by one, then the list: a merge that was cut short is simply run again."""
    from vault_memory.harness.project_edits import plan_merge
    from vault_memory.memory.filter import Filter
    from vault_memory.memory.scope import ANY, Scope
    from vault_memory.operations.edit import Update, update
    from vault_memory.surfaces.dispatch import opened

    change = plan_merge(settings.root(), old, into)
    with opened(settings.root(), scope=Scope(ANY, ANY), environ=os.environ) as ctx:
        ctx.vault.refresh(budget_ms=60_000)
        wanted = Filter(statuses=("active", "archived", "invalid", "deleted"), project=old, expired=None)
        refs = [row.memory.path for row in ctx.vault.catalog.select(wanted, ctx.scope, now=ctx.now)]
        if not dry_run:
            for path in refs:
                update(ctx, Update(ref=path, project=into, reason=f"project {old} merged into {into}"))
    return _changed(settings, change, dry_run, moved=len(refs))


def _changed(settings: Settings, change: FileChange, dry_run: bool, **more: Any) -> int:
    from vault_memory.harness.edits import execute

    if not dry_run:
        execute([change])
    action = "keep" if change.verb == "keep" else change.verb
    return _emit(settings, {"file": str(change.path), "action": action, "done": not dry_run, **more})


def _emit(settings: Settings, fields: dict[str, Any]) -> int:
    from vault_memory.surfaces.cli import output
    from vault_memory.surfaces.cli.blocks import Line

    if settings.json:
        output.write(output.as_json(fields))
    else:
        output.show([Line(f"{key}  {value}") for key, value in fields.items() if value not in ("", None)])
    return 0


def _named(action: str, name: str | None) -> str:
    if not name:
        from vault_memory.errors import InvalidRequest

        raise InvalidRequest.of("name", f"project {action} needs a project's name")
    return name


project = click.Command(
    "project",
    params=[
        click.Argument(
            ["action"],
            type=click.Choice(["show", "list", "bind", "pin", "create", "merge"]),
            default="show",
            required=False,
        ),
        click.Argument(["name"], required=False),
        click.Argument(["into"], required=False),
        click.Option(["--title"], default="", help="A readable title."),
        click.Option(["--dry-run"], is_flag=True, help="Only show what would change."),
        *common_options(),
    ],
    help="Which project this folder is (show), all projects (list), allow this repository a project (bind NAME), fix"
    " its name for everybody in .vault-memory.toml (pin NAME), make one (create NAME), or move the memories of OLD"
    " (merge OLD INTO).",
    callback=_show,
)
