"""From a pool to notes in order: features, weights, adjustments, the best chunk of each note, ties by ref. Pure."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from vault_memory.search import adjust, dates
from vault_memory.search.pool import NONE
from vault_memory.search.rank import judge
from vault_memory.search.relevance import NOTHING, relevance
from vault_memory.search.words import name_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vault_memory.config import Ranking
    from vault_memory.search.features import Features, Matches
    from vault_memory.search.pool import Flags, Floats, Ints, Pool, QueryNumbers, TokenVectors


class Ordered(Struct, frozen=True):
    """The pool's notes that match, best first.

    Attributes:
        rows: the row of the best chunk of each note, in order.
        scores: of all rows, in the pool's order: the weighted features times the adjustment.
        relevance: of all rows, 0–1: how much of the query they really meet.
        features: of all rows.
        matches: how well each query token is met.
        signals: what the vault knows about each note, by name, see `adjust`.
        factors: what each score was multiplied by.
        matched: which rows are answers at all; the others are left out of `rows`.
        hints: the dates that the query was understood to ask for.
    """

    rows: Ints
    scores: NDArray[np.float64]
    relevance: Floats
    features: Features
    matches: Matches
    signals: dict[str, Floats]
    factors: NDArray[np.float64]
    matched: Flags
    hints: tuple[dates.DateHint, ...]


def order(
    text: str, query: QueryNumbers, pool: Pool, token_vectors: TokenVectors, weights: Ranking, now: datetime
) -> Ordered:
    """Rank the pool for the query `text`, asked at `now` in the asker's zone.

    A superseded memory stands directly after the one that supersedes it, when both match. Nothing matches: no rows.
    """
    hints = dates.find(text, now)
    judged = judge(query, pool, token_vectors, weights, names=name_words(text), hints=hints, zone=now.tzinfo)
    signals = adjust.signals(pool, now.timestamp())
    factors = adjust.factors(signals, weights.adjustment)
    scores = adjust.adjusted(judged.score, factors)
    found = relevance(query, pool, judged.matches)
    matched = _matched(pool, found)
    rows = _behind_successors(pool, _best_of_each(pool, scores, matched))
    return Ordered(rows, scores, found, judged.features, judged.matches, signals, factors, matched, hints)


def _matched(pool: Pool, found: Floats) -> Flags:
    """Rows that meet the query themselves, or that stand beside such a row in a conversation's log."""
    itself = (found > NOTHING) | pool.term_hits.any(axis=1)
    matched = itself.copy()
    for step in (pool.previous, pool.next):
        near = pool.log & (step != NONE)
        matched[near] |= itself[step[near]]
    return matched


def _best_of_each(pool: Pool, scores: NDArray[np.float64], matched: Flags) -> list[int]:
    """Matching rows by score, then ref and number; only the first of each note."""
    rows = np.flatnonzero(matched)
    rows = rows[np.lexsort((pool.number[rows], np.array(pool.ref, str)[rows], -scores[rows]))]
    first = np.sort(np.unique(pool.note[rows], return_index=True)[1])
    found: list[int] = rows[first].tolist()
    return found


def _behind_successors(pool: Pool, rows: list[int]) -> Ints:
    """The rows with each superseded one moved to directly after its successor, in the order they had."""
    if (pool.successor == NONE).all():
        return np.array(rows, np.int64)
    shown = {int(pool.note[row]) for row in rows}
    followers: dict[int, list[int]] = {}
    leading = []
    for row in rows:
        successor = int(pool.successor[row])
        if successor in shown and successor != int(pool.note[row]):
            followers.setdefault(successor, []).append(row)
        else:
            leading.append(row)
    found: list[int] = []
    waiting = leading[::-1]
    while waiting:
        row = waiting.pop()
        found.append(row)
        waiting.extend(reversed(followers.pop(int(pool.note[row]), [])))
    placed = set(found)
    found.extend(row for row in rows if row not in placed)  # memories that supersede each other in a circle
    return np.array(found, np.int64)
