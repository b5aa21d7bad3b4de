"""NoteStore: what is written is durable, whole, unique by name, and dressed like what it replaced."""

from __future__ import annotations

import os
import stat
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.files.vault_tree import make_vault
from vault_memory.errors import StorageError, VaultNotFound
from vault_memory.files import rename
from vault_memory.files.atomic import PREFIX, FileChanged
from vault_memory.files.ignore import Ignore
from vault_memory.files.scan import scan
from vault_memory.files.stat import Stat
from vault_memory.files.store import NoteStore


@pytest.fixture
def store(tmp_path: Path) -> NoteStore:
    return NoteStore(make_vault(tmp_path / "vault", {"a.md": "one", "Folder/b.md": "two"}))


def test_a_new_note_is_there_with_its_folders_and_its_stat_is_told(store: NoteStore) -> None:
    told = store.create("x/y/z.md", b"text")
    assert store.read("x/y/z.md") == b"text"
    assert told == store.stat("x/y/z.md") == Stat.of((store.root / "x/y/z.md").stat())


def test_creating_never_overwrites(store: NoteStore) -> None:
    with pytest.raises(FileExistsError):
        store.create("a.md", b"new")
    assert store.read("a.md") == b"one"


@pytest.mark.parametrize("path", ["A.md", "folder/c.md", "Folder/B.MD"])
def test_a_name_that_differs_in_case_only_is_taken(store: NoteStore, path: str) -> None:
    with pytest.raises(FileExistsError):
        store.create(path, b"new")


def test_a_name_taken_by_somebody_else_a_moment_ago_is_seen(store: NoteStore) -> None:
    store.create("n1.md", b"")
    (store.root / "Later.md").write_text("by an editor")
    assert "later.md" in store.taken("")
    with pytest.raises(FileExistsError):
        store.create("later.md", b"")


def test_names_freed_by_a_move_or_removal_are_free(store: NoteStore) -> None:
    store.move("a.md", "b.md")
    store.create("A.md", b"new")
    store.remove("b.md", b"one")
    assert "b.md" not in store.taken("")
    store.create("B.md", b"new")


def test_replacing_keeps_mode_owner_and_attributes(store: NoteStore) -> None:
    place = store.root / "a.md"
    place.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(place, 1234, 2345)
    with_attribute = sys.platform == "linux"
    if with_attribute:
        os.setxattr(place, "user.colour", b"red")
    before = place.stat()
    told = store.replace("a.md", b"new", b"one")
    after = place.stat()
    assert told == Stat.of(after)
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    if with_attribute:
        assert os.getxattr(place, "user.colour") == b"red"


def test_a_new_note_has_the_mode_that_the_umask_gives(store: NoteStore) -> None:
    old = os.umask(0o027)
    try:
        store.create("n.md", b"")
    finally:
        os.umask(old)
    assert stat.S_IMODE((store.root / "n.md").stat().st_mode) == 0o640


def test_replacing_what_changed_meanwhile_hands_over_the_other_text(store: NoteStore) -> None:
    (store.root / "a.md").write_bytes(b"typed by a person")
    with pytest.raises(FileChanged) as caught:
        store.replace("a.md", b"ours", b"one")
    assert caught.value.current == b"typed by a person"
    assert store.read("a.md") == b"typed by a person"


def test_replacing_a_note_that_is_gone_says_so(store: NoteStore) -> None:
    with pytest.raises(FileNotFoundError):
        store.replace("no.md", b"new", b"old")


def test_equal_bytes_are_not_written_again(store: NoteStore) -> None:
    before = store.stat("a.md")
    assert store.replace("a.md", b"one", b"one") == before == store.stat("a.md")
    with pytest.raises(FileChanged):
        store.replace("a.md", b"two", b"two")


def test_a_read_only_note_is_left_alone(store: NoteStore) -> None:
    (store.root / "a.md").chmod(0o444)
    with pytest.raises(StorageError, match="read-only"):
        store.replace("a.md", b"new", b"one")
    assert store.read("a.md") == b"one"


def test_removing_wants_the_bytes_it_removes(store: NoteStore) -> None:
    with pytest.raises(FileChanged):
        store.remove("a.md", b"something else")
    store.remove("a.md", b"one")
    assert not store.exists("a.md")
    with pytest.raises(FileChanged) as caught:
        store.remove("a.md", b"one")
    assert caught.value.current is None


def test_moving_makes_folders_never_overwrites_and_keeps_the_inode(store: NoteStore) -> None:
    before = store.stat("a.md")
    assert store.move("a.md", "deep/er/a.md").inode == before.inode
    with pytest.raises(FileExistsError):
        store.move("deep/er/a.md", "Folder/b.md")
    with pytest.raises(FileExistsError):
        store.move("deep/er/a.md", "Folder/B.md")
    with pytest.raises(FileNotFoundError):
        store.move("a.md", "c.md")
    assert store.read("Folder/b.md") == b"two"


def test_a_change_of_case_only_is_a_move(store: NoteStore) -> None:
    store.move("a.md", "A.md")
    assert sorted(path.name for path in store.root.glob("*.md")) == ["A.md"]


