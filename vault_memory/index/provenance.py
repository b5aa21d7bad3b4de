"""What git knows of notes, for their effective times: clean or not, first and last commit. Asked only when needed.

Owns the bridge from `files/` (one tree listing and one pass over the log for each HEAD) to `memory.times.Provenance`.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from vault_memory.memory.times import Provenance

if TYPE_CHECKING:
    from vault_memory.files.git import Repository
    from vault_memory.files.git_tracked import Tracked
    from vault_memory.files.history_dates import DateMap


class Provenances(Protocol):
    """Judges notes by one commit."""

    @property
    def head(self) -> str:
        """The commit that notes are judged by now; "" without a repository, "none" before its first commit."""

    def of(self, path: str, data: bytes) -> Provenance:
        """What is known of the note at `path`, whose bytes are `data`."""

    def changed_since(self, head: str) -> Collection[str] | None:
        """The paths whose provenance may differ from that of an earlier `head`; None for all."""

    def settle(self) -> str:
        """Count `changed_since` from here; what to hand to the next object of this kind, to go on from here."""


class NoRepository:
    """The provenance of notes in a folder that git does not know."""

    head = ""

    def of(self, path: str, data: bytes) -> Provenance:
        """Nothing is known."""
        return Provenance()

    def changed_since(self, head: str) -> Collection[str] | None:
        """Nothing has changed, unless there was a repository before."""
        return None if head else ()

    def settle(self) -> str:
        """Nothing to hand on."""
        return ""


class GitProvenance:
    """The provenance of notes in a repository, judged by its HEAD at the time of each question about `head`.

    Args:
        repository: the repository of the vault.
        settled: what `settle()` gave at an earlier HEAD; "" to begin anew.
    """

    def __init__(self, repository: Repository, settled: str = "") -> None:
        self._repository = repository
        self._settled = settled
        self._tracked: Tracked | None = None
        self._dates: DateMap | None = None

    @property
    def head(self) -> str:
        """HEAD's commit as it is now."""
        return self._repository.head().commit or "none"

    def of(self, path: str, data: bytes) -> Provenance:
        """Clean when the bytes are HEAD's; dates are author dates."""
        from vault_memory.files.git_tracked import read_tracked

        self._tracked = read_tracked(self._repository, self._tracked)
        found = self._read_dates().of(path)
        return Provenance(
            in_repository=True,
            clean=self._tracked.state(path, data) == "clean",
            first_commit_at=datetime.fromtimestamp(found.first, UTC) if found else None,
            last_commit_at=datetime.fromtimestamp(found.last, UTC) if found else None,
        )

    def changed_since(self, head: str) -> Collection[str] | None:
        """The paths that `head` holds otherwise or dates otherwise; None when that cannot be told any more."""
        from vault_memory.files.git import GitError
        from vault_memory.files.git_objects import differing
        from vault_memory.files.history_dates import DateMap

        before = DateMap.from_json(self._settled)
        if before.head is None or before.head != head:
            return None
        now = self._read_dates()
        if now.head is None:
            return None
        try:
            moved = differing(self._repository, head, now.head)
        except GitError:  # an amended or rebased commit that git has deleted by now
            return None
        return moved | {path for path in before.seen.keys() | now.seen.keys() if before.of(path) != now.of(path)}

    def settle(self) -> str:
        """The dates of all commits so far, as JSON."""
        self._settled = self._read_dates().to_json()
        return self._settled

    def _read_dates(self) -> DateMap:
        from vault_memory.files.history_dates import DateMap, read_dates

        known = self._dates or DateMap.from_json(self._settled)
        self._dates = read_dates(self._repository, known)
        return self._dates
