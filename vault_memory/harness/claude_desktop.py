"""Claude Desktop: `claude_desktop_config.json` (by its documentation). No hooks, no projects."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vault_memory.harness.base import Harness, Machine, Options, server_change, server_entry
from vault_memory.harness.edits import FileEdit


def _folder(machine: Machine) -> Path:
    return machine.config / "Claude"


def _edits(machine: Machine, options: Options) -> Sequence[FileEdit]:
    server = server_change("mcpServers", options, server_entry(options, HARNESS.name))
    return [FileEdit(_folder(machine) / "claude_desktop_config.json", (server,))]


HARNESS = Harness(
    name="claude-desktop",
    title="Claude Desktop",
    programs=(),
    traces=lambda machine: (_folder(machine),),
    edits=_edits,
    events={},
    how="edits its file; it has no command for it",
    next_step="Quit Claude Desktop completely and open it again.",
    scopes=("user",),
)