def test_a_note_moves_to_another_file_system_inside_the_vault(store: NoteStore, tmp_path: Path) -> None:
    other = Path("/dev/shm")
    if not other.is_dir() or other.stat().st_dev == tmp_path.stat().st_dev or os.geteuid() != 0:
        pytest.skip("needs root and a second file system")
    (store.root / "mnt").mkdir()
    if os.system(f"mount -t tmpfs none {store.root}/mnt 2>/dev/null") != 0:
        pytest.skip("mounting is not allowed here")
    try:
        store.move("a.md", "mnt/a.md")
        assert store.read("mnt/a.md") == b"one"
        assert not store.exists("a.md")
    finally:
        os.system(f"umount {store.root}/mnt")


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_name_stored_in_either_unicode_form_is_read_under_its_nfc_path(tmp_path: Path, form: str) -> None:
    name = unicodedata.normalize(form, "Übung/Café.md")
    store = NoteStore(make_vault(tmp_path / "vault", {name: "text"}))
    path = unicodedata.normalize("NFC", name)
    assert list(scan(store.root, Ignore(store.root)).files) == [path]
    assert store.read(path) == store.read(name) == b"text"
    store.replace(path, b"more", b"text")
    with pytest.raises(FileExistsError):
        store.create(path, b"twin")
    assert [file.read_bytes() for file in store.root.rglob("*.md")] == [b"more"]


def test_a_vault_that_is_gone_is_not_a_vault_without_notes(store: NoteStore) -> None:
    store.root.rename(store.root.with_name("elsewhere"))
    with pytest.raises(VaultNotFound):
        store.read("a.md")
    with pytest.raises(VaultNotFound):
        store.exists("a.md")


def test_the_text_of_an_editor_that_is_still_writing_is_waited_for(store: NoteStore) -> None:
    """A truncated file is not taken for what the person wrote."""
    import threading

    place = store.root / "a.md"

    def slow_save() -> None:
        with place.open("wb") as file:
            for part in (b"first ", b"second ", b"third"):
                file.write(part)
                file.flush()
                saving.wait(0.02)

    saving = threading.Event()
    editor = threading.Thread(target=slow_save)
    editor.start()
    with pytest.raises(FileChanged) as caught:
        store.replace("a.md", b"ours", b"one")
    editor.join()
    assert caught.value.current == b"first second third"


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The system calls that durability hangs on, in their order."""
    log: list[str] = []
    real_sync, real_call = os.fsync, rename._call

    def synced(descriptor: int) -> None:
        log.append("sync folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "sync file")
        real_sync(descriptor)

    def called(source: str, target: str, kind: str) -> bool:
        log.append(kind)
        return real_call(source, target, kind)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(rename, "_call", called)
    return log


def create_two(store: NoteStore, first: str, second: str) -> None:
    with store.batch():
        store.create(first, b"x")
        store.create(second, b"x")


@pytest.mark.skipif(sys.platform != "linux", reason="the names of the calls are those of Linux")
class TestOrder:
    """Power loss: bytes are on the disk before a name points at them, and names before the answer."""

    def test_create(self, store: NoteStore, calls: list[str]) -> None:
        store.create("n.md", b"x")
        assert calls == ["sync file", "keep", "sync folder"]

    def test_new_folders_are_durable_in_theirs(self, store: NoteStore, calls: list[str]) -> None:
        store.create("p/q/n.md", b"x")
        assert calls == ["sync folder", "sync folder", "sync file", "keep", "sync folder"]

    def test_replace(self, store: NoteStore, calls: list[str]) -> None:
        store.replace("a.md", b"x", b"one")
        assert calls == ["sync file", "swap", "sync folder"]

    def test_move(self, store: NoteStore, calls: list[str]) -> None:
        store.move("a.md", "Folder/a.md")
        assert calls == ["keep", "sync folder", "sync folder"]

    def test_a_batch_makes_each_folder_durable_once(self, store: NoteStore, calls: list[str]) -> None:
        with store.batch():
            for number in range(20):
                store.create(f"Folder/n{number}.md", b"x")
            with store.batch():
                store.replace("a.md", b"x", b"one")
        assert calls.count("sync folder") == 2
        assert calls[-2:] == ["sync folder", "sync folder"]

    def test_a_batch_that_fails_makes_durable_what_it_did(self, store: NoteStore, calls: list[str]) -> None:
        with pytest.raises(FileExistsError):
            create_two(store, "n.md", "a.md")
        assert calls[-1] == "sync folder"


STEPS = st.tuples(
    st.sampled_from(["create", "replace", "move", "remove"]),
    st.sampled_from(["a", "b", "A", "x/a", "x/b"]),
    st.sampled_from(["c", "x/c", "B", "y/a"]),
    st.binary(max_size=20),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(STEPS, max_size=15))
def test_the_store_behaves_like_a_dictionary_without_regard_to_case(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, str, bytes]]
) -> None:
    store = NoteStore(make_vault(tmp_path_factory.mktemp("vault")))
    model: dict[str, bytes] = {}
    for action, name, other, data in steps:
        path, target = f"{name}.md", f"{other}.md"
        taken = {known.lower() for known in model}
        if action == "create":
            if path.lower() in taken:
                with pytest.raises(FileExistsError):
                    store.create(path, data)
            else:
                store.create(path, data)
                model[path] = data
        elif path not in model:
            with pytest.raises(FileNotFoundError):
                store.read(path)
        elif action == "replace":
            store.replace(path, data, model[path])
            model[path] = data
        elif action == "move":
            if target == path or target.lower() in taken - {path.lower()}:
                with pytest.raises(FileExistsError):
                    store.move(path, target)
            else:
                store.move(path, target)
                model[target] = model.pop(path)
        else:
            store.remove(path, model.pop(path))
    assert {path: store.read(path) for path in scan(store.root, Ignore(store.root)).files} == model
    assert not list(store.root.rglob(f"{PREFIX}*"))
