"""`vault-memory mcp`: serve one vault to one agent over standard input and output."""

from __future__ import annotations

import os

import click

from vault_memory.surfaces.cli.settings import Settings, common_options


def _mcp(profile: str) -> int:
    from vault_memory.surfaces.locate import find_scope
    from vault_memory.surfaces.mcp.stdio import serve_stdio

    settings = Settings.current()
    scope = find_scope(settings.project, settings.actor, environ=os.environ)
    serve_stdio(settings.root, scope, profile=profile, environ=os.environ)
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
