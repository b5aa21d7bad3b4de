"""What is on the disk now, and how it differs from what is known. Owns the walk; opens no note and changes nothing.

A folder that cannot be read raises: absence is believed only when the folder above could be listed.
"""

from __future__ import annotations

import os
import stat as modes
import time
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import Struct

from vault_memory.errors import StorageError, VaultNotFound
from vault_memory.files import lookup
from vault_memory.files.atomic import PREFIX, Leftover
from vault_memory.files.disk import disk_errors
from vault_memory.files.ignore import GITIGNORE, Ignore
from vault_memory.files.names import folded
from vault_memory.files.paths import is_note_name, is_plain, normal, problem
from vault_memory.files.stat import Stat
from vault_memory.memory.model import Finding

MARKER: Final = ".vault-memory"
"""The folder that every vault has: without it a root is taken for lost (an unmounted disk), not for empty."""
MAX_NOTE_BYTES: Final = 5_000_000
RACY_NS: Final = 2_000_000_000
"""A file written this shortly before its scan may have been written again with the same size and mtime."""
GAP_SECONDS: Final = 0.1
_TRIES: Final = 3


class Known(NamedTuple):
    """What is recorded of a note: its stat, and the clock (ns) at the scan that saw it."""

    stat: Stat
    scanned_ns: int


class Scan(Struct, frozen=True):
    """The notes of a vault, or of the parts `within`, as one walk saw them."""

    files: Mapping[str, Stat]
    """Vault path (NFC) to Stat."""
    findings: tuple[tuple[str, Finding], ...]
    """What was left out and why, by path."""
    folders: tuple[str, ...]
    """Vault paths of the folders walked, `""` for the root."""
    leftovers: tuple[str, ...]
    """Hidden files that a killed writer left (or a live one is using): see NoteStore.recover."""
    scanned_ns: int
    """Clock before the walk began."""
    within: frozenset[str] | None = None
    """The paths that were looked at; None for all."""

    def covers(self, path: str) -> bool:
        """True when the scan would have seen a note at this path."""
        if self.within is None or path in self.within:
            return True
        return any(path[:end] in self.within for end, character in enumerate(path) if character == "/")


