"""What the disk refuses, told as one error class. Owns the translation from OSError, nothing else."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from vault_memory.errors import StorageError

_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_READ_ONLY: Final = (errno.EROFS, errno.EACCES, errno.EPERM)


@contextmanager
def disk_errors(action: str, path: str) -> Iterator[None]:
    """Raise StorageError for what the disk refuses; absence and name clashes stay the OSErrors that they are."""
    try:
        yield
    except (FileNotFoundError, FileExistsError):
        raise
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise StorageError(
            f"Cannot {action} {path or 'the vault'}: {reason}", hint=_hint(error.errno), path=path
        ) from error


def _hint(code: int | None) -> str:
    if code in _FULL:
        return "Free some space and try again; nothing was changed."
    if code in _READ_ONLY:
        return "Check the permissions of the file and its folder."
    return ""
