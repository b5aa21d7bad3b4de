"""Two clones that change the same notes: git asks our driver, and only the same place is a conflict."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.files.git_vault import GitVault, isolate, person_git
from vault_memory.files.git import Git
from vault_memory.files.git_setup import init_repository, merge_driver_problem, set_up_merge_driver

NOTE = """---
id: 1ngvj1k9f3qw
title: Deploy
tags: [deploy]
importance: 0.5
updated_at: 2026-01-01T00:00:00Z
version: 3
---
First paragraph.

Middle paragraph.

Last paragraph.
"""


@pytest.fixture(autouse=True)
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A vault-memory program that knows only `git-merge`, and an environment without this machine's git settings."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name, value in isolate(tmp_path / "home", dict(os.environ)).items():
        monkeypatch.setenv(name, value)
    program = tmp_path / "bin" / "vault-memory"
    program.parent.mkdir()
    program.write_text(
        f"#!{sys.executable}\n"
        "import sys\nfrom pathlib import Path\nfrom vault_memory.files.git_merge import git_merge\n"
        "assert sys.argv[1] == 'git-merge' and len(sys.argv) == 7\n"
        "sys.exit(git_merge(*map(Path, sys.argv[2:5]), int(sys.argv[5])))\n"
    )
    program.chmod(0o755)
    return str(program)


@pytest.fixture
def clones(tmp_path: Path, command: str) -> tuple[GitVault, GitVault]:
    """Two clones of one vault, each set up for merging notes."""
    first = GitVault(tmp_path / "first")
    first.hand("memories/deploy.md", NOTE)
    first.hand("memories/plain.md", "one\ntwo\nthree\nfour\nfive\n")
    first.commit_by_hand("start")
    person_git(tmp_path, "clone", "-q", str(first.root), "second")
    second = GitVault(tmp_path / "second")
    for vault in (first, second):
        assert set_up_merge_driver(vault.repository, command)
    return first, second


def _edit(vault: GitVault, path: str, *pairs: tuple[str, str]) -> None:
    text = (vault.root / path).read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    vault.tool(path, text)
    assert vault.flush().left == 0


def test_edits_of_different_fields_and_paragraphs_merge(clones: tuple[GitVault, GitVault]) -> None:
    first, second = clones
    stamp = "updated_at: 2026-01-01T00:00:00Z\nversion: 3"
    _edit(first, "memories/deploy.md", ("tags: [deploy]", "tags: [deploy, ops]"), ("First", "The first"),
          (stamp, "updated_at: 2026-02-02T00:00:00Z\nversion: 4"))  # fmt: skip
    _edit(second, "memories/deploy.md", ("tags: [deploy]", "tags: [deploy, fly]"), ("Last", "The last"),
          ("0.5", "0.9"), (stamp, "updated_at: 2026-03-03T00:00:00Z\nversion: 5"))  # fmt: skip
    second.person("pull", "-q", "--no-rebase", "--no-edit")
    text = (second.root / "memories/deploy.md").read_text()
    for part in ("deploy, ", "ops", "fly", "importance: 0.9", "2026-03-03", "version: 5", "The first", "The last"):
        assert part in text
    assert "<<<<" not in text
    assert second.status() == ""


def test_edits_of_the_same_place_conflict_with_both_texts_and_nothing_else_does(
    clones: tuple[GitVault, GitVault],
) -> None:
    first, second = clones
    _edit(first, "memories/deploy.md", ("Middle", "Center"))
    _edit(first, "memories/plain.md", ("one", "1"))
    _edit(second, "memories/deploy.md", ("Middle", "Heart"))
    _edit(second, "memories/plain.md", ("five", "5"))
    second.person("pull", "-q", "--no-rebase", "--no-edit", ok=False)
    assert second.status() == "UU memories/deploy.md\nM  memories/plain.md\n"
    text = (second.root / "memories/deploy.md").read_text()
    assert "Center" in text
    assert "Heart" in text
    assert text.count("<<<<<<<") == 1
    assert (second.root / "memories/plain.md").read_text() == "1\ntwo\nthree\nfour\n5\n"


def test_without_the_program_notes_merge_as_text_and_no_side_is_dropped(
    clones: tuple[GitVault, GitVault], command: str
) -> None:
    first, second = clones
    _edit(first, "memories/deploy.md", ("Middle", "Center"))
    _edit(second, "memories/deploy.md", ("Middle", "Heart"), ("Last", "The last"))
    Path(command).unlink()
    second.person("pull", "-q", "--no-rebase", "--no-edit", ok=False)
    text = (second.root / "memories/deploy.md").read_text()
    assert "Center" in text
    assert "Heart" in text
    assert second.status() == "UU memories/deploy.md\n"


def test_setting_up_twice_changes_nothing_and_a_clone_tells_what_is_missing(tmp_path: Path, command: str) -> None:
    vault = GitVault(tmp_path / "vault")
    assert "not set up" in merge_driver_problem(vault.repository)
    assert set_up_merge_driver(vault.repository, command)
    assert merge_driver_problem(vault.repository) == ""
    files = [vault.root / ".git" / "config", vault.root / ".git" / "info" / "attributes"]
    before = [file.read_bytes() for file in files]
    assert not set_up_merge_driver(vault.repository, command)
    assert [file.read_bytes() for file in files] == before


def test_an_attribute_that_the_vault_brings_along_is_enough(tmp_path: Path, command: str) -> None:
    vault = GitVault(tmp_path / "vault")
    vault.hand(".gitattributes", "*.md merge=vault-memory\n")
    set_up_merge_driver(vault.repository, command)
    assert not (vault.root / ".git" / "info" / "attributes").exists()


def test_inside_a_bigger_repository_only_the_vaults_notes_get_the_driver(tmp_path: Path, command: str) -> None:
    vault = GitVault(tmp_path / "big" / 'my "notes" [x] ü', top=tmp_path / "big")
    set_up_merge_driver(vault.repository, command)
    asked = vault.person("check-attr", "merge", "--", f"{vault.root.name}/deep/er/a.md", "README.md")
    assert [line.rpartition(": ")[2] for line in asked.splitlines()] == ["vault-memory", "unspecified"]


def test_init_makes_a_repository_only_where_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    git = Git(tmp_path / "new")
    assert init_repository(git)
    assert git.repository is not None
    assert git.repository.head().branch == "refs/heads/main"
    assert not init_repository(git)
    (tmp_path / "new" / "inner").mkdir()
    assert not init_repository(Git(tmp_path / "new" / "inner"))
