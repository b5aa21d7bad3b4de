"""The two generators of candidates: the best chunks by BM25 and the best by cosine, applied and pending ones alike.

Owns how the lists are found and that they are exact: filters are judged while a list is filled, never after, so a
narrow filter starves none, and scores depend on the recorded rows alone, so a rebuilt index gives the same lists.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from vault_memory.index.bm25 import Doubles, WantedTerms, counter, scores
from vault_memory.index.numeric import Floats, Ints, np
from vault_memory.index.overlay import Overlay
from vault_memory.index.selection import Selection
from vault_memory.index.text import TextReader
from vault_memory.index.vectors import best_first, cosines, exact_cosines

OVERSAMPLE: Final = 4
"""Tantivy is asked for so many times the list's length, as its statistics differ a little from ours."""
MAX_OVERSAMPLED: Final = 1 << 14
MAX_BESIDE: Final = 1 << 12
_NEAR: Final = 1e-5
"""Cosines closer than this may change places when they are computed exactly."""


@dataclass(frozen=True, slots=True)
class TextHit:
    """A chunk in the full-text list: its BM25 and what each of the query's terms adds to it."""

    chunk: int
    score: float
    shares: Doubles
    order: tuple[str, int]
    """ref and number: ties."""


@dataclass(frozen=True, slots=True)
class VectorHit:
    """A chunk in the vector list."""

    chunk: int
    score: float
    order: tuple[str, int]


def text_hits(
    sql: sqlite3.Connection,
    wanted: WantedTerms,
    selection: Selection,
    overlay: Overlay,
    reader: TextReader | None,
    size: int,
) -> list[TextHit]:
    """The `size` best chunks that hold a term, by BM25, then ref and number; what only selects comes last with 0."""
    if not wanted.terms or not size:
        return []
    found = _pending_text(sql, wanted, selection, overlay)
    if reader is not None:
        found += _applied_text(sql, wanted, selection, overlay, reader, size)
        if len(found) < size:
            found += _found_beside(sql, wanted, selection, reader, {hit.chunk for hit in found})
    return sorted(found, key=lambda hit: (-hit.score, hit.order))[:size]


def vector_hits(
    sql: sqlite3.Connection,
    query: Floats,
    selection: Selection,
    overlay: Overlay,
    rows: Floats,
    size: int,
    near: Callable[[int], Sequence[int] | None] = lambda _: None,
) -> list[VectorHit]:
    """The `size` best chunks with a positive cosine, by it, then ref and number.

    Args:
        sql, selection, overlay: what may be found and what is pending.
        query: the query's unit vector, or zeros, which nothing is near to.
        rows: the rows of the vector file.
        size: how many.
        near: row numbers that another index proposes for a wish of so many, or None to scan all rows.
    """
    if not size or not query.any():
        return []
    found = _pending_vectors(sql, query, selection, overlay)
    if len(rows):
        found += _applied_vectors(sql, query, selection, rows, size, near)
    return sorted(found, key=lambda hit: (-hit.score, hit.order))[:size]


def _pending_text(
    sql: sqlite3.Connection, wanted: WantedTerms, selection: Selection, overlay: Overlay
) -> list[TextHit]:
    rows = selection.rows(sql, "chunks.chunk, notes.ref, chunks.n", sorted(overlay.holding(wanted.terms)))
    pending = [overlay[chunk] for chunk, _, _ in rows]
    counts = [[(chunk.counts or {}).get(term, 0) for term in wanted.terms] for chunk in pending]
    return _scored(wanted, [(key, (ref, n)) for key, ref, n in rows], counts, [chunk.length for chunk in pending])


def _applied_text(
    sql: sqlite3.Connection,
    wanted: WantedTerms,
    selection: Selection,
    overlay: Overlay,
    reader: TextReader,
    size: int,
) -> list[TextHit]:
    """Asks for more until the list is full and what was not fetched cannot tie with what was, or nothing is left."""
    pending = overlay.holding(wanted.terms)
    count = counter(wanted.terms)
    limit = size * OVERSAMPLE
    while True:
        keys = reader.search(wanted.terms, limit, selection.text)
        columns = "chunks.chunk, notes.ref, chunks.n, chunks.terms, chunks.length"
        rows = selection.rows(sql, columns, [key for key in keys if key not in pending])
        found = _scored(
            wanted,
            [(chunk, (ref, n)) for chunk, ref, n, _, _ in rows],
            [count(terms) for _, _, _, terms, _ in rows],
            [length for *_, length in rows],
        )
        if len(keys) < limit or limit >= MAX_OVERSAMPLED or _settled([hit.score for hit in found], size):
            return found
        limit *= OVERSAMPLE