class Diff(Struct, frozen=True):
    """What a scan found to be different, sorted by path. `changed` means "read and hash it": it may be equal."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)


def scan(
    root: Path,
    ignore: Ignore,
    within: Collection[str] | None = None,
    *,
    max_bytes: int = MAX_NOTE_BYTES,
    now_ns: int | None = None,
) -> Scan:
    """Walk the vault, or look at the notes and folders `within` only.

    Raises:
        VaultNotFound: the root or its marker folder is missing.
        StorageError: a folder cannot be read.
    """
    now_ns = time.time_ns() if now_ns is None else now_ns
    for _ in range(_TRIES):
        walk = _Walk(str(root.resolve()), ignore, max_bytes)
        try:
            check_root(str(root.resolve()))
            for path in [""] if within is None else sorted(within):
                walk.look(path)
        except FileNotFoundError:  # a folder went while we walked: look again
            continue
        return walk.result(now_ns, None if within is None else frozenset(within))
    check_root(str(root.resolve()))
    raise StorageError("The vault's folders keep changing", hint="Try again in a moment.")


def diff(seen: Scan, known: Mapping[str, Known]) -> Diff:
    """What `seen` shows beside what is known; only paths that the scan covers can be removed."""
    added, changed = [], []
    for path, stat in seen.files.items():
        record = known.get(path)
        if record is None:
            added.append(path)
        elif record.stat != stat or stat.mtime_ns > record.scanned_ns - RACY_NS:
            changed.append(path)
    removed = [path for path in known if path not in seen.files and seen.covers(path)]
    return Diff(tuple(sorted(added)), tuple(sorted(changed)), tuple(sorted(removed)))


def still_gone(root: Path, paths: Iterable[str], *, pause_seconds: float = GAP_SECONDS) -> frozenset[str]:
    """Those of `paths` that are absent after a pause as well: some editors take a note away for a moment to save it.

    Raises:
        VaultNotFound: the root is gone, which says nothing about its notes.
    """
    paths = list(paths)
    if not paths:
        return frozenset()
    time.sleep(pause_seconds)
    place = str(root.resolve())
    check_root(place)
    return frozenset(path for path in paths if _find(place, path)[1] is None)


def check_root(root: str) -> None:
    """Make sure that the vault is there, and not an empty mount point.

    Raises:
        VaultNotFound: it is not.
    """
    if not os.path.isdir(f"{root}/{MARKER}"):
        raise VaultNotFound(f"There is no vault in {root} (any more)", hint="Is its disk mounted?")


class _Walk:
    """One walk in progress: what it met so far."""

    def __init__(self, root: str, ignore: Ignore, max_bytes: int) -> None:
        self._root = root
        self._ignore = ignore
        self._max_bytes = max_bytes
        self._files: dict[str, Stat] = {}
        self._findings: list[tuple[str, Finding]] = []
        self._folders: list[str] = []
        self._leftovers: list[str] = []

    def result(self, now_ns: int, within: frozenset[str] | None) -> Scan:
        findings = sorted(self._findings, key=lambda pair: (pair[0], pair[1].code))
        return Scan(
            self._files, tuple(findings), tuple(sorted(self._folders)), tuple(sorted(self._leftovers)), now_ns, within
        )

    def look(self, path: str) -> None:
        """Take in the note or the folder with all below it; nothing when there is nothing, or it is left out."""
        place, stat = _find(self._root, path)
        if stat is None:
            return
        if modes.S_ISDIR(stat.st_mode):
            if not path or not self._ignore.ignored(path, folder=True):
                self._tree(f"{path}/" if path else "", place)
        elif not self._ignore.ignored(path):
            folder, slash, name = path.rpartition("/")
            if modes.S_ISREG(stat.st_mode):
                self._note(path, stat)
            elif modes.S_ISLNK(stat.st_mode):
                self._symlink(folder + slash, name, place)

    def _tree(self, prefix: str, place: str) -> None:
        todo = [(prefix, place)]
        while todo:
            prefix, place = todo.pop()
            with disk_errors("read the folder", prefix), os.scandir(place) as entries:
                listing = list(entries)
            self._folders.append(prefix[:-1])
            if any(entry.name == GITIGNORE for entry in listing):
                self._ignore.load(prefix)
            else:
                self._ignore.forget(prefix)
            todo += self._folder(prefix, listing)

    def _folder(self, prefix: str, listing: list[os.DirEntry[str]]) -> list[tuple[str, str]]:
        """Take in the notes of one folder; the folders below that are to be walked too."""
        below, notes = [], []
        for entry in listing:
            name = entry.name
            if name[0] == ".":
                if name.startswith(PREFIX) and Leftover.parse(name):
                    self._leftovers.append(entry.path[len(self._root) + 1 :])
            elif entry.is_dir(follow_symlinks=False):
                path = f"{prefix}{normal(name)}/"
                if not self._ignore.folder(path) and (is_plain(name) or self._usable(path[:-1])):
                    below.append((path, entry.path))
            elif entry.is_symlink():
                self._symlink(prefix, name, entry.path)
            elif is_note_name(name):
                notes.append(entry)
        self._notes(prefix, notes)
        return below

    def _notes(self, prefix: str, entries: list[os.DirEntry[str]]) -> None:
        """Take in the notes of one folder. This is the loop that counts: a plain name costs next to nothing."""
        ignored = self._ignore.notes_of(prefix)
        seen: set[str] = set()
        for entry in entries:
            name = entry.name
            plain = is_plain(name)
            if not plain:
                name = normal(name)
            if (ignored is not None and ignored(name)) or not (plain or self._usable(prefix + name)):
                continue
            clash = name.lower() if plain else folded(name)
            if clash in seen and not self._clashing(prefix + name, exact=name == entry.name):
                continue
            seen.add(clash)
            try:
                self._note(prefix + name, entry.stat(follow_symlinks=False))
            except FileNotFoundError:  # gone since the listing: as good as never seen
                continue

    def _clashing(self, path: str, *, exact: bool) -> bool:
        """Name a clash; False for the other Unicode form of a path that is seen already."""
        self._find(path, "name_clash", "another note in the folder has this name but for its case")
        return exact or path not in self._files

    def _note(self, path: str, stat: os.stat_result) -> None:
        if not modes.S_ISREG(stat.st_mode):
            self._find(path, "not_a_file", "is a pipe, a socket or a device")
        elif stat.st_size > self._max_bytes:
            self._find(path, "too_large", f"holds more than {self._max_bytes:,} bytes")
        else:
            self._files[path] = Stat(stat.st_size, stat.st_mtime_ns, stat.st_ino)

    def _usable(self, path: str) -> bool:
        reason = problem(path)
        if reason:
            self._find(path, "unusable_name", f"the path {reason}")
        return reason is None

    def _symlink(self, prefix: str, name: str, place: str) -> None:
        """A symlink that would be a note or a folder of notes is named, never followed."""
        path = prefix + normal(name)
        try:
            folder = modes.S_ISDIR(os.stat(place).st_mode)
        except OSError:
            self._find(path, "symlink", "is a symlink that leads nowhere")
            return
        if self._ignore.folder(path + "/") if folder else not is_note_name(path) or self._ignore.note(prefix, path):
            return
        real = os.path.realpath(place)
        inside = real == self._root or real.startswith(self._root + os.sep)
        what = f"is a symlink to {real[len(self._root) + 1 :] or 'the vault'}, which counts once" if inside else ""
        self._find(path, "symlink", what or "is a symlink that leads out of the vault")

    def _find(self, path: str, code: str, reason: str) -> None:
        path = path.encode("utf-8", "backslashreplace").decode()
        self._findings.append((path, Finding(code, reason)))


def _find(root: str, path: str) -> tuple[str, os.stat_result | None]:
    """The place of a note or folder, reached through real folders only, and its stat; None when there is none."""
    place, stat = root, os.lstat(root)
    for segment in path.split("/") if path else ():
        if not modes.S_ISDIR(stat.st_mode):
            return place, None
        place, found = lookup.entry(place, segment)
        if found is None:
            return place, None
        stat = found
    return place, stat
