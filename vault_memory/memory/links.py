"""Links of notes: found, resolved, rewritten. The one door; holds no logic itself."""

from __future__ import annotations

from vault_memory.memory.link_text import Link, links
from vault_memory.memory.resolve import LinkIndex, MovedIndex, PathIndex, resolve
from vault_memory.memory.retarget import retarget, retarget_note

__all__ = ["Link", "LinkIndex", "MovedIndex", "PathIndex", "links", "resolve", "retarget", "retarget_note"]
