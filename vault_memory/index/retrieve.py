"""The two generators of candidates: the best chunks by BM25 and the best by cosine, applied and pending ones alike.

Owns how the lists are found and that they are exact: filters are judged while a list is filled, never after, so a
narrow filter starves none, and scores depend on the recorded rows alone, so a rebuilt index gives the same lists.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from vault_memory.index.bm25 import Doubles, WantedTerms, counter, scores
from vault_memory.index.numeric import Floats, NDArray, np
from vault_memory.index.overlay import Overlay
from vault_memory.index.selection import Selection
from vault_memory.index.text import TextReader
from vault_memory.index.vectors import VectorRows, best_first, cosines, exact_cosines

OVERSAMPLE: Final = 4
"""Tantivy is asked for so many times the list's length, as its statistics differ a little from ours."""
INEXACT: Final = 1.25
"""Tantivy rounds lengths and counts deleted chunks: its score may be so much too low (measured: 1.10 with
a tenth of the notes replaced)."""
MAX_OVERSAMPLED: Final = 1 << 14
MAX_BESIDE: Final = 1 << 12
_NEAR: Final = 1e-5
"""Cosines closer than this may change places when they are computed exactly."""
_KEYS: Final = "chunks.chunk, notes.ref, notes.path, chunks.n"

_Order = tuple[str, str, int]
"""Ref, path and number: what decides between equal scores. Several notes may hold one id, and so one ref."""
_Key = tuple[int, str, str, int]
Proposer = Callable[[int], Sequence[int] | None]
"""Proposes about so many row numbers of the vector file, or None."""


class TextHit(Struct, frozen=True):
    """A chunk in the full-text list: its BM25 and what each of the query's terms adds to it."""

    chunk: int
    score: float
    shares: Doubles
    order: _Order


class VectorHit(Struct, frozen=True):
    """A chunk in the vector list."""

    chunk: int
    score: float
    order: _Order


