"""The deterministic list: filters, totals, order and pages, in time that does not grow with the vault.

Owns how a list is looked up. Two ways lead to a page: *walk* the index of the sort key until the page is full, good
when many notes match, or *gather* all matches through the narrowest index and sort them, good when few do. Both give
the same rows in the same order.
"""

from __future__ import annotations

import sqlite3
from datetime import datetime
from typing import Final, Literal

from msgspec import Struct

from vault_memory.errors import InvalidRequest
from vault_memory.index.record import KIND_COLUMNS
from vault_memory.index.rows import ROW_SQL, Row, row_of
from vault_memory.memory.filter import Filter, SqlValue, Term, joined
from vault_memory.memory.scope import Scope

Sort = Literal["id", "created_at", "updated_at", "last_accessed_at"]

MAX_LIMIT: Final = 100
_MAX_OFFSET: Final = 2**53
_DESCENDING: Final = {"created_at": "notes.created_at", "updated_at": "notes.updated_at"}
_SORT_INDEX: Final = {"id": "notes_ref", "created_at": "notes_created", "updated_at": "notes_updated"}
SORTS: Final = ("id", "created_at", "updated_at", "last_accessed_at")

_TERM_INDEX: Final = {
    "domain": "notes_domain", "session": "notes_session", "url": "notes_url", "site": "notes_site",
    "pinned": "notes_pinned", "importance": "notes_importance", "expired": "notes_expiry",
    "created_at": "notes_created", "updated_at": "notes_updated",
}  # fmt: skip
_SIZE_LIMIT: Final = 20_000
_GATHER_COST: Final = 6
"""A gathered note costs about as much as this many steps of a walk (it is visited out of order, then sorted)."""


class Page(Struct, frozen=True):
    """One page of a list; `total` counts the matches before pagination."""

    items: tuple[Row, ...]
    total: int
    limit: int
    offset: int

    @property
    def has_more(self) -> bool:
        """Whether there is another page."""
        return self.offset + len(self.items) < self.total


def page(
    sql: sqlite3.Connection, wanted: Filter, scope: Scope, now: datetime, sort: str, limit: int, offset: int
) -> Page:
    """The page of the matching memories that the scope sees.

    `id` sorts ascending by ref; the other keys newest first, what was never accessed last, ties by ref descending
    (and by path, should two notes hold one id).

    Raises:
        InvalidRequest: an unknown sort key, a limit outside 1–100, a negative offset.
    """
    _check(sort, limit, offset)
    search = _Search(sql, wanted, scope, now)
    if search.reads_texts:
        matches = search.all(sort)
        total, notes = len(matches), matches[offset : offset + limit]
    else:
        total = search.total()
        notes = search.notes(sort, limit, offset, total) if offset < total else []
    return Page(tuple(rows_of(sql, notes)), total, limit, offset)


def rows_of(sql: sqlite3.Connection, notes: list[int]) -> list[Row]:
    """The rows of the notes with these keys, in that order; keys that are gone are left out."""
    marks = ", ".join("?" * len(notes))
    query = f"SELECT {ROW_SQL} FROM notes LEFT JOIN usage.usage AS u ON u.ref = notes.ref WHERE notes.note IN ({marks})"
    found = {row.note: row for row in map(row_of, sql.execute(query, notes))}
    return [found[note] for note in notes if note in found]


def all_notes(sql: sqlite3.Connection, wanted: Filter, scope: Scope, now: datetime) -> list[int]:
    """Keys of all matching notes the scope sees, by ref."""
    return _Search(sql, wanted, scope, now).all("id")


def _check(sort: str, limit: int, offset: int) -> None:
    if sort not in SORTS:
        raise InvalidRequest.of("sort", f"unknown sort key {sort!r}", allowed=list(SORTS))
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidRequest.of("limit", f"must be from 1 to {MAX_LIMIT}", allowed=[1, MAX_LIMIT])
    if not 0 <= offset <= _MAX_OFFSET:
        raise InvalidRequest.of("offset", "must be 0 or more", allowed=[0, _MAX_OFFSET])


