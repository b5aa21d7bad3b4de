"""The evidence for each candidate: one number a feature and row. Owns the formulas; knows no weights but the session's.

Every feature lies in 0–1. Features that compare (`maxsim`, `window`, `cosine`, `neighbours`) are min-max scaled over
the pool, so they say who is ahead, never how good the best one is; `relevance` says that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from vault_memory.search.pool import NONE

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from vault_memory.search.pool import Floats, Ints, Pool, QueryNumbers, TokenVectors

_TINY = 1e-9
_FAR = 0.85
"""What a match two memories away counts."""
_MAX_TOKENS = 128
"""Distinct query tokens that are compared; more only cost time and memory."""
_FEEDBACK_BEST = 5
_SESSION_BEST = 3
"""How many of a session's memories speak for it (measured: 3 is better than 1 or the mean of all)."""


class Matches(Struct, frozen=True):
    """How well each query token is met by each row.

    Attributes:
        tokens: the query's distinct tokens in query order; shape (tokens,).
        best: cosine of its best partner in each row, 0 where none is on its side; shape (rows, tokens).
        weight: share of each token in the query's idf mass; sums to 1, or is empty.
    """

    tokens: Ints
    best: Floats
    weight: Floats


class Features(Struct, frozen=True):
    """One column a feature, one entry a row, each 0–1. See SEARCH in docs for the definitions."""

    bm25: Floats
    maxsim: Floats
    cosine: Floats
    window: Floats
    context: Floats
    neighbours: Floats
    session: Floats
    answer: Floats
    feedback: Floats
    name: Floats
    date: Floats
    question: Floats


def token_matches(query: QueryNumbers, pool: Pool, token_vectors: TokenVectors) -> Matches:
    """Late interaction: each query token looks for its best partner among a row's tokens.

    Only the pool's unique tokens are gathered and compared, then spread to the rows. A token that the query repeats
    counts somewhat more (1 + ln times); of a very long query the tokens that weigh most are kept.
    """
    tokens, weight = _asked(query)
    best = np.zeros((len(pool), len(tokens)), np.float32)
    filled = np.flatnonzero(np.diff(pool.token_offsets))
    if len(filled) and len(tokens):
        unique, where = _distinct(pool.token_ids)
        cosines = np.clip(token_vectors(tokens) @ token_vectors(unique).T, 0, 1)
        best[filled] = np.maximum.reduceat(cosines.take(where, 1), pool.token_offsets[filled], axis=1).T
    return Matches(tokens, best, weight)


def _distinct(ids: Ints) -> tuple[Ints, Ints]:
    """`np.unique` with the inverse, for small whole numbers: by a table instead of a sort, four times as fast."""
    place = np.zeros(int(ids.max()) + 1, np.int64)
    place[ids] = 1
    unique = np.flatnonzero(place)
    place[unique] = np.arange(len(unique))
    return unique, place[ids]


def _asked(query: QueryNumbers) -> tuple[Ints, Floats]:
    """The query's distinct tokens in query order and their shares of the idf mass."""
    tokens, first, count = np.unique(query.token_ids, return_index=True, return_counts=True)
    mass = query.token_idf[first] * (1 + np.log(count))
    kept = np.sort(np.lexsort((first, -mass))[:_MAX_TOKENS])
    kept = kept[np.argsort(first[kept])]
    share = mass[kept] / max(float(mass[kept].sum()), _TINY)
    return tokens[kept].astype(np.int64), share.astype(np.float32)


def features(
    query: QueryNumbers,
    pool: Pool,
    matches: Matches,
    *,
    names: Collection[str],
    date: Floats,
    session_weights: tuple[float, float, float],
) -> Features:
    """All features of the pool but `feedback`, which needs a first order and is left at 0.

    Args:
        names: lower-case words of the query that may name somebody.
        date: how well each row's day fits the dates asked for (see `dates.fit`).
        session_weights: of bm25, maxsim and cosine in the evidence that a session's best memories lend to the others.
    """
    bm25 = _share_of_best(pool.bm25)
    maxsim = scaled(products(matches.best, matches.weight))
    cosine = scaled(pool.cosine)
    evidence = _share_of_best(products(np.stack((bm25, maxsim, cosine), axis=1), np.array(session_weights, np.float32)))
    linked = bool(pool.log.any())
    nothing = np.zeros(len(pool), np.float32)
    return Features(
        bm25=bm25,
        maxsim=maxsim,
        cosine=cosine,
        window=scaled(products(_window(pool, matches), matches.weight)) if linked else nothing,
        context=scaled(products(_context(pool, matches), matches.weight)) if linked else nothing,
        neighbours=_neighbours(query, pool) if linked else nothing,
        session=_session(pool, evidence) if linked else nothing,
        answer=_answer(pool, maxsim) if linked else nothing,
        feedback=nothing,
        name=_named(pool, names),
        date=date,
        question=pool.question.astype(np.float32),
    )


