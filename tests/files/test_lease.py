"""The watcher's lease: one holder, believed only while it lives and beats."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from vault_memory.files.lease import FRESH_SECONDS, Lease

HOLD = """
import sys, time
from pathlib import Path
from vault_memory.files.lease import Lease
lease = Lease(Path(sys.argv[1]))
assert lease.take()
lease.beat(12345)
sys.stdout.write("held\\n")
sys.stdout.flush()
time.sleep(60)
"""


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_another_process_sees_it_cannot_take_it_and_gets_it_after_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "state/watcher"
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "held\n"
        lease = Lease(path)
        state = lease.state()
        assert state is not None
        assert (state.pid, state.clean_ns) == (process.pid, 12345)
        assert not lease.take()
    finally:
        process.kill()
        process.communicate()
    assert lease.state() is None
    assert lease.take()
    assert Lease(path).state() is not None


def test_without_a_watcher_there_is_none(tmp_path: Path) -> None:
    assert Lease(tmp_path / "watcher").state() is None
    (tmp_path / "watcher").write_text("1 99999999.000 5 00000000\n")
    assert Lease(tmp_path / "watcher").state() is None


def test_a_holder_that_hangs_is_not_believed(tmp_path: Path) -> None:
    clock = Clock()
    lease, other = Lease(tmp_path / "w", clock=clock), Lease(tmp_path / "w", clock=clock)
    lease.take()
    lease.beat(7)
    assert other.state() is not None
    clock.now += FRESH_SECONDS + 1
    assert other.state() is None
    lease.beat(8)
    state = other.state()
    assert state is not None
    assert state.clean_ns == 8


def test_giving_it_up_frees_it(tmp_path: Path) -> None:
    lease, other = Lease(tmp_path / "w"), Lease(tmp_path / "w")
    assert lease.take()
    assert lease.take()
    assert lease.held
    lease.release()
    assert other.state() is None
    assert other.take()
    lease.beat(1)
    state = other.state()
    assert state is not None
    assert state.clean_ns == 0


@pytest.mark.parametrize("text", ["", "1 2", "1 2.000 3 deadbeef\n", "x" * 100, "\xff"])
def test_a_torn_line_counts_for_nothing(tmp_path: Path, text: str) -> None:
    lease = Lease(tmp_path / "w")
    lease.take()
    (tmp_path / "w").write_text(text)
    assert Lease(tmp_path / "w").state() is None


def test_a_look_does_not_keep_a_watcher_from_taking_it(tmp_path: Path) -> None:
    for _ in range(50):
        lease = Lease(tmp_path / "w")
        assert Lease(tmp_path / "w").state() is None
        assert lease.take()
        lease.release()


def test_it_says_how_much_its_holder_has_yet_to_read(tmp_path: Path) -> None:
    lease, other = Lease(tmp_path / "w"), Lease(tmp_path / "w")
    lease.take()
    for left in (6_000, 0):
        lease.beat(0, left)
        state = other.state()
        assert state is not None
        assert (state.clean_ns, state.left) == (0, left)
