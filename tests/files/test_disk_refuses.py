"""A full disk, a read-only folder, an unreadable file: one clear error, nothing lost, nothing left over."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.crash.dying import in_fork
from tests.files.vault_tree import make_vault, open_folder, snapshot, without_rights
from vault_memory.errors import StorageError
from vault_memory.files.ignore import Ignore
from vault_memory.files.scan import scan
from vault_memory.files.store import NoteStore

OLD = b"old\n"
BIG = b"x" * 200_000
WRITES: dict[str, Callable[[NoteStore], object]] = {
    "create": lambda store: store.create("n.md", BIG),
    "create in a new folder": lambda store: store.create("p/q/n.md", BIG),
    "replace": lambda store: store.replace("a.md", BIG, OLD),
}
CHANGES: dict[str, Callable[[NoteStore], object]] = {
    **WRITES,
    "move": lambda store: store.move("a.md", "b.md"),
    "remove": lambda store: store.remove("a.md", OLD),
}


def refused(store: NoteStore, change: Callable[[NoteStore], object]) -> StorageError:
    with pytest.raises(StorageError) as caught:
        change(store)
    return caught.value


def notes(root: Path) -> dict[str, bytes | str]:
    return {path: what for path, what in snapshot(root).items() if what != "folder"}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for 100 kB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100k", "none", str(disk)], capture_output=True).returncode:
        pytest.skip("mounting a small disk is not allowed here; the limited file size is tested instead")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("change", WRITES)
def test_a_full_disk_loses_nothing(small_disk: Path, change: str) -> None:
    root = make_vault(small_disk / "vault", {"a.md": OLD})
    before = notes(root)
    error = refused(NoteStore(root), WRITES[change])
    assert "Free some space" in error.hint
    assert "No space left" in error.detail
    assert str(root) not in error.detail
    assert notes(root) == before
    NoteStore(root).create("small.md", b"there is room for this")


@pytest.mark.parametrize("change", WRITES)
def test_a_limit_on_the_size_of_files_loses_nothing(tmp_path: Path, change: str) -> None:
    root = make_vault(tmp_path / "vault", {"a.md": OLD})
    before = notes(root)

    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
        refused(NoteStore(root), WRITES[change])

    assert in_fork(limited) == 0
    assert notes(root) == before


@pytest.mark.parametrize("change", CHANGES)
def test_a_read_only_folder_loses_nothing(change: str) -> None:
    with open_folder() as folder:
        root = make_vault(folder / "vault", {"a.md": OLD})
        (root / "a.md").chmod(0o666)
        root.chmod(0o555)
        before = notes(root)

        def unprivileged() -> None:
            error = refused(NoteStore(root), CHANGES[change])
            assert "permissions" in error.hint

        assert without_rights(unprivileged) == 0
        assert notes(root) == before
        root.chmod(0o755)


def test_an_unreadable_note_is_an_error_of_that_note_only() -> None:
    with open_folder() as folder:
        root = make_vault(folder / "vault", {"a.md": OLD, "b.md": b"fine"})
        (root / "a.md").chmod(0o000)

        def unprivileged() -> None:
            store = NoteStore(root)
            assert "a.md" in refused(store, lambda store: store.read("a.md")).detail
            refused(store, lambda store: store.replace("a.md", b"new", OLD))
            assert store.read("b.md") == b"fine"
            assert set(scan(root, Ignore(root)).files) == {"a.md", "b.md"}

        assert without_rights(unprivileged) == 0
        assert (root / "a.md").read_bytes() == OLD


def test_an_unreadable_folder_stops_the_scan_and_removes_nothing() -> None:
    with open_folder() as folder:
        root = make_vault(folder / "vault", {"a.md": OLD, "x/b.md": b"hidden from us"})
        (root / "x").chmod(0o000)

        def unprivileged() -> None:
            for within in (None, ["x"], ["x/b.md"]):
                with pytest.raises(StorageError):
                    scan(root, Ignore(root), within)

        assert without_rights(unprivileged) == 0
        (root / "x").chmod(0o755)


def test_an_error_of_the_disk_while_reading_names_the_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = NoteStore(make_vault(tmp_path / "vault", {"a.md": OLD}))

    def broken(*_: object, **__: object) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "open", broken)
    assert refused(store, lambda store: store.read("a.md")).detail == "Cannot read a.md: Input/output error"


def test_what_cannot_be_made_durable_is_not_called_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = NoteStore(make_vault(tmp_path / "vault", {"a.md": OLD}))

    def broken(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", broken)
    before = notes(store.root)
    for change in WRITES.values():
        refused(store, change)
        assert notes(store.root) == before
