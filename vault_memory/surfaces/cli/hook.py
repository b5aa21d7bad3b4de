"""`vault-memory hook EVENT`: what a coding agent's hook runs: it always ends with 0 and prints one JSON object; and
`vault-memory hook git NAME`, what git's hooks run (hook_git.py)."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from vault_memory.harness.events import EVENTS
from vault_memory.harness.hooks import HookInput, read_input
from vault_memory.surfaces.cli.settings import Settings, common_options

if TYPE_CHECKING:
    from vault_memory.harness.events import Event
    from vault_memory.harness.run_hook import HookSite

_LOG_BYTES = 200_000


def _hook(event: Event | Literal["git"], client: str, arguments: tuple[str, ...]) -> int:
    from vault_memory.surfaces.cli import output

    if event == "git":
        return _git_hook(arguments)
    stdin = "" if sys.stdin.isatty() else sys.stdin.buffer.read().decode("utf-8", "replace")
    message = read_input(stdin, event, client)
    output.write(_answered(message, Settings.current()) + "\n")
    return 0


def _git_hook(arguments: tuple[str, ...]) -> int:
    """Only a refusal of a commit ends with another code than 0; what else goes wrong is said on stderr."""
    from vault_memory.errors import InvalidRequest, Rejected, VaultError
    from vault_memory.files.git import GitError
    from vault_memory.surfaces.cli.hook_git import run_git_hook

    if not arguments:
        raise InvalidRequest.of("name", "say which git hook: vault-memory hook git NAME")
    try:
        run_git_hook(arguments[0], Settings.current().vault, environ=os.environ, cwd=Path.cwd())
    except (Rejected, InvalidRequest):
        raise
    except (VaultError, GitError, OSError) as error:
        click.echo(f"vault-memory: {arguments[0]}: {error}", err=True)
    return 0


def _answered(message: HookInput, settings: Settings) -> str:
    """The answer, or an empty object when anything fails: a memory must never hold a session up."""
    try:
        from vault_memory.harness.run_hook import run_hook

        return run_hook(message, _site(message, settings))
    except Exception as error:  # noqa: BLE001 - the client would show or stop on any failure; the log has it
        _log(message, error)
        return "{}"


def _site(message: HookInput, settings: Settings) -> HookSite:
    from vault_memory.config import load_config
    from vault_memory.harness.run_hook import HookSite

    cwd = Path(message.cwd) if message.cwd and Path(message.cwd).is_dir() else Path.cwd()
    root = settings.root()
    return HookSite(root, load_config(root, environ=os.environ), cwd, Path.home(), datetime.now(UTC), settings.project)


def _log(message: HookInput, error: BaseException) -> None:
    """One line in the log: when, which hook, what; never what a note or a prompt said."""
    from vault_memory.errors import VaultError
    from vault_memory.surfaces.cli.log import bug_log

    what = error.detail if isinstance(error, VaultError) else type(error).__name__
    place = bug_log().with_name("hooks.log")
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if place.exists() and place.stat().st_size > _LOG_BYTES:
            place.replace(place.with_suffix(".old"))
        with place.open("a", encoding="utf-8", errors="backslashreplace") as file:
            place.chmod(0o600)
            file.write(f"{datetime.now(UTC).isoformat()} {message.client} {message.event}: {what}\n")
    except OSError:
        return


hook = click.Command(
    "hook",
    params=[
        click.Argument(["event"], type=click.Choice([*EVENTS, "git"])),
        click.Argument(["arguments"], nargs=-1, metavar="[NAME...]"),
        click.Option(["--client"], default="claude-code", show_default=True, help="Whose message is on stdin."),
        *common_options(),
    ],
    help="Answer a coding agent's hook: its message as JSON on stdin, the answer on stdout. Always ends with 0.\n\n"
    "`hook git NAME` is what git's hooks call (see `init --git-hooks`): after a change it brings the index in step; "
    "pre-commit refuses notes with conflict markers, unreadable front matter or secrets (14).",
    callback=_hook,
)
