"""The watcher: learns what may have changed on disk, waits until it is quiet and hands it on as one set of paths.

Owns the thread and the choice between watching and polling. Events are hints: it knows no index, reads no note and
concludes nothing from an absence.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self

from msgspec import Struct

from vault_memory.errors import VaultError, VaultNotFound
from vault_memory.files.gather import Batch, Gathering
from vault_memory.files.ignore import Ignore
from vault_memory.files.observers import Polling
from vault_memory.files.scan import check_root
from vault_memory.files.sources import Source, system_source

Mode = Literal["starting", "watching", "polling", "lost", "stopped"]

QUIET_SECONDS: Final = 0.1
LONGEST_SECONDS: Final = 1.0
TICK_SECONDS: Final = 2.0
_POLL_SHARE: Final = 20
"""Polling rests so many times as long as one look took: at most 5 % of a core."""
_RETRY_SECONDS: Final = (0.5, 30.0)
_STOP_SECONDS: Final = 0.9

_log = logging.getLogger(__name__)


class WatchStatus(Struct, frozen=True):
    """How the watcher is doing, for `status`."""

    mode: Mode
    detail: str
    """Why it polls or is lost, or what the last failed call said; empty when all is well."""
    watched: int
    """Number of folders watched; 0 where the system does not count or nothing is watched."""


class Watcher:
    """Watches a vault in daemon threads, from `start` to `stop`.

    Args:
        root: the vault's folder.
        ignore: its rules; ignored folders are not watched.
        on_paths: called from the watcher's thread, never twice at once, with the vault paths of notes and folders that
            may have changed, or with None for "look at everything" (at the start, after lost events, with changed
            ignore rules). When it raises VaultError or OSError it is called again later with what has come since.
        on_idle: called when there is nothing to hand on, every `tick_seconds` as long as it stays so.
        polling: do not ask the system to call (folders on a network raise no events for others' changes).
    """

    def __init__(
        self,
        root: Path,
        ignore: Ignore,
        on_paths: Callable[[frozenset[str] | None], None],
        *,
        on_idle: Callable[[], None] | None = None,
        polling: bool = False,
        quiet_seconds: float = QUIET_SECONDS,
        longest_seconds: float = LONGEST_SECONDS,
        tick_seconds: float = TICK_SECONDS,
    ) -> None:
        self._root = str(root.resolve())
        self._ignore = ignore
        self._on_paths = on_paths
        self._on_idle = on_idle
        self._polling = polling
        self._tick_seconds = tick_seconds
        self._gathered = Gathering(quiet_seconds, longest_seconds)
        self._stopping = threading.Event()
        self._source: Source | None = None
        self._identity: tuple[int, int] | None = None
        self._broken: OSError | None = None
        self._rest_seconds = tick_seconds
        self._retry_seconds = _RETRY_SECONDS[0]
        self._mode: Mode = "starting"
        self._detail = ""
        self._thread = threading.Thread(target=self._run, name="vault-watcher", daemon=True)

    @property
    def status(self) -> WatchStatus:
        """The mode, its reason and the number of watched folders."""
        source = self._source
        return WatchStatus(self._mode, self._detail, source.watched if source else 0)

    def start(self) -> None:
        """Begin; the folders are visited in the watcher's thread, so this returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """End within a second; a call of `on_paths` that takes longer is left to finish by itself."""
        self._stopping.set()
        self._gathered.close()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(_STOP_SECONDS)

    def wait_idle(self, timeout_seconds: float) -> bool:
        """Wait until all changes made so far are handed on and dealt with; False when that takes longer."""
        deadline = time.monotonic() + timeout_seconds
        while self._mode == "starting" and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(min(0.05, timeout_seconds))  # the system needs a moment to call
        return self._gathered.wait_idle(max(0.0, deadline - time.monotonic()))

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def changed(self, path: str | None) -> None:
        """Report a change by hand (sources do), for instance None to have everything looked at."""
        self._gathered.add(path)

    def lost(self) -> None:
        """A source says that the root went; the next turn looks for itself."""
        self._gathered.add(None)

    def failed(self, error: OSError) -> None:
        """A source cannot go on; the next turn changes to polling."""
        self._broken = error
        self._gathered.add(None)

    def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                if self._source is None and not self._begin():
                    self._stopping.wait(self._tick_seconds)
                    continue
                batch = self._gathered.take(self._rest_seconds)
                if self._stopping.is_set():
                    return
                self._turn(batch)
        finally:
            self._close_source()
            self._mode = "stopped"

    def _turn(self, batch: Batch | None) -> None:
        """Hand on a batch, or use the rest; a root that is gone or was exchanged ends the watch until it is back."""
        try:
            if self._identity != self._look_at_root():
                self._lose("the vault's folder was exchanged")
                return
            if self._broken is not None:
                self._fall_back(self._broken)
            if batch is None:
                self._rest()
            else:
                self._deliver(batch)
        except VaultNotFound as error:
            self._lose(error.detail)

    def _begin(self) -> bool:
        """Open a source and have everything looked at; False while the root is not there."""
        try:
            self._identity = self._look_at_root()
            self._open(polling=self._polling)
        except VaultNotFound as error:
            self._lose(error.detail)
            return False
        except OSError as error:
            self._fall_back(error)
        self._gathered.add(None)
        return True

    def _open(self, *, polling: bool) -> None:
        open_source = Polling if polling else system_source
        self._source = open_source(self._root, self._ignore, self)
        self._source.start()
        self._mode = "polling" if polling else "watching"
        self._rest_seconds = self._tick_seconds
        self._broken = None

    def _fall_back(self, error: OSError) -> None:
        """Poll, because the system lets us watch no more; its watches are given back."""
        self._close_source()
        self._detail = f"cannot watch ({error.strerror or error}): polling instead"
        _log.warning("%s", self._detail)
        self._open(polling=True)

    def _lose(self, reason: str) -> None:
        self._close_source()
        self._gathered.clear()
        if self._mode != "lost":
            _log.warning("%s; its notes are kept as they were", reason)
        self._mode, self._detail = "lost", reason

    def _close_source(self) -> None:
        source, self._source = self._source, None
        if source is not None:
            source.stop()

    def _look_at_root(self) -> tuple[int, int]:
        """Which folder the root is now.

        Raises:
            VaultNotFound: it is gone, or is a bare mount point.
        """
        check_root(self._root)
        try:
            stat = os.stat(self._root)
        except FileNotFoundError:
            raise VaultNotFound(f"The vault {self._root} is gone") from None
        return stat.st_dev, stat.st_ino

    def _deliver(self, batch: Batch) -> None:
        try:
            if batch.paths is None and self._source is not None:
                self._refresh(self._source)
            self._on_paths(batch.paths)
        except VaultNotFound:
            raise
        except (VaultError, OSError) as error:
            self._try_later(batch, error)
        else:
            self._retry_seconds = _RETRY_SECONDS[0]
            if self._mode == "watching":
                self._detail = ""
            self._gathered.done()
            self._idle()

    def _refresh(self, source: Source) -> None:
        try:
            source.refresh()
        except OSError as error:
            self._fall_back(error)

    def _try_later(self, batch: Batch, error: VaultError | OSError) -> None:
        self._detail = str(error)
        _log.warning("changes could not be taken in, trying again in %.1f s: %s", self._retry_seconds, error)
        self._gathered.put_back(batch)
        self._stopping.wait(self._retry_seconds)
        self._retry_seconds = min(2 * self._retry_seconds, _RETRY_SECONDS[1])

    def _rest(self) -> None:
        """Use a time without reports: look by ourselves when polling, and say that there is nothing to do."""
        started = time.monotonic()
        try:
            if self._source is not None:
                self._source.poll()
        except VaultNotFound:
            raise
        except VaultError as error:
            self._detail = error.detail
        if self._mode == "polling":
            self._rest_seconds = max(self._tick_seconds, _POLL_SHARE * (time.monotonic() - started))
        self._idle()

    def _idle(self) -> None:
        if self._on_idle is None or not self._gathered.empty:
            return
        try:
            self._on_idle()
        except (VaultError, OSError) as error:
            _log.warning("%s", error)
