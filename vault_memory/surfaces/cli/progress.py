"""Signs of life for whatever takes longer than a second: on a terminal's stderr only, and never in the way."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from vault_memory.surfaces.cli.settings import Settings

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE_SECONDS: Final = 1.0
"""How long a person waits before they want to see that something happens."""

Advance = Callable[[int, int | None], None]


def wanted(settings: Settings) -> bool:
    """Whether anything may be drawn: stderr is a terminal and neither quiet nor JSON was asked for."""
    return sys.stderr.isatty() and not (settings.quiet or settings.json)


@contextmanager
def waiting(label: str, settings: Settings) -> Iterator[None]:
    """Show a spinner while the block runs, once it has run for a second."""
    if not wanted(settings):
        yield
        return
    done = threading.Event()
    spinner = threading.Thread(target=_spin, args=(label.replace("_", " "), done), daemon=True)
    spinner.start()
    try:
        yield
    finally:
        done.set()
        spinner.join()


def _spin(label: str, done: threading.Event) -> None:
    if done.wait(PATIENCE_SECONDS):
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{label} …"):
        done.wait()


@contextmanager
def bar(label: str, settings: Settings) -> Iterator[Advance]:
    """A progress bar: the block is given `advance(done, total)`; the bar appears once a second has passed."""
    if not wanted(settings):
        yield lambda done, total: None
        return
    drawn = _Bar(label)
    try:
        yield drawn.advance
    finally:
        drawn.close()


class _Bar:
    """A rich progress bar that starts late."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._begin = time.monotonic()
        self._shown: tuple[Progress, TaskID] | None = None

    def advance(self, done: int, total: int | None) -> None:
        """Show that `done` of `total` steps are done (None: nobody knows how many there are)."""
        if self._shown is None and time.monotonic() - self._begin > PATIENCE_SECONDS:
            self._shown = self._start(total)
        if self._shown is not None:
            progress, task = self._shown
            progress.update(task, completed=done, total=total)

    def _start(self, total: int | None) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import Progress

        progress = Progress(console=Console(stderr=True), transient=True)
        progress.start()
        return progress, progress.add_task(self._label, total=total)

    def close(self) -> None:
        """Take the bar away."""
        if self._shown is not None:
            self._shown[0].stop()
