"""What every format reads into: records on their way in, and the small conversions that all of them share. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from msgspec import Struct, field

from vault_memory.memory.ids import is_id
from vault_memory.memory.model import EMPTY, MEMORY_TYPES

NUMBER_LIMIT: Final = 253402300799.0
"""The last second of the year 9999: larger numbers are milliseconds."""


class BadRecord(ValueError):
    """A record that holds no memory; the text says why."""


class NotThisFormat(ValueError):
    """The text or folder is not in this format at all; the text says why."""


class Usage(Struct, frozen=True):
    """How a memory was used where it comes from."""

    last_accessed_at: datetime | None = None
    access_count: int = 0


UNUSED: Final = Usage()


class Earlier(Struct, frozen=True):
    """A text that the memory had before, until `replaced_at`."""

    content: str
    replaced_at: datetime
    note: str = ""


class Incoming(Struct, frozen=True):
    """One memory on its way in.

    `raw` are the exact bytes of a note; without them `fields`, `content`, `relations` and `metadata` describe one.
    `relations` lead to other records by id. `name` says which record it is, in reports.
    """

    name: str
    fields: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    content: str = ""
    relations: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: EMPTY)
    relation_notes: tuple[tuple[str, str, str], ...] = ()
    """(relation type, id of the target, what was noted)."""
    metadata: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    usage: Usage = UNUSED
    earlier: tuple[Earlier, ...] = ()
    path: str | None = None
    raw: bytes | None = None


class Unreadable(Struct, frozen=True):
    """A record that could not be read, and why; the others are none the worse."""

    name: str
    reason: str


class Attachment(Struct, frozen=True):
    """A file that notes link to."""

    path: str
    data: bytes


class Bundle(Struct, frozen=True):
    """All that a source holds, in its order."""

    format: str
    records: tuple[Incoming | Unreadable, ...]
    attachments: tuple[Attachment, ...] = ()
    warnings: tuple[str, ...] = ()


class Outgoing(Struct, frozen=True):
    """One memory on its way out: its parsed note, the note's exact bytes, usage, and the ids its relations lead to."""

    memory: Any
    data: bytes
    usage: Usage = UNUSED
    targets: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: EMPTY)


def each(items: Iterable[Any], read: Any, names: Sequence[str] = ("id", "uid", "name")) -> tuple[Any, ...]:
    """Every item read by `read(item, name)`; one that cannot be read becomes `Unreadable` and stops no other."""
    found: list[Incoming | Unreadable] = []
    for number, item in enumerate(items, 1):
        name = _name_of(item, number, names)
        try:
            if not isinstance(item, Mapping):
                raise BadRecord("is no object")
            found.append(read(item, name))
        except BadRecord as error:
            found.append(Unreadable(name, str(error)))
    return tuple(found)


def _name_of(item: Any, number: int, names: Sequence[str]) -> str:
    for key in names:
        if isinstance(item, Mapping) and isinstance(item.get(key), (str, int)):
            return str(item[key])
    return f"record {number}"


def present(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that say something."""
    return {name: value for name, value in fields.items() if value not in (None, "", (), [])}


def id_of(value: Any) -> str:
    """The id a note carries for a foreign one: itself where it can, else a name made from it, always the same.

    Raises:
        BadRecord: there is none.
    """
    if value in (None, "") or isinstance(value, (bool, Mapping, list)):
        raise BadRecord("has no id")
    return str(value) if is_id(str(value)) else hashlib.sha256(str(value).encode()).hexdigest()[:16]


def content_of(record: Mapping[str, Any], key: str = "content") -> str:
    """The text of a record.

    Raises:
        BadRecord: it is missing, blank or no text.
    """
    value = record.get(key)
    if not isinstance(value, str) or not value.strip():
        raise BadRecord(f"'{key}' is missing or blank")
    return value


def type_of(value: Any, default: str) -> tuple[str, dict[str, Any]]:
    """The memory type for a foreign one, and the metadata that keeps a word we do not know."""
    if not value:
        return default, {}
    return (str(value), {}) if value in MEMORY_TYPES else (default, {"original_type": str(value)})


def time_of(value: Any, key: str = "time") -> datetime | None:
    """A time given as ISO 8601 text or as a number of seconds or milliseconds; without a zone it is UTC.

    Raises:
        BadRecord: it is no time.
    """
    if value in (None, ""):
        return None
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            seconds = value / 1000 if abs(value) > NUMBER_LIMIT else value
            return datetime.fromtimestamp(seconds, UTC)
        moment = datetime.fromisoformat(str(value))
    except (ValueError, OverflowError, OSError):
        raise BadRecord(f"'{key}' is no time: {value!r}") from None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def unit_of(value: Any, key: str, *, low: float = 0.0) -> float | None:
    """A number from `low` to 1; None when it is not given.

    Raises:
        BadRecord: it is no such number.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= 1:
        raise BadRecord(f"'{key}' must be a number from {low:g} to 1, not {value!r}")
    return float(value)


def words_of(value: Any, key: str) -> list[str]:
    """A list of texts, given as a list or as comma text; doubles and blanks are left out.

    Raises:
        BadRecord: it is something else.
    """
    if value in (None, ""):
        return []
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, (list, tuple)) or not all(isinstance(item, (str, int, float)) for item in items):
        raise BadRecord(f"'{key}' must be a list of texts")
    return list(dict.fromkeys(text for item in items if (text := str(item).strip())))


def text_time(value: datetime | None) -> str | None:
    """ISO 8601 in UTC with `Z`; None for none."""
    return None if value is None else value.astimezone(UTC).isoformat().replace("+00:00", "Z")
