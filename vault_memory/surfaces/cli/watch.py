"""`vault-memory watch`: keep the indexes in step with the notes until interrupted or told to end."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import TYPE_CHECKING

import click

from vault_memory.surfaces.cli.settings import Settings, common_options

if TYPE_CHECKING:
    from vault_memory.upkeep import Upkeep


def _watch() -> int:
    from vault_memory.upkeep import Upkeep

    settings = Settings.current()
    ending = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        ending.set()

    signal.signal(signal.SIGTERM, end)
    with settings.open() as ctx:
        upkeep = Upkeep(ctx.vault, fill_lancedb=True)
        upkeep.start()
        try:
            _tell(settings, upkeep, ending)
        finally:
            upkeep.stop()
    return 0


def _tell(settings: Settings, upkeep: Upkeep, ending: threading.Event) -> None:
    """Say how the watch goes whenever that changes, until it is to end."""
    told = None
    while not ending.wait(0.5):
        status = upkeep.status
        now = (status.mode, status.detail) if status else ("waiting", "another process watches this vault")
        if now != told and not settings.quiet:
            click.echo(": ".join(part for part in now if part), err=True)
            told = now


watch = click.Command(
    "watch",
    params=common_options(),
    help="Follow changes by hand and keep the indexes and the history in step, until Ctrl-C or SIGTERM.",
    callback=_watch,
)
