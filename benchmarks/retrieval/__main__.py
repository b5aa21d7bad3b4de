"""`python -m benchmarks.retrieval DATA`: one table of all rankings on all collections, with the seed and the commit."""

from __future__ import annotations

import argparse
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.retrieval import data, metrics
from benchmarks.retrieval.recipes import NOW, REFERENCES, Recipe, product
from benchmarks.retrieval.vault import MemoryVault, Metadata
from vault_memory.config import Ranking
from vault_memory.index.embed import Embedder, load_embedder
from vault_memory.search.tokens import RememberedTokens

Chosen = Callable[[MemoryVault, Sequence[int], frozenset[int]], tuple[list[object], frozenset[object]]]
LOADERS = {"locomo": data.locomo, "realtalk": data.realtalk, "cranfield": data.cranfield}


@dataclass(frozen=True, slots=True)
class Result:
    """The figures of every question asked of some vaults, and what a query cost in CPU milliseconds."""

    rows: list[tuple[float, ...]]
    sessions: list[tuple[float, ...]]
    categories: list[int]
    cpu_ms: list[float]


def measure(recipe: Recipe, vaults: Iterable[tuple[MemoryVault, data.Collection]]) -> Result:
    """Ask every question of every vault."""
    result = Result([], [], [], [])
    for vault, collection in vaults:
        rank = recipe(vault)
        for question in collection.questions:
            started = time.process_time()
            ranked = rank(question.text)
            result.cpu_ms.append(1000 * (time.process_time() - started))
            result.rows.append(metrics.figures(ranked, question.relevant))
            result.categories.append(question.category)
            if all(collection.documents[n].session for n in question.relevant):
                result.sessions.append(_session_figures(collection, ranked, question.relevant))
    return result


def _session_figures(collection: data.Collection, ranked: Sequence[int], relevant: frozenset[int]) -> tuple[float, ...]:
    """hit@1, recall@5 and MRR of the sessions, each at the place of its best turn."""
    sessions = list(dict.fromkeys(collection.documents[n].session for n in ranked))
    wanted = {collection.documents[n].session for n in relevant}
    first = next((1 / place for place, session in enumerate(sessions, 1) if session in wanted), 0.0)
    return float(first == 1), sum(session in wanted for session in sessions[:5]) / len(wanted), first


def report(name: str, recipe_name: str, result: Result, *, categories: bool) -> None:
    """Print the lines of one recipe on one collection."""
    _line(name, recipe_name, metrics.means(result.rows), result.cpu_ms)
    if categories:
        for category in sorted(set(result.categories)):
            rows = [row for row, own in zip(result.rows, result.categories, strict=True) if own == category]
            _line(f"  category {category} ({len(rows)})", recipe_name, metrics.means(rows), [])


def _line(name: str, recipe: str, values: Sequence[float], cpu_ms: Sequence[float]) -> None:
    cost = f"{np.median(cpu_ms):8.1f} {np.quantile(cpu_ms, 0.95):8.1f}" if cpu_ms else ""
    print(f"{name:22s} {recipe:28s} " + " ".join(f"{value:9.3f}" for value in values) + f" {cost}", flush=True)


def _metadata(documents: Sequence[data.Document], seed: int | None) -> Metadata:
    return (
        Metadata.default(documents, NOW.timestamp())
        if seed is None
        else Metadata.random(documents, seed, NOW.timestamp())
    )


def run(folder: Path, seed: int, *, categories: bool, references: bool, only: Sequence[str]) -> None:
    """Measure everything in `folder` and print the table."""
    embedder = load_embedder()
    vectors = RememberedTokens(embedder.token_vectors, *embedder.table.shape)
    ours = product(vectors, Ranking())
    everything: list[data.Collection] = []
    for name, load in LOADERS.items():
        if not (folder / name).is_dir():
            print(f"{name}: skipped, there is no {folder / name}")
            continue
        collections = load(folder / name)
        everything += collections
        if not only or name in only:
            _collection(name, collections, embedder, ours, seed, categories=categories, references=references)
    if everything and (not only or "together" in only):
        joined = [data.together(everything)]
        _collection("one vault", joined, embedder, ours, seed, categories=False, references=references)


def _collection(
    name: str,
    collections: Sequence[data.Collection],
    embedder: Embedder,
    ours: Recipe,
    seed: int,
    *,
    categories: bool,
    references: bool,
) -> None:
    vaults = [(MemoryVault(c, embedder, _metadata(c.documents, None)), c) for c in collections]
    for recipe_name, recipe in REFERENCES.items() if references else ():
        report(name, recipe_name, measure(recipe, vaults), categories=False)
    result = measure(ours, vaults)
    report(name, "vault-memory", result, categories=categories)
    for vault, collection in vaults:
        vault.metadata = _metadata(collection.documents, seed)
    report(name, "vault-memory, random notes", measure(ours, vaults), categories=False)
    if result.sessions:
        hit, recall, first = metrics.means(result.sessions)
        print(f"{name:22s} sessions by best turn: hit@1 {hit:.3f}, recall@5 {recall:.3f}, MRR {first:.3f}", flush=True)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.retrieval", description=__doc__)
    parser.add_argument("data", type=Path, help="folder with locomo/, realtalk/ and cranfield/ (any may be missing)")
    parser.add_argument("--seed", type=int, default=20261130, help="of the random metadata")
    parser.add_argument("--categories", action="store_true", help="also each category of questions")
    parser.add_argument("--no-references", action="store_true", help="only the product's own rows")
    parser.add_argument("--only", nargs="*", default=(), choices=[*LOADERS, "together"], help="only these collections")
    arguments = parser.parse_args()
    head = ("git", "rev-parse", "--short", "HEAD")
    commit = subprocess.run(head, capture_output=True, text=True, check=False).stdout.strip() or "unknown"
    print(f"seed {arguments.seed}, commit {commit}; cost in CPU ms a query, candidates in Python included")
    print(f"{'collection':22s} {'ranking':28s} " + " ".join(f"{n:>9s}" for n in metrics.NAMES) + "      p50      p95")
    run(
        arguments.data,
        arguments.seed,
        categories=arguments.categories,
        references=not arguments.no_references,
        only=arguments.only,
    )


if __name__ == "__main__":
    main()
