"""The project that a server speaks for, found once, and written into the list before something is remembered in it.

Owns that a server is never bound to everything by accident, and that a repository cannot take a name that memories
bear: what is not a known project gets one of its own.
"""

from __future__ import annotations

import hashlib
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from vault_memory.harness.projects import Resolution, project_here
from vault_memory.memory.filter import Filter
from vault_memory.memory.scope import ANY, Scope

if TYPE_CHECKING:
    from vault_memory.index.catalog import Catalog
    from vault_memory.vault import Vault


class Binding(Struct, frozen=True):
    """The scope of a server, and how its project was found (None: it was named)."""

    scope: Scope
    found: Resolution | None
    cwd: Path


def bind(vault: Vault, cwd: Path, *, home: Path, project: str | None, actor: str | None) -> Binding:
    """The scope for a server that was started in `cwd`.

    Args:
        vault: the vault.
        cwd: the client's working folder.
        home: the person's home folder, which is no project.
        project: named by the caller: a slug, `global`, or `*` for everything; None: found by the working folder.
        actor: see only this actor's memories; `*` all; None those without one.
    """
    whose = ANY if actor == "*" else actor
    if project is not None:
        named = ANY if project == "*" else None if project == "global" else project
        return Binding(Scope(named, whose), None, cwd)
    found = project_here(vault.root, cwd, home=home)
    if found.status == "new":
        vault.refresh()
        found = without_squatting(found, vault.catalog, vault.clock())
    return Binding(Scope(found.slug, whose), found, cwd)


def without_squatting(found: Resolution, catalog: Catalog, now: datetime) -> Resolution:
    """`found`, unless it is new and its name is one that memories bear already: a repository chooses its own name."""
    if found.status != "new" or found.slug is None:
        return found
    if not catalog.page(Filter(project=found.slug, expired=None), Scope(ANY, ANY), now=now, limit=1).total:
        return found
    apart = f"{found.slug}-{hashlib.sha256(found.identity.encode()).hexdigest()[:6]}"
    reason = f"there are memories of a project {found.slug} that no repository is bound to"
    return replace(found, status="untrusted", slug=apart, claims=found.slug, learn=(), reason=reason)


def list_project(vault: Vault, binding: Binding, *, agent: str | None, session: str | None) -> bool:
    """Write the project into the vault's list, before the first memory is stored in it, when it is not there yet.

    The change is committed like a note's. An untrusted repository is never listed: a person binds it.

    Returns:
        True when the list was changed.

    Raises:
        VaultError: it could not be written; then nothing may be stored either.
    """
    found = binding.found
    if found is None or found.slug is None or found.status == "untrusted" or not found.learn:
        return False
    from vault_memory.files.queue import Change
    from vault_memory.files.repository import repository_facts
    from vault_memory.harness.edits import execute
    from vault_memory.harness.project_edits import plan_bind
    from vault_memory.harness.projects import PROJECTS_FILE

    plan = plan_bind(vault.root, found.slug, repository_facts(binding.cwd))
    if plan.before == plan.after:
        return False
    execute([plan])
    now = vault.clock()
    why = f"the project {found.slug} and its repository"
    operation = f"project-{vault.ids.next(now)}"
    change = Change(PROJECTS_FILE.as_posix(), plan.before, plan.after, operation, now, agent, session, why)
    vault.commits.record([change])
    return True
