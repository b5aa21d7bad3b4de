"""Paths that may have changed, gathered in one thread and handed to another once quiet. Owns that waiting only."""

from __future__ import annotations

import threading
import time
from typing import Final

from msgspec import Struct

MANY_PATHS: Final = 5_000
"""From here on looking at everything is cheaper than at each path."""


class Batch(Struct, frozen=True):
    """What to look at; `paths` None means everything."""

    paths: frozenset[str] | None


class Gathering:
    """A debounced set of paths.

    Args:
        quiet_seconds: a batch is handed over when nothing came for so long,
        longest_seconds: or when its first path is this old.
    """

    def __init__(self, quiet_seconds: float, longest_seconds: float) -> None:
        self._quiet_seconds = quiet_seconds
        self._longest_seconds = longest_seconds
        self._change = threading.Condition()
        self._paths: set[str] = set()
        self._everything = False
        self._first: float | None = None
        self._last = 0.0
        self._handed = False
        self._closed = False

    def add(self, path: str | None) -> None:
        """A path may have changed; None: anything may have."""
        self._put(() if path is None else (path,), everything=path is None)

    def put_back(self, batch: Batch) -> None:
        """A batch could not be dealt with: hand it over again, with what has come since."""
        self._put(batch.paths or (), everything=batch.paths is None)

    def take(self, timeout_seconds: float) -> Batch | None:
        """The next batch; None when nothing came in time or the gathering was closed. Call `done` afterwards."""
        with self._change:
            self._change.wait_for(lambda: self._first is not None or self._closed, timeout_seconds)
            while not self._closed and self._first is not None:
                due = min(self._last + self._quiet_seconds, self._first + self._longest_seconds)
                wait = due - time.monotonic()
                if wait <= 0:
                    return self._hand_over()
                self._change.wait(wait)  # additions do not wake us, so that a thousand events cost one turn
            return None

    def done(self) -> None:
        """The batch taken last is dealt with."""
        with self._change:
            self._handed = False
            self._change.notify_all()

    def clear(self) -> None:
        """Forget what was gathered."""
        with self._change:
            self._forget()
            self._handed = False
            self._change.notify_all()

    def close(self) -> None:
        """Wake whoever waits, for good."""
        with self._change:
            self._closed = True
            self._change.notify_all()

    @property
    def empty(self) -> bool:
        """True when nothing waits to be handed over."""
        return self._first is None

    def wait_idle(self, timeout_seconds: float) -> bool:
        """Wait until nothing is gathered and all that was handed over is done; False when that takes longer."""
        with self._change:
            return self._change.wait_for(lambda: self._first is None and not self._handed, timeout_seconds)

    def _put(self, paths: frozenset[str] | tuple[str, ...], *, everything: bool) -> None:
        with self._change:
            self._last = time.monotonic()
            self._everything = self._everything or everything or len(self._paths) > MANY_PATHS
            if self._everything:
                self._paths.clear()
            else:
                self._paths.update(paths)
            if self._first is None:
                self._first = self._last
                self._change.notify_all()

    def _hand_over(self) -> Batch:
        batch = Batch(None if self._everything else frozenset(self._paths))
        self._forget()
        self._handed = True
        return batch

    def _forget(self) -> None:
        self._paths.clear()
        self._everything = False
        self._first = None
