"""The rankings that are compared: what others use, as reference rows, and the product's own."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from benchmarks.retrieval.vault import MemoryVault
from vault_memory.config import Ranking
from vault_memory.index.analyse import analyse_query
from vault_memory.search.order import order
from vault_memory.search.pool import TokenVectors

Ranker = Callable[[str], Sequence[int]]
"""A query in, positions of documents out, best first."""
Recipe = Callable[[MemoryVault], Ranker]

NOW = datetime(2026, 12, 1, tzinfo=UTC)
"""The asker's clock: long after all of it was said, so that nothing is recent."""
DEPTH = 100
RRF_K = 60
RECENCY_SHARE, RECENCY_HALF_LIFE_DAYS = 0.15, 30.0


def fts5_or(vault: MemoryVault) -> Ranker:
    """SQLite FTS5 with porter stemming, the query's words OR'ed, its own bm25()."""
    sql = sqlite3.connect(":memory:")
    sql.execute("CREATE VIRTUAL TABLE t USING fts5(body, tokenize='porter unicode61')")
    sql.executemany("INSERT INTO t(rowid, body) VALUES (?, ?)", enumerate(vault.texts))

    def rank(query: str) -> Sequence[int]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        if not words:
            return []
        found = sql.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank, rowid LIMIT 200", (words,))
        return vault.notes([row for (row,) in found])

    return rank


def tantivy_bm25(vault: MemoryVault) -> Ranker:
    """Tantivy's BM25 over the product's analysed terms, question words and all."""
    return lambda query: vault.notes(vault.select(analyse_query(query), 200)[0])


def cosine(vault: MemoryVault) -> Ranker:
    """The static model alone: mean token vectors compared."""
    return lambda query: vault.notes(_best(vault.vectors @ vault.embedder.encode(query), 200))


def rrf(vault: MemoryVault) -> Ranker:
    """Reciprocal rank fusion, k = 60, of Tantivy's BM25 and cosine."""

    def rank(query: str) -> Sequence[int]:
        by_text = vault.select(analyse_query(query), DEPTH)[0]
        by_vector = _best(vault.vectors @ vault.embedder.encode(query), DEPTH)
        fused = np.zeros(len(vault.chunks))
        for rows in (by_text, by_vector):
            fused[rows] += 1 / (RRF_K + 1 + np.arange(len(rows)))
        return vault.notes(_best(fused, 200))

    return rank


def vector_and_recency(vault: MemoryVault) -> Ranker:
    """85 % cosine, 15 % recency with a half-life of thirty days before the vault's last memory."""
    created = np.array([document.created_at.timestamp() if document.created_at else 0 for document in vault.documents])
    recency = 0.5 ** ((created.max() - created) / 86400 / RECENCY_HALF_LIFE_DAYS)
    share = RECENCY_SHARE * recency[vault.note]
    return lambda query: vault.notes(
        _best((1 - RECENCY_SHARE) * (vault.vectors @ vault.embedder.encode(query)) + share, 200)
    )


def product(vectors: TokenVectors, weights: Ranking) -> Recipe:
    """The ranking of the product with these weights."""

    def recipe(vault: MemoryVault) -> Ranker:
        def rank(query: str) -> Sequence[int]:
            numbers = vault.numbers(query, NOW)
            pool = vault.pool(numbers)
            found = order(query, numbers, pool, vectors, weights, NOW)
            return [int(note) for note in pool.note[found.rows]]

        return rank

    return recipe


REFERENCES: dict[str, Recipe] = {
    "SQLite FTS5, OR": fts5_or,
    "Tantivy BM25": tantivy_bm25,
    "static model, cosine": cosine,
    "RRF k=60": rrf,
    "85 % vector 15 % recency": vector_and_recency,
}


def _best(scores: NDArray[np.float32] | NDArray[np.float64], count: int) -> NDArray[np.int64]:
    return np.lexsort((np.arange(len(scores)), -scores))[:count]
