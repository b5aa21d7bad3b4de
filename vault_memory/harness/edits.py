"""Edits of other programs' settings files as a plan: looked at first, carried out whole or not at all, undone exactly.

Owns reading and writing those files: links are followed, byte-order mark, line ends and permissions kept, each write
is a rename. It must not know any client, and it never touches a note.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from vault_memory.errors import InvalidRequest, NotAllowed, RevisionConflict, VaultLocked
from vault_memory.harness.changes import Change
from vault_memory.harness.jsontext import BrokenText, EntryExists

_BOM: Final = "\ufeff"
_LOCK_WAIT_SECONDS: Final = 5.0


class FileEdit(Struct, frozen=True):
    """What should be done to one file. `locked`: its program guards it with a `<file>.lock` folder, so we do too."""

    path: Path
    changes: tuple[Change, ...]
    locked: bool = False


class FileChange(Struct, frozen=True):
    """One file before and after; None: it does not exist. `base` is what leaving restores if nothing else changed."""

    path: Path
    before: bytes | None
    after: bytes | None
    base: bytes | None
    changes: tuple[Change, ...] = ()
    made: tuple[Path, ...] = ()
    """Folders that do not exist yet, outermost first; on the way out they go again when they are empty."""
    locked: bool = False
    note: str = ""

    @property
    def verb(self) -> str:
        """create, change, delete or keep: what happens to the file."""
        if self.before == self.after:
            return "keep"
        if self.before is None:
            return "create"
        return "delete" if self.after is None else "change"

    def lines(self) -> list[str]:
        """The change in words, one line for the file and one for each entry."""
        head = f"{self.verb} {self.path}" + (f" ({self.note})" if self.note else "")
        return [head, *(f"  {change.describe()}" for change in self.changes if self.after != self.base)]


def plan_file(edit: FileEdit, known: FileChange | None = None) -> FileChange:
    """The change that carries out `edit`; nothing is written.

    Args:
        edit: what to do.
        known: what an earlier plan did to this file and has not undone: it is taken back first.

    Raises:
        InvalidRequest: the file is broken, not UTF-8, or holds an entry of that name which is not ours.
        NotAllowed: the file or its folder cannot be written.
    """
    before = read(edit.path)
    base = reverted(known, before) if known else before
    text, changes = decode(base, edit.path), []
    with refusing(edit.path):
        for change in edit.changes:
            changes.append(change.against(text))
            text = change.apply(text)
    after = encode(text, base)
    made = known.made if known and known.base is None else missing_folders(edit.path)
    planned = FileChange(edit.path, before, after, base, tuple(changes), made, edit.locked)
    if before != after:
        check_writable(edit.path)
    return planned


def reverted(known: FileChange, now: bytes | None) -> bytes | None:
    """The bytes of a file without what `known` put in: exactly those before it when nothing else changed since.

    Raises:
        InvalidRequest: the file can no longer be parsed; it must be mended by hand first.
    """
    if now is None or now == known.base:
        return now
    if now == known.after:
        return known.base
    text = decode(now, known.path)
    with refusing(known.path):
        for change in reversed(known.changes):
            text = change.revert(text)
    return None if known.base is None and text.strip() in ("", "{}") else encode(text, now)


def execute(changes: Sequence[FileChange]) -> None:
    """Write all of `changes`; when one fails the others are put back.

    Raises:
        RevisionConflict: a file changed since the plan was made.
        VaultLocked: its program holds the file's lock.
        NotAllowed: a file could not be written.
    """
    with ExitStack() as stack:
        for change in changes:
            if change.locked:
                stack.enter_context(_program_lock(real_path(change.path)))
        for change in changes:
            if read(change.path) != change.before:
                raise RevisionConflict(f"{change.path} changed since the plan was made; nothing was written")
        done: list[FileChange] = []
        try:
            for change in changes:
                done.append(change)
                _put(change, change.after)
        except OSError as error:
            for change in reversed(done):
                with suppress(OSError):
                    _put(change, change.before)
            reason = f"{done[-1].path} could not be written ({error.strerror}); everything was put back"
            raise NotAllowed(reason) from error


def read(path: Path) -> bytes | None:
    """The bytes of the file, None when there is none.

    Raises:
        NotAllowed: it is there and cannot be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NotAllowed(f"{path} cannot be read: {error.strerror}") from error


