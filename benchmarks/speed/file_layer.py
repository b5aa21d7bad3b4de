"""The file layer alone: `python benchmarks/speed/file_layer.py [NOTES]` (10,000 by default; 100,000 needs 400 MB).

The row "listing and stat alone" is the yardstick for scans, "plain write" the one for replacing: trust the ratios.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from vault_memory.files.ignore import Ignore
from vault_memory.files.scan import RACY_NS, Known, diff, scan
from vault_memory.files.store import NoteStore
from vault_memory.files.watch import Watcher

WRITES, SAVES = 200, 40


def make_notes(root: Path, count: int) -> None:
    """Notes of about 80 words in folders of a hundred."""
    (root / ".vault-memory").mkdir()
    (root / ".gitignore").write_text("*.pdf\nbuild/\n.obsidian/workspace.json\n")
    for number in range(count):
        folder = root / f"memories/project {number // 100}"
        if number % 100 == 0:
            folder.mkdir(parents=True)
        (folder / f"note number {number}.md").write_text("word " * 80)


def milliseconds(work: Callable[[], object], times: int = 5) -> float:
    """The best of several runs, in ms of CPU."""
    best = float("inf")
    for _ in range(times):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best * 1000


def bare_walk(root: Path) -> int:
    """What no scan can do without: every folder listed, every file looked at."""
    count = 0
    for folder, _, files in os.walk(root):
        for name in files:
            os.lstat(f"{folder}/{name}")
            count += 1
    return count


def measure_scans(root: Path) -> None:
    ignore = Ignore(root)
    seen = scan(root, ignore)
    known = {path: Known(stat, stat.mtime_ns + RACY_NS + 1) for path, stat in seen.files.items()}
    row("listing and stat alone", milliseconds(lambda: bare_walk(root)))
    row(f"scan of {len(known):,} unchanged notes, and diff", milliseconds(lambda: diff(scan(root, ignore), known)))
    row("look at one note", milliseconds(lambda: scan(root, ignore, [next(iter(known))])))


def measure_writes(root: Path) -> None:
    store = NoteStore(root)
    texts = [b"text %d " % number * 60 for number in range(WRITES)]
    store.create("bench/r.md", texts[0])

    def plain() -> None:
        for text in texts:
            (root / "bench/p.md").write_bytes(text)

    def replace() -> None:
        last = store.read("bench/r.md")
        for text in texts:
            store.replace("bench/r.md", text, last)
            last = text

    def create() -> None:
        for text in texts:
            store.create(f"bench/{next(numbers)}.md", text)

    def create_in_a_batch() -> None:
        with store.batch():
            create()

    numbers = iter(range(10**9))
    works = {"plain write": plain, "replace": replace, "create": create, "create, in one batch": create_in_a_batch}
    for name, work in works.items():
        row(f"{name}, each", *timed(work))
    real_sync = os.fsync
    os.fsync = lambda _: None
    try:
        row("replace without fsync, each", *timed(replace))
    finally:
        os.fsync = real_sync


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """CPU and wall ms of one of the WRITES."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return (time.process_time() - cpu) * 1000 / WRITES, (time.perf_counter() - wall) * 1000 / WRITES


def measure_watcher(root: Path) -> None:
    waits = []
    came = threading.Event()
    note = root / "bench/r.md"
    with Watcher(root, Ignore(root), lambda _: came.set()) as watcher:
        started = time.perf_counter()
        watcher.wait_idle(60)
        row("watches on every folder", 0.0, (time.perf_counter() - started) * 1000)
        for number in range(SAVES):
            came.clear()
            started = time.perf_counter()
            note.write_text(f"edit {number}")
            came.wait(10)
            waits.append((time.perf_counter() - started) * 1000)
    row("hand edit until handed on, median", 0.0, statistics.median(waits))
    row("hand edit until handed on, p95", 0.0, sorted(waits)[int(0.95 * SAVES)])


def row(name: str, cpu_ms: float, wall_ms: float | None = None) -> None:
    print(f"{name:<50} {cpu_ms:9.3f} ms CPU" + (f" {wall_ms:9.3f} ms" if wall_ms is not None else ""))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder)
        make_notes(vault, int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
        measure_scans(vault)
        measure_writes(vault)
        measure_watcher(vault)
