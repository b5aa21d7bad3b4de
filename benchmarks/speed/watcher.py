"""How fast the product follows hands and git: `python benchmarks/speed/watcher.py [NOTES]` (10,000 by default).

A vault of NOTES notes with `vault-memory watch` in a process of its own; questions come from this process, which looks
at no disk while another one watches. Wall times are of this machine and what else it does; CPU times are firmer.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from vault_memory import init_vault, open_vault
from vault_memory.surfaces.python import VaultMemory

EDITS, BURST, CHECKOUT, FOLDERS, IDLE_SECONDS = 20, 200, 1_000, 5_000, 15
WORDS = "quartz basalt granite marble slate gneiss schist tuff chalk flint shale jade onyx opal topaz beryl".split()


def make_notes(root: Path, count: int) -> None:
    """Notes of about 80 words in folders of a hundred."""
    for number in range(count):
        folder = root / f"area {number // 100}"
        folder.mkdir(exist_ok=True)
        words = " ".join(WORDS[(number * 7 + n) % len(WORDS)] for n in range(80))
        (folder / f"note {number}.md").write_text(f"# Note {number}\n\n{words}\n")


def git(root: Path, *arguments: str) -> str:
    """The person's git."""
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "core.hooksPath=/dev/null")
    return subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True, text=True).stdout


def row(name: str, value: str, goal: str = "") -> None:
    print(f"{name:48} {value:>16}   {goal}", flush=True)


def until(true: Callable[[], object], pause: float = 0.005, seconds: float = 600) -> float:
    """How long it takes until something holds."""
    started = time.monotonic()
    while not true():
        if time.monotonic() - started > seconds:
            raise TimeoutError
        time.sleep(pause)
    return time.monotonic() - started


class Watched:
    """The watcher's process."""

    def __init__(self, root: Path) -> None:
        command = [sys.executable, "-m", "vault_memory", "watch", "--quiet", "--vault", str(root)]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)

    def cpu(self) -> float:
        """Seconds of CPU so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        """As a service manager does."""
        self.process.terminate()
        self.process.wait(30)


def settled(vm: VaultMemory) -> bool:
    """Everything is searchable, applied and in LanceDB, and the chores of the day are done."""
    catalog = vm._vault.catalog
    applied = [catalog.meta(f"applied_{name}") for name in ("text", "vectors", "lancedb")]
    return (
        not catalog.underived_count()
        and all(n == catalog.generation for n in applied)
        and bool(catalog.meta("bases_expired"))
    )


def found(vm: VaultMemory, word: str) -> list[str]:
    return [hit.memory.path for hit in vm.search(query=word, mode="keyword", limit=1, touch=False).hits]


def measure_edits(root: Path, vm: VaultMemory, watcher: Watched) -> None:
    times, cpu = [], watcher.cpu()
    for n in range(EDITS):
        path = f"area {n % 10}/note {n % 10 * 100 + n}.md"
        word = f"edited{n}word"
        (root / path).write_text((root / path).read_text() + word + "\n")
        times.append(until(lambda word=word, path=path: found(vm, word) == [path]))
        time.sleep(0.2)
    times.sort()
    row("hand edit to searchable, median", f"{statistics.median(times) * 1000:.0f} ms")
    row("hand edit to searchable, p95", f"{times[int(0.95 * len(times))] * 1000:.0f} ms", "≤ 300 ms")
    row("  CPU of the watcher for an edit", f"{(watcher.cpu() - cpu) / EDITS * 1000:.0f} ms")


def measure_checkout(root: Path, vm: VaultMemory, watcher: Watched) -> None:
    git(root, "add", "-A"), git(root, "commit", "-q", "-m", "all")
    git(root, "switch", "-q", "-c", "side")
    for number in range(CHECKOUT):
        place = root / f"area {number // 100}/note {number}.md"
        place.write_text(place.read_text().replace("quartz", "checkedout"))
    git(root, "commit", "-q", "-a", "-m", "side")
    catalog = vm._vault.catalog
    until(lambda: vm.list(q="checkedout", limit=1, touch=False).total == CHECKOUT and settled(vm), 0.2)
    cpu = watcher.cpu()
    git(root, "switch", "-q", "main")
    catalogued = until(lambda: vm.list(q="checkedout", limit=1, touch=False).total == 0, 0.02)
    searchable = catalogued + until(lambda: not catalog.underived_count(), 0.02)
    row(f"checkout of {CHECKOUT:,} files in the catalog", f"{catalogued:.2f} s")
    row(f"checkout of {CHECKOUT:,} files settled", f"{searchable:.2f} s", "≤ 3 s")
    row("  of it CPU of the watcher", f"{watcher.cpu() - cpu:.2f} s")


def measure_idle(root: Path, vm: VaultMemory, watcher: Watched) -> None:
    for n in range(FOLDERS):
        (root / f"many/{n // 100}/{n}").mkdir(parents=True, exist_ok=True)
    time.sleep(3)
    until(lambda: settled(vm), 0.2)
    time.sleep(3)
    cpu = watcher.cpu()
    time.sleep(IDLE_SECONDS)
    row(f"idle CPU with {FOLDERS:,} folders", f"{100 * (watcher.cpu() - cpu) / IDLE_SECONDS:.2f} %", "0")


def measure_burst(vm: VaultMemory) -> None:
    """The commit alone, in this process: the watcher is not running."""
    vm._vault.commits.flush()
    for n in range(BURST):
        vm.remember(content=f"{WORDS[n % len(WORDS)]} burst {n}", force=True, on_duplicate="keep_both")
    started, children = time.monotonic(), sum(os.times()[2:4])
    flushed = vm._vault.commits.flush()
    seconds = time.monotonic() - started
    row(f"commits for a burst of {BURST} writes", f"{len(flushed.commits)}")
    row("  wall time", f"{seconds * 1000:.0f} ms", "≤ 100 ms of git")
    row("  CPU of git's processes", f"{(sum(os.times()[2:4]) - children) * 1000:.0f} ms")


def measure_history(vm: VaultMemory) -> None:
    path = "area 0/note 0.md"
    for n in range(20):
        vm.append(ref=path, text=f"line {n}")
        vm._vault.commits.flush()
    vm.history(ref=path)
    started = time.monotonic()
    versions = vm.history(ref=path, limit=20).versions
    row(f"history of a note ({len(versions)} versions)", f"{(time.monotonic() - started) * 1000:.0f} ms", "≤ 100 ms")


def main() -> None:
    notes = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "vault"
        init_vault(root)
        git(root, "config", "user.name", "Ada"), git(root, "config", "user.email", "ada@example.org")
        make_notes(root, notes)
        print(f"{notes:,} notes, {datetime.now(UTC):%Y-%m-%d}, load {os.getloadavg()[0]:.1f}\n")
        watcher = Watched(root)
        with open_vault(root) as vm:
            row("first index of everything", f"{until(lambda: settled(vm), 0.2):.1f} s")
            row("  CPU of the watcher, imports and LanceDB included", f"{watcher.cpu():.1f} s")
            measure_edits(root, vm, watcher)
            measure_checkout(root, vm, watcher)
            measure_idle(root, vm, watcher)
            watcher.end()
            measure_burst(vm)
            measure_history(vm)


if __name__ == "__main__":
    main()
