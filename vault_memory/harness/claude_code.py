"""Claude Code: `~/.claude.json` for the server, `settings.json` for the hooks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vault_memory.harness.base import Harness, Machine, Options, hook_items, server_change, server_entry
from vault_memory.harness.edits import FileEdit
from vault_memory.harness.events import Event

EVENTS: dict[Event, str] = {
    "session-start": "SessionStart",
    "prompt": "UserPromptSubmit",
    "pre-compact": "PreCompact",
    "post-compact": "PostCompact",
    "session-end": "SessionEnd",
}


def _folder(machine: Machine) -> Path:
    return machine.folder("CLAUDE_CONFIG_DIR", ".claude")


def _state_file(machine: Machine) -> Path:
    """With CLAUDE_CONFIG_DIR the file moves into that folder, else it stands beside `~/.claude`."""
    named = machine.environ.get("CLAUDE_CONFIG_DIR")
    return Path(named, ".claude.json") if named else machine.home / ".claude.json"


def _edits(machine: Machine, options: Options) -> Sequence[FileEdit]:
    server = server_change("mcpServers", options, server_entry(options, HARNESS.name, type="stdio"))
    hooks = tuple(hook_items(options, HARNESS.name, EVENTS))
    if options.project is not None:
        files = [FileEdit(options.project / ".mcp.json", (server,))]
        settings = options.project / ".claude" / "settings.local.json"
    else:
        files = [FileEdit(_state_file(machine), (server,), locked=True)]
        settings = _folder(machine) / "settings.json"
    return [*files, FileEdit(settings, hooks)] if hooks else files


HARNESS = Harness(
    name="claude-code",
    title="Claude Code",
    programs=("claude",),
    traces=lambda machine: (_folder(machine), _state_file(machine)),
    edits=_edits,
    events=EVENTS,
    how="edits its files under its own lock: `claude mcp add-json` lays the whole of .claude.json out anew, adds "
    "identifiers to it and leaves copies behind, so leaving could not restore it",
    next_step="Restart Claude Code, or start a new session.",
    proven=True,
    check=("claude", "mcp", "get", "{name}"),
)
