"""`vault-memory serve`: one process, one vault: REST, MCP over HTTP, events, and the watcher."""

from __future__ import annotations

import os

import click

from vault_memory.surfaces.cli.settings import Settings, common_options


def _serve(
    host: str,
    port: int,
    readonly: bool,
    open_: bool,
    allow_remote: bool,
    allow_host: tuple[str, ...],
    rate: float,
    public_url: str,
) -> int:
    from vault_memory.config import load_config
    from vault_memory.surfaces.rest.app import Options
    from vault_memory.surfaces.rest.process import Address, serve
    from vault_memory.vault import Vault

    settings = Settings.current()
    root = settings.root()
    with Vault.open(root, load_config(root, environ=os.environ)) as vault:
        serve(
            vault,
            Address(host, port, allow_remote),
            Options(readonly, allow_host, rate, public_url),
            lambda url: _tell(settings, url, open_),
        )
    return 0


def _tell(settings: Settings, url: str, open_: bool) -> None:
    if settings.json:
        from vault_memory.surfaces.cli.output import as_json, write

        write(as_json({"url": url}))
    elif not settings.quiet:
        click.echo(f"serving {settings.root()} at {url} (Ctrl-C stops); the token: vault-memory token", err=True)
    if open_:
        click.launch(f"{url}/")


serve = click.Command(
    "serve",
    params=[
        click.Option(["--host"], default="127.0.0.1", show_default=True, help="The address to listen on."),
        click.Option(["--port"], type=click.IntRange(0, 65535), default=8765, show_default=True, help="0: any free."),
        click.Option(["--readonly"], is_flag=True, help="Refuse every write."),
        click.Option(["--open", "open_"], is_flag=True, help="Open it in your browser."),
        click.Option(["--allow-remote"], is_flag=True, help="Listen on an address that other machines reach."),
        click.Option(["--allow-host"], multiple=True, metavar="NAME", help="A further host name it is reached by."),
        click.Option(
            ["--rate"], type=click.FloatRange(min=0), default=500.0, show_default=True,
            help="Requests a second that one caller may make; 0: any number.",
        ),
        click.Option(
            ["--public-url"], default="", metavar="URL",
            help="The address it is reached by, as https://NAME; programs may then sign in through a browser (OAuth).",
        ),
        *common_options(),
    ],
    help="Serve the vault over HTTP until Ctrl-C: REST (/v1, /memories, /api), MCP (/mcp), events, and the watcher."
    " It listens on this machine alone and wants a token; `vault-memory token` shows it.",
    callback=_serve,
)  # fmt: skip
