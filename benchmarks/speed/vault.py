"""Speed of a whole vault: first scan, re-scan, writes, lists, searches, and cold commands as whole processes.

    python -m benchmarks.speed.vault [NOTES]

Prints CPU seconds (the machine may be busy; a yardstick of a million additions is printed beside them).
"""

from __future__ import annotations

import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from vault_memory import init_vault, open_vault
from vault_memory.surfaces.python import VaultMemory

WORDS = [
    f"{a}{b}" for a in "bal cor den fir gan hul jor kel lam mor".split() for b in "ast ent ilo omb urn ark".split()
]
QUERIES = ["balast corent denilo", "how does the firomb reach ganurn", "hulark jorast kelent lamilo"]


def notes(root: Path, count: int, seed: int = 7) -> None:
    """Write `count` notes of about 80 words, in folders of 500."""
    draw = random.Random(seed)
    for n in range(count):
        folder = root / "notes" / f"{n // 500:03}"
        folder.mkdir(parents=True, exist_ok=True)
        tags = ", ".join(draw.sample(WORDS, 2))
        text = " ".join(draw.choice(WORDS) for _ in range(75))
        head = f"---\nid: bench{n:07}\ntitle: Note {n} {draw.choice(WORDS)}\ntags: [{tags}]\nversion: 1\n---\n"
        (folder / f"note-{n}.md").write_text(f"{head}{text}\n")


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of one call in this process."""
    started = time.process_time()
    work()
    return time.process_time() - started


def each(work: Callable[[int], object], times: int) -> tuple[float, float]:
    """Median and 95th percentile of CPU milliseconds of `work(n)`."""
    spent = sorted(1000 * cpu(lambda n=n: work(n)) for n in range(times))  # type: ignore[misc]
    return statistics.median(spent), spent[int(0.95 * (times - 1))]


def cold(root: Path, *arguments: str) -> float:
    """CPU seconds of a whole command, the median of three."""
    spent = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-m", "vault_memory", *arguments, "--vault", str(root)],
            check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"},
        )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(spent)


def row(name: str, value: str, goal: str = "") -> None:
    """One line of the table."""
    print(f"| {name} | {value} | {goal} |", flush=True)


def writes(vm: VaultMemory) -> None:
    """A burst of memories; what the disk's own syncing costs is not CPU."""
    draw = random.Random(11)
    text = [" ".join(draw.choice(WORDS) for _ in range(20)) + f" {n}" for n in range(60)]
    median, high = each(lambda n: vm.remember(content=text[n], on_duplicate="keep_both"), 60)
    row("remember, CPU ms p50 / p95", f"{median:.1f} / {high:.1f}", "2–3 without gates, 25 with")


def reads(vm: VaultMemory) -> None:
    """Lists and warm searches."""
    median, high = each(lambda n: vm.list(limit=100, touch=False, sort=("created_at", "updated_at", "id")[n % 3]), 30)
    row("list of 100 with a scan, CPU ms p50 / p95", f"{median:.1f} / {high:.1f}")
    vm.search(query=QUERIES[0], touch=False)
    median, high = each(lambda n: vm.search(query=QUERIES[n % 3], touch=False), 30)
    row("search with a scan, CPU ms p50 / p95", f"{median:.1f} / {high:.1f}")
    vm.watch()
    vm._upkeep.wait_idle(60)  # type: ignore[union-attr]
    time.sleep(3)
    median, high = each(lambda n: vm.search(query=QUERIES[n % 3], touch=False), 60)
    row("search while watched, CPU ms p50 / p95", f"{median:.1f} / {high:.1f}", "6 / 12")
    median, high = each(lambda n: vm.list(limit=100, touch=False), 30)
    row("list of 100 while watched, CPU ms p50 / p95", f"{median:.1f} / {high:.1f}", "5")


def main(count: int) -> None:
    """Run everything on a fresh vault of `count` notes."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "vault"
        init_vault(root, git=False)
        notes(root, count)
        print(f"{count} notes, python {sys.version.split()[0]}\n\n| what | measured | goal |\n|---|---|---|")
        row("yardstick: 10⁶ additions, CPU ms", f"{1000 * cpu(lambda: sum(n + 1 for n in range(10**6))):.0f}")
        with open_vault(root) as vm:
            spent = cpu(lambda: vm._vault.look(None))
            row("first scan and record, notes/s", f"{count / spent:.0f}", "≥ 5000")
            spent = cpu(lambda: vm._vault.derive_pending())
            row("chunks and vectors, notes/s", f"{count / spent:.0f}")
            spent = cpu(lambda: vm._vault.indexes.applier.apply(wait=True))
            row("apply to Tantivy and vectors, notes/s", f"{count / spent:.0f}")
            row("unchanged re-scan, CPU s", f"{min(cpu(lambda: vm._vault.look(None)) for _ in range(5)):.3f}", "≤ 0.15")
            writes(vm)
            reads(vm)
        row("python -c pass, CPU s", f"{cold_python('pass'):.3f}")
        row("python -c 'import click', CPU s", f"{cold_python('import click'):.3f}", "0.038 on a quiet machine")
        for name, arguments in {
            "list": ("list",), "get": ("get", "bench0000007"), "status": ("status",),
            "search": ("search", QUERIES[0]), "--version": ("--version",),
        }.items():  # fmt: skip
            row(f"cold `{name}`, CPU s", f"{cold(root, *arguments):.2f}", "≤ 0.2 without the scan, search ≤ 0.3")
        print(f"\npeak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


def cold_python(code: str) -> float:
    """CPU seconds of an interpreter that does next to nothing: how busy the machine is."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
