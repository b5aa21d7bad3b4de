"""Gemini CLI: `settings.json` holds server and hooks (times in milliseconds).

It shows a server's instructions to the model (seen in its requests), so no guidance is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vault_memory.harness.base import HOOK_TIMEOUT_SECONDS, Harness, Machine, Options, hook_items, server_change
from vault_memory.harness.base import server_entry as entry
from vault_memory.harness.edits import FileEdit
from vault_memory.harness.events import Event

EVENTS: dict[Event, str] = {
    "session-start": "SessionStart",
    "prompt": "BeforeAgent",
    "pre-compact": "PreCompress",
    "session-end": "SessionEnd",
}


def _folder(machine: Machine) -> Path:
    return machine.folder("GEMINI_CLI_HOME") / ".gemini"


def _edits(machine: Machine, options: Options) -> Sequence[FileEdit]:
    folder = _folder(machine) if options.project is None else options.project / ".gemini"
    server = server_change("mcpServers", options, entry(options, HARNESS.name), comments=True)
    hooks = hook_items(
        options, HARNESS.name, EVENTS, timeout=HOOK_TIMEOUT_SECONDS * 1000, comments=True, name=options.name
    )
    return [FileEdit(folder / "settings.json", (server, *hooks))]


HARNESS = Harness(
    name="gemini",
    title="Gemini CLI",
    programs=("gemini",),
    traces=lambda machine: (_folder(machine),),
    edits=_edits,
    events=EVENTS,
    how="edits its files: `gemini mcp add` lays settings.json out anew and `remove` leaves an empty table",
    next_step="Start a new Gemini CLI session.",
    proven=True,
    check=("gemini", "mcp", "list"),
)
