"""The file side of `vault-memory git-merge`, which git calls for a note that both sides changed.

Owns reading git's three files, writing the result over ours and the exit code; how notes merge is memory/merge.py's.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

from vault_memory.files.git import TIMEOUT_SECONDS
from vault_memory.memory.front_matter import UnreadableNote
from vault_memory.memory.merge import merge_fields

CLEAN: Final = 0
CONFLICT: Final = 1


def git_merge(base: Path, ours: Path, theirs: Path, marker_size: int, program: str = "git") -> int:
    """Merge a note as git's low-level driver: the result replaces `ours`.

    Returns:
        0 when it merged, 1 when the result holds conflict markers for a person to resolve.
    """
    texts = [path.read_bytes() for path in (base, ours, theirs)]
    try:
        result = merge_fields(*texts)
    except UnreadableNote:
        return _merge_lines(program, base, ours, theirs, marker_size)
    ours.write_bytes(result.data)
    return CONFLICT if result.conflict else CLEAN


def _merge_lines(program: str, base: Path, ours: Path, theirs: Path, marker_size: int) -> int:
    """Git's own merge of lines, for files that are no notes."""
    labels = ("-L", "ours", "-L", "base", "-L", "theirs")
    command = (program, "merge-file", f"--marker-size={marker_size}", *labels, str(ours), str(base), str(theirs))
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_SECONDS)
    return CLEAN if done.returncode == 0 else CONFLICT
