"""`vault-memory connect` and `disconnect`: show what will change in an agent's settings, then change it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vault_memory.harness.clients import CLIENTS
from vault_memory.surfaces.cli.settings import Settings, common_options

if TYPE_CHECKING:
    from vault_memory.harness.base import Hooks, Machine, Options
    from vault_memory.harness.connect import ConnectionPlan
    from vault_memory.harness.receipts import Receipts


def own_command() -> tuple[str, ...]:
    """The absolute command line that starts this program; an installer's link is kept, since it outlives upgrades."""
    started = Path(os.path.abspath(sys.argv[0]))  # noqa: PTH100 - resolve() would follow the link
    beside = Path(sys.executable).with_name("vault-memory" + (".exe" if sys.platform == "win32" else ""))
    for candidate in (started, beside):
        if candidate.stem == "vault-memory" and candidate.is_file():
            return (str(candidate),)
    return (sys.executable, "-m", "vault_memory")


def machine_here() -> Machine:
    """This machine, for looking up the clients' files."""
    from vault_memory.harness.base import Machine

    return Machine(Path.home(), os.environ, sys.platform)


def receipts_here() -> Receipts:
    """The receipts of this user's connections."""
    from platformdirs import user_state_path

    from vault_memory.harness.receipts import Receipts

    return Receipts(user_state_path("vault-memory") / "connections")


def options_here(settings: Settings, **more: Any) -> Options:
    """How this program and vault are to be registered.

    Raises:
        VaultNotFound: there is no vault.
    """
    from vault_memory.harness.base import Options

    return Options(own_command(), settings.root(), platform=sys.platform, **more)


def _connect(client: str, scope: str, hooks: Hooks, **chosen: Any) -> int:
    from vault_memory.harness import connect
    from vault_memory.harness.clients import client as named
    from vault_memory.harness.probe import ask_server

    settings = Settings.current()
    options = options_here(
        settings,
        name=chosen["name"],
        profile=chosen["profile"],
        project=_folder(scope),
        hooks="none" if chosen["no_hooks"] else hooks,
        agents_md=not chosen["no_agents_md"],
    )
    receipts = receipts_here()
    plan = connect.plan_connect(named(client), machine_here(), options, receipts, force=chosen["force"])
    if chosen["dry_run"]:
        return _report(plan, settings, done=False)
    if chosen["check"]:
        ask_server(options.server)
    if _agreed(plan, settings, chosen["yes"]):
        plan.execute(receipts)
        return _report(plan, settings, done=True)
    return 1


def _disconnect(client: str, scope: str, name: str, dry_run: bool) -> int:
    from vault_memory.harness import connect
    from vault_memory.harness.base import Options
    from vault_memory.harness.clients import client as named

    settings = Settings.current()
    options = Options(own_command(), Path(settings.vault or "."), name=name, platform=sys.platform)
    receipts = receipts_here()
    plan = connect.plan_disconnect(named(client), machine_here(), receipts, project=_folder(scope), options=options)
    if not dry_run:
        plan.execute(receipts)
    return _report(plan, settings, done=not dry_run)


def _folder(scope: str) -> Path | None:
    """The project's top folder when the scope is the project."""
    if scope != "project":
        return None
    from vault_memory.files.repository import repository_facts

    return Path(repository_facts(Path.cwd()).top)


def _agreed(plan: ConnectionPlan, settings: Settings, yes: bool) -> bool:
    """Ask a person at a terminal; a script has decided by calling."""
    if yes or settings.json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return True
    click.echo("\n".join(plan.lines()))
    return click.confirm("Go on?", default=True)


def _report(plan: ConnectionPlan, settings: Settings, *, done: bool) -> int:
    from vault_memory.surfaces.cli import output
    from vault_memory.surfaces.cli.blocks import Line

    if settings.json:
        files = [{"path": str(change.path), "action": change.verb, "lines": change.lines()} for change in plan.changes]
        document = {"action": plan.action, "client": plan.harness.name, "done": done, "files": files}
        output.write(output.as_json(document | {"next": plan.harness.next_step if plan.action == "connect" else ""}))
        return 0
    state = "nothing was changed (dry run)" if not done else f"{plan.harness.title} is {plan.action}ed"
    output.show([*(Line(line) for line in plan.lines()), Line(state, "good" if done else "caution")])
    return 0


_CLIENT = [click.Argument(["client"], type=click.Choice(list(CLIENTS)))]
_SCOPE = click.Option(
    ["--scope"],
    type=click.Choice(["user", "project"]),
    default="user",
    show_default=True,
    help="For you everywhere, or in this project's own settings.",
)
_NAME = click.Option(["--name"], default="vault-memory", show_default=True, help="The server's name in the settings.")
_DRY = click.Option(["--dry-run"], is_flag=True, help="Only show what would change.")

connect = click.Command(
    "connect",
    params=[
        *_CLIENT,
        _SCOPE,
        _NAME,
        click.Option(
            ["--hooks"],
            type=click.Choice(["start", "full", "none"]),
            default="start",
            show_default=True,
            help="start: memories at the start of a session; full: also at prompts, compactions and the end.",
        ),
        click.Option(["--no-hooks"], is_flag=True, help="The same as --hooks none."),
        click.Option(["--no-agents-md"], is_flag=True, help="Write no guidance into AGENTS.md."),
        click.Option(["--profile"], default="core", show_default=True, help="Which tools the server shows."),
        click.Option(["--check/--no-check"], default=True, help="Start the server and ask it first (the default)."),
        click.Option(["--force"], is_flag=True, help="Also when the agent does not seem to be installed."),
        click.Option(["--yes"], is_flag=True, help="Do not ask at a terminal."),
        _DRY,
        *common_options(),
    ],
    help="Give a coding agent this vault: its server, a hook for the start of sessions, guidance where it is needed."
    " Every file is backed up; disconnect restores it.",
    callback=_connect,
)

disconnect = click.Command(
    "disconnect",
    params=[*_CLIENT, _SCOPE, _NAME, _DRY, *common_options()],
    help="Take a coding agent off again: its files as they were, or without our entries where the rest changed."
    " Your memories stay.",
    callback=_disconnect,
)
