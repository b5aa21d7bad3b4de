"""A filter and a scope as the indexes ask them: what Tantivy judges itself, and the condition that the catalog judges.
Owns that translation; the meaning of filters and scopes is `memory.filter`'s and `memory.scope`'s."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final

from msgspec import Struct

from vault_memory.index.record import KIND_COLUMNS
from vault_memory.index.text import TextFilter
from vault_memory.memory.filter import Filter, SqlValue, Term, joined
from vault_memory.memory.scope import Scope
from vault_memory.memory.times import time_of_text, time_text

FEW_CHUNKS: Final = 1_000
"""When no more chunks than this pass an unusual filter, they are named to the indexes one by one."""
_NEVER: Final = datetime.min.replace(tzinfo=UTC)
_INDEX_JUDGES: Final = (*KIND_COLUMNS, "tags", "unexpired")
_FROM_KEYS: Final = (
    " FROM json_each(?) AS keys CROSS JOIN chunks ON chunks.{key} = keys.value"
    " CROSS JOIN notes ON notes.note = chunks.note WHERE {clause}"
)


class Selection(Struct, frozen=True):
    """What may be found.

    Attributes:
        clause, params: the condition on table `notes`, complete.
        text: the part of it that Tantivy judges; it may let more pass, never less.
        kinds: the kinds of notes that pass by their few-valued fields; None when all do.
        few: keys of all chunks that pass, when they are few; None when they are not, or nobody counted.
    """

    clause: str
    params: tuple[SqlValue, ...]
    text: TextFilter
    kinds: tuple[int, ...] | None
    few: tuple[int, ...] | None

    def rows(self, sql: sqlite3.Connection, columns: str, keys: Iterable[int], *, key: str = "chunk") -> list[Any]:
        """The `columns` of the chunks (and their notes) with these keys that exist and pass, in the order of the keys.

        Args:
            sql: the catalog, in the transaction of the search.
            columns: of tables `chunks` and `notes`.
            keys: chunk keys, or row numbers of the vector file with `key="row"`, or note keys with `key="note"`.
            key: the column of `chunks` that the keys are of.
        """
        query = f"SELECT {columns}{_FROM_KEYS.format(key=key, clause=self.clause)}"
        return sql.execute(query, (json.dumps(list(keys)), *self.params)).fetchall()


def select(sql: sqlite3.Connection, wanted: Filter, scope: Scope, now: datetime) -> Selection:
    """The selection of what the filter asks for and the scope sees, at the time `now`."""
    terms = wanted.terms(_last_expiry(sql, now))
    kinds = _kinds(sql, scope, [term for term in terms if term.column in KIND_COLUMNS])
    rest = [term for term in terms if term.column not in KIND_COLUMNS]
    clause, params = joined(rest)
    if kinds is not None:
        numbers = ", ".join(map(str, kinds)) or "NULL"
        clause = f"notes.kind IN ({numbers}) AND {clause}"
    few = None
    if any(term.column not in _INDEX_JUDGES for term in rest):
        few = _few(sql, clause, params)
    tags = tuple(tuple(map(str, term.params)) for term in rest if term.column == "tags")
    text = TextFilter(kinds, tags) if few is None else TextFilter(chunks=few)
    return Selection(clause, params, text, kinds, few)


def _last_expiry(sql: sqlite3.Connection, now: datetime) -> datetime:
    """The last moment until `now` at which a note expired.

    What passes has been the same since then, and so is the condition: what is remembered for it stays good.
    """
    (latest,) = sql.execute("SELECT max(expires_at) FROM notes WHERE expires_at <= ?", (time_text(now),)).fetchone()
    return time_of_text(latest) if latest else _NEVER


def _kinds(sql: sqlite3.Connection, scope: Scope, terms: list[Term]) -> tuple[int, ...] | None:
    """The kinds of notes that pass by their few-valued fields; None when all do."""
    clause, params = scope.to_sql()
    term_clause, term_params = joined(terms)
    query = f"SELECT kind, ({clause}) AND ({term_clause}) FROM kinds AS notes ORDER BY kind"
    rows = sql.execute(query, (*params, *term_params)).fetchall()
    passing = tuple(kind for kind, passes in rows if passes)
    return None if len(passing) == len(rows) else passing


def _few(sql: sqlite3.Connection, clause: str, params: tuple[SqlValue, ...]) -> tuple[int, ...] | None:
    query = f"SELECT chunks.chunk FROM notes JOIN chunks ON chunks.note = notes.note WHERE {clause} LIMIT ?"
    keys = [chunk for (chunk,) in sql.execute(query, (*params, FEW_CHUNKS + 1))]
    return tuple(sorted(keys)) if len(keys) <= FEW_CHUNKS else None
