"""Symlinks in a vault are named, never followed (SE-02)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.files.vault_tree import make_vault, snapshot
from vault_memory.errors import NotAllowed
from vault_memory.files.ignore import Ignore
from vault_memory.files.scan import scan
from vault_memory.files.store import NoteStore


@pytest.fixture
def world(tmp_path: Path) -> Path:
    vault = make_vault(tmp_path / "vault", {"real.md": "real", "notes/n.md": "n"})
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.md").write_text("secret")
    (tmp_path / "secret.md").write_text("secret")
    (vault / "leak.md").symlink_to(tmp_path / "secret.md")
    (vault / "dir").symlink_to(outside)
    (vault / "self").symlink_to(vault)
    (vault / "a").symlink_to(vault / "b")
    (vault / "b").symlink_to(vault / "a")
    (vault / "ok.md").symlink_to(vault / "real.md")
    (vault / "gone.md").symlink_to(vault / "nothing.md")
    (vault / "picture.png").symlink_to(outside / "x.md")
    return tmp_path


def test_se_02_a_scan_ends_sees_each_note_once_and_names_the_links(world: Path) -> None:
    seen = scan(world / "vault", Ignore(world / "vault"))
    assert set(seen.files) == {"real.md", "notes/n.md"}
    reasons = {path: finding.reason for path, finding in seen.findings if finding.code == "symlink"}
    assert set(reasons) == {"leak.md", "dir", "self", "a", "b", "ok.md", "gone.md"}
    assert "out of the vault" in reasons["leak.md"]
    assert "out of the vault" in reasons["dir"]
    assert "real.md" in reasons["ok.md"]
    assert "nowhere" in reasons["a"]


@pytest.mark.parametrize(
    "path", ["leak.md", "dir/x.md", "self/real.md", "ok.md", "gone.md", "a/x.md", "self/self/a.md"]
)
def test_se_02_no_call_follows_a_link(world: Path, path: str) -> None:
    before = snapshot(world)
    store = NoteStore(world / "vault")
    for call in (
        lambda: store.read(path),
        lambda: store.create(path, b"new"),
        lambda: store.replace(path, b"new", b"secret"),
        lambda: store.remove(path, b"secret"),
        lambda: store.move(path, "here.md"),
        lambda: store.move("real.md", path),
    ):
        with pytest.raises(NotAllowed):
            call()
    assert snapshot(world) == before


def test_se_02_nothing_new_is_written_through_a_linked_folder(world: Path) -> None:
    store = NoteStore(world / "vault")
    with pytest.raises(NotAllowed):
        store.create("dir/new.md", b"new")
    assert sorted(path.name for path in (world / "outside").iterdir()) == ["x.md"]


def test_a_vault_that_is_itself_reached_through_a_link_works(world: Path) -> None:
    (world / "short").symlink_to(world / "vault")
    store = NoteStore(world / "short")
    assert store.read("real.md") == b"real"
    assert "real.md" in scan(world / "short", Ignore(world / "short")).files


def test_a_folder_exchanged_for_a_link_after_the_scan_is_not_entered(world: Path) -> None:
    store = NoteStore(world / "vault")
    assert store.read("notes/n.md") == b"n"
    (world / "vault/notes").rename(world / "taken")
    (world / "vault/notes").symlink_to(world / "outside")
    with pytest.raises(NotAllowed):
        store.read("notes/x.md")
    assert scan(world / "vault", Ignore(world / "vault"), ["notes/x.md"]).files == {}


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_a_pipe_or_folder_named_like_a_note_is_refused_without_waiting(tmp_path: Path, kind: str) -> None:
    root = make_vault(tmp_path / "vault", {"n.md": "n"})
    if kind == "pipe":
        os.mkfifo(root / "odd.md")
    else:
        (root / "odd.md").mkdir()
    store = NoteStore(root)
    with pytest.raises(NotAllowed):
        store.read("odd.md")
    seen = scan(root, Ignore(root))
    assert set(seen.files) == {"n.md"}
    assert [finding.code for _, finding in seen.findings] == (["not_a_file"] if kind == "pipe" else [])
