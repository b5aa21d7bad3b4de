"""The file side of `vault-memory git-merge`, which git calls for a note that both sides changed.

Owns reading git's three files, writing the result over ours and the exit code; how notes merge is memory/merge.py's.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Final

from vault_memory.memory.merge import merge_fields
from vault_memory.memory.model import RELATION_TYPES

CLEAN: Final = 0
CONFLICT: Final = 1


def git_merge(
    base: Path, ours: Path, theirs: Path, marker_size: int = 7, relation_types: Collection[str] = RELATION_TYPES
) -> int:
    """Merge a note as git's low-level driver; the result replaces `ours`, a file that git made for this.

    Returns:
        0 when it merged, 1 when the result holds conflict markers for a person to resolve.
    """
    old, mine, other = (path.read_bytes() for path in (base, ours, theirs))
    result = merge_fields(old, mine, other, relation_types=relation_types, marker_size=marker_size)
    ours.write_bytes(result.data)
    return CONFLICT if result.conflict else CLEAN
