"""All reading and writing of notes by vault path: containment, then the atomic change, then its durability.

Owns what a path may reach. Writers hold the vault lock (the store takes none); it parses nothing and picks no names.
"""

from __future__ import annotations

import errno
import os
import stat as modes
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from vault_memory.errors import NotAllowed, StorageError, VaultNotFound
from vault_memory.files import atomic
from vault_memory.files.atomic import FileChanged
from vault_memory.files.disk import disk_errors
from vault_memory.files.lookup import entry
from vault_memory.files.names import FolderNames, folded
from vault_memory.files.paths import new_name_problem, normal, note_problem
from vault_memory.files.stat import Stat

_SETTLE_SECONDS: Final = 0.03
_SETTLE_ROUNDS: Final = 30


class NoteStore:
    """The notes of the vault at `root`.

    Paths are vault paths: relative, `/` as separator. Every method raises NotAllowed for a path that leads elsewhere
    or names no note, VaultNotFound when the whole folder is gone, StorageError when the disk refuses.
    """

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise VaultNotFound(f"There is no folder {root}")
        self.root = root.resolve()
        self._root = str(self.root)
        self._names = FolderNames()
        self._unsynced: dict[str, None] | None = None

    def locate(self, path: str, *, new: bool = False) -> Path:
        """Where the note is, or would be, on this disk: below the root, through real folders only.

        A name that is stored in another Unicode form is found. With `new`, names that do not exist yet must also be
        portable. Touches nothing.
        """
        return Path(self._locate(path, new=new))

    def read(self, path: str) -> bytes:
        """The bytes of a note.

        Raises:
            FileNotFoundError: there is none.
        """
        place = self._locate(path)
        with disk_errors("read", path):
            return atomic.read_file(place)

    def stat(self, path: str) -> Stat:
        """Size, mtime and inode of a note.

        Raises:
            FileNotFoundError: there is none.
        """
        place = self._locate(path)
        with disk_errors("read", path):
            return Stat.of(os.lstat(place))

    def exists(self, path: str) -> bool:
        """True when there is a note at this path."""
        place = self._locate(path)
        with disk_errors("read", path), suppress(FileNotFoundError):
            return modes.S_ISREG(os.lstat(place).st_mode)
        return False

    def taken(self, folder: str) -> Collection[str]:
        """The names in a folder (`""` is the root), NFC and case-folded, for choosing a free one."""
        place = os.path.dirname(self._locate(f"{folder}/a.md" if folder else "a.md"))
        with disk_errors("read", folder):
            return frozenset(self._names.of(place))

    def create(self, path: str, data: bytes) -> Stat:
        """Write a new note, making folders as needed.

        Raises:
            FileExistsError: the name, or one that differs only in case, is taken; nothing was done.
        """
        place = self._locate(path, new=True)
        with disk_errors("write", path):
            self._make_folders(place)
            self._claim(place)
            stat = atomic.create_file(place, data)
            self._names.added(place)
            self._sync(place)
        return stat

    def replace(self, path: str, data: bytes, expected: bytes) -> Stat:
        """Write `data` in the place of `expected`; equal bytes are not written again.

        Raises:
            FileChanged: the note holds other bytes, which stay and come as `current`.
            FileNotFoundError: there is no such note.
        """
        place = self._locate(path)
        with disk_errors("write", path), self._settling(place):
            before = os.lstat(place)
            if data == expected:
                atomic.expect(place, expected)
                return Stat.of(before)
            if not before.st_mode & 0o222:
                raise StorageError(f"{path} is read-only", hint="Make the file writable to let it be changed.")
            stat = atomic.replace_file(place, data, expected)
            self._changed(place)
        return stat

    def move(self, source: str, target: str) -> Stat:
        """Rename a note, making folders as needed; never overwrites.

        Raises:
            FileExistsError: `target`, or a name that differs only in case, is another note.
            FileNotFoundError: there is no note at `source`.
        """
        origin = self._locate(source)
        place = self._locate(target, new=True, familiar=os.path.basename(origin))
        with disk_errors("move", source):
            os.lstat(origin)
            self._make_folders(place)
            if folded(origin) != folded(place):
                self._claim(place)
            atomic.move_file(origin, place)
            self._changed(place)
            self._changed(origin)
            return Stat.of(os.lstat(place))

    def remove(self, path: str, expected: bytes) -> None:
        """Delete a note that holds `expected`.

        Raises:
            FileChanged: it holds other bytes (None: it is gone); they stay and come as `current`.
        """
        place = self._locate(path)
        with disk_errors("delete", path), self._settling(place):
            atomic.remove_file(place, expected)
            self._changed(place)

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Make names durable once for each folder at the end, instead of once for each change; may be nested."""
        if self._unsynced is not None:
            yield
            return
        self._unsynced = {}
        try:
            yield
        finally:
            folders, self._unsynced = self._unsynced, None
            for folder in folders:
                with disk_errors("write", folder), suppress(FileNotFoundError):
                    atomic.sync_folder(folder)

    def recover(self, leftovers: Iterable[str]) -> tuple[str, ...]:
        """Clear away the hidden files of killed writers (as a scan lists them); under the vault lock only.

        Returns:
            The vault paths of texts that an editor had saved at that moment and that are back in their place or,
            where that is taken, beside it.
        """
        saved = []
        with self.batch():
            for path in leftovers:
                place = f"{self._root}/{path}"
                with disk_errors("recover", path), suppress(FileNotFoundError):
                    if back := atomic.recover_file(place):
                        saved.append(normal(os.path.relpath(back, self._root).replace(os.sep, "/")))
                    self._changed(place)
        return tuple(sorted(saved))

    def _locate(self, path: str, *, new: bool = False, familiar: str = "") -> str:
        path = normal(path)
        if reason := note_problem(path):
            raise NotAllowed(f"The path {path!r} {reason}", hint="Use a path inside the vault that ends in .md.")
        here = self._root
        segments = path.split("/")
        for number, segment in enumerate(segments, 1):
            place, stat = entry(here, segment)
            if stat is None:
                self._check_root()
                if new:
                    _check_new([name for name in segments[number - 1 :] if name != familiar])
                return "/".join((here, *segments[number - 1 :]))
            if modes.S_ISLNK(stat.st_mode):
                raise NotAllowed(f"The path {path!r} leads through a symlink", hint="Use the real path of the note.")
            if number < len(segments) and not modes.S_ISDIR(stat.st_mode):
                raise NotAllowed(f"The path {path!r} leads through a file")
            here = place
        return here

    def _check_root(self) -> None:
        """A note of a vault that is gone is not missing: nobody may conclude that it was deleted."""
        if not os.path.isdir(self._root):
            raise VaultNotFound(f"The vault {self._root} is gone")

    def _make_folders(self, place: str) -> None:
        missing = []
        folder = os.path.dirname(place)
        while not os.path.isdir(folder):
            missing.append(folder)
            folder = os.path.dirname(folder)
        for folder in reversed(missing):
            self._claim(folder)
            os.mkdir(folder)
            self._names.added(folder)
            self._sync(folder)

    def _claim(self, place: str) -> None:
        if self._names.has(place):
            raise FileExistsError(errno.EEXIST, "the name is taken, perhaps in another case", os.path.basename(place))

    def _changed(self, place: str) -> None:
        self._names.forget(place)
        self._sync(place)

    def _sync(self, place: str) -> None:
        """Make a changed name durable, now or at the end of the batch."""
        folder = os.path.dirname(place)
        if self._unsynced is None:
            atomic.sync_folder(folder)
        else:
            self._unsynced[folder] = None

    @contextmanager
    def _settling(self, place: str) -> Iterator[None]:
        """Let an editor finish its save before its bytes are handed on: half a text must not be merged."""
        try:
            yield
        except FileChanged:
            raise FileChanged(_settled(place)) from None


def _check_new(names: list[str]) -> None:
    for name in names:
        if reason := new_name_problem(name):
            raise NotAllowed(f"The name {name!r} {reason}", hint="Choose a name that every system accepts.")


def _settled(place: str) -> bytes | None:
    """The bytes once they hold still; None when the file stays away. An empty or missing file is waited for longer."""
    last: bytes | None = None
    same = -1
    for _ in range(_SETTLE_ROUNDS):
        try:
            current: bytes | None = atomic.read_file(place)
        except FileNotFoundError:
            current = None
        same = same + 1 if current == last else 0
        if same >= (1 if current else 4):
            return current
        last = current
        time.sleep(_SETTLE_SECONDS)
    return current
