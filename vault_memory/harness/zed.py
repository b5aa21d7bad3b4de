"""Zed: `context_servers` in `settings.json`, which has comments (by its documentation). It has no hooks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vault_memory.harness.base import Harness, Machine, Options, server_change, server_entry
from vault_memory.harness.changes import Block
from vault_memory.harness.edits import FileEdit
from vault_memory.harness.guidance import GUIDANCE


def _folder(machine: Machine) -> Path:
    if machine.platform == "win32":
        return machine.config / "Zed"
    return machine.folder("XDG_CONFIG_HOME", ".config") / "zed"


def _edits(machine: Machine, options: Options) -> Sequence[FileEdit]:
    server = server_change("context_servers", options, server_entry(options, HARNESS.name), comments=True)
    if options.project is None:
        return [FileEdit(_folder(machine) / "settings.json", (server,))]
    edits = [FileEdit(options.project / ".zed" / "settings.json", (server,))]
    if options.agents_md:
        edits.append(FileEdit(options.project / "AGENTS.md", (Block(GUIDANCE),)))
    return edits


HARNESS = Harness(
    name="zed",
    title="Zed",
    programs=("zed", "zeditor"),
    traces=lambda machine: (_folder(machine),),
    edits=_edits,
    events={},
    how="edits its file; it has no command for it",
    next_step="Open the agent panel's settings in Zed: the server's dot turns green.",
)
