"""kill -9 in the middle of an apply, at a moment that nobody chose."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.index.indexed_vault import KEYWORD, IndexedVault
from vault_memory.index.candidates import Sizes
from vault_memory.memory.scope import UNBOUND

CHILD = """
import sys
from pathlib import Path
from tests.index.indexed_vault import IndexedVault
vault = IndexedVault(Path(sys.argv[1]))
seed = int(sys.argv[2])
print("ready", flush=True)
for round in range(10_000):
    vault.put({f"n{n}.md": f"turn{seed}x{round} of note{n} and the sea" for n in range(20)})
    vault.remove(f"n{round % 20}.md")
    vault.put({f"n{round % 20}.md": f"turn{seed}x{round} of note{round % 20} and the sea"})
    vault.applier.apply()
"""


def killed_runs(folder: Path, runs: int) -> None:
    chance = random.Random(runs)
    for seed in range(runs):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(folder), str(seed)], stdout=subprocess.PIPE, cwd=Path.cwd()
        )
        assert child.stdout is not None
        with child, child.stdout:
            assert child.stdout.readline() == b"ready\n"
            time.sleep(chance.uniform(0, 0.4))
            child.send_signal(signal.SIGKILL)
        check(folder)


def check(folder: Path) -> None:
    """Nothing is missing, doubled or stale, before the next apply and after it; both equal a fresh index."""
    vault = IndexedVault(folder)
    before = [vault.values(f"note{n} sea") for n in (0, 7, 19)]
    assert vault.applier.apply()
    assert vault.applier.pending() == 0
    assert [vault.values(f"note{n} sea") for n in (0, 7, 19)] == before
    count = vault.catalog.meta("chunk_count")
    for n in range(20):
        path, found = f"n{n}.md", vault.found(f"note{n}", KEYWORD)
        if vault.catalog.get(path, UNBOUND) is not None:
            assert found == [path]
        else:  # a round was cut between removing it and putting it back: words that begin alike stand in for it
            assert path not in found
    assert len(vault.found("the sea", Sizes(0, 40))) == count
    assert vault.gather("the sea", KEYWORD).text_rank.tolist().count(-1) == 0
    vault.close()


def test_ten_kills_in_apply_lose_and_double_nothing(tmp_path: Path) -> None:
    killed_runs(tmp_path, 10)


@pytest.mark.slow
@pytest.mark.timeout(1_200)
def test_two_hundred_kills_in_apply_lose_and_double_nothing(tmp_path: Path) -> None:
    killed_runs(tmp_path, 200)
