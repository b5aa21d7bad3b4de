"""`vault-memory watch`: keep the indexes in step with the notes until interrupted."""

from __future__ import annotations

import time

import click

from vault_memory.surfaces.cli.settings import Settings, common_options


def _watch() -> int:
    from vault_memory.upkeep import Upkeep

    settings = Settings.current()
    with settings.open() as ctx:
        upkeep = Upkeep(ctx.vault)
        upkeep.start()
        try:
            _tell(settings, upkeep)
        finally:
            upkeep.stop()
    return 0


def _tell(settings: Settings, upkeep: object) -> None:
    """Say how the watch goes whenever that changes; ends with Ctrl-C."""
    told = None
    while True:
        status = getattr(upkeep, "status", None)
        now = (status.mode, status.detail) if status else ("waiting", "another process watches this vault")
        if now != told and not settings.quiet:
            click.echo(": ".join(part for part in now if part), err=True)
            told = now
        time.sleep(0.5)


watch = click.Command(
    "watch",
    params=common_options(),
    help="Follow changes by hand and keep the indexes and the history in step, until Ctrl-C.",
    callback=_watch,
)
