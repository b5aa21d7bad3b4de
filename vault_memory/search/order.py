"""From a pool to notes in order: features, weights, the best chunk of each note, ties by ref. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from vault_memory.search import dates
from vault_memory.search.features import Features, features, token_matches
from vault_memory.search.rank import score
from vault_memory.search.words import words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vault_memory.config import Ranking
    from vault_memory.search.features import Matches
    from vault_memory.search.pool import Ints, Pool, QueryNumbers, TokenVectors


@dataclass(frozen=True, slots=True)
class Ordered:
    """The pool's notes, best first.

    Attributes:
        rows: the row of the best chunk of each note, in order.
        scores: of all rows, in the pool's order.
        features: of all rows.
        matches: how well each query token is met.
    """

    rows: Ints
    scores: NDArray[np.float64]
    features: Features
    matches: Matches


def order(
    text: str, query: QueryNumbers, pool: Pool, token_vectors: TokenVectors, weights: Ranking, now: datetime
) -> Ordered:
    """Rank the pool for the query `text`, asked at `now` in the asker's zone."""
    matches = token_matches(query, pool, token_vectors)
    hints = dates.find(text, now)
    days = [dates.day_of(seconds, now.tzinfo) for seconds in pool.created_at] if hints else []
    fits = np.array(dates.fit(days, hints), np.float32) if hints else np.zeros(len(pool), np.float32)
    found = features(
        query,
        pool,
        matches,
        names={word.lower() for word in words(text)},
        date=fits,
        session_weights=(weights.bm25, weights.maxsim, weights.cosine / 2),
    )
    scores = score(found, weights)
    return Ordered(_best_of_each(pool, scores), scores, found, matches)


def _best_of_each(pool: Pool, scores: NDArray[np.float64]) -> Ints:
    """Rows by score, then ref and number; only the first of each note."""
    rows = sorted(range(len(pool)), key=lambda row: (-scores[row], pool.ref[row], pool.number[row]))
    first: dict[int, int] = {}
    for row in rows:
        first.setdefault(int(pool.note[row]), row)
    return np.array(list(first.values()), np.int64)
