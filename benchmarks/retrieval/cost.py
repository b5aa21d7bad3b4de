"""`python -m benchmarks.retrieval.cost DATA`: what ranking one pool costs, stage by stage, in CPU milliseconds.

All collections lie in one vault; the candidates are ready, so this is the ranking alone, warm, with one BLAS thread.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Callable
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

from benchmarks.retrieval import data
from benchmarks.retrieval.recipes import NOW
from benchmarks.retrieval.vault import MemoryVault, Metadata
from vault_memory.config import Ranking
from vault_memory.index.embed import load_embedder
from vault_memory.search import adjust, dates
from vault_memory.search.features import token_matches
from vault_memory.search.order import order
from vault_memory.search.pool import Pool, QueryNumbers
from vault_memory.search.query import parse, search_words
from vault_memory.search.rank import judge
from vault_memory.search.relevance import relevance
from vault_memory.search.tokens import RememberedTokens

QUERIES = 300
Asked = tuple[str, QueryNumbers, Pool]


def timed(stage: str, asked: list[Asked], work: Callable[[str, QueryNumbers, Pool], object]) -> None:
    """Print the median and the 95th percentile over all queries, after a warm-up."""
    for one in asked[:20]:
        work(*one)
    spent = []
    for one in asked:
        started = time.process_time()
        work(*one)
        spent.append(1000 * (time.process_time() - started))
    print(f"{stage:34s} p50 {np.median(spent):6.2f}   p95 {np.quantile(spent, 0.95):6.2f}", flush=True)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.retrieval.cost", description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    folder: Path = arguments.data
    collections = [
        *data.locomo(folder / "locomo"),
        *data.realtalk(folder / "realtalk"),
        *data.cranfield(folder / "cranfield"),
    ]
    everything = data.together(collections)
    embedder, weights = load_embedder(), Ranking()
    vault = MemoryVault(everything, embedder, Metadata.default(everything.documents, NOW.timestamp()))
    remembered = RememberedTokens(embedder.token_vectors, *embedder.table.shape)
    questions = random.Random(arguments.seed).sample(everything.questions, QUERIES)
    asked: list[Asked] = []
    for question in questions:
        numbers = vault.numbers(question.text, NOW)
        asked.append((question.text, numbers, vault.pool(numbers)))
    rows = np.mean([len(pool) for _, _, pool in asked])
    print(f"{len(vault.chunks)} chunks, {rows:.0f} candidates a query, seed {arguments.seed}")
    timed("reading the query", asked, lambda q, n, p: search_words(parse(q, NOW).text, NOW))
    timed("dates", asked, lambda q, n, p: dates.find(q, NOW))
    timed("late interaction, first use", asked, lambda q, n, p: token_matches(n, p, embedder.token_vectors))
    timed("late interaction, remembered", asked, lambda q, n, p: token_matches(n, p, remembered))
    timed("all features", asked, lambda q, n, p: judge(n, p, remembered, weights))
    timed("adjustments", asked, lambda q, n, p: adjust.factors(adjust.signals(p, NOW.timestamp()), 0.15))
    timed("late interaction and relevance", asked, lambda q, n, p: relevance(n, p, token_matches(n, p, remembered)))
    timed("everything, first use", asked, lambda q, n, p: order(q, n, p, embedder.token_vectors, weights, NOW))
    timed("everything, remembered", asked, lambda q, n, p: order(q, n, p, remembered, weights, NOW))
    timed("(exact scan of all vectors)", asked, lambda q, n, p: vault.vectors @ n.vector)


if __name__ == "__main__":
    main()
