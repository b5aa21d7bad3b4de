"""The pending chunks: recorded in the catalog, not yet in the text index or the vector file. Every process keeps its
own copy in memory, so that a search finds what any process has recorded without waiting for an index commit.

Owns that copy. What it gives are candidates: the caller checks in the catalog that they still exist and may be seen.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Final

from msgspec import Struct

from vault_memory.index.numeric import Floats, Ints, np
from vault_memory.index.state import IndexState

_CHANGED: Final = (
    "SELECT chunk, generation, terms, length, extra, vector FROM chunks WHERE generation > ? AND generation <= ?"
)


class PendingChunk(Struct, frozen=True):
    """What can be matched of a pending chunk; `counts` is None when the text index has it already."""

    counts: Mapping[str, int] | None
    length: int
    extra: frozenset[str]
    vector: Floats | None


class Overlay:
    """The pending chunks of one catalog. Not for several threads at once."""

    def __init__(self) -> None:
        self._state = IndexState()
        self._seen = 0
        self._chunks: dict[int, PendingChunk] = {}
        self._holders: dict[str, set[int]] = {}
        self._matrix: tuple[Ints, Floats] | None = None

    def __len__(self) -> int:
        return len(self._chunks)

    def refresh(self, sql: sqlite3.Connection, state: IndexState) -> None:
        """Bring the copy to `state`, which was read in the same transaction."""
        if state == self._state:
            return
        if _index_of(state) != _index_of(self._state) or state.generation < self._seen:
            self._chunks, self._holders, self._seen = {}, {}, min(state.applied_text, state.applied_vectors)
        for (chunk,) in sql.execute("SELECT chunk FROM gone WHERE generation > ?", (self._seen,)):
            self._drop(chunk)
        for chunk, generation, terms, length, extra, vector in sql.execute(_CHANGED, (self._seen, state.generation)):
            counts = Counter(terms.split()) if generation > state.applied_text else None
            row = np.frombuffer(vector, "<f4") if vector and generation > state.applied_vectors else None
            self._add(chunk, PendingChunk(counts, length, frozenset(extra.split() if counts is not None else ()), row))
        self._seen, self._state, self._matrix = state.generation, state, None

    def holding(self, terms: Collection[str]) -> set[int]:
        """The pending chunks that hold at least one of the terms, scored ones or others."""
        return set[int]().union(*(self._holders.get(term, ()) for term in terms))

    def __getitem__(self, chunk: int) -> PendingChunk:
        return self._chunks[chunk]

    def vectors(self) -> tuple[Ints, Floats]:
        """Keys and unit vectors of the pending chunks that have one, by key; shapes (chunks,), (chunks, dimensions)."""
        if self._matrix is None:
            with_vector = {key: chunk.vector for key, chunk in self._chunks.items() if chunk.vector is not None}
            keys = sorted(with_vector)
            rows = [with_vector[key] for key in keys]
            width = self._state.dimensions
            matrix = np.stack(rows) if rows else np.zeros((0, width), np.float32)
            self._matrix = np.array(keys, np.int64), matrix
        return self._matrix

    def _add(self, key: int, chunk: PendingChunk) -> None:
        if chunk.counts is None and chunk.vector is None:
            return
        self._drop(key)
        self._chunks[key] = chunk
        for term in {*(chunk.counts or ()), *chunk.extra}:
            self._holders.setdefault(term, set()).add(key)

    def _drop(self, key: int) -> None:
        chunk = self._chunks.pop(key, None)
        if chunk is not None:
            for term in {*(chunk.counts or ()), *chunk.extra}:
                self._holders[term].discard(key)


def _index_of(state: IndexState) -> tuple[str | int, ...]:
    """What the copy depends on besides newer rows: when any of it changes, it is built anew."""
    return state.born, state.fingerprint, state.applied_text, state.applied_vectors, state.text_epoch
