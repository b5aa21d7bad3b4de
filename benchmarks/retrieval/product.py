"""The same questions through the product itself: notes on disk, real indexes, `open_vault(...).search`.

    python -m benchmarks.retrieval.product DATA [CONVERSATIONS]

Says whether the table of `benchmarks.retrieval`, which fills its pools in memory, is what a user gets.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from benchmarks.retrieval.data import Collection, locomo
from benchmarks.retrieval.metrics import figures, means
from vault_memory import init_vault, open_vault

DEPTH = 20


def run(collection: Collection) -> tuple[list[tuple[float, ...]], list[float]]:
    """Figures of every question and CPU milliseconds of every search."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "vault"
        init_vault(root, git=False)
        with open_vault(root) as vm:
            items = [
                {"content": doc.body, "session": doc.session or None, "created_at": doc.created_at}
                for doc in collection.documents
            ]
            started = time.perf_counter()
            stored = vm.remember_many(memories=items, on_duplicate="keep_both", force=True)
            print(
                f"  stored {stored.stored} in {time.perf_counter() - started:.1f} s, refused {stored.failed}",
                flush=True,
            )
            place = {result.memory.id: n for n, result in enumerate(stored.results) if result.memory is not None}
            for item, result in zip(items, stored.results, strict=True):
                same = vm.get(refs=[result.memory.id], touch=False).memories[0]
                assert (same.content, same.session) == (item["content"], item["session"]), result.memory.path
            assert vm.list(touch=False).total == len(items)
            rows, spent = [], []
            for question in collection.questions:
                began = time.process_time()
                page = vm.search(query=question.text, limit=DEPTH, touch=False)
                spent.append(1000 * (time.process_time() - began))
                rows.append(figures([place[hit.memory.id] for hit in page.hits], question.relevant))
    return rows, spent


def main(folder: Path, count: int) -> None:
    """Print one line a conversation and the means."""
    every: list[tuple[float, ...]] = []
    for collection in locomo(folder / "locomo")[:count]:
        rows, spent = run(collection)
        every += rows
        numbers = " ".join(f"{value:.3f}" for value in means(rows))
        print(f"{collection.name}: {numbers} | CPU ms p50 {sorted(spent)[len(spent) // 2]:.1f}", flush=True)
    print("all:", " ".join(f"{value:.3f}" for value in means(every)), "(recall@5/10/20, nDCG@10, MRR@10, hit@10)")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5)
