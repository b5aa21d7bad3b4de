"""OS locks between processes, with the holder named inside. Owns waiting and naming; what is guarded is the caller's.

The operating system frees a lock with its process, so a file left by a killed one is no lock, and nobody deletes any.
The lock is flock (on Windows one byte of msvcrt.locking) straight from the standard library: importing filelock costs
every one-shot command 30 to 60 ms, and it would not keep the holder's name readable.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from msgspec import Struct

from vault_memory.errors import VaultLocked
from vault_memory.files.disk import disk_errors

WAIT_SECONDS: Final = 10.0
_PAUSE_SECONDS: Final = (0.001, 0.05)
_WINDOWS_BYTE: Final = 1 << 30


class Holder(Struct, frozen=True):
    """Who has a lock: process id and the name of its program."""

    pid: int
    program: str

    def __str__(self) -> str:
        return f"process {self.pid} ({self.program})"


class FileLock:
    """An exclusive lock on a file of its own; not re-entrant, usable from several threads, not across fork.

    Args:
        path: the lock file; made when missing and never deleted.
        wait_seconds: how long `acquire` waits before it gives up.
        what: what is locked, for the message.
    """

    def __init__(self, path: Path, *, wait_seconds: float = WAIT_SECONDS, what: str = "The vault") -> None:
        self.path = path
        self._wait_seconds = wait_seconds
        self._what = what
        self._thread = threading.Lock()
        self._descriptor: int | None = None

    @property
    def held(self) -> bool:
        """True while this object has the lock."""
        return self._descriptor is not None

    def acquire(self, wait_seconds: float | None = None) -> None:
        """Take the lock, waiting for it.

        Raises:
            VaultLocked: the time is over; `holder` names who has it.
        """
        wait = self._wait_seconds if wait_seconds is None else wait_seconds
        deadline = time.monotonic() + wait
        pause, longest = _PAUSE_SECONDS
        while not self._try(max(0.0, deadline - time.monotonic())):
            if time.monotonic() >= deadline:
                raise self._locked(wait)
            time.sleep(pause)
            pause = min(2 * pause, longest)

    def try_acquire(self) -> bool:
        """Take the lock if it is free now."""
        return self._try(0.0)

    def release(self) -> None:
        """Give the lock up; nothing to do without it."""
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
        os.close(descriptor)
        self._thread.release()

    def holder(self) -> Holder | None:
        """Who has the lock, as far as the file says; meaningful only while somebody has it."""
        try:
            entry = json.loads(self.path.read_bytes())
            return Holder(int(entry["pid"]), str(entry["program"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def _try(self, thread_seconds: float) -> bool:
        if not self._thread.acquire(timeout=thread_seconds):
            return False
        try:
            self._descriptor = self._open_locked()
        finally:
            if self._descriptor is None:
                self._thread.release()
        return self.held

    def _open_locked(self) -> int | None:
        """An open descriptor that has the lock, with our name inside; None when somebody else has it."""
        with disk_errors("lock", str(self.path)):
            try:
                descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            except FileNotFoundError:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                if lock_descriptor(descriptor) and self._still_there(descriptor):
                    _write_holder(descriptor)
                    kept, descriptor = descriptor, -1
                    return kept
            finally:
                if descriptor != -1:
                    os.close(descriptor)
        return None

    def _still_there(self, descriptor: int) -> bool:
        """False when the file was deleted or replaced (a person cleared state/) before we got the lock on it."""
        with suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(descriptor), self.path.stat())
        return False

    def _locked(self, waited: float) -> VaultLocked:
        holder = self.holder()
        return VaultLocked(
            f"{self._what} is in use by {holder or 'another process'}; waited {waited:g} s",
            hint="Try again in a moment.",
            holder=str(holder) if holder else None,
        )


def lock_descriptor(descriptor: int, *, shared: bool = False) -> bool:
    """Lock an open file without waiting; closing the descriptor, also by a kill, frees it.

    Args:
        shared: allow other shared locks (on Windows all locks are exclusive).
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, _WINDOWS_BYTE, os.SEEK_SET)  # far behind the text, which stays readable
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            os.lseek(descriptor, 0, os.SEEK_SET)
        else:
            import fcntl

            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _write_holder(descriptor: int) -> None:
    program = Path(sys.argv[0]).name if sys.argv and sys.argv[0] else "python"
    text = json.dumps({"pid": os.getpid(), "program": program}).encode()
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, text)
