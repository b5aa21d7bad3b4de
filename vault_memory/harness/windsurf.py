"""Windsurf: `~/.codeium/windsurf/mcp_config.json` (by its documentation). No hooks for text, no project file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vault_memory.harness.base import Harness, Machine, Options, server_change, server_entry
from vault_memory.harness.changes import Block
from vault_memory.harness.edits import FileEdit
from vault_memory.harness.guidance import GUIDANCE


def _folder(machine: Machine) -> Path:
    return machine.home / ".codeium" / "windsurf"


def _edits(machine: Machine, options: Options) -> Sequence[FileEdit]:
    server = server_change("mcpServers", options, server_entry(options, HARNESS.name))
    edits = [FileEdit(_folder(machine) / "mcp_config.json", (server,))]
    if options.agents_md:
        edits.append(FileEdit(_folder(machine) / "memories" / "global_rules.md", (Block(GUIDANCE),)))
    return edits


HARNESS = Harness(
    name="windsurf",
    title="Windsurf",
    programs=("windsurf",),
    traces=lambda machine: (_folder(machine),),
    edits=_edits,
    events={},
    how="edits its files; it has no command for it",
    next_step="Press refresh in Windsurf's MCP panel.",
    scopes=("user",),
)
