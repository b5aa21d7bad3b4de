"""undo: the bytes before an operation or a session, as one new commit. A later edit is named, never overwritten."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from vault_memory.batch import Batch
from vault_memory.errors import InvalidRequest, MemoryNotFound, RevisionConflict
from vault_memory.memory.model import revision_of
from vault_memory.operations.context import Context
from vault_memory.operations.refs import why
from vault_memory.operations.request import Request


class Undo(Request):
    """Take back what an operation or a session wrote."""

    operation: str | None = Field(
        None,
        description="The operation's id, as history shows it (remember-1ngv…).",
        json_schema_extra={"cli": {"positional": True}},
    )
    session: str | None = Field(None, description="Or a session: everything it wrote.")
    dry_run: bool = Field(False, description="Only say what would be undone.")
    reason: str | None = Field(None, max_length=2000, description="Why; goes to the history and the audit log.")


@dataclass(frozen=True, slots=True)
class Conflict:
    """A note that was left as it is, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Undone:
    """What was taken back (or would be): `operation` is the undo's own id, by which it can be undone in turn."""

    outcome: str
    operation: str | None
    restored: tuple[str, ...]
    removed: tuple[str, ...]
    conflicts: tuple[Conflict, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Change:
    """What became of one path: bytes before the first step and after the last; `torn` when others wrote in between."""

    path: str
    before: bytes | None
    after: bytes | None
    torn: bool = False


def undo(ctx: Context, request: Undo) -> Undone:
    """Bring back the bytes before an operation or a session, every note at once.

    Raises:
        InvalidRequest: neither or both of operation and session are named.
        MemoryNotFound: nothing is known of it, or nothing that the caller sees.
        RevisionConflict: every note of it was changed since; nothing was written.
    """
    if (request.operation is None) == (request.session is None):
        raise InvalidRequest.of("operation", "name either an operation or a session")
    ctx.vault.commits.flush()
    changes = [change for change in _changes(ctx, request) if _seen(ctx, change)]
    if not changes:
        raise MemoryNotFound(
            f"nothing is known of '{request.operation or request.session}'", hint="history shows operations"
        )
    if request.dry_run:
        conflicts = [clash for change in changes if (clash := _conflict(ctx, change)) is not None]
        return _result("planned", None, changes, conflicts)
    with ctx.vault.write(why(ctx, "undo", request.reason), ctx.now) as batch:
        conflicts = [clash for change in changes if (clash := _conflict(ctx, change)) is not None]
        clashing = {clash.path for clash in conflicts}
        if len(clashing) == len(changes):
            named = [{"path": clash.path, "reason": clash.reason} for clash in conflicts]
            raise RevisionConflict("every note was changed since; nothing was undone", conflicts=named)
        _take_back(ctx, batch, [change for change in changes if change.path not in clashing])
    return _result("undone", batch.id, changes, conflicts, tuple(batch.warnings))


def _take_back(ctx: Context, batch: Batch, changes: list[_Change]) -> None:
    """Removals first: a note that was moved must leave its new place before it is back in the old one."""
    for change in changes:
        if change.before is None and change.after is not None:
            ctx.vault.keep(change.path, change.after, ctx.now)
            batch.remove(change.path)
    for change in changes:
        if change.before is not None and change.after is not None:
            batch.replace(change.path, change.before)
        elif change.before is not None:
            batch.add(change.path, change.before)


def _conflict(ctx: Context, change: _Change) -> Conflict | None:
    if change.torn:
        return Conflict(change.path, "others wrote to it in between")
    now = ctx.vault.store.read(change.path) if ctx.vault.store.exists(change.path) else None
    if now == change.after:
        return None
    if now is None:
        return Conflict(change.path, "it is gone by now")
    return Conflict(change.path, "it was changed since" if change.after is not None else "another note stands there")


def _seen(ctx: Context, change: _Change) -> bool:
    """Whether the caller sees the note as it was before and as it was after: nothing leaves or enters its scope."""
    states = [ctx.vault.parse(data, change.path) for data in (change.before, change.after) if data is not None]
    return bool(states) and all(ctx.scope.owns(memory) for memory in states) and change.before != change.after


def _changes(ctx: Context, request: Undo) -> list[_Change]:
    """What was changed, by path, from git where commits tell it, else from the audit log and the kept versions."""
    steps = [*_from_audit(ctx, request), *_from_git(ctx, request)]
    found: dict[str, _Change] = {}
    for path, before, after in steps:
        if path not in found:
            found[path] = _Change(path, before, after)
        elif before == found[path].after:
            found[path] = _Change(path, found[path].before, after, found[path].torn)
        else:
            found[path] = _Change(path, found[path].before, after, torn=True)
    return [found[path] for path in sorted(found)]


_Step = tuple[str, bytes | None, bytes | None]


def _from_git(ctx: Context, request: Undo) -> list[_Step]:
    """The steps that commits tell of, oldest first; those the audit log of this machine knows are left to it."""
    from vault_memory.files.history_undo import steps_of_operation, steps_of_session

    repository = ctx.vault.git.repository
    if repository is None:
        return []
    if request.operation is not None:
        steps = steps_of_operation(repository, request.operation)
    else:
        steps = steps_of_session(repository, request.session or "")
    known = {path for path, _, _ in _from_audit(ctx, request)}
    return [(step.path, step.before, step.after) for step in reversed(steps) if step.path not in known]


def _from_audit(ctx: Context, request: Undo) -> list[_Step]:
    """The steps of the audit log whose texts are still to be had, oldest first."""
    key, wanted = ("id", request.operation) if request.operation is not None else ("session", request.session)
    steps = []
    broken = set()
    for entry in ctx.vault.audit.entries():
        if entry.get(key) != wanted or not isinstance(entry.get("path"), str):
            continue
        path = entry["path"]
        try:
            steps.append((path, _text(ctx, path, entry.get("before")), _text(ctx, path, entry.get("after"))))
        except LookupError:
            broken.add(path)
    return [step for step in steps if step[0] not in broken]


def _text(ctx: Context, path: str, revision: Any) -> bytes | None:
    """The bytes of a revision: the file itself, a kept version, or a commit.

    Raises:
        LookupError: nobody has them.
    """
    if revision is None:
        return None
    now = ctx.vault.store.read(path) if ctx.vault.store.exists(path) else None
    if now is not None and revision_of(now) == revision:
        return now
    kept = ctx.vault.versions.get(path, str(revision))
    if kept is None:
        raise LookupError(revision)
    return kept


def _result(
    outcome: str,
    operation: str | None,
    changes: Iterable[_Change],
    conflicts: list[Conflict],
    warnings: tuple[str, ...] = (),
) -> Undone:
    clashing = {clash.path for clash in conflicts}
    done = [change for change in changes if change.path not in clashing]
    restored = tuple(change.path for change in done if change.before is not None)
    removed = tuple(change.path for change in done if change.before is None)
    return Undone(outcome, operation, restored, removed, tuple(conflicts), warnings)
