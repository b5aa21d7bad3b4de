"""Cursor: `mcp.json` for the server, `hooks.json` for the session start (by its documentation)."""

from __future__ import annotations

from collections.abc import Sequence

from vault_memory.harness.base import Harness, Machine, Options, hook_mark, server_change, server_entry
from vault_memory.harness.base import wanted_events as wanted
from vault_memory.harness.changes import Block, Change, JsonEntry, JsonItem
from vault_memory.harness.edits import FileEdit
from vault_memory.harness.events import Event
from vault_memory.harness.guidance import GUIDANCE

EVENTS: dict[Event, str] = {"session-start": "sessionStart", "session-end": "sessionEnd"}


def _edits(machine: Machine, options: Options) -> Sequence[FileEdit]:
    folder = (options.project or machine.home) / ".cursor"
    edits = [
        FileEdit(folder / "mcp.json", (server_change("mcpServers", options, server_entry(options, HARNESS.name)),))
    ]
    if events := wanted(EVENTS, options.hooks):
        changes: list[Change] = [JsonEntry(("version",), 1, default=True)]
        for ours, theirs in events.items():
            item = {"command": options.hook(ours, HARNESS.name)}
            changes.append(JsonItem(("hooks", theirs), item, hook_mark(ours, HARNESS.name)))
        edits.append(FileEdit(folder / "hooks.json", tuple(changes)))
    if options.agents_md and options.project is not None:
        edits.append(FileEdit(options.project / "AGENTS.md", (Block(GUIDANCE),)))
    return edits


HARNESS = Harness(
    name="cursor",
    title="Cursor",
    programs=("cursor", "cursor-agent"),
    traces=lambda machine: (machine.home / ".cursor",),
    edits=_edits,
    events=EVENTS,
    how="edits its files; it has no command for it",
    next_step="Restart Cursor and look under Settings → MCP.",
)
