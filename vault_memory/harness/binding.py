"""The project that a server speaks for, found once, and written into the list once something is remembered in it.

Owns that a server is never bound to everything by accident: what is not a known project gets one of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from vault_memory.harness.projects import Resolution, project_here
from vault_memory.memory.scope import ANY, Scope

if TYPE_CHECKING:
    from vault_memory.vault import Vault


@dataclass(frozen=True, slots=True)
class Binding:
    """The scope of a server, and how its project was found (None: it was named)."""

    scope: Scope
    found: Resolution | None
    cwd: Path


def bind(root: Path, cwd: Path, *, home: Path, project: str | None, actor: str | None) -> Binding:
    """The scope for a server that was started in `cwd`.

    Args:
        root: the vault.
        cwd: the client's working folder.
        home: the person's home folder, which is no project.
        project: named by the caller: a slug, `global`, or `*` for everything; None: found by the working folder.
        actor: see only this actor's memories; `*` all; None those without one.
    """
    whose = ANY if actor == "*" else actor
    if project is not None:
        named = ANY if project == "*" else None if project == "global" else project
        return Binding(Scope(named, whose), None, cwd)
    found = project_here(root, cwd, home=home)
    return Binding(Scope(found.slug, whose), found, cwd)


def list_project(vault: Vault, binding: Binding, *, agent: str | None, session: str | None, now: datetime) -> bool:
    """Write the project into the vault's list when it holds memories and the list does not know it yet.

    The change is committed like a note's. An untrusted repository is never listed: a person binds it.

    Returns:
        True when the list was changed.

    Raises:
        VaultError, OSError: it could not be written; the next server tries again.
    """
    found = binding.found
    if found is None or found.slug is None or found.status == "untrusted" or not found.learn:
        return False
    from vault_memory.files.queue import Change
    from vault_memory.files.repository import repository_facts
    from vault_memory.harness.edits import execute
    from vault_memory.harness.project_edits import plan_bind
    from vault_memory.harness.projects import PROJECTS_FILE
    from vault_memory.memory.filter import Filter

    if not vault.catalog.page(Filter(project=found.slug), binding.scope, now=now, limit=1).total:
        return False
    plan = plan_bind(vault.root, found.slug, repository_facts(binding.cwd))
    if plan.before == plan.after:
        return False
    execute([plan])
    why = f"the project {found.slug} and its repository"
    change = Change(
        PROJECTS_FILE.as_posix(), plan.before, plan.after, f"project-{vault.ids.next(now)}", now, agent, session, why
    )
    vault.commits.record([change])
    return True
