"""Pools for the ranking tests: real texts through the real analyser, chunker and model, held in memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import numpy as np

from benchmarks.retrieval.data import Collection, Document
from benchmarks.retrieval.vault import MemoryVault, Metadata
from vault_memory.config import Ranking
from vault_memory.index.embed import load_embedder
from vault_memory.search.order import Ordered, order
from vault_memory.search.pool import NONE, Pool, QueryNumbers
from vault_memory.search.tokens import RememberedTokens

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
model = lru_cache(1)(load_embedder)


@lru_cache(1)
def token_vectors() -> RememberedTokens:
    return RememberedTokens(model().token_vectors, *model().table.shape)


def vault(texts: Sequence[str], *, session: str = "", created_at: Sequence[datetime] | None = None) -> MemoryVault:
    """One memory a text, in one session when it is named."""
    times = created_at or [NOW] * len(texts)
    documents = tuple(Document(f"m{n:03}", "", text, session, times[n]) for n, text in enumerate(texts))
    return MemoryVault(Collection("test", documents, ()), model(), Metadata.default(documents, NOW.timestamp()))


def ask(vault: MemoryVault, query: str, weights: Ranking = Ranking()) -> tuple[QueryNumbers, Pool, Ordered]:  # noqa: B008
    numbers = vault.numbers(query, NOW)
    pool = vault.pool(numbers)
    return numbers, pool, order(query, numbers, pool, token_vectors(), weights, NOW)


def refs(pool: Pool, ordered: Ordered) -> list[str]:
    return [pool.ref[row] for row in ordered.rows]


def plain_pool(count: int, **columns: Any) -> Pool:
    """A pool of `count` notes that differ in nothing but what is given."""
    zeros = np.zeros(count, np.float32)
    none = np.full(count, NONE)
    values: dict[str, Any] = {
        "chunk": np.arange(count), "note": np.arange(count), "number": np.zeros(count, np.int64),
        "ref": tuple(f"m{n:03}" for n in range(count)), "bm25": zeros + 1, "text_rank": np.arange(1, count + 1),
        "cosine": zeros, "vector_rank": none, "term_hits": np.ones((count, 1), bool),
        "vectors": np.zeros((count, 4), np.float32), "token_ids": np.zeros(0, np.int64),
        "token_offsets": np.zeros(count + 1, np.int64), "question": np.zeros(count, bool), "session": none,
        "log": np.zeros(count, bool), "previous": none, "next": none, "speaker": ("",) * count,
        "created_at": np.full(count, NOW.timestamp()), "updated_at": np.full(count, NOW.timestamp() - 1e9),
        "importance": zeros + np.float32(0.5), "confidence": zeros + np.float32(0.8),
        "decayed_confidence": zeros + np.float32(0.8), "pinned": np.zeros(count, bool),
        "verification": np.zeros(count, np.int64), "url_match": zeros, "project_match": np.zeros(count, bool),
        "successor": none,
    }  # fmt: skip
    return Pool(**values | columns)


def one_term() -> QueryNumbers:
    """A query of one term and no token."""
    none = np.zeros(0, np.float32)
    return QueryNumbers(("walnut",), np.ones(1, np.float32), np.zeros(0, np.int64), none, np.zeros(4, np.float32))
