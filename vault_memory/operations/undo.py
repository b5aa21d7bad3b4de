"""undo: the bytes before an operation or a session, as one new commit. A later edit is named, never overwritten."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from msgspec import Struct
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


class Conflict(Struct, frozen=True):
    """A note that was left as it is, and why."""

    path: str
    reason: str


class Undone(Struct, frozen=True):
    """What was taken back (or would be): `operation` is the undo's own id, by which it can be undone in turn."""

    outcome: str
    operation: str | None
    restored: tuple[str, ...]
    removed: tuple[str, ...]
    conflicts: tuple[Conflict, ...]
    warnings: tuple[str, ...] = ()


class _Step(Struct, frozen=True):
    """One write of one path, by revisions; None where there was or is no file."""

    path: str
    before: str | None
    after: str | None


class _Change(Struct, frozen=True):
    """What became of one path: the bytes before the first step (None: no file), the revision after the last one."""

    path: str
    before: bytes | None
    after: str | None
    reason: str = ""
    """Why it cannot be undone, known before anybody looks at the file."""


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
            ctx.vault.keep(change.path, batch.read(change.path), ctx.now)
            batch.remove(change.path)
    for change in changes:
        if change.before is not None and change.after is not None:
            batch.replace(change.path, change.before)
        elif change.before is not None:
            batch.add(change.path, change.before)


def _conflict(ctx: Context, change: _Change) -> Conflict | None:
    if change.reason:
        return Conflict(change.path, change.reason)
    now = _current(ctx, change.path)
    if (None if now is None else revision_of(now)) == change.after:
        return None
    if now is None:
        return Conflict(change.path, "it is gone by now")
    return Conflict(change.path, "it was changed since" if change.after is not None else "another note stands there")


def _current(ctx: Context, path: str) -> bytes | None:
    return ctx.vault.store.read(path) if ctx.vault.store.exists(path) else None


def _seen(ctx: Context, change: _Change) -> bool:
    """Whether the caller sees the note as it was before and as it is: nothing leaves or enters its scope."""
    states = [data for data in (change.before, _current(ctx, change.path)) if data is not None]
    return bool(states) and all(ctx.scope.owns(ctx.vault.parse(data, change.path)) for data in states)


def _changes(ctx: Context, request: Undo) -> list[_Change]:
    """What was changed, by path: steps from this machine's audit log and from commits, texts from wherever they are."""
    texts: dict[str, bytes] = {}
    audited = _from_audit(ctx, request)
    known = {step.path for step in audited}
    steps = [*audited, *(step for step in _from_git(ctx, request, texts) if step.path not in known)]
    chains: dict[str, list[_Step]] = {}
    for step in steps:
        chains.setdefault(step.path, []).append(step)
    found = (_change(ctx, chains[path], texts, list(chains)) for path in sorted(chains))
    return [change for change in found if change is not None]


def _change(ctx: Context, chain: list[_Step], texts: dict[str, bytes], paths: list[str]) -> _Change | None:
    path, first, last = chain[0].path, chain[0].before, chain[-1].after
    if first == last:
        return None
    torn = any(later.before != earlier.after for earlier, later in pairwise(chain))
    before = None if first is None else texts.get(first) or _kept(ctx, first, paths)
    if first is not None and before is None:
        return _Change(path, None, last, "its text before is kept nowhere")
    return _Change(path, before, last, "others wrote to it in between" if torn else "")


def _kept(ctx: Context, revision: str, paths: list[str]) -> bytes | None:
    """The bytes of a revision: a kept version or the present text of one of the paths (a move changes only paths)."""
    for path in paths:
        kept = ctx.vault.versions.get(path, revision)
        if kept is None and (now := _current(ctx, path)) is not None and revision_of(now) == revision:
            kept = now
        if kept is not None:
            return kept
    return None


def _from_git(ctx: Context, request: Undo, texts: dict[str, bytes]) -> list[_Step]:
    """The steps that commits tell of, oldest first; their texts go into `texts` by revision."""
    from vault_memory.files.history_undo import steps_of_operation, steps_of_session

    repository = ctx.vault.git.repository
    if repository is None:
        return []
    if request.operation is not None:
        steps = steps_of_operation(repository, request.operation)
    else:
        steps = steps_of_session(repository, request.session or "")
    found = []
    for step in reversed(steps):
        revisions = [None if data is None else revision_of(data) for data in (step.before, step.after)]
        texts |= {revision_of(data): data for data in (step.before, step.after) if data is not None}
        found.append(_Step(step.path, *revisions))
    return found


def _from_audit(ctx: Context, request: Undo) -> list[_Step]:
    """The steps that the audit log tells of, oldest first."""
    key, wanted = ("id", request.operation) if request.operation is not None else ("session", request.session)
    return [
        _Step(entry["path"], entry.get("before"), entry.get("after"))
        for entry in ctx.vault.audit.entries()
        if entry.get(key) == wanted and isinstance(entry.get("path"), str)
    ]


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
