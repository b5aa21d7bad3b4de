"""VS Code: `mcp.json` with `servers`, in the user's folder or in `.vscode` (by its documentation). It has no hooks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vault_memory.harness.base import Harness, Machine, Options, server_change, server_entry
from vault_memory.harness.changes import Block
from vault_memory.harness.edits import FileEdit
from vault_memory.harness.guidance import GUIDANCE


def _folder(machine: Machine) -> Path:
    return machine.config / "Code" / "User"


def _edits(machine: Machine, options: Options) -> Sequence[FileEdit]:
    server = server_change("servers", options, server_entry(options, HARNESS.name, type="stdio"), comments=True)
    if options.project is None:
        return [FileEdit(_folder(machine) / "mcp.json", (server,))]
    edits = [FileEdit(options.project / ".vscode" / "mcp.json", (server,))]
    if options.agents_md:
        edits.append(FileEdit(options.project / "AGENTS.md", (Block(GUIDANCE),)))
    return edits


HARNESS = Harness(
    name="vscode",
    title="VS Code",
    programs=("code",),
    traces=lambda machine: (_folder(machine), machine.home / ".vscode"),
    edits=_edits,
    events={},
    how="edits its file: `code --add-mcp` writes only the default profile and cannot take an entry away again",
    next_step="Run “MCP: List Servers” in VS Code and start vault-memory.",
)
