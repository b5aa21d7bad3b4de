"""Tells whether a note is as HEAD holds it, by blob id against one listing per HEAD. Owns that comparison.

`git status` is not asked: it takes the person's index lock, runs filters and costs a pass over the work tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from vault_memory.files.git import Repository, blob_id
from vault_memory.files.git_objects import TreeEntry, all_entries

TrackedState = Literal["clean", "modified", "new"]


class Tracked(Struct, frozen=True):
    """The files of one commit; `head` None: no repository or no commit yet, and every note is new."""

    head: str | None = None
    entries: Mapping[str, TreeEntry] = field(default_factory=dict)
    hash_name: str = "sha1"

    def state(self, path: str, data: bytes) -> TrackedState:
        """How a note's bytes on disk relate to HEAD. A file that only differs in line endings counts as clean."""
        entry = self.entries.get(path)
        if entry is None:
            return "new"
        if entry.blob == blob_id(data, self.hash_name):
            return "clean"
        if b"\r\n" in data and entry.blob == blob_id(data.replace(b"\r\n", b"\n"), self.hash_name):
            return "clean"
        return "modified"


def read_tracked(repository: Repository | None, known: Tracked | None = None) -> Tracked:
    """What HEAD holds now; `known` itself when HEAD has not moved since (no process is started then)."""
    if repository is None:
        return Tracked()
    head = repository.head().commit
    if known is not None and known.head == head:
        return known
    return Tracked(head, all_entries(repository, head), repository.hash_name)