def _found_beside(
    sql: sqlite3.Connection, wanted: WantedTerms, selection: Selection, reader: TextReader, found: set[int]
) -> list[TextHit]:
    """Chunks that hold a term only beside their text (path, urls, own keys): found, but nothing to score."""
    keys = reader.search(wanted.terms, MAX_BESIDE, selection.text, beside=True)
    rows = selection.rows(sql, "chunks.chunk, notes.ref, chunks.n", [key for key in keys if key not in found])
    return [TextHit(chunk, 0.0, np.zeros(len(wanted.asked)), (ref, n)) for chunk, ref, n in rows]


def _settled(found: Sequence[float], size: int) -> bool:
    """Whether the list is full of scores above the least one that was fetched."""
    least = min(found, default=0.0)
    return sum(score > least for score in found) >= size


def _scored(
    wanted: WantedTerms,
    keys: Sequence[tuple[int, tuple[str, int]]],
    counts: Sequence[Sequence[int]],
    lengths: Sequence[int],
) -> list[TextHit]:
    if not keys:
        return []
    total, shares = scores(wanted, counts, lengths)
    values = total.tolist()
    return [TextHit(key, values[n], shares[n], order) for n, (key, order) in enumerate(keys)]


def _pending_vectors(sql: sqlite3.Connection, query: Floats, selection: Selection, overlay: Overlay) -> list[VectorHit]:
    keys, matrix = overlay.vectors()
    if not len(keys):
        return []
    score = dict(zip(keys.tolist(), exact_cosines(matrix, query).tolist(), strict=True))
    rows = selection.rows(sql, "chunks.chunk, notes.ref, chunks.n", [key for key in score if score[key] > 0])
    return [VectorHit(chunk, score[chunk], (ref, n)) for chunk, ref, n in rows]


def _applied_vectors(
    sql: sqlite3.Connection,
    query: Floats,
    selection: Selection,
    rows: Floats,
    size: int,
    near: Callable[[int], Sequence[int] | None],
) -> list[VectorHit]:
    found: list[VectorHit] = []
    for block, floor in _blocks(sql, query, selection, rows, size, near):
        columns = "chunks.row, chunks.chunk, notes.ref, chunks.n"
        passing = selection.rows(sql, columns, [row for row in block.tolist() if row < len(rows)], key="row")
        exact = exact_cosines(rows[[row for row, *_ in passing]], query).tolist() if passing else []
        found += [VectorHit(chunk, exact[n], (ref, m)) for n, (_, chunk, ref, m) in enumerate(passing) if exact[n] > 0]
        if sum(hit.score > floor + _NEAR for hit in found) >= size:
            break
    return found


def _blocks(
    sql: sqlite3.Connection,
    query: Floats,
    selection: Selection,
    rows: Floats,
    size: int,
    near: Callable[[int], Sequence[int] | None],
) -> Iterator[tuple[Ints, float]]:
    """Row numbers in growing blocks, best first, each with the score that what follows does not exceed."""
    if selection.few is not None:
        few = selection.rows(sql, "chunks.row", selection.few)
        yield np.array([row for (row,) in few if row is not None], np.int64), -1.0
        return
    proposed = near(size)
    if proposed is not None:
        yield np.array(proposed, np.int64), -1.0
        return
    score = cosines(rows, query)
    for block in best_first(score, 2 * size):
        yield block, float(score[block[-1]])


def shares_of(wanted: WantedTerms, bags: Mapping[int, tuple[str, int]]) -> dict[int, Doubles]:
    """What each of the query's terms adds to the BM25 of chunks: their terms joined by spaces and length, by key."""
    if not bags:
        return {}
    count = counter(wanted.terms)
    _, shares = scores(wanted, [count(terms) for terms, _ in bags.values()], [length for _, length in bags.values()])
    return dict(zip(bags, shares, strict=True))
