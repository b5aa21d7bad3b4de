"""Times of a memory: their sortable text and the rule by which a note's effective times follow from what is known.

Pure: the front matter's statement, the file's mtime and what git knows are passed in.
"""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec import Struct


class Provenance(Struct, frozen=True):
    """What version control knows about one note. `Provenance()` is a note outside any repository."""

    in_repository: bool = False
    clean: bool = False
    """Tracked, and the bytes are those of HEAD."""
    first_commit_at: datetime | None = None
    last_commit_at: datetime | None = None
    """Author dates of the first and last commit that touched the path."""


def effective_times(
    created_at: datetime | None, updated_at: datetime | None, mtime: datetime, provenance: Provenance
) -> tuple[datetime, datetime]:
    """(created_at, updated_at) of a note, by the rule 'Times' of the note format.

    A clean tracked note answers by its bytes and HEAD alone, so a fresh clone does not look modified today.

    Args:
        created_at, updated_at: what the front matter states.
        mtime: of the file.
        provenance: what version control knows.
    """
    created = created_at or provenance.first_commit_at or mtime
    if not provenance.in_repository:
        return created, updated_at or mtime
    changed = (provenance.last_commit_at or mtime) if provenance.clean else mtime
    return created, max(updated_at, changed) if updated_at else changed


def time_of_ns(mtime_ns: int) -> datetime:
    """A file time as UTC, rounded down to microseconds; times no calendar holds become the nearest it does."""
    seconds, rest = divmod(mtime_ns, 1_000_000_000)
    try:
        return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest // 1000)
    except (OverflowError, ValueError, OSError):
        return datetime.max.replace(tzinfo=UTC) if seconds > 0 else datetime.min.replace(tzinfo=UTC)


def time_text(value: datetime) -> str:
    """`YYYY-MM-DDTHH:MM:SS.ffffffZ`: fixed width, so texts sort as the times do."""
    if value.tzinfo is not UTC:
        value = value.astimezone(UTC)
    return value.isoformat(timespec="microseconds")[:26] + "Z"


def time_of_text(text: str) -> datetime:
    """The inverse of `time_text`."""
    return datetime.fromisoformat(text)