class Lists(Struct, frozen=True):
    """The two lists over one state of the catalog: what may be found, and what is pending."""

    sql: sqlite3.Connection
    selection: Selection
    overlay: Overlay

    def text(self, wanted: WantedTerms, reader: TextReader | None, size: int) -> list[TextHit]:
        """The `size` best chunks that hold a term, by BM25, then ref, path and number.

        Chunks that hold one only beside their text (path, urls, own keys) fill up the list with a score of 0.
        """
        if not wanted.terms or not size:
            return []
        found = self._pending_text(wanted, size)
        if reader is not None:
            found += self._applied_text(wanted, reader, size)
            if len(found) < size:
                found += self._beside(wanted, reader, {hit.chunk for hit in found})
        return sorted(found, key=lambda hit: (-hit.score, hit.order))[:size]

    def vectors(self, query: Floats, rows: VectorRows, size: int, near: Proposer) -> list[VectorHit]:
        """The `size` best chunks with a positive cosine, by it, then ref, path and number.

        Args:
            query: the query's unit vector, or zeros, which nothing is near to.
            rows: the rows of the vector file.
            size: how many.
            near: row numbers that another index proposes for a wish of so many; None: it cannot, all are scanned.
        """
        if not size or not query.any():
            return []
        found = self._pending_vectors(query, size)
        if len(rows):
            found += self._applied_vectors(query, rows, size, near)
        return sorted(found, key=lambda hit: (-hit.score, hit.order))[:size]

    def _pending_text(self, wanted: WantedTerms, size: int) -> list[TextHit]:
        keys = sorted(self.overlay.holding(wanted.terms))
        pending = [self.overlay[chunk] for chunk in keys]
        if not pending:
            return []
        counts = [[(chunk.counts or {}).get(term, 0) for term in wanted.terms] for chunk in pending]
        total, shares = scores(wanted, counts, [chunk.length for chunk in pending])
        place = {key: n for n, key in enumerate(keys)}
        passing = self._best_passing(keys, total, size)
        return [
            TextHit(key, float(total[place[key]]), shares[place[key]], (ref, path, n)) for key, ref, path, n in passing
        ]

    def _best_passing(self, keys: Sequence[int], score: NDArray[Any], size: int) -> list[_Key]:
        """The chunks that may be found, best first, until there are enough and none that is left can tie with them."""
        order = np.argsort(-score, kind="stable").tolist()
        known = dict(zip(keys, score.tolist(), strict=True))
        passing: list[_Key] = []
        for start in range(0, len(order), 2 * size):
            block, rest = order[start : start + 2 * size], order[start + 2 * size :]
            passing += self.selection.rows(self.sql, _KEYS, [keys[n] for n in block])
            if rest and _settled([known[key] for key, *_ in passing], size, float(score[rest[0]])):
                break
        return passing

    def _applied_text(self, wanted: WantedTerms, reader: TextReader, size: int) -> list[TextHit]:
        """Asks for more until the list is full and nothing unfetched can tie with it, or nothing is left."""
        pending = self.overlay.holding(wanted.terms)
        limit = size * OVERSAMPLE
        while True:
            hits = reader.search(wanted.importance, limit, self.selection.text)
            left = [(key, score) for key, score in hits.items() if key not in pending]
            found: list[TextHit] = []
            for start in range(0, len(left), 2 * size):
                found += self._scored(wanted, [key for key, _ in left[start : start + 2 * size]])
                rest = left[start + 2 * size :]
                if rest and _settled([hit.score for hit in found], size, rest[0][1] * INEXACT):
                    return found
            least = min((hit.score for hit in found), default=0.0)
            if len(hits) < limit or limit >= MAX_OVERSAMPLED or _settled([hit.score for hit in found], size, least):
                return found
            limit *= OVERSAMPLE

    def _scored(self, wanted: WantedTerms, keys: Sequence[int]) -> list[TextHit]:
        rows = self.selection.rows(self.sql, f"{_KEYS}, chunks.terms, chunks.length", keys)
        count = counter(wanted.terms)
        return _scored(wanted, [row[:4] for row in rows], [count(row[4]) for row in rows], [row[5] for row in rows])

    def _beside(self, wanted: WantedTerms, reader: TextReader, found: set[int]) -> list[TextHit]:
        keys = reader.search(wanted.importance, MAX_BESIDE, self.selection.text, beside=True)
        rows = self.selection.rows(self.sql, _KEYS, [key for key in keys if key not in found])
        return [TextHit(chunk, 0.0, np.zeros(len(wanted.asked)), (ref, path, n)) for chunk, ref, path, n in rows]

    def _pending_vectors(self, query: Floats, size: int) -> list[VectorHit]:
        keys, matrix = self.overlay.vectors()
        if not len(keys):
            return []
        score = exact_cosines(matrix, query)
        near = np.flatnonzero(score > 0)
        value = dict(zip(keys[near].tolist(), score[near].tolist(), strict=True))
        passing = self._best_passing(list(value), score[near], size)
        return [VectorHit(chunk, value[chunk], (ref, path, n)) for chunk, ref, path, n in passing]

    def _applied_vectors(self, query: Floats, rows: VectorRows, size: int, near: Proposer) -> list[VectorHit]:
        found: list[VectorHit] = []
        for block, floor in self._blocks(query, rows, size, near):
            wish = [row for row in block if row < len(rows)]
            passing = self.selection.rows(self.sql, f"{_KEYS}, chunks.row", wish, key="row")
            if passing:
                exact = exact_cosines(rows.vectors[[row[4] for row in passing]], query).tolist()
                pairs = zip(passing, exact, strict=True)
                found += [
                    VectorHit(chunk, score, (ref, path, n)) for (chunk, ref, path, n, _), score in pairs if score > 0
                ]
            if sum(hit.score > floor + _NEAR for hit in found) >= size:
                break
        return found

    def _blocks(
        self, query: Floats, rows: VectorRows, size: int, near: Proposer
    ) -> Iterator[tuple[Sequence[int], float]]:
        """Row numbers in growing blocks, best first, each with the score that what follows does not exceed."""
        if self.selection.few is not None:
            few = self.selection.rows(self.sql, "chunks.row", self.selection.few)
            yield [row for (row,) in few if row is not None], -1.0
            return
        wish, seen = OVERSAMPLE * size, set[int]()
        while (proposed := near(wish)) is not None:
            yield [row for row in proposed if row not in seen], -1.0
            if len(proposed) < wish:
                return
            seen.update(proposed)
            wish *= OVERSAMPLE
        score = cosines(rows.vectors, query)
        if self.selection.kinds is not None:
            score[~np.isin(rows.kinds, self.selection.kinds)] = 0
        for block in best_first(score, 2 * size):
            yield [row for row in block.tolist() if row not in seen], float(score[block[-1]])


def shares_of(wanted: WantedTerms, bags: Mapping[int, tuple[str, int]]) -> dict[int, Doubles]:
    """What each of the query's terms adds to the BM25 of chunks: their terms joined by spaces and length, by key."""
    if not bags:
        return {}
    count = counter(wanted.terms)
    _, shares = scores(wanted, [count(terms) for terms, _ in bags.values()], [length for _, length in bags.values()])
    return dict(zip(bags, shares, strict=True))


def _scored(
    wanted: WantedTerms, keys: Sequence[_Key], counts: Sequence[Sequence[int]], lengths: Sequence[int]
) -> list[TextHit]:
    if not keys:
        return []
    total, shares = scores(wanted, counts, lengths)
    values = total.tolist()
    return [TextHit(chunk, values[i], shares[i], (ref, path, n)) for i, (chunk, ref, path, n) in enumerate(keys)]


def _settled(found: Sequence[float], size: int, least: float) -> bool:
    """Whether the list is full of scores above `least`."""
    return sum(score > least for score in found) >= size
