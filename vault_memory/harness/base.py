"""What a coding agent is to us: where its settings are, which entries connect it, which hooks it calls.

Owns the values that every module of one agent fills in. It must not write anything.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import Struct

from vault_memory.harness.changes import Change, JsonEntry, JsonItem
from vault_memory.harness.edits import FileEdit
from vault_memory.harness.events import Event

Scope = Literal["user", "project"]
Hooks = Literal["none", "start", "full"]

SERVER_NAME: Final = "vault-memory"
HOOK_TIMEOUT_SECONDS: Final = 10


class Machine(Struct, frozen=True):
    """Where a client looks for its files: home folder, environment and platform (as `sys.platform`)."""

    home: Path
    environ: Mapping[str, str]
    platform: str = "linux"

    def folder(self, variable: str, *default: str) -> Path:
        """The folder that an environment variable names, else the default below the home folder."""
        named = self.environ.get(variable)
        return Path(named) if named else self.home.joinpath(*default)

    @property
    def config(self) -> Path:
        """Where programs of this platform keep their settings."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        if self.platform == "win32":
            return self.folder("APPDATA", "AppData", "Roaming")
        return self.folder("XDG_CONFIG_HOME", ".config")

    def program(self, name: str) -> str | None:
        """The full path of a program on the PATH of this machine, or None."""
        return shutil.which(name, path=self.environ.get("PATH", ""))


class Options(Struct, frozen=True):
    """How to connect.

    `command` is the absolute command line that starts vault-memory, without a subcommand. `project` is the folder whose
    settings are changed when the scope is a project.
    """

    command: tuple[str, ...]
    vault: Path
    name: str = SERVER_NAME
    profile: str = "core"
    project: Path | None = None
    hooks: Hooks = "start"
    agents_md: bool = True
    platform: str = "linux"

    @property
    def server(self) -> tuple[str, ...]:
        """The command line that the client starts as its MCP server."""
        profile = () if self.profile == "core" else ("--profile", self.profile)
        return (*self.command, "mcp", "--vault", str(self.vault), *profile)

    def hook(self, event: Event, client: str) -> str:
        """The shell line that the client runs at `event`."""
        line = (*self.command, "hook", event, "--client", client, "--vault", str(self.vault))
        return subprocess.list2cmdline(line) if self.platform == "win32" else shlex.join(line)


class Harness(Struct, frozen=True):
    """One coding agent.

    `events` maps our hook names to the client's, in the order in which they are installed; empty: it has no hooks that
    can add text to a session. `proven` tells whether its real program was tried or only its documentation read.
    """

    name: str
    title: str
    programs: tuple[str, ...]
    traces: Callable[[Machine], Sequence[Path]]
    edits: Callable[[Machine, Options], Sequence[FileEdit]]
    events: Mapping[Event, str]
    how: str
    """How settings are changed and why so, one sentence for plans and documentation."""
    next_step: str = ""
    """What a person still has to do."""
    proven: bool = False
    scopes: tuple[Scope, ...] = ("user", "project")
    check: tuple[str, ...] = ()
    """The client's own command that shows the registration, `{name}` standing for the server."""

    def installed(self, machine: Machine) -> bool:
        """True when its program is on the PATH or one of its folders or files exists."""
        return any(machine.program(name) for name in self.programs) or any(
            path.exists() for path in self.traces(machine)
        )


def wanted_events(events: Mapping[Event, str], hooks: Hooks) -> dict[Event, str]:
    """The hooks to install: none, the session start, or all that the client has."""
    if hooks == "none":
        return {}
    return {ours: theirs for ours, theirs in events.items() if hooks == "full" or ours == "session-start"}


def hook_mark(event: Event, client: str) -> str:
    """The text by which our hook is found again in a client's settings."""
    return f"hook {event} --client {client}"


def server_environment(client: str) -> dict[str, str]:
    """The variables that a server gets from its client's settings: who writes, for the history."""
    return {"VAULT_MEMORY_AGENT": client}


def server_entry(options: Options, client: str, **more: Any) -> dict[str, Any]:
    """The usual form of a local server in JSON settings: command, arguments, environment."""
    first, *rest = options.server
    return {**more, "command": first, "args": list(rest), "env": server_environment(client)}


def hook_items(
    options: Options,
    client: str,
    events: Mapping[Event, str],
    *,
    timeout: int = HOOK_TIMEOUT_SECONDS,
    comments: bool = False,
    **more: Any,
) -> list[Change]:
    """The hooks in the form that Claude Code, Codex and Gemini CLI share: event → groups → commands."""
    items: list[Change] = []
    for ours, theirs in wanted_events(events, options.hooks).items():
        command = {"type": "command", "command": options.hook(ours, client), "timeout": timeout, **more}
        group = {"hooks": [command]}
        items.append(JsonItem(("hooks", theirs), group, hook_mark(ours, client), comments))
    return items


def server_change(key: str, options: Options, value: Mapping[str, Any], *, comments: bool = False) -> JsonEntry:
    """The server entry as a change of JSON settings whose servers stand under `key`."""
    return JsonEntry((key, options.name), dict(value), comments)
