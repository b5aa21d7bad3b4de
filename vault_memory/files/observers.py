"""Sources that need no watch for each folder: the system's recursive observer (macOS, Windows), and polling.

Owns the translation into vault paths; reads no note and decides nothing.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vault_memory.files.ignore import GITIGNORE, Ignore
from vault_memory.files.paths import normal
from vault_memory.files.scan import scan
from vault_memory.files.sources import Reports
from vault_memory.files.stat import Stat

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver

_STOP_SECONDS: Final = 1.0


class SystemObserver:
    """A Source over watchdog's recursive observer; ignored folders are filtered here, as they cost no watches there."""

    def __init__(self, root: str, ignore: Ignore, reports: Reports) -> None:
        self._root = root
        self._ignore = ignore
        self._reports = reports
        self._observer: BaseObserver | None = None

    @property
    def watched(self) -> int:
        return 0

    def start(self) -> None:
        from watchdog import events
        from watchdog.observers import Observer

        reports_of = self._on_event

        class Handler(events.FileSystemEventHandler):
            def on_any_event(self, event: FileSystemEvent) -> None:
                reports_of(event)

        changes = [
            getattr(events, f"{kind}{what}Event")
            for kind in ("File", "Dir")
            for what in ("Created", "Modified", "Moved", "Deleted")
        ]
        self._observer = Observer()
        self._observer.schedule(Handler(), self._root, recursive=True, event_filter=changes)
        self._observer.start()

    def refresh(self) -> None:
        return

    def poll(self) -> None:
        return

    def stop(self) -> None:
        observer, self._observer = self._observer, None
        if observer is not None:
            observer.stop()
            observer.join(_STOP_SECONDS)

    def _on_event(self, event: FileSystemEvent) -> None:
        for place in (event.src_path, event.dest_path):
            if not place:
                continue
            path = os.path.relpath(os.fsdecode(place), self._root).replace(os.sep, "/")
            if path != ".":
                self._report(normal(path), event)
            elif event.event_type in ("deleted", "moved"):
                self._reports.lost()

    def _report(self, path: str, event: FileSystemEvent) -> None:
        if path.split("/")[-1] == GITIGNORE:
            self._reports.changed(None)
        elif event.is_directory and event.event_type == "modified":
            return
        elif not self._ignore.ignored(path, folder=event.is_directory):
            self._reports.changed(path)


class Polling:
    """A Source that compares one scan with the next, whenever it is asked to poll."""

    def __init__(self, root: str, ignore: Ignore, reports: Reports) -> None:
        self._root = Path(root)
        self._ignore = ignore
        self._reports = reports
        self._seen: dict[str, Stat] | None = None

    @property
    def watched(self) -> int:
        return 0

    def start(self) -> None:
        return

    def refresh(self) -> None:
        return

    def poll(self) -> None:
        before, self._seen = self._seen, dict(scan(self._root, self._ignore).files)
        if before is None:
            self._reports.changed(None)
            return
        for path in sorted(before.keys() | self._seen.keys()):
            if before.get(path) != self._seen.get(path):
                self._reports.changed(path)

    def stop(self) -> None:
        return
