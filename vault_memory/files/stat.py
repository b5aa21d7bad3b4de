"""What the disk says about a file without reading it. Owns the Stat value only."""

from __future__ import annotations

import os
from typing import NamedTuple


class Stat(NamedTuple):
    """Size in bytes, mtime in nanoseconds, inode: equal stats mean "probably not touched".

    A tuple: a scan makes ten thousand of them.
    """

    size: int
    mtime_ns: int
    inode: int

    @classmethod
    def of(cls, result: os.stat_result) -> Stat:
        """The Stat of an `os.stat` result."""
        return cls(result.st_size, result.st_mtime_ns, result.st_ino)
