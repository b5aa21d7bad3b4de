"""The watcher's lease: how one process tells all others that it keeps the catalog in step. Owns the lease file only.

It is an OS lock, so a killed watcher loses it at once; with a heartbeat, so a stopped or hanging one loses it soon; and
with the time up to which changes on disk are in the catalog. With a lease that is clean a search need not scan.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from vault_memory.files.disk import disk_errors
from vault_memory.files.lock import lock_descriptor

FRESH_SECONDS: Final = 10.0
"""A heartbeat older than this counts for nothing; the watcher beats every few seconds."""
_TRIES: Final = 5
_PAUSE_SECONDS: Final = 0.01


class LeaseState(Struct, frozen=True):
    """What a live lease says."""

    pid: int
    beat: float
    """Clock of the last heartbeat, in seconds (monotonic, one clock for all processes of the machine)."""
    clean_ns: int
    """Changes made on disk before this time (ns since the epoch) are in the catalog; 0 while some may not be."""
    left: int = 0
    """Changed files that the holder knows of and has not read yet: it is at it, so nobody else need be."""


class Lease:
    """The lease file of a vault.

    Args:
        path: the file, in state/.
        clock: monotonic seconds, the same clock in every process of the machine.
    """

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._clock = clock
        self._descriptor: int | None = None

    @property
    def held(self) -> bool:
        """True while this object holds the lease."""
        return self._descriptor is not None

    def take(self) -> bool:
        """Try to become the watcher of this vault; False when another process is."""
        if self.held:
            return True
        with disk_errors("write", str(self._path)):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        for _ in range(_TRIES):  # somebody's look may hold a shared lock for an instant
            if lock_descriptor(descriptor):
                self._descriptor = descriptor
                self.beat(0)
                return True
            time.sleep(_PAUSE_SECONDS)
        os.close(descriptor)
        return False

    def beat(self, clean_ns: int, left: int = 0) -> None:
        """Say that we are alive and how far the catalog is (see LeaseState); nothing to do without the lease."""
        if self._descriptor is None:
            return
        text = f"{os.getpid()} {self._clock():.3f} {clean_ns} {left}"
        line = f"{text} {zlib.crc32(text.encode()):08x}".ljust(80) + "\n"
        with disk_errors("write", str(self._path)):
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            os.write(self._descriptor, line.encode())

    def release(self) -> None:
        """Give the lease up; nothing to do without it."""
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            os.close(descriptor)

    def state(self) -> LeaseState | None:
        """The lease of whichever process holds it; None when nobody does or the holder has not beaten lately."""
        try:
            descriptor = os.open(self._path, os.O_RDWR)
        except OSError:
            return None
        try:
            if not self.held and lock_descriptor(descriptor, shared=True):
                return None
            state = _parse(os.read(descriptor, 200))
        finally:
            os.close(descriptor)
        if state is None or self._clock() - state.beat > FRESH_SECONDS:
            return None
        return state


def _parse(line: bytes) -> LeaseState | None:
    """The state in a line; None when it was read half written."""
    with suppress(ValueError):
        pid, beat, clean_ns, left, check = line.decode("ascii").split()
        if int(check, 16) == zlib.crc32(f"{pid} {beat} {clean_ns} {left}".encode()):
            return LeaseState(int(pid), float(beat), int(clean_ns), int(left))
    return None
