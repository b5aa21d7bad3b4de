"""What was said before and after in the same session. Owns the order of a session's memories; whether a session is a
log, so that its neighbours count, the caller's rule decides."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from msgspec import Struct

from vault_memory.index.selection import Selection
from vault_memory.index.state import IndexState

LogRule = Callable[[Sequence[tuple[str, str]]], bool]
"""Whether a session is a log, told from the (memory_type, beginning of the content) of its memories."""

OPENING_CHARS = 60


class Session(Struct, frozen=True):
    """A session's notes as far as the request may find them, by created_at, then ref."""

    notes: tuple[int, ...]
    log: bool

    def around(self) -> dict[int, tuple[int | None, int | None]]:
        """The note before and the note after each of them."""
        padded = [None, *self.notes, None]
        pairs = zip(padded, padded[2:], strict=False)
        return dict(zip(self.notes, pairs, strict=True))


class Sessions:
    """Remembers the sessions it was asked for, as long as the catalog and the selection stay the same."""

    def __init__(self, is_log: LogRule) -> None:
        self._is_log = is_log
        self._key: tuple[object, ...] = ()
        self._known: dict[str, Session] = {}

    def get(
        self, sql: sqlite3.Connection, state: IndexState, selection: Selection, names: Iterable[str]
    ) -> dict[str, Session]:
        """The sessions of these names."""
        wanted = sorted(set(names))
        key = (state.born, state.generation, selection.clause, selection.params)
        if key != self._key:
            self._key, self._known = key, {}
        missing = [name for name in wanted if name not in self._known]
        if missing:
            self._known |= self._read(sql, selection, missing)
        return {name: self._known[name] for name in wanted if name in self._known}

    def _read(self, sql: sqlite3.Connection, selection: Selection, names: Sequence[str]) -> dict[str, Session]:
        query = (
            f"SELECT notes.session, notes.note, notes.memory_type, substr(notes.content, 1, {OPENING_CHARS})"
            " FROM json_each(?) AS names CROSS JOIN notes INDEXED BY notes_session ON notes.session = names.value"
            f" WHERE {selection.clause} ORDER BY notes.session, notes.created_at, notes.ref, notes.path"
        )
        rows = sql.execute(query, (json.dumps(list(names)), *selection.params)).fetchall()
        found = {}
        for name, members in groupby(rows, key=lambda row: row[0]):
            notes = list(members)
            log = self._is_log([(memory_type, opening) for _, _, memory_type, opening in notes])
            found[name] = Session(tuple(note for _, note, _, _ in notes), log)
        return found
