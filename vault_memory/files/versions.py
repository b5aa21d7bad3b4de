"""Kept versions: bytes of notes that were replaced or removed, as plain files in state/versions. Owns that folder.

A folder for each note path holds files `<time>-<kind>-<revision>.md`, so that a person finds a text without us. Kind
`k` is kept until purge (no commit holds it), `b` is a base for three-way merges and goes after a week.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from msgspec import Struct

from vault_memory.files.atomic import create_file, read_file, sync_folder
from vault_memory.files.disk import disk_errors
from vault_memory.memory.model import revision_of

BASE_DAYS: Final = 7
_TIME: Final = "%Y%m%dT%H%M%S%fZ"
_NAME = re.compile(r"([0-9]{8}T[0-9]{12}Z)-([kb])-([0-9a-f]{32})\.md")
_PATH_FILE: Final = "path.txt"


class Version(Struct, frozen=True):
    """One kept text of a note."""

    revision: str
    kept_at: datetime
    until_purge: bool
    """False for a merge base, which goes after BASE_DAYS."""


class Versions:
    """The kept versions in `folder`: made when first needed, for the owner only. Writers hold the vault lock."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, path: str, data: bytes, now: datetime, *, until_purge: bool) -> str:
        """Keep a text of the note at `path`; one revision is kept once for each note.

        With `until_purge` it is durable when this returns. A base is not: losing it costs a merge and no text.

        Returns:
            The revision, by which it is found again.
        """
        revision = revision_of(data)
        known = next((entry for entry in self._entries(path) if entry[1].revision == revision), None)
        if known and (known[1].until_purge or not until_purge):
            return revision
        with disk_errors("keep a version of", path):
            home = self._home_for_writing(path)
            kind = "k" if until_purge else "b"
            with suppress(FileExistsError):
                create_file(f"{home}/{now.astimezone(UTC).strftime(_TIME)}-{kind}-{revision}.md", data, mode=0o600)
            if until_purge:
                sync_folder(str(home))
            if known:
                known[0].unlink(missing_ok=True)
        return revision

    def list(self, path: str) -> tuple[Version, ...]:
        """The kept versions of a note, newest first."""
        versions = [version for _, version in self._entries(path)]
        return tuple(sorted(versions, key=lambda version: (version.kept_at, version.revision), reverse=True))

    def get(self, path: str, revision: str) -> bytes | None:
        """The kept bytes of one revision of a note; None when they are not kept."""
        for place, version in self._entries(path):
            if version.revision == revision:
                with disk_errors("read a version of", path), suppress(FileNotFoundError):
                    return read_file(str(place))
        return None

    def moved(self, source: str, target: str) -> None:
        """Let the versions of a note follow it to its new path."""
        home = self._home(source)
        if not home.is_dir():
            return
        with disk_errors("move the versions of", source):
            new_home = self._home_for_writing(target)
            for place, _ in self._entries(source):
                place.replace(new_home / place.name)
            _remove_home(home)

    def drop(self, path: str) -> int:
        """Delete every kept version of a note (purge); the number of them."""
        with disk_errors("delete the versions of", path):
            places = [place for place, _ in self._entries(path)]
            for place in places:
                place.unlink(missing_ok=True)
            _remove_home(self._home(path))
        return len(places)

    def expire(self, now: datetime) -> int:
        """Delete the merge bases older than a week; the number of them."""
        oldest = now - timedelta(days=BASE_DAYS)
        expired = 0
        with disk_errors("read", "the kept versions"), suppress(FileNotFoundError):
            for home in sorted(self._folder.iterdir()):
                old = [
                    place for place, version in _entries(home) if not version.until_purge and version.kept_at < oldest
                ]
                for place in old:
                    place.unlink(missing_ok=True)
                expired += len(old)
                if old and not any(_entries(home)):
                    _remove_home(home)
        return expired

    def _home(self, path: str) -> Path:
        return self._folder / hashlib.sha256(path.encode()).hexdigest()[:32]

    def _home_for_writing(self, path: str) -> Path:
        home = self._home(path)
        if not home.is_dir():
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
            (home / _PATH_FILE).write_text(path + "\n", "utf-8")
            for folder in (self._folder, self._folder.parent):
                sync_folder(str(folder))
        return home

    def _entries(self, path: str) -> Iterator[tuple[Path, Version]]:
        return _entries(self._home(path))


def _entries(home: Path) -> Iterator[tuple[Path, Version]]:
    with suppress(FileNotFoundError, NotADirectoryError):
        for name in sorted(os.listdir(home)):
            if match := _NAME.fullmatch(name):
                time, kind, revision = match.groups()
                kept_at = datetime.strptime(time, _TIME).replace(tzinfo=UTC)
                yield home / name, Version(revision, kept_at, kind == "k")


def _remove_home(home: Path) -> None:
    """Take an emptied folder away; another writer's file in it keeps it."""
    with suppress(OSError):
        (home / _PATH_FILE).unlink(missing_ok=True)
        home.rmdir()
