"""status and stats: how the vault is doing, and what is in it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from vault_memory.index.stats import Stats as Counts
from vault_memory.operations.context import Context
from vault_memory.operations.request import Request


class Status(Request):
    """How the vault and its indexes are doing.

    The exit code is 0 whatever it finds; that of doctor tells of problems.
    """


class Stats(Request):
    """Counts of what the caller sees."""


class StatusReport(Struct, frozen=True):
    """The vault at a glance; `warnings` say what a person should look at."""

    root: str
    notes: int
    findings: tuple[dict[str, Any], ...]
    index: dict[str, Any]
    watcher: dict[str, Any]
    git: dict[str, Any]
    folders: dict[str, str]
    warnings: tuple[str, ...]
    clients: dict[str, str] = field(default_factory=dict)
    """Connected coding agents, as far as the surface knows them."""


def status(ctx: Context, request: Status) -> StatusReport:
    """Look at the disk once and report; starts nothing and mends nothing."""
    vault = ctx.vault
    freshness = vault.refresh()
    found = [
        {"path": at.path, "code": at.finding.code, "line": at.finding.line, "reason": at.finding.reason}
        for at in vault.catalog.findings(ctx.scope)
    ]
    warnings = [*freshness.warnings]
    if found:
        warnings.append(f"{len(found)} findings about notes; doctor explains them")
    place = vault.folders.place
    if place is not None:
        warnings.append(f"the vault lies on {place.service}: index and state are kept in your own folders")
    return StatusReport(
        root=str(vault.root),
        notes=vault.catalog.stats(ctx.scope, now=ctx.now).total,
        findings=tuple(found),
        index=_index(ctx, freshness.unread),
        watcher=_watcher(ctx, freshness.watched),
        git=_git(ctx),
        folders={"index": str(vault.folders.index), "state": str(vault.folders.state)},
        warnings=tuple(warnings),
    )


def stats(ctx: Context, request: Stats) -> Counts:
    """Counts by type, status, project, actor, tag and domain of what the caller sees."""
    ctx.vault.refresh()
    return ctx.vault.catalog.stats(ctx.scope, now=ctx.now)


def _index(ctx: Context, unread: int) -> dict[str, Any]:
    catalog = ctx.vault.catalog
    return {
        "generation": catalog.generation,
        "applied": {name: catalog.meta(f"applied_{name}") for name in ("text", "vectors", "lancedb")},
        "fingerprint": catalog.meta("fingerprint"),
        "to_read": unread,
        "to_derive": catalog.underived_count(),
    }


def _watcher(ctx: Context, running: bool) -> dict[str, Any]:
    lease, catalog = ctx.vault.lease.state(), ctx.vault.catalog
    if not running or lease is None:
        return {"running": running}
    return {
        "running": True,
        "process": lease.pid,
        "mode": catalog.meta("watcher_mode"),
        "detail": catalog.meta("watcher_detail"),
        "clean": bool(lease.clean_ns),
    }


def _git(ctx: Context) -> dict[str, Any]:
    from vault_memory.errors import NotAllowed
    from vault_memory.files.githooks import installed

    commits, repository = ctx.vault.commits, ctx.vault.git.repository
    try:
        hooks = repository is not None and bool(installed(repository))
    except NotAllowed:  # in a folder that is not this repository's
        hooks = False
    return {"queued": len(commits.queue), "waiting": commits.waiting, "hooks": hooks}
