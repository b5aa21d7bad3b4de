"""The order of the candidates: features times weights. Pure arithmetic; what a score means is not decided here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from vault_memory.search import dates
from vault_memory.search.features import Features, Matches, features, feedback, token_matches

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import tzinfo

    from numpy.typing import NDArray

    from vault_memory.config import Ranking as Weights
    from vault_memory.search.pool import Floats, Pool, QueryNumbers, TokenVectors

PENALTIES: Final = frozenset({"question"})
"""Features that lower a score; their weights are subtracted."""
NAMES: Final = Features.__struct_fields__
_COSINE_SHARE_IN_SESSIONS: Final = 0.5
"""A session is judged more by its words than a single memory is: its memories' cosine counts half."""


class Judged(Struct, frozen=True):
    """The pool's features, how each query token was met, and the weighted sum of the features, one entry a row."""

    features: Features
    matches: Matches
    score: NDArray[np.float64]


def judge(
    query: QueryNumbers,
    pool: Pool,
    token_vectors: TokenVectors,
    weights: Weights,
    *,
    names: Collection[str] = (),
    hints: Collection[dates.DateHint] = (),
    zone: tzinfo | None = None,
) -> Judged:
    """Features and scores of the pool, before adjustments.

    Args:
        names: lower-case words of the query that may name somebody.
        hints: the dates that the query asks for.
        zone: the asker's zone, in which a memory's day is told; UTC when None.
    """
    matches = token_matches(query, pool, token_vectors)
    session_weights = weights.bm25, weights.maxsim, weights.cosine * _COSINE_SHARE_IN_SESSIONS
    found = features(query, pool, matches, names=names, date=_date(pool, hints, zone), session_weights=session_weights)
    first = weighted(found, signed(weights))
    if not len(pool) or not weights.feedback:
        return Judged(found, matches, first)
    found = replace(found, feedback=feedback(pool, first))
    return Judged(found, matches, first + weights.feedback * found.feedback)


def signed(weights: Weights) -> dict[str, float]:
    """The weight of each feature as it enters the sum, in the order of `Features`."""
    return {name: -getattr(weights, name) if name in PENALTIES else getattr(weights, name) for name in NAMES}


def weighted(found: Features, weights: Mapping[str, float]) -> NDArray[np.float64]:
    """The weighted sum of the features, one a row."""
    total = np.zeros(len(found.bm25), np.float64)
    for name, weight in weights.items():
        total += weight * getattr(found, name)
    return total


def _date(pool: Pool, hints: Collection[dates.DateHint], zone: tzinfo | None) -> Floats:
    if not hints:
        return np.zeros(len(pool), np.float32)
    days = [dates.day_of(seconds, zone) for seconds in pool.created_at.tolist()]
    return np.array(dates.fit(days, hints), np.float32)
