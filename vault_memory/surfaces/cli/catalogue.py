"""Which commands there are: one a row, known by name and summary without importing anything that runs them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Final

import click
from msgspec import Struct

from vault_memory.operations.table import OPERATIONS, Operation

READING, WRITING, TOOLS = "Read", "Write", "Vault and tools"
SECTIONS: Final = (READING, WRITING, TOOLS)


class Command(Struct, frozen=True):
    """A command: its name, its line in the overview, and where it comes from."""

    name: str
    summary: str
    section: str
    target: str | Operation
    """An operation, from which the command is built, or `module:attribute` of a click command made by hand."""

    def load(self) -> click.Command:
        """The click command; imports what it needs."""
        if isinstance(self.target, Operation):
            from vault_memory.surfaces.cli.build import command_for

            return command_for(self.name, self.target)
        module, attribute = self.target.split(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command), self.target
        return command


SHORT_NAMES: Final[Mapping[str, str]] = MappingProxyType({"context_pack": "context", "find_duplicates": "duplicates"})
"""Operations whose command has another name than theirs; all others only swap `_` for `-`."""

UPKEEP: Final = frozenset({"status", "stats", "doctor", "reindex"})
"""Operations about the vault as a whole, not about single memories."""

NOT_COMMANDS: Final = frozenset({"bench", "remember_many", "delete_many", "export", "import", "backup"})
"""Operations that take what no command line carries (`run` reaches them), or whose command is made by hand."""

_HERE = "vault_memory.surfaces.cli"
_BY_HAND = (
    Command("demo", "Show the main job on real notes, offline, in under a minute.", TOOLS, f"{_HERE}.demo:demo"),
    Command("init", "Make a vault, or adopt a folder of notes untouched.", TOOLS, f"{_HERE}.init:init"),
    Command("edit", "Open a memory's note in your own editor.", TOOLS, f"{_HERE}.edit:edit"),
    Command("export", "Write out memories, to a file, a folder or stdout.", TOOLS, f"{_HERE}.transfer:export"),
    Command("import", "Take in memories from an export or another system.", TOOLS, f"{_HERE}.transfer:import_"),
    Command("backup", "Copy the whole vault to a dated folder or zip.", TOOLS, f"{_HERE}.transfer:backup"),
    Command("bench", "Measure search on this vault.", TOOLS, f"{_HERE}.bench:bench"),
    Command("run", "Carry out the memory actor's batch documents.", TOOLS, f"{_HERE}.run:run"),
    Command("watch", "Follow changes by hand until Ctrl-C.", TOOLS, f"{_HERE}.watch:watch"),
    Command("mcp", "Serve the vault to an agent over MCP (stdio).", TOOLS, f"{_HERE}.mcp:mcp"),
    Command("serve", "Serve the vault over HTTP: REST, MCP, events.", TOOLS, f"{_HERE}.serve:serve"),
    Command("token", "The server's tokens: show, rotate, issue, list, revoke.", TOOLS, f"{_HERE}.token:token"),
    Command(
        "connect", "Give a coding agent this vault: server, session-start hook.", TOOLS, f"{_HERE}.connect:connect"
    ),
    Command(
        "disconnect", "Take a coding agent off again, its files as they were.", TOOLS, f"{_HERE}.connect:disconnect"
    ),
    Command("project", "Which project this folder is; bind, pin, merge projects.", TOOLS, f"{_HERE}.project:project"),
    Command("memories", "What is remembered for this folder's project.", TOOLS, f"{_HERE}.memories:memories"),
    Command("hook", "Answer a coding agent's hook (JSON on stdin), or git's.", TOOLS, f"{_HERE}.hook:hook"),
    Command("git-merge", "Merge a note for git, field by field.", TOOLS, f"{_HERE}.git_merge:git_merge"),
    Command("completion", "Print the completion script for your shell.", TOOLS, f"{_HERE}.completion:completion"),
)


def catalogue(operations: Mapping[str, Operation] = OPERATIONS) -> dict[str, Command]:
    """Every command by name, in the order of the overview."""
    rows = [_of(operation) for name, operation in operations.items() if name not in NOT_COMMANDS]
    return {row.name: row for row in (*rows, *_BY_HAND)}


def _of(operation: Operation) -> Command:
    name = SHORT_NAMES.get(operation.name, operation.name).replace("_", "-")
    section = TOOLS if operation.name in UPKEEP else READING if operation.kind == "read" else WRITING
    return Command(name, operation.summary, section, operation)
