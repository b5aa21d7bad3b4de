"""OS locks: exclusive between processes and threads, waited for, named, and gone with their process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from vault_memory.errors import StorageError, VaultLocked
from vault_memory.files.lock import FileLock

HOLD = """
import sys, time
from pathlib import Path
from vault_memory.files.lock import FileLock
with FileLock(Path(sys.argv[1])):
    sys.stdout.write("held\\n")
    sys.stdout.flush()
    time.sleep(60)
"""
COUNT = """
import sys
from pathlib import Path
from vault_memory.files.lock import FileLock
lock, counter = FileLock(Path(sys.argv[1])), Path(sys.argv[2])
for _ in range(int(sys.argv[3])):
    with lock:
        counter.write_text(str(int(counter.read_text()) + 1))
"""


def holder_of(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def test_four_processes_never_hold_it_at_once(tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    counter.write_text("0")
    command = [sys.executable, "-c", COUNT, str(tmp_path / "state/vault.lock"), str(counter), "200"]
    processes = [subprocess.Popen(command) for _ in range(4)]
    assert [process.wait(60) for process in processes] == [0] * 4
    assert counter.read_text() == "800"


def test_threads_of_one_process_exclude_each_other(tmp_path: Path) -> None:
    lock, counts = FileLock(tmp_path / "lock"), [0]

    def count() -> None:
        for _ in range(100):
            with lock:
                seen = counts[0]
                time.sleep(0)
                counts[0] = seen + 1

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [400]


def test_waiting_is_bounded_and_the_holder_is_named(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    process = holder_of(path)
    try:
        lock = FileLock(path, wait_seconds=0.2, what="The index")
        started = time.monotonic()
        with pytest.raises(VaultLocked) as caught:
            lock.acquire()
        assert 0.2 <= time.monotonic() - started < 2
        assert f"The index is in use by process {process.pid}" in caught.value.detail
        assert caught.value.problem()["retryable"] is True
        assert not lock.try_acquire()
        assert not lock.held
    finally:
        end(process)


def test_a_kill_frees_it_although_the_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    process = holder_of(path)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert path.exists()
    assert FileLock(path).try_acquire()


def test_a_file_left_behind_is_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.write_text('{"pid": 1, "program": "long gone"}')
    lock = FileLock(path)
    with lock:
        assert lock.holder() is not None
        assert str(lock.holder()).startswith(f"process {os.getpid()} (")
    assert lock.holder() is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": "x", "program": 1}'])
def test_nonsense_inside_is_no_obstacle(tmp_path: Path, text: str) -> None:
    path = tmp_path / "lock"
    path.write_text(text)
    lock = FileLock(path)
    assert lock.holder() is None
    assert lock.try_acquire()
    lock.release()


def test_who_waited_for_a_deleted_file_locks_the_new_one(tmp_path: Path) -> None:
    """A person clears state/ while nobody holds the lock."""
    path = tmp_path / "state/lock"
    first = FileLock(path)
    with first:
        pass
    path.unlink()
    with first:
        assert not FileLock(path).try_acquire()


def test_it_can_be_taken_again_after_a_failure(tmp_path: Path) -> None:
    blocker = tmp_path / "state"
    blocker.write_text("a file where the folder should be")
    lock = FileLock(blocker / "lock")
    with pytest.raises((StorageError, FileExistsError)):
        lock.acquire(0)
    blocker.unlink()
    with lock:
        assert lock.held


def test_git_and_other_children_do_not_keep_it(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock")
    lock.acquire()
    command = [sys.executable, "-c", "import sys; sys.stdout.write('up\\n'); sys.stdout.flush(); sys.stdin.read()"]
    child = subprocess.Popen(command, close_fds=False, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == "up\n"
        lock.release()
        assert FileLock(tmp_path / "lock").try_acquire()
    finally:
        child.communicate()


def test_uncontended_it_costs_little(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock")
    started = time.process_time()
    for _ in range(500):
        with lock:
            pass
    assert (time.process_time() - started) / 500 < 0.002