def decode(data: bytes | None, path: Path) -> str:
    """The text of the file without its byte-order mark; of a missing one the empty text.

    Raises:
        InvalidRequest: not UTF-8.
    """
    try:
        return (data or b"").decode("utf-8").removeprefix(_BOM)
    except UnicodeDecodeError as error:
        raise InvalidRequest.of(str(path), f"not UTF-8 at byte {error.start}; nothing was changed") from error


def encode(text: str, like: bytes | None) -> bytes:
    """The bytes of `text`, with a byte-order mark when `like` has one."""
    mark = _BOM if (like or b"").startswith(_BOM.encode()) else ""
    return (mark + text).encode()


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """Turns what the text modules say into the errors that surfaces know, with the file's name."""
    try:
        yield
    except BrokenText as error:
        raise InvalidRequest.of(
            str(path), f"cannot be parsed, {error}; nothing was changed", hint="Mend that line and run it again."
        ) from error
    except EntryExists as error:
        raise InvalidRequest.of(
            str(path), f"{error}; nothing was changed", hint="Remove or rename it, or connect with --name OTHER."
        ) from error


def check_writable(path: Path) -> None:
    """Raises NotAllowed when the file is read-only (also for root) or its folder cannot take a new file."""
    target = real_path(path)
    if target.exists():
        if not target.is_file():
            raise NotAllowed(f"{path} is not a file; nothing was changed")
        if not stat.S_IMODE(target.stat().st_mode) & 0o222 or not os.access(target, os.W_OK):
            raise NotAllowed(f"{path} is read-only; nothing was changed", hint=f"Make it writable: chmod u+w '{path}'")
    folder = next(parent for parent in target.parents if parent.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise NotAllowed(f"{folder} cannot be written; nothing was changed")


def missing_folders(path: Path) -> tuple[Path, ...]:
    """The folders above the file that do not exist, outermost first."""
    return tuple(reversed([folder for folder in real_path(path).parents if not folder.exists()]))


def real_path(path: Path) -> Path:
    """Where the bytes are: a linked dotfile stays a link and its target changes."""
    return Path(os.path.realpath(path))


def write_file(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Write whole or not at all: a new file beside it, synced, renamed over it; an old file's mode and owner stay."""
    target = real_path(path)
    old = target.stat() if target.exists() else None
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode if old is None else 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if old is not None:
            temporary.chmod(stat.S_IMODE(old.st_mode))
            with suppress(OSError, AttributeError):
                os.chown(temporary, old.st_uid, old.st_gid)
        temporary.replace(target)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def _put(change: FileChange, data: bytes | None) -> None:
    """Bring the file to `data` and its folders with it."""
    if read(change.path) == data:
        return
    if data is not None:
        real_path(change.path).parent.mkdir(parents=True, exist_ok=True)
        write_file(change.path, data, mode=0o644 if not change.locked else 0o600)
        return
    real_path(change.path).unlink(missing_ok=True)
    remove_empty(change.made)


def remove_empty(folders: Sequence[Path]) -> None:
    """Remove those of `folders` that are empty, innermost first."""
    for folder in reversed(folders):
        try:
            folder.rmdir()
        except FileNotFoundError:
            continue
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            return


@contextmanager
def _program_lock(target: Path) -> Iterator[None]:
    """Hold `<file>.lock`, a folder, as Claude Code's lock library does while it rewrites the file."""
    if not target.parent.exists():
        yield
        return
    folder = target.with_name(target.name + ".lock")
    deadline = time.monotonic() + _LOCK_WAIT_SECONDS
    while True:
        try:
            folder.mkdir()
            break
        except FileExistsError:
            if time.monotonic() > deadline:
                raise VaultLocked(f"{target} is being written by its program", hint="Try again in a moment.") from None
            time.sleep(0.05)
    try:
        yield
    finally:
        with suppress(FileNotFoundError):
            folder.rmdir()
