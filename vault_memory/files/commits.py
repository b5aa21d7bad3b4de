"""Turns the queue of our writes into commits, when that harms nobody; otherwise the queue stays and says why.

Owns when to commit and in which order the steps go. What the commits are is commits_plan.py's, how they are made
commits_build.py's. It never writes a note and is never waited for under the vault lock.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from vault_memory.errors import PartialFailure, VaultError
from vault_memory.files.commits_build import advance, build, zero_id
from vault_memory.files.commits_plan import Known, Plan, plan
from vault_memory.files.git import Git, GitError, Repository
from vault_memory.files.git_attributes import Storage, storage
from vault_memory.files.git_head import Head
from vault_memory.files.git_index import refresh
from vault_memory.files.git_objects import TreeEntry, blob_of, entries
from vault_memory.files.git_state import index_lock, operation_in_progress
from vault_memory.files.lock import FileLock
from vault_memory.files.queue import Attempt, Change, CommitQueue, Queued

LOCK_FILE: Final = "commits.lock"
_PAUSES_SECONDS: Final = (0.02, 0.05, 0.1, 0.2, 0.4)
"""Between attempts when another committer was faster: git holds its locks for milliseconds."""

AutoCommit = Literal["auto", "on", "off"]
Keep = Callable[[Change, str], None]


class Flushed(Struct, frozen=True):
    """What a flush did: the new commits in order, how many changes are left, and why they wait ('' when none do)."""

    commits: tuple[str, ...] = ()
    left: int = 0
    waiting: str = ""


class _Busy(Exception):
    """Now is not the time; `args[0]` says why."""


class Commits:
    """The commits of one vault.

    Args:
        git: the vault's git.
        state: the state folder, which holds the queue and the lock that lets one process commit at a time.
        keep: called with a change that no commit of ours will hold and the reason, before it leaves the queue; its
            bytes, before and after, belong among the kept versions.
        auto_commit: `auto` commits unless the vault lies inside a bigger repository, `on` there too, `off` never.
        clock: seconds since the epoch, for the age of a left-over index.lock.
    """

    def __init__(
        self,
        git: Git,
        state: Path,
        keep: Keep,
        *,
        auto_commit: AutoCommit = "auto",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.queue: Final = CommitQueue(state)
        self._git = git
        self._lock = FileLock(state / LOCK_FILE)
        self._keep = keep
        self._auto = auto_commit
        self._clock = clock

    @property
    def refusal(self) -> str:
        """Why this vault's writes are not committed at all, so that replaced bytes must be kept; '' when they are."""
        if self._auto == "off":
            return "automatic commits are switched off"
        repository = self._git.repository
        if repository is None:
            return self._git.problem
        if not repository.own and self._auto != "on":
            where = f"{repository.top}" if repository.top != repository.root else f"{repository.folder}"
            return f"the vault belongs to the repository {where}; automatic commits there must be asked for"
        return ""

    @property
    def waiting(self) -> str:
        """Why a flush would not commit just now; '' when it would."""
        repository = self._git.repository
        return self.refusal or (self._busy(repository) if repository else "")

    def record(self, changes: Sequence[Change]) -> bool:
        """Queue what was just written; False when nothing will be committed and nothing was queued.

        Raises:
            PartialFailure: the queue cannot be written; the note itself is safe.
        """
        repository = self._git.repository
        if self.refusal or repository is None:
            return False
        try:
            self.queue.add(changes, _commit_now(repository))
        except (sqlite3.Error, OSError) as error:
            raise PartialFailure(f"saved, but not queued for a commit: {error}") from error
        return True

    def flush(self) -> Flushed:
        """Commit what is queued, as far as now is the time. Never raises for what git or the disk says: it tells."""
        made: list[str] = []
        try:
            waiting = self._flush(made)
            return Flushed(tuple(made), len(self.queue), waiting)
        except (sqlite3.Error, OSError, VaultError) as error:
            return Flushed(tuple(made), 0, f"the queue of commits cannot be used: {error}")

    def _flush(self, made: list[str]) -> str:
        repository = self._git.repository
        if not len(self.queue):
            return ""
        if self.refusal or repository is None:
            return self.refusal
        if not self._lock.try_acquire():
            return "another process is committing"
        try:
            return self._all_rounds(repository, made)
        finally:
            self._lock.release()

    def close(self) -> None:
        """Give up the queue's file. What is queued stays queued."""
        self.queue.close()

    def _all_rounds(self, repository: Repository, made: list[str]) -> str:
        pauses = iter(_PAUSES_SECONDS)
        while len(self.queue):
            try:
                made.extend(self._round(repository))
            except (_Busy, GitError) as problem:
                pause = next(pauses, None)
                if pause is None or self._stays_busy(repository):
                    return str(problem)
                time.sleep(pause)
        return ""

    def _busy(self, repository: Repository) -> str:
        if reason := operation_in_progress(repository):
            return reason
        lock = index_lock(repository, self._clock())
        if lock is None:
            return ""
        if lock.left_over:
            return f"{lock.path} was left over by a git that died {lock.age_seconds:.0f} s ago; doctor --fix removes it"
        return "another git holds index.lock"

    def _stays_busy(self, repository: Repository) -> bool:
        """True for what does not pass by itself in a moment."""
        lock = index_lock(repository, self._clock())
        return bool(operation_in_progress(repository)) or (lock is not None and lock.left_over)

    def _round(self, repository: Repository) -> tuple[str, ...]:
        """Commit one batch of the queue."""
        self._settle(repository)
        if reason := self._busy(repository):
            raise _Busy(reason)
        head = repository.head()
        queued = self.queue.oldest()
        if not queued or head.branch is None:
            return ()
        batch = _prepared(repository, head.commit, queued)
        commits: tuple[str, ...] = ()
        if batch.plan.commits:
            commits = self._commit(repository, head, batch, queued[-1].number)
        for change in batch.plan.overtaken:
            self._keep(change, "somebody committed the note over it")
        for change in batch.refused:
            self._keep(change, batch.storage.refused[change.path])
        self.queue.end(queued[-1].number)
        return commits

    def _commit(self, repository: Repository, head: Head, batch: _Batch, last: int) -> tuple[str, ...]:
        """Objects first, then the person's index, then the branch.

        Killed after the index, our change shows as staged, which is what it is; the other way round it would show as
        undone, and the person's next commit would undo it.
        """
        modes = {path: entry.mode for path, entry in batch.tracked.items()}
        identity = repository.identity()
        commits = build(repository, head.commit, batch.plan.commits, modes, identity)
        refresh(repository, batch.tracked, _outcome(repository, batch), zero_id(repository))
        if reason := self._busy(repository):
            raise _Busy(reason)
        if head.branch is None or repository.head() != head:
            raise _Busy("another committer was faster")
        self.queue.begin(Attempt(head.branch, commits[-1], last))
        advance(repository, head.branch, head.commit, commits[-1], identity)
        return commits

    def _settle(self, repository: Repository) -> None:
        """Find out how an attempt ended that was killed, before its entries are looked at again."""
        attempt = self.queue.attempt()
        if attempt:
            self.queue.end(attempt.last if _holds(repository, attempt.ref, attempt.tip) else 0)


