"""`vault-memory mcp`: serve one vault to one agent over standard input and output."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import click

from vault_memory.surfaces.cli.settings import Settings, common_options


def _mcp(profile: str) -> int:
    from vault_memory.harness.binding import bind
    from vault_memory.surfaces.mcp.stdio import serve_stdio

    settings = Settings.current()
    project = settings.project or os.environ.get("VAULT_MEMORY_PROJECT") or None
    actor = settings.actor or os.environ.get("VAULT_MEMORY_ACTOR") or None
    binding = partial(bind, home=Path.home(), project=project, actor=actor)
    serve_stdio(settings.root, binding, profile=profile, environ=os.environ)
    return 0


mcp = click.Command(
    "mcp",
    params=[
        click.Option(["--profile"], default="core", show_default=True, help="Which tools to show."),
        *common_options(),
    ],
    help="Serve the vault over MCP on standard input and output, for an agent that starts this command.",
    callback=_mcp,
)