class _Source(Struct, frozen=True):
    """Where candidates come from: the FROM clause, a condition that belongs to it, and how many rows it visits."""

    tables: str
    where: str = "1"
    params: tuple[SqlValue, ...] = ()
    size: int = 0


class _Search:
    """One filter and scope against one state of the catalog."""

    def __init__(self, sql: sqlite3.Connection, wanted: Filter, scope: Scope, now: datetime) -> None:
        self._sql = sql
        self._now = now
        terms = wanted.terms(now)
        self._few_valued(scope, [term for term in terms if term.column in KIND_COLUMNS])
        self._unexpired = tuple(term for term in terms if term.column == "unexpired")
        self._rest = tuple(t for t in terms if t.column not in KIND_COLUMNS and t.column != "unexpired")
        self._source = self._narrowest()

    def _few_valued(self, scope: Scope, terms: list[Term]) -> None:
        """Reduce scope and the few-valued fields to a set of kinds: how many notes they hold, and the condition."""
        clause, params = scope.to_sql()
        term_clause, term_params = joined(terms)
        kinds = f"SELECT notes.kind FROM kinds AS notes WHERE {clause} AND {term_clause}"
        self._kind_params: tuple[SqlValue, ...] = (*params, *term_params)
        self._in_kinds = self._one(f"SELECT total(notes) FROM kinds WHERE kind IN ({kinds})", self._kind_params)
        self._all = self._one("SELECT total(notes) FROM kinds", ())
        self._kind_set = f"({kinds})"
        self._kind_clause = f"notes.kind IN {self._kind_set}"
        if self._in_kinds == self._all:
            self._kind_clause, self._kind_params = "1", ()

    def total(self) -> int:
        """The number of matches."""
        if not self._rest:
            count = self._in_kinds
        elif len(self._rest) == 1 and self._rest[0].column == "tags":
            count = self._tagged(self._rest[0])
        else:
            count = self._count(self._source, self._rest)
        return count - self._expired() if self._unexpired else count

    def notes(self, sort: str, limit: int, offset: int, total: int) -> list[int]:
        """Keys of the page's notes in order; `total` is the number of matches."""
        steps = min(self._all, (offset + limit) * self._all / max(total, 1))
        if self._source.size * _GATHER_COST <= steps:
            return self._gather(sort, limit, offset)
        if sort == "last_accessed_at":
            return self._walk_usage(limit, offset)
        return self._walk(sort, limit, offset)

    @property
    def reads_texts(self) -> bool:
        """Whether each candidate's text must be read, so that one pass should do for the total and the page."""
        return any(term.column == "q" for term in self._rest)

    def all(self, sort: str) -> list[int]:
        """Keys of all matches in order."""
        return self._gather(sort, -1, 0)  # SQLite: a negative limit is none

    def _gather(self, sort: str, limit: int, offset: int) -> list[int]:
        source = self._source
        if sort == "last_accessed_at":
            joined_usage = f"{source.tables} LEFT JOIN usage.usage AS u ON u.ref = notes.ref"
            source = _Source(joined_usage, source.where, source.params)
        return self._keys(source, f" ORDER BY {_order(sort)} LIMIT ? OFFSET ?", (limit, offset), self._rest)

    def _walk(self, sort: str, limit: int, offset: int) -> list[int]:
        source = _Source(f"notes INDEXED BY {_SORT_INDEX[sort]}")
        return self._keys(source, f" ORDER BY {_order(sort)} LIMIT ? OFFSET ?", (limit, offset), self._rest)

    def _walk_usage(self, limit: int, offset: int) -> list[int]:
        """First what was accessed, newest first, along usage's own index; then what never was."""
        used = _Source(
            "usage.usage AS u INDEXED BY usage_last CROSS JOIN notes INDEXED BY notes_ref", "notes.ref = u.ref"
        )
        tail = " ORDER BY u.last_accessed_at DESC, u.ref DESC, notes.path DESC LIMIT ? OFFSET ?"  # as the index has it
        found = self._keys(used, tail, (limit, offset), self._rest)
        if len(found) == limit:
            return found
        skipped = 0 if found or not offset else self._count(used, self._rest + self._unexpired)
        unused = _Source(
            "notes INDEXED BY notes_ref", "NOT EXISTS (SELECT 1 FROM usage.usage AS u WHERE u.ref = notes.ref)"
        )
        rest_offset = 0 if found else offset - skipped
        tail = " ORDER BY notes.ref DESC, notes.path DESC LIMIT ? OFFSET ?"
        return found + self._keys(unused, tail, (limit - len(found), rest_offset), self._rest)

    def _narrowest(self) -> _Source:
        """The source that visits the fewest candidates for the conditions; on ties an index is read, not the notes."""
        by_kind = self._in_kinds * _GATHER_COST < self._all  # else the rows are read faster in their own order
        kinds = _Source("notes INDEXED BY notes_kind" if by_kind else "notes NOT INDEXED", size=self._in_kinds)
        sources = [source for term in self._rest if (source := self._source_of(term))]
        return min([*sources, kinds], key=lambda source: source.size)

    def _source_of(self, term: Term) -> _Source | None:
        if term.column == "tags":
            return self._tag_source(term)
        index = _TERM_INDEX.get(term.column)
        if index is None or (term.column == "pinned" and "= 1" not in term.sql):
            return None
        size = self._size(f"SELECT 1 FROM notes INDEXED BY {index} WHERE {term.sql}", term.params)
        if term.column == "created_at" and self._kind_clause != "1":
            index = "notes_kind"  # counts whole ranges, kind by kind
        return _Source(f"notes INDEXED BY {index}", size=size)

    def _tag_source(self, term: Term) -> _Source:
        marks = ", ".join("?" * len(term.params))
        inner = f"SELECT note FROM note_tags WHERE tag IN ({marks})"
        return _Source("notes NOT INDEXED", f"notes.note IN ({inner})", term.params, self._size(inner, term.params))

    def _size(self, query: str, params: tuple[SqlValue, ...]) -> int:
        """How many rows the query gives, counted up to a limit, beyond which a walk is always better."""
        size = self._one(f"SELECT count(*) FROM ({query} LIMIT ?)", (*params, _SIZE_LIMIT))
        return size if size < _SIZE_LIMIT else max(_SIZE_LIMIT, self._in_kinds)

    def _tagged(self, term: Term) -> int:
        marks = ", ".join("?" * len(term.params))
        kinds = "1" if self._kind_clause == "1" else f"kind IN {self._kind_set}"
        query = f"SELECT count(DISTINCT note) FROM note_tags WHERE tag IN ({marks}) AND {kinds}"
        return self._one(query, (*term.params, *self._kind_params))

    def _expired(self) -> int:
        """How many of the matches have expired: few, as expired memories are archived."""
        expired = Filter(expired=True).terms(self._now)
        due = tuple(term for term in expired if term.column == "expired")
        return self._count(_Source("notes INDEXED BY notes_expiry"), due + self._rest)

    def _count(self, source: _Source, terms: tuple[Term, ...]) -> int:
        clause, params = joined(terms)
        query = f"SELECT count(*) FROM {source.tables} WHERE {source.where} AND {self._kind_clause} AND {clause}"
        return self._one(query, (*source.params, *self._kind_params, *params))

    def _keys(self, source: _Source, tail: str, tail_params: tuple[int, ...], terms: tuple[Term, ...]) -> list[int]:
        clause, params = joined(terms + self._unexpired)
        query = (
            f"SELECT notes.note FROM {source.tables} WHERE {source.where} AND {self._kind_clause} AND {clause}{tail}"
        )
        return [key for (key,) in self._sql.execute(query, (*source.params, *self._kind_params, *params, *tail_params))]

    def _one(self, query: str, params: tuple[SqlValue, ...]) -> int:
        return int(self._sql.execute(query, params).fetchone()[0])


def _order(sort: str) -> str:
    if sort == "id":
        return "notes.ref, notes.path"
    if sort == "last_accessed_at":
        return "u.last_accessed_at DESC, notes.ref DESC, notes.path DESC"
    return f"{_DESCENDING[sort]} DESC, notes.ref DESC, notes.path DESC"
