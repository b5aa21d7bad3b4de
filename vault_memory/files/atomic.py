"""Whole-or-nothing changes of single files, and what a kill left of them. Knows neither vault nor note.

Every change goes through a hidden file beside its target, so that a reader, a kill or a full disk leaves the old bytes
or the new. Replacing swaps two names in one step; what comes out is compared with what the caller expected to replace,
so that an editor's save in the very last moment is found and put back. The bytes are on the disk before a name points
at them; names become durable with the caller's `sync_folder`.
"""

from __future__ import annotations

import errno
import os
import re
import stat as modes
import sys
from contextlib import ExitStack, suppress
from typing import Final

from msgspec import Struct

from vault_memory.errors import NotAllowed
from vault_memory.files.rename import rename_new, swap
from vault_memory.files.stat import Stat
from vault_memory.memory.model import revision_of

PREFIX: Final = ".~vm-"
SUFFIX: Final = ".tmp"
_LEFTOVER = re.compile(r"\.~vm-[0-9a-f]{8}(?:-([0-9a-f]{16})-([0-9a-f]{16})-(.*))?\.tmp", re.DOTALL)
_NOTHING: Final = "0" * 16
_NAME_BYTES: Final = 203
"""What is left of the 255 bytes of a file name beside the rest of a Leftover's name."""
_SWAPS: Final = 20


class FileChanged(Exception):
    """Somebody else changed the file since it was read; their bytes are in place and ours are not.

    `current` holds their bytes; None when the file is gone.
    """

    def __init__(self, current: bytes | None) -> None:
        super().__init__("the file changed on disk")
        self.current = current


class Leftover(Struct, frozen=True):
    """What the name of a hidden file says: whose bytes it may hold and whose place it takes."""

    new: str
    """Start of the revision that was being written; empty for a file that never held anything but our bytes."""
    old: str
    """Start of the revision that was to be replaced."""
    target: str
    """File name of the target; shortened when it is very long."""

    @classmethod
    def parse(cls, name: str) -> Leftover | None:
        """The meaning of a file name; None when it is none of ours."""
        match = _LEFTOVER.fullmatch(name)
        return cls(*(group or "" for group in match.groups())) if match else None


def read_file(path: str) -> bytes:
    """The bytes of a regular file.

    Raises:
        NotAllowed: it is a symlink, a pipe or a device.
        OSError: as the disk says.
    """
    # O_NONBLOCK: opening a pipe that somebody named like a note must not wait for a writer.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):
            raise NotAllowed(f"{os.path.basename(path)} is not a regular file") from error
        raise
    if not modes.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotAllowed(f"{os.path.basename(path)} is not a regular file")
    with open(descriptor, "rb") as file:
        return file.read()


def expect(path: str, expected: bytes) -> None:
    """Check that a file holds `expected`.

    Raises:
        FileChanged: it does not, or is gone.
    """
    try:
        current = read_file(path)
    except FileNotFoundError:
        raise FileChanged(None) from None
    if current != expected:
        raise FileChanged(current)


def create_file(path: str, data: bytes, *, mode: int = 0o666) -> Stat:
    """Make a new file with `mode` (less the umask); never overwrites.

    Raises:
        FileExistsError: the name is taken; nothing was done.
    """
    temp, stat = _write_temp(path, data, mode)
    with ExitStack() as undo:
        undo.callback(_discard, temp)
        rename_new(temp, path)
        undo.pop_all()
    return stat


def replace_file(path: str, data: bytes, expected: bytes) -> Stat:
    """Put `data` in the place of `expected`, with the mode, owner and attributes of the old file.

    Raises:
        FileChanged: the file holds other bytes than `expected`; they stay, even those saved in the last moment.
    """
    temp, stat = _write_temp(path, data, 0o600, like=os.lstat(path))
    ready = _aside_name(path, data, expected)
    with ExitStack() as undo:
        undo.callback(_discard, temp)
        expect(path, expected)
        os.rename(temp, ready)
        undo.callback(_discard, ready)
        try:
            swapped = swap(ready, path)
        except FileNotFoundError:
            raise FileChanged(None) from None
        if not swapped:
            _replace_by_link(ready, path, data, expected)
        undo.pop_all()
    if swapped:
        _settle_swap(ready, path, data, expected)
    return stat


