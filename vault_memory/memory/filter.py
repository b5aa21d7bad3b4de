"""Which memories a request asks for: one value, from which both the Python test and the SQL condition follow.

Pure. Each condition is one `Term` that holds its two forms side by side, and a property test holds them to agree.
Scope is not a filter: it says what exists for the caller, and is applied besides.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict

from vault_memory.errors import InvalidRequest
from vault_memory.memory.model import RESERVED_PROJECT, STATUSES, Memory
from vault_memory.memory.slug import fold
from vault_memory.memory.times import time_text
from vault_memory.memory.urls import site_of, url_key

VISIBLE: Final = tuple(status for status in STATUSES if status != "deleted")
"""The statuses that a list shows when none is asked for."""

TAG_SEPARATOR: Final = "\n"

SqlValue = str | float | int


class Term(Struct, frozen=True):
    """One condition: `holds(memory)` is true exactly for the rows of table `notes` where `sql` is true."""

    column: str
    sql: str
    params: tuple[SqlValue, ...]
    holds: Callable[[Memory], bool]


class Filter(Struct, frozen=True):
    """Conditions that must all hold; a field left at its default asks nothing, save `statuses` and `expired`.

    Text is compared exactly; `q` is literal text (no wildcards), compared without regard to case. Time bounds are
    half-open: `after` is included, `before` is not. Tags of the front matter and `#tags` of the body both count.
    """

    statuses: tuple[str, ...] = ()
    """None given: everything but deleted."""
    memory_types: tuple[str, ...] = ()
    tag: str | None = None
    tags: tuple[str, ...] = ()
    """At least one of them."""
    q: str | None = None
    """Contained in the content or in one of the front matter's tags."""
    project: str | None = None
    """`global`: memories without a project."""
    domain: str | None = None
    actor: str | None = None
    session: str | None = None
    agent: str | None = None
    source: str | None = None
    url: str | None = None
    """The same page, whatever the scheme, `www.` and tracking parameters."""
    site: str | None = None
    path: str | None = None
    """Contained in the vault path, case counts."""
    created_after: datetime | None = None
    created_before: datetime | None = None
    updated_after: datetime | None = None
    updated_before: datetime | None = None
    verification: str | None = None
    pinned: bool | None = None
    min_importance: float | None = None
    expired: bool | None = False
    """False: only what has not expired; True: only what has; None: both."""

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            for text in (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ():
                if not _is_unicode(text):
                    raise InvalidRequest.of(name, "is not valid Unicode text")

    def matches(self, memory: Memory, now: datetime) -> bool:
        """Whether the memory (with effective times) is asked for at the time `now`."""
        return all(term.holds(memory) for term in self.terms(now))

    def to_sql(self, now: datetime) -> tuple[str, tuple[SqlValue, ...]]:
        """The condition on table `notes` that is true for the rows of the memories that match, and its parameters."""
        return joined(self.terms(now))

    def terms(self, now: datetime) -> tuple[Term, ...]:
        """The conditions, cheapest first."""
        return tuple(self._exact()) + tuple(self._places()) + tuple(self._times(now)) + tuple(self._texts())

    def _exact(self) -> Iterator[Term]:
        yield _among("status", self.statuses or VISIBLE)
        if self.memory_types:
            yield _among("memory_type", self.memory_types)
        for name in ("domain", "actor", "session", "agent", "source", "verification"):
            value = getattr(self, name)
            if value is not None:
                yield _equals(name, value)
        if self.project is not None:
            yield _without_project() if self.project == RESERVED_PROJECT else _equals("project", self.project)
        if self.pinned is not None:
            yield _pinned(self.pinned)
        if self.min_importance is not None:
            yield _at_least("importance", self.min_importance)

    def _places(self) -> Iterator[Term]:
        if self.url is not None:
            key = url_key(self.url)
            yield Term("url", "notes.url_key = ?", (key,), lambda m: m.url is not None and url_key(m.url) == key)
        if self.site is not None:
            site = site_of(self.site) or self.site
            yield Term("site", "notes.site = ?", (site,), lambda m: site_of(m.url) == site)
        if (path := self.path) is not None:
            yield Term("path", "instr(notes.path, ?) > 0", (path,), lambda m: path in m.path)

    def _times(self, now: datetime) -> Iterator[Term]:
        for name in ("created", "updated"):
            if (after := getattr(self, f"{name}_after")) is not None:
                yield _not_before(f"{name}_at", after)
            if (before := getattr(self, f"{name}_before")) is not None:
                yield _before(f"{name}_at", before)
        if self.expired is not None:
            yield _expired(now) if self.expired else _unexpired(now)

    def _texts(self) -> Iterator[Term]:
        if self.tag is not None:
            yield _tagged((self.tag,))
        if self.tags:
            yield _tagged(self.tags)
        if self.q:
            yield _containing(self.q)


def joined(terms: Collection[Term]) -> tuple[str, tuple[SqlValue, ...]]:
    """The conjunction of the terms as SQL, and its parameters."""
    return " AND ".join(term.sql for term in terms) or "1", tuple(p for term in terms for p in term.params)


def folded_tags(memory: Memory) -> str:
    """The front matter's tags as `q` searches them."""
    return TAG_SEPARATOR.join(fold(tag) for tag in memory.tags)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _among(column: str, values: tuple[str, ...]) -> Term:
    allowed = frozenset(values)
    marks = ", ".join("?" * len(allowed))
    return Term(column, f"notes.{column} IN ({marks})", tuple(sorted(allowed)), lambda m: getattr(m, column) in allowed)


def _equals(column: str, value: str) -> Term:
    return Term(column, f"notes.{column} = ?", (value,), lambda m: bool(getattr(m, column) == value))


def _without_project() -> Term:
    return Term("project", "notes.project IS NULL", (), lambda m: m.project is None)


def _pinned(value: bool) -> Term:
    return Term("pinned", f"notes.pinned = {int(value)}", (), lambda m: m.pinned is value)


def _at_least(column: str, low: float) -> Term:
    return Term(column, f"notes.{column} >= ?", (low,), lambda m: bool(getattr(m, column) >= low))


def _not_before(column: str, bound: datetime) -> Term:
    def holds(memory: Memory) -> bool:
        value = getattr(memory, column)
        return value is not None and value >= bound

    return Term(column, f"notes.{column} >= ?", (time_text(bound),), holds)


def _before(column: str, bound: datetime) -> Term:
    def holds(memory: Memory) -> bool:
        value = getattr(memory, column)
        return value is not None and value < bound

    return Term(column, f"notes.{column} < ?", (time_text(bound),), holds)


def _expired(now: datetime) -> Term:
    def holds(memory: Memory) -> bool:
        return memory.expires_at is not None and memory.expires_at <= now

    return Term("expired", "notes.expires_at <= ?", (time_text(now),), holds)


def _unexpired(now: datetime) -> Term:
    def holds(memory: Memory) -> bool:
        return memory.expires_at is None or memory.expires_at > now

    return Term("unexpired", "(notes.expires_at IS NULL OR notes.expires_at > ?)", (time_text(now),), holds)


def _tagged(tags: tuple[str, ...]) -> Term:
    wanted = frozenset(tags)
    marks = ", ".join("?" * len(wanted))
    sql = f"EXISTS (SELECT 1 FROM note_tags AS t WHERE t.note = notes.note AND t.tag IN ({marks}))"
    return Term("tags", sql, tuple(sorted(wanted)), lambda m: not wanted.isdisjoint(m.tags + m.inline_tags))


def _containing(text: str) -> Term:
    part = fold(text)
    sql = "(instr(coalesce(notes.folded, lower(notes.content)), ?) > 0 OR instr(notes.tags_folded, ?) > 0)"
    return Term("q", sql, (part, part), lambda m: part in fold(m.content) or part in folded_tags(m))
