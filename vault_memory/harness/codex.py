"""Codex CLI: `config.toml` for the server, `hooks.json` for the hooks, `AGENTS.md` for the guidance."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vault_memory.harness.base import Harness, Machine, Options, hook_items, server_environment
from vault_memory.harness.changes import Block, TomlTable
from vault_memory.harness.edits import FileEdit
from vault_memory.harness.events import Event
from vault_memory.harness.guidance import GUIDANCE

EVENTS: dict[Event, str] = {
    "session-start": "SessionStart",
    "prompt": "UserPromptSubmit",
    "pre-compact": "PreCompact",
    "post-compact": "PostCompact",
    "stop": "Stop",
}
_PASSED_ON = ("VAULT_MEMORY_CONFIG", "VAULT_MEMORY_PROJECT", "VAULT_MEMORY_ACTOR", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
"""Codex gives a server about a dozen variables; these are ours and change where we look."""


def _folder(machine: Machine) -> Path:
    return machine.folder("CODEX_HOME", ".codex")


def _edits(machine: Machine, options: Options) -> Sequence[FileEdit]:
    first, *rest = options.server
    table = {
        "command": first,
        "args": rest,
        "env": server_environment(HARNESS.name),
        "env_vars": list(_PASSED_ON),
        "startup_timeout_sec": 30,
    }
    folder = _folder(machine) if options.project is None else options.project / ".codex"
    edits = [FileEdit(folder / "config.toml", (TomlTable(("mcp_servers", options.name), table),))]
    if hooks := tuple(hook_items(options, HARNESS.name, EVENTS)):
        edits.append(FileEdit(folder / "hooks.json", hooks))
    if options.agents_md:
        agents = folder if options.project is None else options.project
        edits.append(FileEdit(agents / "AGENTS.md", (Block(GUIDANCE),)))
    return edits


HARNESS = Harness(
    name="codex",
    title="Codex",
    programs=("codex",),
    traces=lambda machine: (_folder(machine),),
    edits=_edits,
    events=EVENTS,
    how="edits its files: `codex mcp add` and `remove` lose comments inside config.toml",
    next_step="Start a new Codex session and approve the hook once with /hooks.",
    proven=True,
    check=("codex", "mcp", "get", "{name}", "--json"),
)
