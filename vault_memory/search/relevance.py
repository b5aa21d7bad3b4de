"""How much of a query a memory really answers to, 0–1: evidence, never order. Pure.

`score` compares candidates, so the best of a bad lot looks good there. Relevance looks at the query: the
share of its rarity (idf) that the memory meets, by the same term or by a token of near meaning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from vault_memory.search.features import products

if TYPE_CHECKING:
    from vault_memory.search.features import Matches
    from vault_memory.search.pool import Floats, Pool, QueryNumbers

UNRELATED: Final = 0.2
"""τ: what the best partner of a token reaches in an unrelated short memory (measured, docs/search.md)."""
SAME: Final = 0.999
"""From this cosine on two tokens are the same."""
NOTHING: Final = 0.01
"""Relevance up to this is noise: such a memory is no answer at all."""
WEAK: Final = 0.1
"""Relevance below this is shown as weak: a paraphrase may score so little, and so does a nonsense query."""


def relevance(query: QueryNumbers, pool: Pool, matches: Matches) -> Floats:
    """The share of the query's idf mass that each row meets; the better of two ways of counting.

    By tokens: 1 for the same token, else max(0, (cos − τ) / (1 − τ)) of its best partner. By terms: 1 for a term that
    the row holds (stems, identifiers and scripts that the model does not know).
    """
    return np.maximum(_by_tokens(matches), _by_terms(query, pool))


def met(best: Floats) -> Floats:
    """How far each query token is met, 0–1, from the cosine of its best partner."""
    return np.where(best >= SAME, 1, np.maximum((best - UNRELATED) / (1 - UNRELATED), 0)).astype(np.float32)


def _by_tokens(matches: Matches) -> Floats:
    return products(met(matches.best), matches.weight)


def _by_terms(query: QueryNumbers, pool: Pool) -> Floats:
    mass = float(query.term_idf.sum())
    if mass <= 0:
        return np.zeros(len(pool), np.float32)
    return products(pool.term_hits.astype(np.float32), query.term_idf / mass)