def move_file(source: str, target: str) -> None:
    """Rename a file without overwriting; a mere change of case works on every file system.

    Raises:
        FileExistsError: `target` is another file.
    """
    if source.casefold() == target.casefold() and _same_file(source, target):
        os.rename(source, target)
        return
    try:
        rename_new(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _copy_over(source, target)


def remove_file(path: str, expected: bytes) -> None:
    """Delete the file if it holds `expected`.

    Raises:
        FileChanged: it holds something else, and stays.
    """
    expect(path, expected)
    aside = _aside_name(path, None, expected)
    try:
        os.rename(path, aside)
    except FileNotFoundError:
        raise FileChanged(None) from None
    found = read_file(aside)
    if found != expected:
        _put_back(aside, path)
        raise FileChanged(found)
    os.unlink(aside)


def recover_file(path: str) -> str | None:
    """Clear away a hidden file that a killed process left; nobody may be writing in the vault meanwhile.

    Our own bytes and those that we were replacing on request go; a text that an editor saved in between goes back to
    its place, or beside it under a name of its own when the place is taken by yet another text.

    Returns:
        Where such a text is now; None when there was nothing to save.
    """
    folder, name = os.path.split(path)
    left = Leftover.parse(name)
    if left is None:
        return None
    data = read_file(path)
    target = f"{folder}/{left.target}"
    if left.target and revision_of(data)[:16] not in (left.new, left.old):
        try:
            current = read_file(target)
        except FileNotFoundError:
            return _put_back(path, target)
        if revision_of(current)[:16] == left.new:
            os.replace(path, target)
            return target
        if current != data:
            return _put_back(path, target)
    os.unlink(path)
    return None


def sync_folder(folder: str) -> None:
    """Make the names in a folder durable (Windows cannot open folders and orders its metadata itself)."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_temp(path: str, data: bytes, mode: int, like: os.stat_result | None = None) -> tuple[str, Stat]:
    """A hidden file beside `path` that holds `data` for good; dressed like the file it is going to replace."""
    temp = f"{os.path.dirname(path)}/{PREFIX}{os.urandom(4).hex()}{SUFFIX}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temp, flags, mode)
    with ExitStack() as undo:
        undo.callback(_discard, temp)
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if like is not None:
                _dress(descriptor, path, like)
            os.fsync(descriptor)
            stat = Stat.of(os.fstat(descriptor))
        undo.pop_all()
    return temp, stat


def _dress(descriptor: int, path: str, like: os.stat_result) -> None:
    """Give an open file the extended attributes (so also the ACL), owner and mode of the file at `path`."""
    if sys.platform == "linux":
        with suppress(OSError):
            for name in os.listxattr(path, follow_symlinks=False):
                os.setxattr(descriptor, name, os.getxattr(path, name, follow_symlinks=False))
    if sys.platform != "win32":
        with suppress(PermissionError):
            os.fchown(descriptor, like.st_uid, like.st_gid)
        os.fchmod(descriptor, modes.S_IMODE(like.st_mode))


def _aside_name(path: str, new: bytes | None, old: bytes) -> str:
    """A hidden name for bytes that somebody may miss: it says how to judge them after a kill (see Leftover)."""
    folder, name = os.path.split(path)
    stem, suffix = os.path.splitext(name)
    while len(os.fsencode(stem + suffix)) > _NAME_BYTES:
        stem = stem[:-1]
    new_start = _NOTHING if new is None else revision_of(new)[:16]
    return f"{folder}/{PREFIX}{os.urandom(4).hex()}-{new_start}-{revision_of(old)[:16]}-{stem}{suffix}{SUFFIX}"


def _settle_swap(aside: str, path: str, data: bytes, expected: bytes) -> None:
    """Judge what a swap brought out. An editor's save goes back; so does a newer one that this displaced in turn."""
    in_place, found = data, read_file(aside)
    if found == expected:
        os.unlink(aside)
        return
    for _ in range(_SWAPS):
        try:
            swap(aside, path)
        except FileNotFoundError:
            _put_back(aside, path)
            raise FileChanged(found) from None
        out = read_file(aside)
        if out == in_place:
            os.unlink(aside)
            raise FileChanged(found)
        in_place, found = found, out
    _put_back(aside, path)
    raise FileChanged(in_place)


def _replace_by_link(ready: str, path: str, data: bytes, expected: bytes) -> None:
    """Where names cannot be swapped: keep the old file under a second name, rename, compare what was kept.

    An editor's save between the look at the inode and the rename (microseconds) goes unseen here.
    """
    aside = _aside_name(path, data, expected)
    try:
        os.link(path, aside)
    except FileNotFoundError:
        raise FileChanged(None) from None
    except OSError:  # no hard links either: compare, then rename
        expect(path, expected)
        os.replace(ready, path)
        return
    if not _same_file(path, aside):
        os.unlink(aside)
        expect(path, expected)
        raise FileChanged(expected)
    os.replace(ready, path)
    found = read_file(aside)
    if found != expected:
        os.replace(aside, path)
        raise FileChanged(found)
    os.unlink(aside)


def _copy_over(source: str, target: str) -> None:
    """Move to another file system: the copy is durable before the original goes."""
    data = read_file(source)
    create_file(target, data, mode=modes.S_IMODE(os.stat(source).st_mode))
    sync_folder(os.path.dirname(target))
    remove_file(source, data)


def _put_back(aside: str, path: str) -> str:
    """Give a text its name back, or one beside it when that is taken by now; the path it has then."""
    try:
        rename_new(aside, path)
    except FileExistsError:
        stem, suffix = os.path.splitext(path)
        folder, stem = os.path.split(stem)
        while len(os.fsencode(stem)) > _NAME_BYTES - 30:
            stem = stem[:-1]
        path = f"{folder}/{stem} (recovered {os.urandom(4).hex()}){suffix}"
        rename_new(aside, path)
    return path


def _same_file(first: str, second: str) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.lstat(first), os.lstat(second))
    return False


def _discard(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)
