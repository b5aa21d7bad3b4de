"""inotify on every folder that is not ignored and on no other, through watchdog's descriptor thread.

watchdog's own recursive watch would spend a watch on every folder of node_modules, would not tell when the limit is
reached below the root, and holds deletions back for half a second. Owns the watches; reports paths and reads no note.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, cast

from msgspec import Struct

from vault_memory.files.ignore import GITIGNORE, Ignore
from vault_memory.files.paths import is_note_name, normal
from vault_memory.files.sources import EXHAUSTED, Reports

if TYPE_CHECKING:
    from watchdog.observers.inotify_c import CallbackId, InotifyEvent, InotifyFD, Mask, WatchDescriptor

_STOP_SECONDS: Final = 1.0


class _Watch(Struct, frozen=True):
    """A watched folder: the system's number, ours, and the folder's place on disk."""

    wd: WatchDescriptor
    own: CallbackId
    place: str


class FolderWatches:
    """A Source over inotify."""

    def __init__(self, root: str, ignore: Ignore, reports: Reports) -> None:
        self._root = root
        self._ignore = ignore
        self._reports = reports
        self._lock = threading.RLock()
        self._ids = itertools.count(1)
        self._watches: dict[str, _Watch] = {}
        self._prefixes: dict[WatchDescriptor, str] = {}
        self._inotify: InotifyFD | None = None

    @property
    def watched(self) -> int:
        return len(self._watches)

    def start(self) -> None:
        from watchdog.observers.inotify_c import InotifyFD

        self._inotify = InotifyFD()
        self._inotify.start()
        self._add_tree("", self._root)

    def refresh(self) -> None:
        present = set()
        for prefix, place in self._folders("", self._root):
            present.add(prefix)
            self._add(prefix, place)
        for prefix in [prefix for prefix in self._watches if prefix not in present]:
            self._drop(prefix)

    def poll(self) -> None:
        return

    def stop(self) -> None:
        with self._lock:
            inotify, self._inotify = self._inotify, None
        if inotify is not None:
            inotify.stop()
            inotify.join(_STOP_SECONDS)

    def on_event(self, event: InotifyEvent) -> None:
        """Called by watchdog's thread for each event."""
        from watchdog.observers.inotify_c import InotifyConstants as Is

        with self._lock:
            prefix = self._prefixes.get(event.wd)
            watch = None if prefix is None else self._watches.get(prefix)
        if prefix is None or watch is None:
            return
        if event.mask & (Is.IN_DELETE_SELF | Is.IN_MOVE_SELF | Is.IN_UNMOUNT):
            if not prefix:
                self._reports.lost()
            return
        raw = os.fsdecode(event.name)
        if event.mask & Is.IN_ISDIR:
            gone = bool(event.mask & (Is.IN_MOVED_FROM | Is.IN_DELETE))
            self._folder_event(f"{prefix}{normal(raw)}/", None if gone else f"{watch.place}/{raw}")
        elif raw == GITIGNORE:
            self._reports.changed(None)
        elif is_note_name(raw) and not self._ignore.note(prefix, normal(raw)):
            self._reports.changed(prefix + normal(raw))

    def on_watch_deleted(self, wd: WatchDescriptor) -> None:
        """Called by watchdog's thread when the system dropped a watch, because its folder is gone."""
        with self._lock:
            prefix = self._prefixes.pop(wd, None)
            if prefix is not None and (watch := self._watches.get(prefix)) and watch.wd == wd:
                del self._watches[prefix]

    def on_queue_overflow(self) -> None:
        """Called by watchdog's thread when events were lost."""
        self._reports.changed(None)

    def _folder_event(self, path: str, place: str | None) -> None:
        """A folder went (`place` None) or came, by creation or by a move."""
        if self._ignore.folder(path):
            return
        self._drop(path)
        if place is not None:
            try:
                self._add_tree(path, place)
            except OSError as error:
                self._reports.failed(error)
        # Only now: what was written before the watch was there is found by looking, what comes later is reported.
        self._reports.changed(path[:-1])

    def _add_tree(self, prefix: str, place: str) -> None:
        for folder, at in self._folders(prefix, place):
            self._add(folder, at)

    def _folders(self, prefix: str, place: str) -> Iterator[tuple[str, str]]:
        """A folder and those below it that are not ignored; each is yielded before it is listed."""
        todo = [(prefix, place)]
        while todo:
            prefix, place = todo.pop()
            yield prefix, place
            self._ignore.load(prefix)
            try:
                with os.scandir(place) as entries:
                    folders = [(entry.name, entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
            except OSError:  # gone by now, or unreadable: the scan will say so
                continue
            below = [(f"{prefix}{normal(name)}/", path) for name, path in folders]
            todo += [(path, at) for path, at in below if not self._ignore.folder(path)]

    def _add(self, prefix: str, place: str) -> None:
        """Watch one folder.

        Raises:
            OSError: the limit is reached, or it is the root that cannot be watched.
        """
        with self._lock:
            if prefix in self._watches or self._inotify is None:
                return
            own = cast("CallbackId", next(self._ids))
            try:
                wd = self._inotify.add_callback(os.fsencode(place), _mask(), self, own)
            except OSError as error:
                if not prefix or error.errno in EXHAUSTED:
                    raise
                return
            if wd >= 0:  # -1 means that we may not read it
                self._watches[prefix] = _Watch(wd, own, place)
                self._prefixes[wd] = prefix

    def _drop(self, prefix: str) -> None:
        """Stop watching a folder and all below it: a watch would follow a folder that is moved away."""
        with self._lock:
            gone = [self._watches.pop(path) for path in list(self._watches) if path.startswith(prefix)]
            for watch in gone:
                self._prefixes.pop(watch.wd, None)
            if self._inotify is not None and gone:
                self._inotify.remove_callbacks([(watch.wd, watch.own) for watch in gone])


def _mask() -> Mask:
    """Changes only: a mask with opened or closed-unwritten would let every reading of a note wake us."""
    from watchdog.observers.inotify_c import InotifyConstants as Is

    return cast(
        "Mask",
        Is.IN_CREATE
        | Is.IN_MODIFY
        | Is.IN_CLOSE_WRITE
        | Is.IN_MOVED_FROM
        | Is.IN_MOVED_TO
        | Is.IN_DELETE
        | Is.IN_DELETE_SELF
        | Is.IN_MOVE_SELF
        | Is.IN_ONLYDIR
        | Is.IN_DONT_FOLLOW
        | Is.IN_EXCL_UNLINK,
    )
