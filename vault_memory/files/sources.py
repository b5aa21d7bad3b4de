"""Where the watcher learns of changes: what a source promises, and the choice of one. Owns no watch itself."""

from __future__ import annotations

import errno
import sys
from typing import Final, Protocol

from vault_memory.files.ignore import Ignore

EXHAUSTED: Final = (errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
"""What the system says when its limit of watches or of watchers is reached."""


class Reports(Protocol):
    """What a source tells; called from the source's own thread."""

    def changed(self, path: str | None) -> None:
        """A note, or a folder with all below it, may have changed; None: anything may have, so look at all."""

    def lost(self) -> None:
        """The root was deleted, moved away or unmounted."""

    def failed(self, error: OSError) -> None:
        """The source cannot go on."""


class Source(Protocol):
    """A way to learn of changes. Paths are reported as vault paths, ignored ones not at all."""

    @property
    def watched(self) -> int:
        """The number of folders watched; 0 when the system does not count."""

    def start(self) -> None:
        """Begin to report.

        Raises:
            OSError: the system does not let us.
        """

    def refresh(self) -> None:
        """Bring the watches in line with the folders and ignore rules as they are now."""

    def poll(self) -> None:
        """Look by itself, where no system calls."""

    def stop(self) -> None:
        """Stop reporting and free everything."""


def system_source(root: str, ignore: Ignore, reports: Reports) -> Source:
    """What this system offers: inotify folder by folder on Linux, else watchdog's observer for it."""
    if sys.platform == "linux":
        from vault_memory.files.inotify import FolderWatches

        return FolderWatches(root, ignore, reports)
    from vault_memory.files.observers import SystemObserver

    return SystemObserver(root, ignore, reports)