def feedback(pool: Pool, scores: NDArray[np.float64]) -> Floats:
    """Cosine with what the best five by `scores` have in common: pseudo-relevance feedback (Rocchio), pool only."""
    best = np.lexsort((pool.chunk, -scores))[:_FEEDBACK_BEST]
    centre = products(pool.vectors[best].T, np.maximum(scores[best], 0).astype(np.float32))
    norm = float(np.linalg.norm(centre))
    return scaled(products(pool.vectors, centre / norm)) if norm > _TINY else np.zeros(len(pool), np.float32)


def products(rows: Floats, vector: Floats) -> Floats:
    """The dot product of each row with the vector.

    Not `@`: for a matrix and a vector OpenBLAS now and then raises the flag for invalid values without having any.
    """
    return np.asarray(np.einsum("ij,j->i", rows, vector), np.float32)


def scaled(values: Floats) -> Floats:
    """Min-max scaled to 0–1; all zeros when the values do not differ."""
    if not len(values) or (span := values.max() - values.min()) <= _TINY:
        return np.zeros(len(values), np.float32)
    return np.asarray((values - values.min()) / span, np.float32)


def _share_of_best(values: Floats) -> Floats:
    if not len(values) or (best := values.max()) <= _TINY:
        return np.zeros(len(values), np.float32)
    return np.asarray(values / best, np.float32)


def _window(pool: Pool, matches: Matches) -> Floats:
    """Token matches where each may also be met by the memory before: an answer leans on its question."""
    best = matches.best.copy()
    _lend(best, matches.best, np.where(pool.log, pool.previous, NONE), 1.0)
    return best


def _context(pool: Pool, matches: Matches) -> Floats:
    """Token matches in the conversation around: two memories each way, the further ones for a little less."""
    best = matches.best.copy()
    for step in (pool.previous, pool.next):
        near = np.where(pool.log, step, NONE)
        far = np.where(near != NONE, step[near], NONE)
        _lend(best, matches.best, near, 1.0)
        _lend(best, matches.best, far, _FAR)
    return best


def _lend(best: Floats, lenders: Floats, rows: Ints, share: float) -> None:
    has = np.flatnonzero(rows != NONE)
    best[has] = np.maximum(best[has], np.float32(share) * lenders[rows[has]])


def _answer(pool: Pool, maxsim: Floats) -> Floats:
    """How well the memory before matches, where it asks something: what follows such a question answers it."""
    asked = pool.log & (pool.previous != NONE)
    return np.where(asked & pool.question[pool.previous], maxsim[pool.previous], np.float32(0))


def _neighbours(query: QueryNumbers, pool: Pool) -> Floats:
    """Cosine of the query with the sum of a memory and its two neighbours."""
    before = pool.before if pool.before is not None else _rows(pool.vectors, pool.previous)
    after = pool.after if pool.after is not None else _rows(pool.vectors, pool.next)
    beside = before + after
    beside[~pool.log] = 0
    around = pool.vectors + beside
    norms = np.sqrt(np.einsum("ij,ij->i", around, around))
    return scaled(products(around, query.vector) / np.maximum(norms, _TINY))


def _rows(vectors: Floats, rows: Ints) -> Floats:
    return np.where((rows != NONE)[:, None], vectors[rows], np.float32(0))


def _session(pool: Pool, evidence: Floats) -> Floats:
    """Mean evidence of the three best memories of a row's log session (absent ones count 0)."""
    rows = np.flatnonzero(pool.log)
    rows = rows[np.lexsort((-evidence[rows], pool.session[rows]))]
    _, first, group = np.unique(pool.session[rows], return_index=True, return_inverse=True)
    best = np.arange(len(rows)) - first[group] < _SESSION_BEST
    total = np.bincount(group, np.where(best, evidence[rows], 0))
    support = np.zeros(len(pool), np.float32)
    support[rows] = total[group] / _SESSION_BEST
    return support


def _named(pool: Pool, names: Collection[str]) -> Floats:
    """1 where the speaker's first name is a word of the query."""
    called = {speaker: _first_name(speaker) in names for speaker in set(pool.speaker)}
    return np.fromiter((called[speaker] for speaker in pool.speaker), np.float32, len(pool))


def _first_name(speaker: str) -> str:
    return next(iter(speaker.lower().split()), "")