class _Batch(Struct, frozen=True):
    plan: Plan
    tracked: Mapping[str, TreeEntry]
    storage: Storage
    refused: tuple[Change, ...]


def _commit_now(repository: Repository) -> str | None:
    """The commit HEAD is at; None also when it cannot be read: the plan then takes any commit for a newer one."""
    try:
        return repository.head().commit
    except GitError:
        return None


def _prepared(repository: Repository, base: str | None, queued: Sequence[Queued]) -> _Batch:
    """Ask git what it must know about these entries, and plan."""
    contents: dict[str, list[bytes | None]] = {}
    for entry in queued:
        contents.setdefault(entry.change.path, []).extend((entry.change.before, entry.change.after))
    tracked = entries(repository, base, contents)
    rules = storage(repository, tracked, contents)
    wanted = [_as_stored(entry, rules) for entry in queued if entry.change.path not in rules.refused]
    refused = tuple(entry.change for entry in queued if entry.change.path in rules.refused)
    return _Batch(plan(wanted, _known(repository, base, tracked, rules)), tracked, rules, refused)


def _known(repository: Repository, base: str | None, tracked: Mapping[str, TreeEntry], rules: Storage) -> Known:
    def then(commit: str | None, path: str) -> str | None:
        found = tracked if commit == base else entries(repository, commit, [path])
        return blob_of(found, path)

    def disk(path: str) -> str | None:
        file = repository.root / path
        if file.is_symlink() or not file.is_file():
            return None
        try:
            return repository.blob_id(rules.stored(path, file.read_bytes()))
        except OSError:
            return None

    return Known(repository.blob_id, lambda path: blob_of(tracked, path), then, disk)


def _as_stored(entry: Queued, rules: Storage) -> Queued:
    change = entry.change
    if change.path not in rules.normalised:
        return entry
    before = None if change.before is None else rules.stored(change.path, change.before)
    after = None if change.after is None else rules.stored(change.path, change.after)
    return replace(entry, change=replace(change, before=before, after=after))


def _outcome(repository: Repository, batch: _Batch) -> dict[str, TreeEntry | None]:
    """What the touched paths are in the last planned commit."""
    final: dict[str, bytes | None] = {}
    for commit in batch.plan.commits:
        final |= commit.files
    return {path: _entry(repository, batch.tracked.get(path), data) for path, data in final.items()}


def _entry(repository: Repository, old: TreeEntry | None, data: bytes | None) -> TreeEntry | None:
    return None if data is None else TreeEntry(old.mode if old else "100644", repository.blob_id(data))


def _holds(repository: Repository, ref: str, commit: str) -> bool:
    """True when the commit is in the history of the ref."""
    try:
        repository.run("merge-base", "--is-ancestor", commit, ref)
    except GitError:
        return False
    return True
