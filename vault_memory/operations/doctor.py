"""doctor: look at every part of the vault, say what is wrong and how to mend it, and mend what is safe to mend."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import Field

from vault_memory.operations.context import Context
from vault_memory.operations.request import Request

Level = Literal["problem", "notice"]


class Doctor(Request):
    """Check notes, indexes, watcher, git, locks and places."""

    fix: bool = Field(False, description="Mend what can be mended without touching a note.")
    add_ids: bool = Field(False, description="Give every note an id (changes notes; a person must ask for it).")
    thorough: bool = Field(False, description="Read the indexes through and compare them with the catalog.")


@dataclass(frozen=True, slots=True)
class Check:
    """One observation; `fix` says how to mend it, `fixed` that it was mended now."""

    area: str
    level: Level
    detail: str
    fix: str = ""
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything observed, in the order of the areas; healthy when no problem is left."""

    checks: tuple[Check, ...]
    healthy: bool

    @property
    def exit_code(self) -> int:
        """3 when a problem is left: some parts failed."""
        return 0 if self.healthy else 3


def doctor(ctx: Context, request: Doctor) -> Diagnosis:
    """Run all checks, and with `fix` mend what they find.

    Raises:
        VaultNotFound: the vault's folder is gone.
    """
    checks = tuple(check for area in _AREAS for check in area(ctx, request))
    return Diagnosis(checks, all(check.fixed or check.level == "notice" for check in checks))


def _notes(ctx: Context, request: Doctor) -> Iterator[Check]:
    ctx.vault.look(None)
    for at in ctx.vault.catalog.findings(ctx.scope):
        where = f"{at.path}:{at.finding.line}" if at.finding.line else at.path
        yield Check("notes", "problem", f"{where}: {at.finding.reason}", _NOTE_FIXES.get(at.finding.code, ""))
    if request.add_ids:
        yield _ids_added(ctx)


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
        yield Check("index", "problem", f"{left} notes are not searchable yet", "vault-memory reindex --missing")
    elif status.underived:
        yield Check("index", "problem", f"{status.underived} notes were not searchable", fixed=True)
    if request.thorough or request.fix:
        before = indexes.status().state
        indexes.applier.check()
        after = indexes.status().state
        if (before.text_epoch, before.vector_epoch) != (after.text_epoch, after.vector_epoch) and before.applied_text:
            yield Check("index", "problem", "an index differed from the catalog and was made anew", fixed=True)
    elif status.state.pending:
        yield Check("index", "notice", f"{status.state.pending} changes wait to be applied; searches see them all")


def _now(ctx: Context) -> str:
    from vault_memory.index.derive import fingerprint

    return fingerprint(ctx.vault.indexes.embedder())


def _watcher(ctx: Context, request: Doctor) -> Iterator[Check]:
    lease = ctx.vault.lease.state()
    if lease is None:
        yield Check("watcher", "notice", "no watcher runs; questions look at the disk themselves", "vault-memory watch")
    elif ctx.vault.catalog.meta("watcher_mode") not in ("watching", "starting"):
        mode, detail = ctx.vault.catalog.meta("watcher_mode"), ctx.vault.catalog.meta("watcher_detail")
        yield Check("watcher", "problem", f"the watcher is {mode}: {detail}", "raise fs.inotify.max_user_watches")


def _git(ctx: Context, request: Doctor) -> Iterator[Check]:
    from vault_memory.files.git_setup import merge_driver_problem, set_up_merge_driver

    commits = ctx.vault.commits
    if commits.refusal:
        yield Check("git", "notice", f"no commits: {commits.refusal}; replaced texts are kept in state/versions")
        return
    if request.fix:
        commits.flush()
    if waiting := commits.waiting:
        yield Check("git", "problem", f"{len(commits.queue)} changes wait to be committed: {waiting}")
    repository = ctx.vault.git.repository
    if repository is not None and (problem := merge_driver_problem(repository)):
        fixed = request.fix and set_up_merge_driver(repository)
        yield Check("git", "problem", problem, "vault-memory doctor --fix", fixed)
    if repository is not None and repository.identity() is None:
        yield Check("git", "notice", "git knows no name and mail; commits are made as vault-memory")


def _places(ctx: Context, request: Doctor) -> Iterator[Check]:
    place = ctx.vault.folders.place
    if place is not None:
        where = f"index: {ctx.vault.folders.index}, state: {ctx.vault.folders.state}"
        yield Check("places", "notice", f"the vault lies on {place.service}; {where}")


def _times(ctx: Context, request: Doctor) -> Iterator[Check]:
    from vault_memory.memory.filter import Filter

    future = ctx.vault.catalog.page(Filter(created_after=ctx.now), ctx.scope, now=ctx.now, limit=5)
    if future.total:
        names = ", ".join(row.memory.path for row in future.items)
        yield Check("notes", "notice", f"{future.total} notes claim a time to come (they count as new): {names}")


_AREAS: Final[tuple[Callable[[Context, Doctor], Iterator[Check]], ...]] = (
    _notes, _times, _indexes, _watcher, _git, _places,
)  # fmt: skip
