"""doctor: look at every part of the vault, say what is wrong and how to mend it, and mend what is safe to mend."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from vault_memory.errors import StorageError
from vault_memory.operations.checks import Check, Diagnosis, Doctor
from vault_memory.operations.context import Context
from vault_memory.operations.doctor_git import git
from vault_memory.operations.doctor_secrets import secrets

__all__ = ["Check", "Diagnosis", "Doctor", "doctor"]


def doctor(ctx: Context, request: Doctor) -> Diagnosis:
    """Run all checks, and with `fix` mend what they find.

    Raises:
        VaultNotFound: the vault's folder is gone.
    """
    return Diagnosis.of(tuple(check for area in _AREAS for check in area(ctx, request)))


def _notes(ctx: Context, request: Doctor) -> Iterator[Check]:
    vault = ctx.vault
    try:
        leftovers = vault.look(None).leftovers
    except StorageError as error:
        fix = "make it readable, or leave it out: notes.ignore in .vault-memory/config.toml"
        yield Check("notes", "problem", error.detail, fix)
        leftovers = ()
    yield from _leftovers(ctx, leftovers)
    found = vault.catalog.findings(ctx.scope)
    for at in found:
        where = f"{at.path}:{at.finding.line}" if at.finding.line else at.path
        yield Check("notes", "problem", f"{where}: {at.finding.reason}", _NOTE_FIXES.get(at.finding.code, ""))
    if not found:
        yield Check("notes", "ok", f"{vault.catalog.stats(ctx.scope, now=ctx.now).total} notes, nothing odd about them")
    if request.add_ids:
        yield _ids_added(ctx)


def _leftovers(ctx: Context, leftovers: tuple[str, ...]) -> Iterator[Check]:
    """Hidden files of killed writers, which a look puts right unless somebody writes just then."""
    left = [path for path in leftovers if (ctx.vault.root / path).exists()]
    if left:
        yield Check("notes", "notice", f"{len(left)} hidden files of a writer that is at work or was killed: {left[0]}")
    elif leftovers:
        yield Check("notes", "notice", f"put right what a killed writer left ({len(leftovers)} files)", fixed=True)


_NOTE_FIXES: Final = {
    "conflict_markers": "resolve the conflict in an editor",
    "duplicate_id": "delete one of them, or remove the id line from the copy",
    "conflict_copy": "merge what you want to keep into the note, then delete the copy",
    "malformed_yaml": "correct the front matter in an editor",
}


def _ids_added(ctx: Context) -> Check:
    from vault_memory.batch import Why
    from vault_memory.errors import VaultError
    from vault_memory.operations.read import all_statuses

    given = 0
    rows = [r for r in ctx.vault.catalog.select(all_statuses(), ctx.scope, now=ctx.now) if r.memory.id is None]
    with ctx.vault.write(Why("add_ids", ctx.agent, ctx.session), ctx.now) as batch:
        for row in rows:
            try:
                batch.patch(row.memory.path, {"id": ctx.vault.ids.next(ctx.now)}, stamp=False)
                given += 1
            except VaultError as error:
                batch.warnings.append(f"{row.memory.path}: {error.detail}")
    return Check("notes", "notice", f"gave {given} of {len(rows)} notes an id", fixed=True)


def _indexes(ctx: Context, request: Doctor) -> Iterator[Check]:
    indexes = ctx.vault.indexes
    status = indexes.status()
    if status.model_problem:
        yield Check("index", "problem", status.model_problem, "set another model, or remove index.model")
    stale = bool(status.model) and status.fingerprint not in ("", status.model) and status.fingerprint != _now(ctx)
    left = ctx.vault.derive_pending() if request.fix else status.underived
    if left or stale:
        yield Check("index", "notice", f"{left} notes are made searchable by the next search", "vault-memory reindex")
    elif status.underived:
        yield Check("index", "notice", f"{status.underived} notes were made searchable", fixed=True)
    if request.thorough or request.fix:
        before = indexes.status().state
        indexes.applier.check()
        after = indexes.status().state
        if (before.text_epoch, before.vector_epoch) != (after.text_epoch, after.vector_epoch) and before.applied_text:
            yield Check("index", "problem", "an index differed from the catalog and was made anew", fixed=True)
    elif status.state.pending:
        yield Check("index", "ok", f"{status.state.pending} changes wait to be applied; searches see them all")
    else:
        yield Check("index", "ok", f"{status.state.chunk_count} passages, all applied")


def _now(ctx: Context) -> str:
    from vault_memory.index.derive import fingerprint

    return fingerprint(ctx.vault.indexes.embedder())


def _watcher(ctx: Context, request: Doctor) -> Iterator[Check]:
    lease = ctx.vault.lease.state()
    if lease is None:
        yield Check("watcher", "ok", "none runs: questions look at the disk themselves (vault-memory watch follows it)")
    elif ctx.vault.catalog.meta("watcher_mode") not in ("watching", "starting"):
        mode, detail = ctx.vault.catalog.meta("watcher_mode"), ctx.vault.catalog.meta("watcher_detail")
        fix = "raise fs.inotify.max_user_watches" if mode == "polling" else ""
        yield Check("watcher", "problem", f"the watcher is {mode}: {detail}", fix)
    else:
        yield Check("watcher", "ok", f"process {lease.pid} follows changes by hand")


def _places(ctx: Context, request: Doctor) -> Iterator[Check]:
    place = ctx.vault.folders.place
    if place is not None:
        where = f"index: {ctx.vault.folders.index}, state: {ctx.vault.folders.state}"
        yield Check("places", "notice", f"the vault lies on {place.service}; {where}")
    else:
        yield Check("places", "ok", f"{ctx.vault.root}, on this machine's own disk")


def _times(ctx: Context, request: Doctor) -> Iterator[Check]:
    from vault_memory.memory.filter import Filter

    future = ctx.vault.catalog.page(Filter(created_after=ctx.now), ctx.scope, now=ctx.now, limit=5)
    if future.total:
        names = ", ".join(row.memory.path for row in future.items)
        yield Check("notes", "notice", f"{future.total} notes claim a time to come (they count as new): {names}")


_AREAS: Final[tuple[Callable[[Context, Doctor], Iterator[Check]], ...]] = (
    _notes, _times, secrets, _indexes, _watcher, git, _places,
)  # fmt: skip
