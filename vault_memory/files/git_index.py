"""Brings a person's index along after a commit of ours, and nothing else of it.

Owns that one write. Without it `git status` would show our change undone, and the person's next commit would undo it.
"""

from __future__ import annotations

from collections.abc import Mapping

from vault_memory.files.git import Repository
from vault_memory.files.git_objects import TreeEntry, index_entries


def refresh(
    repository: Repository, old: Mapping[str, TreeEntry], new: Mapping[str, TreeEntry | None], zero_id: str
) -> None:
    """Set the entries of `new` (None: remove) where the index still holds what `old` says; staged work stays.

    Git takes and gives back the lock itself, so that a kill of this process leaves neither a lock nor half an index.

    Raises:
        GitError: the index is locked by another git.
    """
    held = index_entries(repository, new)
    lines: list[str] = []
    for path, entry in new.items():
        if path in held and held[path] is None:  # unmerged: the person's to resolve
            continue
        if held.get(path) != old.get(path) or held.get(path) == entry:
            continue
        state = f"{entry.mode} {entry.blob}" if entry else f"0 {zero_id}"
        lines.append(f"{state}\t{repository.prefix}{path}\0")
    if lines:
        data = "".join(lines).encode("utf-8", "surrogateescape")
        repository.run("update-index", "-z", "--index-info", data=data)
