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
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

PATIENCE_SECONDS: Final = 1.0
"""How long a person waits before they want to see that something happens."""

Progress = Callable[[str, int, int | None], None]
"""`progress(label, done, total)`: what is being done, how many steps are done, and of how many (None: unknown)."""


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
def bar(settings: Settings) -> Iterator[Progress]:
    """A progress bar: the block is given `progress(label, done, total)`; the bar appears once a second has passed."""
    if not wanted(settings):
        yield lambda label, done, total: None
        return
    drawn = _Bar()
    try:
        yield drawn.advance
    finally:
        drawn.close()


class _Bar:
    """A rich progress bar that starts late."""

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._shown: tuple[RichProgress, TaskID] | None = None

    def advance(self, label: str, done: int, total: int | None) -> None:
        """Show that `done` of `total` steps of `label` are done."""
        if self._shown is None and time.monotonic() - self._begin > PATIENCE_SECONDS:
            self._shown = self._start()
        if self._shown is not None:
            drawn, task = self._shown
            drawn.update(task, description=label, completed=done, total=total)

    def _start(self) -> tuple[RichProgress, TaskID]:
        from rich.console import Console
        from rich.progress import Progress

        drawn = Progress(console=Console(stderr=True), transient=True)
        drawn.start()
        return drawn, drawn.add_task("", total=None)

    def close(self) -> None:
        """Take the bar away."""
        if self._shown is not None:
            self._shown[0].stop()
