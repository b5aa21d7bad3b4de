"""Running git on a vault from a stranger: what its config names must not run, and its state must be read right."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.files.git_vault import GitVault, isolate, person_git
from vault_memory.files import git_upkeep
from vault_memory.files.git import Git, blob_id, clean_environment
from vault_memory.files.git_state import index_lock, remove_left_over
from vault_memory.files.git_tracked import read_tracked
from vault_memory.files.git_upkeep import index_commits, pack
from vault_memory.files.githooks import staged_refusals
from vault_memory.files.history import blame, history, show
from vault_memory.files.history_dates import read_dates
from vault_memory.files.history_undo import steps_of_session


@pytest.fixture(autouse=True)
def _environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name, value in isolate(tmp_path / "home", dict(os.environ)).items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def vault(tmp_path: Path) -> GitVault:
    return GitVault(tmp_path / "vault")


def _plant(vault: GitVault, canary: Path) -> None:
    """Fill .git with everything that makes git run a program; each program writes its name into `canary`."""
    canary.mkdir()

    def program(name: str) -> str:
        file = canary.parent / f"run-{name}"
        file.write_text(f'#!/bin/sh\ntouch "{canary}/{name}"\nexit 1\n')
        file.chmod(0o755)
        return str(file)

    hooks = vault.root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("pre-commit", "post-commit", "reference-transaction", "post-index-change", "commit-msg", "pre-auto-gc",
                 "prepare-commit-msg", "post-checkout", "fsmonitor-watchman"):  # fmt: skip
        Path(program(hook)).rename(hooks / hook)
    settings = {
        "core.fsmonitor": program("fsmonitor"), "core.pager": program("pager"), "pager.log": program("pagerlog"),
        "core.editor": program("editor"), "core.askPass": program("askpass"), "core.sshCommand": program("ssh"),
        "commit.gpgSign": "true", "log.showSignature": "true", "gpg.program": program("gpg"),
        "diff.external": program("diff"), "diff.evil.command": program("diffcommand"),
        "diff.evil.textconv": program("textconv"), "diff.evil.cachetextconv": "false",
        "filter.evil.clean": program("clean"), "filter.evil.smudge": program("smudge"),
        "filter.evil.process": program("process"), "filter.evil.required": "true",
        "merge.evil.driver": program("merge"), "credential.helper": f"!{program('credential')}",
        "trailer.memory-agent.command": program("trailer"), "trailer.memory-agent.cmd": program("trailercmd"),
        "alias.log": f"!{program('alias')}", "alias.ls-tree": f"!{program('alias2')}",
        "alias.hash-object": f"!{program('alias3')}", "gc.recentObjectsHook": program("recent"),
        "uploadpack.packObjectsHook": program("packobjects"), "gc.auto": "1", "maintenance.auto": "true",
        "extensions.partialClone": "origin", "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::{program('ext')}", "remote.origin.uploadpack": program("uploadpack"),
        "protocol.ext.allow": "always", "diff.orderFile": "/nowhere/order", "blame.ignoreRevsFile": "/nowhere/revs",
        "interactive.diffFilter": program("difffilter"), "sequence.editor": program("sequence"),
    }  # fmt: skip
    lines = []
    for key, value in settings.items():
        section, _, name = key.rpartition(".")
        head, _, sub = section.partition(".")
        lines.append(f'[{head} "{sub}"]\n' if sub else f"[{head}]\n")
        lines.append(f'\t{name} = "{value}"\n')
    with (vault.root / ".git" / "config").open("a") as config:
        config.write("".join(lines))
    (vault.root / ".gitattributes").write_text("*.md diff=evil merge=evil\nfiltered.md filter=evil\n")


def test_nothing_that_a_foreign_config_names_is_run(
    vault: GitVault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in ("a.md", "b.md"):
        vault.hand(path, "one\n")
    vault.commit_by_hand("start")
    canary = tmp_path / "canary"
    _plant(vault, canary)
    vault.git.refresh()
    vault.tool("a.md", "one\ntwo\n", "append-1")
    vault.tool("new.md", "new\n", "remember-1")
    vault.tool("filtered.md", "x\n", "remember-2")
    done = vault.flush()
    assert (len(done.commits), done.left, done.waiting) == (1, 0, "")
    repository = vault.repository
    assert len(history(repository, "a.md")) == 2
    assert show(repository, "a.md", "HEAD") == b"one\ntwo\n"
    assert show(repository, "a.md", "0123456789abcdef0123456789abcdef01234567") is None
    assert [line.text for line in blame(repository, "a.md")] == ["one", "two"]
    assert read_dates(repository).of("a.md") is not None
    assert len(steps_of_session(repository, "s1")) == 2
    assert read_tracked(repository).state("a.md", b"one\ntwo\n") == "clean"
    assert staged_refusals(repository) == []
    index_commits(repository)
    monkeypatch.setattr(git_upkeep, "LOOSE_OBJECTS", 1)
    pack(repository)
    assert sorted(file.name for file in canary.iterdir()) == []


def test_the_canary_of_the_foreign_config_would_sing(vault: GitVault, tmp_path: Path) -> None:
    vault.hand("a.md", "one\n")
    vault.commit_by_hand("start")
    canary = tmp_path / "canary"
    _plant(vault, canary)
    vault.hand("filtered.md", "x\n")
    vault.person("status", ok=False)
    vault.person("add", "filtered.md", ok=False)
    vault.person("commit", "-m", "x", ok=False)
    vault.person("commit-tree", "-S", "HEAD^{tree}", "-m", "x", ok=False)
    vault.person("cat-file", "-p", "0123456789abcdef0123456789abcdef01234567", ok=False)
    sung = {file.name for file in canary.iterdir()}
    assert {"fsmonitor", "pre-commit", "gpg", "ext"} <= sung
    assert sung & {"clean", "process"}


def test_the_environment_of_an_outer_git_does_not_lead_us_elsewhere(
    vault: GitVault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    person_git(tmp_path / "other", "init", "-q")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "other"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "other" / "index"))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'core.pager'='touch /tmp/never'")
    assert vault.repository.top == vault.root
    vault.tool("a.md", "x\n")
    assert vault.flush().left == 0
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CONFIG_PARAMETERS"):
        monkeypatch.delenv(name)
    assert vault.status() == ""


def test_a_cleaned_environment_keeps_identity_and_nothing_that_steers() -> None:
    cleaned = clean_environment({"PATH": "/bin", "GIT_DIR": "x", "GIT_AUTHOR_NAME": "n", "GIT_SSH_COMMAND": "x"})
    assert cleaned["GIT_AUTHOR_NAME"] == "n"
    assert not {"GIT_DIR", "GIT_SSH_COMMAND"} & set(cleaned)
    assert cleaned["GIT_TERMINAL_PROMPT"] == "0"


def test_a_vault_that_is_itself_a_bare_repository_is_none(tmp_path: Path) -> None:
    person_git(tmp_path, "init", "-q", "--bare", "vault")
    assert Git(tmp_path / "vault").repository is None


def test_a_git_program_beside_the_vault_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "git").write_text("#!/bin/sh\ntouch sung\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", ".")
    assert Git(tmp_path).program is None


def test_head_read_from_the_files_is_what_git_says(vault: GitVault) -> None:
    assert (vault.repository.head().branch, vault.repository.head().commit) == ("refs/heads/main", None)
    vault.hand("a.md", "x\n")
    vault.commit_by_hand()
    commit = vault.person("rev-parse", "HEAD").strip()
    for command in (("pack-refs", "--all"), ("switch", "-q", "-c", "deep/er"), ("checkout", "-q", "--detach")):
        vault.person(*command)
        head = vault.repository.head()
        assert head.commit == commit
        assert head == vault.repository._asked_head()


def test_blob_ids_are_gits_own(vault: GitVault) -> None:
    for data in (b"", b"x\n", "ü\r\n".encode() * 1000):
        (vault.root / "f").write_bytes(data)
        assert blob_id(data) == vault.person("hash-object", "--no-filters", "f").strip()


def test_repositories_with_sha256_work(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    person_git(tmp_path / "vault", "init", "-q", "-b", "main", "--object-format=sha256")
    vault = GitVault(tmp_path / "vault")
    vault.tool("a.md", "x\n")
    vault.tool("a.md", "y\n")
    assert vault.flush().left == 0
    assert vault.status() == ""
    assert read_tracked(vault.repository).state("a.md", b"y\n") == "clean"


def test_a_clean_note_is_told_by_its_bytes_and_a_listing_is_kept_per_head(vault: GitVault) -> None:
    vault.hand("a.md", "x\ny\n")
    vault.commit_by_hand()
    tracked = read_tracked(vault.repository)
    assert [tracked.state("a.md", data) for data in (b"x\ny\n", b"x\r\ny\r\n", b"z")] == ["clean", "clean", "modified"]
    assert tracked.state("b.md", b"") == "new"
    assert read_tracked(vault.repository, tracked) is tracked
    assert read_tracked(None).state("a.md", b"") == "new"


def test_a_left_over_index_lock_is_told_from_a_live_one_and_only_removed_when_asked(vault: GitVault) -> None:
    lock = vault.root / ".git" / "index.lock"
    now = time.time()
    assert index_lock(vault.repository, now) is None
    lock.touch()
    live = index_lock(vault.repository, now)
    assert live is not None
    assert not live.left_over
    assert not remove_left_over(live)
    os.utime(lock, (now - 4000, now - 4000))
    old = index_lock(vault.repository, now)
    assert old is not None
    assert old.left_over
    vault.tool("a.md", "x\n")
    assert "doctor --fix" in vault.flush().waiting
    os.utime(lock, (now - 3000, now - 3000))
    assert not remove_left_over(old)
    again = index_lock(vault.repository, now)
    assert again is not None
    assert remove_left_over(again)
    assert vault.flush().left == 0


def test_upkeep_packs_what_many_commits_left_and_loses_nothing(
    vault: GitVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        vault.tool(f"n{number}.md", f"{number}\n")
        vault.flush()
    listed = vault.person("rev-list", "--objects", "--all")
    assert not pack(vault.repository)
    monkeypatch.setattr(git_upkeep, "LOOSE_OBJECTS", 1)
    assert pack(vault.repository)
    index_commits(vault.repository)
    assert "count: 0" in vault.person("count-objects", "-v")
    assert vault.person("rev-list", "--objects", "--all") == listed
    assert vault.person("fsck", "--strict") == ""
