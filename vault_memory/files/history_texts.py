"""Every text that a note ever had in git, for checks that must look into the past. Judges nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from vault_memory.files.git import Repository
from vault_memory.files.git_objects import blobs
from vault_memory.files.paths import is_note_name

_BATCH: Final = 500


def note_texts(repository: Repository) -> Iterator[tuple[str, str, bytes]]:
    """Vault path, blob id and bytes of each text that any branch's history holds for a note, each text once.

    Raises:
        GitError: git could not.
    """
    below = ["--", repository.prefix] if repository.prefix else []
    listing = repository.run("rev-list", "--objects", "--all", *below)
    named: dict[str, str] = {}
    for line in listing.decode("utf-8", "surrogateescape").splitlines():
        blob, _, path = line.partition(" ")
        if path.startswith(repository.prefix) and is_note_name(path):
            named[blob] = path.removeprefix(repository.prefix)
    ids = sorted(named)
    for start in range(0, len(ids), _BATCH):
        for blob, data in blobs(repository, ids[start : start + _BATCH]).items():
            yield named[blob], blob, data
