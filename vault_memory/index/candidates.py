"""The query side of the indexes: a query in, candidate chunks in columns out. Owns the open readers of one process.

Ranks nothing: the two lists, their session neighbours and everything the ranking asks about them are gathered here,
in one state of the catalog, under one filter and scope.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from vault_memory.index.analyse import analyse_query, identifier_parts
from vault_memory.index.apply_text import restart_text
from vault_memory.index.bm25 import WantedTerms, token_idf, wanted_terms
from vault_memory.index.columns import Candidates, Near, QueryValues, View, columns_of
from vault_memory.index.derive import fingerprint
from vault_memory.index.embed import Embedder
from vault_memory.index.neighbours import LogRule, Sessions
from vault_memory.index.numeric import np
from vault_memory.index.overlay import Overlay
from vault_memory.index.retrieve import Lists
from vault_memory.index.selection import select
from vault_memory.index.state import IndexState, read_state
from vault_memory.index.text import TextReader, text_folder
from vault_memory.index.vectors import VectorRows, map_rows
from vault_memory.memory.filter import Filter
from vault_memory.memory.scope import Scope

if TYPE_CHECKING:
    from vault_memory.index.catalog import Catalog

ATTEMPTS: Final = 3
"""A reader that finds its epoch gone reads the catalog again; after so many times it is damage, not a new epoch."""


class IndexDamaged(Exception):
    """An index cannot be read: `text` or `vectors`. Never leaves this module."""

    def __init__(self, index: Literal["text", "vectors"]) -> None:
        super().__init__(index)
        self.index = index


class Sizes(Struct, frozen=True):
    """How many chunks each list may hold; 0 leaves a list out (keyword or semantic search alone)."""

    text: int = 60
    vectors: int = 40


class CandidateSource:
    """Answers queries for one process. Usable from several threads, one at a time; not across fork.

    Args:
        catalog: the vault's catalog.
        folder: the vault's index folder.
        embedder: gives the model, loaded when it is first needed; None when there is none.
        is_log: which sessions are logs, so that their neighbours join the candidates.
        near: proposes rows of the vector file instead of a scan of them all; see `lance`.
    """

    def __init__(
        self,
        catalog: Catalog,
        folder: Path,
        embedder: Callable[[], Embedder | None],
        *,
        is_log: LogRule = lambda _: False,
        near: Near | None = None,
    ) -> None:
        self._catalog = catalog
        self._folder = folder
        self._embedder = embedder
        self._near = near
        self._lock = threading.Lock()
        self._overlay = Overlay()
        self._sessions = Sessions(is_log)
        self._text: tuple[str, int, TextReader] | None = None
        self._rows: tuple[tuple[str, int, int], VectorRows] | None = None
        self.vectors_lost = False
        """The last search found the vector file damaged, and went by words and pending vectors alone."""

    def gather(self, words: str, wanted: Filter, scope: Scope, *, now: datetime, sizes: Sizes = Sizes()) -> Candidates:
        """The candidates for a query of these words (question words already left out).

        Args:
            words: what to look for; ordinary text, nothing in it has a meaning of its own.
            wanted, scope: what may be found, judged inside both lists.
            now: the time, for filters.
            sizes: how long the lists may be.

        Returns:
            All columns ordered by ref, then number; no rows when nothing matches.
        """
        with self._lock:
            for _ in range(ATTEMPTS):
                try:
                    return self._gather(words, wanted, scope, now, sizes, strict=True)
                except IndexDamaged as error:
                    self._text = self._rows = None
                    damaged = error
            if damaged.index == "text":
                restart_text(self._catalog)
            return self._gather(words, wanted, scope, now, sizes, strict=False)

    def holding(self, words: str, wanted: Filter, scope: Scope, *, now: datetime, limit: int) -> list[int]:
        """Keys of the notes that hold a word of the query, best first by BM25; of at most `limit` chunks."""
        with self._lock, self._catalog.reading() as sql:
            state = read_state(sql)
            self._overlay.refresh(sql, state)
            lists = Lists(sql, select(sql, wanted, scope, now), self._overlay)
            try:
                hits = lists.text(self._terms(sql, state, words), self._reader(state), limit)
            except IndexDamaged:
                return []  # the gathering that follows or went before mends it
            return notes_of(sql, [hit.chunk for hit in hits])

    def _gather(
        self, words: str, wanted: Filter, scope: Scope, now: datetime, sizes: Sizes, *, strict: bool
    ) -> Candidates:
        with self._catalog.reading() as sql:
            state = read_state(sql)
            self._overlay.refresh(sql, state)
            selection = select(sql, wanted, scope, now)
            query = self._query(sql, state, words)
            rows = self._vector_rows(state, len(query.vector), strict=strict)
            reader = self._reader(state) if sizes.text else None
            lists = Lists(sql, selection, self._overlay)
            by_text = lists.text(query.terms, reader, sizes.text)
            near = partial(self._near, sql, state, query.vector) if self._near else _scan
            by_vector = lists.vectors(query.vector, rows, sizes.vectors, near)
            return columns_of(View(sql, state, selection, rows.vectors, self._sessions), query, by_text, by_vector)

    def _query(self, sql: Connection, state: IndexState, words: str) -> QueryValues:
        terms = self._terms(sql, state, words)
        embedder = self._embedder() if terms.asked else None  # the model knows brackets, but they mean nothing
        if embedder is None or fingerprint(embedder) != state.fingerprint:
            none = np.zeros(0, np.int64)  # vectors of two models are never compared
            return QueryValues(terms, none, none.astype(np.float32), np.zeros(state.dimensions, np.float32))
        tokens = embedder.tokenise([words])[0]
        weights = token_idf(sql, tokens, state.chunk_count)
        return QueryValues(terms, np.array(tokens, np.int64), weights, embedder.vectors([tokens])[0])

    def _terms(self, sql: Connection, state: IndexState, words: str) -> WantedTerms:
        asked, parts = analyse_query(words), identifier_parts(words)
        return wanted_terms(sql, asked, state.chunk_count, state.total_length, parts)

    def _reader(self, state: IndexState) -> TextReader | None:
        """The current epoch's reader, reloaded when the catalog says that there is more; None before the first apply.

        The catalog was read first: what it calls applied is in the index by now.
        """
        if not state.applied_text:
            self._text = None
            return None
        try:
            if self._text is None or self._text[0] != state.text_epoch:
                self._text = (
                    state.text_epoch,
                    state.applied_text,
                    TextReader(text_folder(self._folder, state.text_epoch)),
                )
            elif self._text[1] != state.applied_text:
                self._text[2].reload()
                self._text = state.text_epoch, state.applied_text, self._text[2]
        except (ValueError, OSError) as error:
            raise IndexDamaged("text") from error
        return self._text[2]

    def _vector_rows(self, state: IndexState, dimensions: int, *, strict: bool) -> VectorRows:
        """The rows of the vector file; without `strict` none when they are lost: `Applier.check` makes them anew."""
        count = state.vector_rows if state.applied_vectors and state.dimensions == dimensions else 0
        key = (state.vector_epoch, count, dimensions)
        if self._rows is None or self._rows[0] != key:
            try:
                self._rows = key, map_rows(self._folder, state.vector_epoch, count, dimensions)
            except (ValueError, OSError) as error:
                self.vectors_lost = True
                if strict:
                    raise IndexDamaged("vectors") from error
                return map_rows(self._folder, "", 0, dimensions)
            self.vectors_lost = False
        return self._rows[1]


def notes_of(sql: Connection, chunks: Sequence[int]) -> list[int]:
    """The notes of these chunks, in their order, without doubles."""
    query = "SELECT chunks.note FROM json_each(?) AS keys JOIN chunks ON chunks.chunk = keys.value ORDER BY keys.key"
    return list(dict.fromkeys(note for (note,) in sql.execute(query, (json.dumps(list(chunks)),))))


def _scan(_: int) -> None:
    """No other index proposes rows: all are scanned."""
