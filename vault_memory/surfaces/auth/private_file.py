"""Files in the vault's local state that hold secrets or their hashes: written at once, readable by their user alone."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from vault_memory.errors import StorageError

Secrets = Callable[[], str]
"""Makes an unguessable text of letters that fit into a header."""


def hashed(token: str) -> str:
    """The SHA-256 of a token that has 256 random bits: there is nothing to guess, so a fast hash keeps it."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def identity(path: Path) -> tuple[int, int, int] | None:
    """Something that differs once the file was written anew; None while there is none."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns, stat.st_size


def write_private(path: Path, text: str) -> None:
    """Put the text in place of the file at once; at no time can another user read it.

    Raises:
        StorageError: the disk refuses.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.unlink(missing_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error}") from error
