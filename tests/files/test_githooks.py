"""Git hooks: installed beside what is there, called by git, taken away without a trace."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.files.git_vault import GitVault, isolate
from vault_memory.errors import NotAllowed
from vault_memory.files.githooks import HOOKS, hooks_folder, install, installed, remove, staged_refusals
from vault_memory.memory.model import Finding

SOURCES = Path(__file__).parents[2] / "hooks" / "git"
CONFLICTED = "a\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n"


@pytest.fixture(autouse=True)
def _environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name, value in isolate(tmp_path / "home", dict(os.environ)).items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def vault(tmp_path: Path) -> GitVault:
    return GitVault(tmp_path / "vault")


def _program(tmp_path: Path, status: int = 0) -> tuple[Path, Path]:
    """A stand-in for vault-memory that logs its arguments; and the log."""
    program, calls = tmp_path / "my bin" / "vault-memory", tmp_path / "calls"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\necho "$*" >>"{calls}"\nexit {status}\n')
    program.chmod(0o755)
    return program, calls


def _calls(log: Path, wanted: str) -> list[str]:
    """What was logged, waiting for a line that starts with `wanted`: the hooks do not keep git waiting."""
    for _ in range(200):
        lines = log.read_text().splitlines() if log.exists() else []
        if any(line.startswith(wanted) for line in lines):
            return lines
        time.sleep(0.02)
    raise AssertionError(f"no call {wanted!r} in {lines}")


def test_git_calls_each_hook_with_its_name(vault: GitVault, tmp_path: Path) -> None:
    program, calls = _program(tmp_path)
    assert install(vault.repository, program) == HOOKS
    assert installed(vault.repository) == HOOKS
    vault.hand("a.md", "x\n")
    vault.commit_by_hand()
    lines = _calls(calls, "hook git post-commit")
    assert "hook git pre-commit" in lines
    vault.person("switch", "-q", "-c", "side")
    _calls(calls, "hook git post-checkout")
    vault.hand("b.md", "x\n")
    vault.commit_by_hand()
    vault.person("switch", "-q", "main")
    vault.person("merge", "-q", "--no-ff", "--no-edit", "side")
    _calls(calls, "hook git post-merge 0")
    vault.person("commit", "-q", "--amend", "-m", "again")
    _calls(calls, "hook git post-rewrite amend")


def test_our_own_commits_call_no_hook(vault: GitVault, tmp_path: Path) -> None:
    program, calls = _program(tmp_path)
    install(vault.repository, program)
    vault.tool("a.md", "x\n")
    assert vault.flush().left == 0
    time.sleep(0.2)
    assert not calls.exists()


def test_a_hook_that_was_there_runs_first_and_comes_back(vault: GitVault, tmp_path: Path) -> None:
    program, calls = _program(tmp_path)
    folder = hooks_folder(vault.repository)
    folder.mkdir(exist_ok=True)
    mine = folder / "post-rewrite"
    text = f'#!/bin/sh\necho "mine $1 $(cat | wc -l)" >>"{calls}"\n'
    mine.write_text(text)
    mine.chmod(0o755)
    install(vault.repository, program)
    install(vault.repository, program)
    vault.hand("a.md", "x\n")
    vault.commit_by_hand()
    vault.person("commit", "-q", "--amend", "-m", "again")
    lines = _calls(calls, "hook git post-rewrite")
    assert lines.index("mine amend 1") < lines.index("hook git post-rewrite amend")
    assert remove(vault.repository) == HOOKS
    assert mine.read_text() == text
    assert [file.name for file in folder.iterdir() if not file.name.endswith(".sample")] == ["post-rewrite"]


def test_a_pre_commit_hook_of_the_person_still_decides(vault: GitVault, tmp_path: Path) -> None:
    folder = hooks_folder(vault.repository)
    folder.mkdir(exist_ok=True)
    (folder / "pre-commit").write_text("#!/bin/sh\nexit 3\n")
    (folder / "pre-commit").chmod(0o755)
    install(vault.repository, _program(tmp_path)[0])
    vault.hand("a.md", "x\n")
    vault.person("add", "a.md")
    vault.person("commit", "-q", "-m", "x", ok=False)
    assert vault.person("rev-parse", "-q", "--verify", "HEAD", ok=False) == ""


@pytest.mark.parametrize(("status", "committed"), [(0, True), (14, False), (1, True), (127, True)])
def test_only_a_refusal_stops_a_commit_not_a_broken_program(
    vault: GitVault, tmp_path: Path, status: int, committed: bool
) -> None:
    install(vault.repository, _program(tmp_path, status)[0])
    vault.hand("a.md", "x\n")
    vault.person("add", "a.md")
    vault.person("commit", "-q", "-m", "x", ok=False)
    assert bool(vault.person("rev-parse", "-q", "--verify", "HEAD", ok=False)) is committed


def test_hooks_without_a_program_do_nothing(vault: GitVault, tmp_path: Path) -> None:
    install(vault.repository, tmp_path / "gone")
    vault.hand("a.md", "x\n")
    vault.commit_by_hand()
    assert len(vault.messages()) == 1


def test_hooks_that_are_not_ours_are_never_removed(vault: GitVault) -> None:
    install(vault.repository)
    folder = hooks_folder(vault.repository)
    (folder / "post-merge").write_text("#!/bin/sh\n# replaced later by its owner\n")
    assert "post-merge" not in remove(vault.repository)
    assert (folder / "post-merge").exists()


def test_a_hooks_folder_outside_the_repository_is_left_alone(vault: GitVault, tmp_path: Path) -> None:
    (tmp_path / "global").mkdir()
    vault.person("config", "core.hooksPath", str(tmp_path / "global"))
    with pytest.raises(NotAllowed, match="outside"):
        install(vault.repository)
    assert list((tmp_path / "global").iterdir()) == []
    vault.person("config", "core.hooksPath", ".husky")
    install(vault.repository)
    assert (vault.root / ".husky" / "post-merge").exists()


def test_the_hooks_after_something_share_one_text() -> None:
    texts = {(SOURCES / name).read_text() for name in HOOKS if name.startswith("post-")}
    assert len(texts) == 1
    assert all(os.access(SOURCES / name, os.X_OK) for name in HOOKS)


def test_staged_notes_with_conflicts_or_broken_front_matter_are_refused(vault: GitVault) -> None:
    vault.hand("good.md", "---\ntitle: x\n---\nfine\n")
    vault.hand("plan.md", CONFLICTED)
    vault.hand("broken.md", "---\ntitle: [x\n---\nfine\n")
    vault.hand("bytes.md", "x")
    (vault.root / "bytes.md").write_bytes(b"\xff\xfe\x00")
    vault.hand("code.py", CONFLICTED)
    vault.person("add", "-A")
    refused = staged_refusals(vault.repository)
    assert [refusal.path for refusal in refused] == ["broken.md", "bytes.md", "plan.md"]
    assert [refusal.line for refusal in refused if refusal.path == "plan.md"] == [2]
    vault.hand("plan.md", "settled in the editor but not staged\n")
    assert "plan.md" in [refusal.path for refusal in staged_refusals(vault.repository)]


def test_only_what_this_commit_changes_is_looked_at(vault: GitVault) -> None:
    vault.hand("old.md", CONFLICTED)
    vault.commit_by_hand()
    vault.hand("new.md", "x\n")
    vault.person("add", "-A")
    assert staged_refusals(vault.repository) == []
    (vault.root / "old.md").unlink()
    vault.person("add", "-A")
    assert staged_refusals(vault.repository) == []


def test_the_index_that_git_hands_to_the_hook_is_the_one_checked(vault: GitVault, tmp_path: Path) -> None:
    vault.hand("a.md", "x\n")
    vault.commit_by_hand()
    other = tmp_path / "next-index"
    other.write_bytes((vault.root / ".git" / "index").read_bytes())
    vault.hand("a.md", CONFLICTED)
    vault.person("add", "a.md")
    assert staged_refusals(vault.repository, other) == []
    assert len(staged_refusals(vault.repository)) == 1


def test_further_judges_are_heard(vault: GitVault) -> None:
    vault.hand("a.md", "password\n")
    vault.person("add", "a.md")

    def judge(path: str, data: bytes) -> list[Finding]:
        return [Finding("secret", f"a secret in {path}", 1)] if b"password" in data else []

    assert [refusal.reason for refusal in staged_refusals(vault.repository, judge=judge)] == ["a secret in a.md"]
