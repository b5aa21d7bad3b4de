"""Pairs of notes whose vectors lie close, for finding duplicates in a whole vault. Owns the scan; judges no text."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from vault_memory.index.numeric import Floats, np
from vault_memory.index.selection import select
from vault_memory.index.state import IndexState, read_state
from vault_memory.index.vectors import map_rows
from vault_memory.memory.filter import Filter
from vault_memory.memory.scope import Scope

if TYPE_CHECKING:
    from vault_memory.index.catalog import Catalog

_BLOCK: Final = 1_024
MAX_CHUNKS: Final = 40_000
"""Chunks that are compared with each other: the work grows with their square (some 20 s on one core at this many)."""


class NearPair(Struct, frozen=True):
    """Two notes by catalog key, the smaller first, and the highest cosine of any two of their chunks."""

    one: int
    other: int
    cosine: float


class NearPairs(Struct, frozen=True):
    """The nearest pairs, best first; `total` counts all at or above the threshold, `left_out` chunks not compared."""

    pairs: tuple[NearPair, ...]
    total: int
    left_out: int


def near_pairs(
    catalog: Catalog, folder: Path, wanted: Filter, scope: Scope, *, now: datetime, threshold: float, limit: int
) -> NearPairs:
    """The `limit` nearest pairs of the notes that match, with a cosine of at least `threshold`; ties by key."""
    with catalog.reading() as sql:
        state = read_state(sql)
        chosen = select(sql, wanted, scope, now)
        query = (
            "SELECT chunks.note, chunks.row, chunks.vector FROM chunks JOIN notes ON notes.note = chunks.note"
            f" WHERE chunks.has_vector = 1 AND {chosen.clause} ORDER BY chunks.note DESC, chunks.n"
        )
        rows = sql.execute(query, chosen.params).fetchall()
        kept = rows[:MAX_CHUNKS]
        vectors = _vectors(folder, state, [row[1:] for row in kept])
    notes = np.array([row[0] for row in kept], np.int64)
    return _nearest(vectors, notes, threshold, limit, len(rows) - len(kept))


def _vectors(folder: Path, state: IndexState, places: list[tuple[int | None, bytes | None]]) -> Floats:
    count = state.vector_rows if state.applied_vectors else 0
    pending = next((len(data) // 4 for _, data in places if data), 0)
    dimensions = state.dimensions or pending
    found = np.zeros((len(places), dimensions), np.float32)
    rows = map_rows(folder, state.vector_epoch, count, dimensions).vectors if count else found[:0]
    for n, (row, data) in enumerate(places):
        if data is not None:
            found[n] = np.frombuffer(data, "<f4")
        elif row is not None and row < len(rows):
            found[n] = rows[row]
    return found


def _nearest(vectors: Floats, notes: np.ndarray, threshold: float, limit: int, left_out: int) -> NearPairs:
    best: dict[tuple[int, int], float] = {}
    total = 0
    floor = threshold
    for start in range(0, len(vectors), _BLOCK):
        block = vectors[start : start + _BLOCK] @ vectors[start:].T
        left, right = np.nonzero(np.triu(block, 1) >= floor)
        if not len(left):
            continue
        score = block[left, right]
        pairs = np.sort(np.stack([notes[start + left], notes[start + right]], 1), axis=1)
        apart = pairs[:, 0] != pairs[:, 1]
        total += int(apart.sum())
        for (one, other), cosine in zip(pairs[apart].tolist(), score[apart].tolist(), strict=True):
            best[one, other] = max(cosine, best.get((one, other), -1.0))
        if len(best) > 4 * limit:
            kept = sorted(best.items(), key=lambda item: (-item[1], item[0]))[:limit]
            best, floor = dict(kept), kept[-1][1]
    ranked = sorted(best.items(), key=lambda item: (-item[1], item[0]))[:limit]
    return NearPairs(tuple(NearPair(one, other, cosine) for (one, other), cosine in ranked), total, left_out)
