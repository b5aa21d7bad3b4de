"""Files beside the notes (images, PDFs): which there are, their bytes, and adding one that is not there yet.

Owns containment for them; never replaces or removes one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from vault_memory.errors import NotAllowed
from vault_memory.files.atomic import create_file, sync_folder
from vault_memory.files.disk import disk_errors
from vault_memory.files.paths import is_note_name, new_name_problem, problem

Added = Literal["added", "same", "taken"]


def attachments(root: Path) -> Iterator[str]:
    """Vault paths of all visible files that are no notes, sorted within their folder; symlinks are left out."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        place = Path(folder).relative_to(root).as_posix().removeprefix(".")
        for name in sorted(files):
            if not name.startswith(".") and not is_note_name(name) and not (Path(folder) / name).is_symlink():
                yield f"{place}/{name}" if place else name


def add_attachment(root: Path, path: str, data: bytes) -> Added:
    """Put a new file into the vault; one that is there with other bytes stays as it is.

    Raises:
        NotAllowed: the path leads outside the vault, through a link or a hidden folder, or names a note.
        StorageError: the disk refuses.
    """
    name = path.rpartition("/")[2]
    reason = problem(path) or new_name_problem(name) or ("is a note" if is_note_name(name) else None)
    place = root / path
    if reason is None and not Path(os.path.realpath(place)).is_relative_to(os.path.realpath(root)):
        reason = "leads outside the vault"
    if reason is not None:
        raise NotAllowed(f"{path} {reason}")
    with disk_errors("write", path):
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            create_file(str(place), data)
        except FileExistsError:
            return "same" if place.is_file() and place.read_bytes() == data else "taken"
        sync_folder(str(place.parent))
    return "added"
