"""`init`: a new vault, and above all a folder of notes that is adopted without changing a byte of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from vault_memory.config import load_config
from vault_memory.errors import InvalidRequest, StorageError
from vault_memory.operations.init import init_vault, template_files

NOTES = {
    "Kiln log.md": b"---\ntitle: Kiln\nstatus: draft   # mine\n---\r\nfired  \n\n",
    "deep/er/note.md": b"\xef\xbb\xbfno end newline",
    "broken.md": b"---\na: [\n---\n",
    "bytes.md": b"\xff\xfe not text",
    "empty.md": b"",
    "picture.png": b"\x89PNG",
}


def write(root: Path, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)


def tree(root: Path) -> dict[str, tuple[bytes, int, int]]:
    """Bytes, time and inode of every file outside .git."""
    return {
        file.relative_to(root).as_posix(): (file.read_bytes(), file.stat().st_mtime_ns, file.stat().st_ino)
        for file in sorted(root.rglob("*"))
        if file.is_file() and not file.is_symlink() and ".git" not in file.relative_to(root).parts
    }


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True).stdout


def committed(root: Path) -> set[str]:
    return set(git(root, "-c", "core.quotePath=false", "ls-tree", "-r", "--name-only", "HEAD").splitlines())


def test_a_new_vault_holds_the_whole_template(tmp_path: Path) -> None:
    result = init_vault(tmp_path / "new" / "vault")
    names = {name for name, _ in template_files()}
    assert set(result.created) == names
    assert set(tree(result.root)) - {n for n in tree(result.root) if "/state/" in n} == names
    assert result.git == "made"
    assert committed(result.root) == names
    assert git(result.root, "status", "--porcelain") == ""


def test_an_adopted_folder_keeps_every_byte_time_and_inode(tmp_path: Path) -> None:
    write(tmp_path, NOTES)
    before = tree(tmp_path)
    init_vault(tmp_path)
    after = tree(tmp_path)
    assert {name: after[name] for name in before} == before


def test_no_note_of_a_person_is_committed(tmp_path: Path) -> None:
    write(tmp_path, NOTES)
    init_vault(tmp_path)
    assert committed(tmp_path) == {name for name, _ in template_files()}
    assert "?? " in git(tmp_path, "status", "--porcelain")


def test_a_repository_that_is_there_keeps_what_was_staged(tmp_path: Path) -> None:
    write(tmp_path, NOTES)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "Kiln log.md")
    result = init_vault(tmp_path)
    assert result.git == "existing"
    assert "Kiln log.md" not in committed(tmp_path)
    assert git(tmp_path, "diff", "--cached", "--name-only").splitlines() == ["Kiln log.md"]


def test_inside_a_bigger_repository_nothing_is_committed_and_no_repository_is_made(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    root = tmp_path / "project" / "notes"
    result = init_vault(root)
    assert result.git == "inside"
    assert not (root / ".git").exists()
    with pytest.raises(subprocess.CalledProcessError):
        git(tmp_path, "rev-parse", "HEAD")
    assert "merge.vault-memory" not in git(tmp_path, "config", "--list")


def test_without_git_there_is_no_repository(tmp_path: Path) -> None:
    assert init_vault(tmp_path, git=False).git == "off"
    assert not (tmp_path / ".git").exists()


def test_what_has_a_namesake_in_any_case_stays_as_it_is(tmp_path: Path) -> None:
    mine = {"home.md": b"my home\n", ".obsidian/app.json": b"{}", "Templates/mine.md": b"x", ".gitattributes": b"\n"}
    write(tmp_path, mine)
    result = init_vault(tmp_path)
    assert {name: tree(tmp_path)[name][0] for name in mine} == mine
    assert set(result.kept) == {"Home.md", ".obsidian", "templates", ".gitattributes"}
    assert not any(name.startswith((".obsidian/", "templates/")) for name in result.created)
    assert any("gitattributes" in warning for warning in result.warnings)


def test_the_pages_that_init_wrote_are_no_memories_but_a_persons_own_are(tmp_path: Path) -> None:
    write(tmp_path, {"Home.md": b"my own home\n"})
    init_vault(tmp_path)
    config = load_config(tmp_path, environ={}, user_file=tmp_path / "none")
    assert config.notes.ignore == ("/templates/",)
    init_vault(tmp_path / ".." / "fresh")
    config = load_config(tmp_path.parent / "fresh", environ={}, user_file=tmp_path / "none")
    assert config.notes.ignore == ("/Home.md", "/templates/")


def test_a_second_init_changes_nothing(tmp_path: Path) -> None:
    init_vault(tmp_path)
    before, head = tree(tmp_path), git(tmp_path, "rev-parse", "HEAD")
    result = init_vault(tmp_path)
    assert result.created == ()
    assert tree(tmp_path) == before
    assert git(tmp_path, "rev-parse", "HEAD") == head


def test_what_was_deleted_on_purpose_does_not_come_back(tmp_path: Path) -> None:
    init_vault(tmp_path)
    (tmp_path / "Home.md").unlink()
    (tmp_path / ".vault-memory" / ".gitignore").unlink()
    assert init_vault(tmp_path).created == (".vault-memory/.gitignore",)


def test_an_init_that_was_killed_is_finished_by_the_next(tmp_path: Path) -> None:
    init_vault(tmp_path)
    (tmp_path / ".vault-memory" / "config.toml").unlink()
    assert init_vault(tmp_path).created == (".vault-memory/config.toml",)
    config = load_config(tmp_path, environ={}, user_file=tmp_path / "none")
    assert config.notes.ignore == ("/Home.md", "/templates/")


def test_vaults_do_not_nest(tmp_path: Path) -> None:
    init_vault(tmp_path, git=False)
    with pytest.raises(InvalidRequest, match="inside the vault"):
        init_vault(tmp_path / "notes", git=False)
    assert not (tmp_path / "notes").exists()


def test_a_file_is_no_vault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InvalidRequest, match="a vault is a folder"):
        init_vault(tmp_path / "file")


def test_a_link_in_the_folder_is_not_followed_out_of_it(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    root = tmp_path / "vault"
    root.mkdir()
    for name in (".obsidian", "templates"):
        (root / name).symlink_to(outside)
    init_vault(root, git=False)
    assert list(outside.iterdir()) == []


def test_a_linked_settings_folder_is_refused(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / ".vault-memory").symlink_to(outside)
    with pytest.raises(InvalidRequest, match="symbolic link"):
        init_vault(tmp_path / "vault", git=False)
    assert list(outside.iterdir()) == []


def test_what_the_disk_refuses_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="make a vault"):
        init_vault(tmp_path / ("long" * 100))


def command(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("VAULT_MEMORY_")}
    env = {**kept, "VAULT_MEMORY_CONFIG": str(tmp_path / "mine.toml")}
    return subprocess.run(
        [sys.executable, "-m", "vault_memory", *arguments], capture_output=True, text=True, env=env, cwd=tmp_path
    )


def test_the_first_vault_becomes_the_default_and_the_second_does_not(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("# mine\ncapture = false # as I like it\n", "utf-8")
    first = json.loads(command(tmp_path, "init", "one", "--json").stdout)
    second = json.loads(command(tmp_path, "init", "two", "--json").stdout)
    assert (first["default"], second["default"]) == (True, False)
    text = (tmp_path / "mine.toml").read_text("utf-8")
    assert text.startswith("# mine\ncapture = false # as I like it\n")
    assert load_config(None, environ={}, user_file=tmp_path / "mine.toml").default_vault == str(tmp_path / "one")


def test_the_default_is_left_alone_when_asked(tmp_path: Path) -> None:
    assert command(tmp_path, "init", "one", "--no-default").returncode == 0
    assert not (tmp_path / "mine.toml").exists()


def test_init_tells_a_person_what_it_did(tmp_path: Path) -> None:
    (tmp_path / "v").mkdir()
    (tmp_path / "v" / "Home.md").write_text("mine", "utf-8")
    told = command(tmp_path, "init", "v").stdout
    assert "created  .vault-memory/config.toml" in told
    assert "kept     Home.md (yours)" in told
