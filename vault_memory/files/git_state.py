"""Tells when a commit of ours would harm: an operation of the person in progress, a detached HEAD, a held index.

Owns looking; it must not change anything, except for removing a left-over index.lock when asked to.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from msgspec import Struct

from vault_memory.files.git import Repository

INDEX_LOCK: Final = "index.lock"
LEFT_OVER_SECONDS: Final = 600.0
BLIND_SECONDS: Final = 86_400.0
_MARKS: Final = (
    ("rebase-merge", "a rebase is in progress"),
    ("rebase-apply", "a rebase or am is in progress"),
    ("MERGE_HEAD", "a merge is in progress"),
    ("CHERRY_PICK_HEAD", "a cherry-pick is in progress"),
    ("REVERT_HEAD", "a revert is in progress"),
    ("sequencer", "a cherry-pick or revert is in progress"),
    ("BISECT_LOG", "a bisect is in progress"),
)


class IndexLock(Struct, frozen=True):
    """An `index.lock`: how old it is, and whether it looks left over by a git that died."""

    path: Path
    age_seconds: float
    left_over: bool
    seen: tuple[int, int]
    """Inode and mtime_ns, so that only the very file that was judged is ever removed."""


def operation_in_progress(repository: Repository) -> str:
    """Why HEAD must be left alone just now ('a merge is in progress', 'HEAD is detached'); '' when nothing is."""
    for mark, reason in _MARKS:
        if (repository.folder / mark).exists():
            return reason
    head = repository.head()
    if head.branch is None:
        return "HEAD is detached"
    return ""


def index_lock(repository: Repository, now: float) -> IndexLock | None:
    """The lock on the person's index, None when nobody holds it.

    It counts as left over when it is older than LEFT_OVER_SECONDS and no git process works in the repository, or, where
    processes cannot be seen, when it is older than a day.

    Args:
        now: seconds since the epoch.
    """
    path = repository.folder / INDEX_LOCK
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    age = max(0.0, now - stat.st_mtime)
    runs = _git_runs_in(repository.top) if age > LEFT_OVER_SECONDS else True
    left_over = age > BLIND_SECONDS if runs is None else not runs
    return IndexLock(path, age, left_over, (stat.st_ino, stat.st_mtime_ns))


def remove_left_over(lock: IndexLock) -> bool:
    """Remove a lock that was judged left over; False when it was not, or is not the same file any more."""
    try:
        stat = lock.path.stat()
        if not lock.left_over or (stat.st_ino, stat.st_mtime_ns) != lock.seen:
            return False
        lock.path.unlink()
    except FileNotFoundError:
        return False
    return True


def _git_runs_in(top: Path) -> bool | None:
    """True when a git process works inside the folder; None where processes cannot be seen.

    The lock itself need not be open: `git commit -a` closes it and keeps it while the editor waits for a message.
    """
    processes = Path("/proc")
    if not (processes / "self" / "cwd").exists():
        return None
    for process in processes.glob("[0-9]*"):
        try:
            name = (process / "comm").read_text("utf-8", "replace").strip()
            if name.startswith("git") and (process / "cwd").readlink().is_relative_to(top):
                return True
        except OSError:
            continue  # gone meanwhile, or another user's
    return False
