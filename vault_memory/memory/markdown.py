"""The note format, text ⇄ Memory: the one door to parsing, rendering and byte-exact edits. Holds no logic itself."""

from __future__ import annotations

from vault_memory.memory.body import append, replace_content, replace_section
from vault_memory.memory.front_matter import Parts, UnreadableNote, split
from vault_memory.memory.parse import parse
from vault_memory.memory.patch import metadata_changes, patch
from vault_memory.memory.render import render

__all__ = [
    "Parts",
    "UnreadableNote",
    "append",
    "metadata_changes",
    "parse",
    "patch",
    "render",
    "replace_content",
    "replace_section",
    "split",
]
