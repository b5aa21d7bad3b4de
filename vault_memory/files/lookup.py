"""Where a name is on this disk. Owns the step from a folder to one of its entries, whatever the Unicode form."""

from __future__ import annotations

import errno
import os
from contextlib import suppress

from vault_memory.errors import NotAllowed
from vault_memory.files.disk import disk_errors
from vault_memory.files.paths import normal


def entry(folder: str, name: str) -> tuple[str, os.stat_result | None]:
    """The place of `name` (NFC) in `folder` and what is there, not following symlinks; None when nothing is.

    Raises:
        NotAllowed: no file system takes so long a name.
        StorageError: the folder cannot be read.
    """
    place = f"{folder}/{name}"
    try:
        return place, os.lstat(place)
    except (FileNotFoundError, NotADirectoryError):
        return (place, None) if name.isascii() else _in_other_form(folder, name)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise NotAllowed(f"The name {name[:40]!r}… is too long") from error
        with disk_errors("read", name):
            raise


def _in_other_form(folder: str, name: str) -> tuple[str, os.stat_result | None]:
    with disk_errors("read", name), suppress(FileNotFoundError, NotADirectoryError):
        for other in os.listdir(folder):
            if normal(other) == name:
                return f"{folder}/{other}", os.lstat(f"{folder}/{other}")
    return f"{folder}/{name}", None
