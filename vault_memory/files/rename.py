"""Atomic renames that `os` lacks: swap two files, rename without overwriting. Owns the system calls only."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, Final

_AT_FDCWD: Final = -100
_LINUX_FLAGS: Final = {"keep": 1, "swap": 2}
_MACOS_FLAGS: Final = {"keep": 4, "swap": 2}
_UNSUPPORTED: Final = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)
_NO_LINKS: Final = (errno.EPERM, errno.EMLINK, *_UNSUPPORTED)


def swap(first: str, second: str) -> bool:
    """Exchange two files of one folder in one step.

    Returns:
        False when this platform or file system cannot, and nothing was done.
    """
    return _call(first, second, "swap")


def rename_new(source: str, target: str) -> None:
    """Rename `source` to `target` unless that exists.

    Raises:
        FileExistsError: `target` exists; nothing was done.
    """
    if sys.platform == "win32":
        os.rename(source, target)  # it never overwrites there
        return
    if _call(source, target, "keep"):
        return
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _check_then_rename(source, target)
    else:
        os.unlink(source)


def _check_then_rename(source: str, target: str) -> None:
    """The last resort, where neither the system call nor hard links exist: a tiny gap remains."""
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
    os.rename(source, target)


def _call(source: str, target: str, kind: str) -> bool:
    function = _system_call()
    if function is None:
        return False
    import ctypes

    if function(os.fsencode(source), os.fsencode(target), kind) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), source, None, target)


@cache
def _system_call() -> Callable[[bytes, bytes, str], int] | None:
    """renameat2 of Linux or renamex_np of macOS, looked up once; None elsewhere."""
    if sys.platform == "win32":
        return None
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    linux: Any = getattr(library, "renameat2", None)
    if linux is not None:
        return lambda a, b, kind: int(linux(_AT_FDCWD, a, _AT_FDCWD, b, _LINUX_FLAGS[kind]))
    macos: Any = getattr(library, "renamex_np", None)
    if macos is not None:
        return lambda a, b, kind: int(macos(a, b, _MACOS_FLAGS[kind]))
    return None
