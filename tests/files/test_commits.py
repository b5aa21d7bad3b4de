"""The commit queue and its flush, beside a person who works in the same repository."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.files.git_vault import EMAIL, PERSON, START, GitVault, isolate, person_git
from vault_memory.errors import PartialFailure
from vault_memory.files import commits
from vault_memory.files.commits_message import read_trailers
from vault_memory.files.lock import FileLock
from vault_memory.files.queue import Change, CommitQueue


@pytest.fixture(autouse=True)
def _environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _use(isolate(tmp_path / "home", dict(os.environ)), monkeypatch)


def _use(variables: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("EMAIL", raising=False)


@pytest.fixture
def vault(tmp_path: Path) -> GitVault:
    return GitVault(tmp_path / "vault")


def test_a_write_becomes_a_commit_by_the_person_with_trailers(vault: GitVault) -> None:
    vault.tool("memories/a.md", "text\n", "remember-1abc")
    done = vault.flush()
    assert len(done.commits) == 1
    assert (done.left, done.waiting) == (0, "")
    assert vault.at("HEAD", "memories/a.md") == "text\n"
    assert vault.person("log", "-1", "--format=%an <%ae> %cn").strip() == f"{PERSON} <{EMAIL}> {PERSON}"
    message = vault.person("log", "-1", "--format=%B")
    assert message.startswith("remember: a\n")
    trailers = read_trailers(message)
    assert (trailers.agent, trailers.session, trailers.operation_of("memories/a.md")) == (
        "claude",
        "s1",
        "remember-1abc",
    )
    assert vault.person("log", "-1", "--format=%(trailers:key=Memory-Agent,valueonly)").strip() == "claude"
    assert vault.status() == ""


def test_a_burst_of_one_session_is_one_commit_and_each_operation_can_be_told(vault: GitVault) -> None:
    for number in range(20):
        vault.tool(f"memories/n{number}.md", f"{number}\n", f"remember-{number}")
    assert len(vault.flush().commits) == 1
    trailers = read_trailers(vault.person("log", "-1", "--format=%B"))
    assert [trailers.operation_of(f"memories/n{n}.md") for n in range(20)] == [f"remember-{n}" for n in range(20)]
    assert vault.messages() == ["remember 20 notes"]


def test_two_changes_of_one_note_are_two_commits_and_two_agents_share_none(vault: GitVault) -> None:
    vault.tool("a.md", "1\n")
    vault.tool("a.md", "2\n")
    vault.tool("b.md", "1\n", agent="codex")
    assert len(vault.flush().commits) == 3
    assert vault.at("HEAD~2", "a.md") == "1\n"
    assert vault.at("HEAD~1", "a.md") == "2\n"


def test_what_a_person_wrote_before_us_is_committed_first_alone_and_without_trailers(vault: GitVault) -> None:
    vault.hand("a.md", "one\n")
    vault.hand("other.md", "not ours\n")
    vault.commit_by_hand("start")
    vault.hand("a.md", "one\ntwo by hand\n")
    vault.hand("other.md", "not ours, being edited\n")
    vault.tool("a.md", "one\ntwo by hand\nthree by tool\n", "append-1")
    vault.flush()
    assert vault.messages() == ["start", "Edited by hand: a", "append: a"]
    assert vault.at("HEAD~1", "a.md") == "one\ntwo by hand\n"
    assert read_trailers(vault.person("log", "-1", "HEAD~1", "--format=%B")).operations == ()
    assert vault.person("log", "-2", "--name-only", "--format=").split() == ["a.md", "a.md"]
    assert vault.status() == " M other.md\n"


def test_edits_by_hand_between_two_of_our_writes_get_a_commit_of_their_own(vault: GitVault) -> None:
    vault.tool("a.md", "1\n")
    vault.hand("a.md", "1\nhand\n")
    vault.tool("a.md", "1\nhand\n2\n")
    vault.flush()
    assert vault.messages() == ["update: a", "Edited by hand: a", "update: a"]


def test_staged_work_stays_staged_and_is_not_swept_along(vault: GitVault) -> None:
    vault.hand("staged.md", "s\n")
    vault.hand("mine.md", "m\n")
    vault.commit_by_hand("start")
    vault.hand("staged.md", "s staged\n")
    vault.person("add", "staged.md")
    vault.hand("staged.md", "s staged, then more\n")
    vault.hand("new.md", "new\n")
    vault.person("add", "new.md")
    before = vault.person("diff", "--cached")
    vault.tool("mine.md", "m by tool\n")
    vault.tool("made.md", "made\n")
    vault.flush()
    assert vault.person("diff", "--cached") == before
    assert vault.person("show", "--name-only", "--format=").split() == ["made.md", "mine.md"]
    assert vault.status() == "A  new.md\nMM staged.md\n"


def test_a_staged_version_of_the_very_note_we_change_stays_staged(vault: GitVault) -> None:
    vault.hand("a.md", "1\n")
    vault.commit_by_hand("start")
    vault.hand("a.md", "1\nstaged\n")
    vault.person("add", "a.md")
    vault.tool("a.md", "1\nstaged\ntool\n")
    vault.flush()
    assert vault.person("show", ":a.md") == "1\nstaged\n"
    assert vault.at("HEAD", "a.md") == "1\nstaged\ntool\n"
    assert vault.at("HEAD~1", "a.md") == "1\nstaged\n"


def test_edits_made_after_our_write_are_not_swept_along(vault: GitVault) -> None:
    vault.tool("a.md", "tool\n")
    vault.hand("a.md", "tool\nhand, unfinished\n")
    vault.flush()
    assert vault.at("HEAD", "a.md") == "tool\n"
    assert vault.status() == " M a.md\n"


def test_moves_and_removals_are_committed_and_leave_the_index_clean(vault: GitVault) -> None:
    vault.tool("folder/a.md", "some longer text that is kept\n")
    vault.flush()
    new, old = (
        vault.change("b.md", "some longer text that is kept\n", "move-1"),
        vault.change("folder/a.md", None, "move-1"),
    )
    vault.commits.record([new, old])
    vault.flush()
    assert vault.messages()[-1] == "move: b"
    assert vault.person("ls-files").split() == ["b.md"]
    assert vault.status() == ""


def test_gt_03_saving_the_same_bytes_makes_no_commit(vault: GitVault) -> None:
    vault.tool("a.md", "same\n")
    vault.flush()
    vault.tool("a.md", "same\n")
    done = vault.flush()
    assert (done.commits, done.left, done.waiting) == ((), 0, "")
    assert len(vault.messages()) == 1


def test_what_an_automatic_commit_took_already_is_not_committed_again(vault: GitVault) -> None:
    vault.tool("a.md", "1\n")
    vault.tool("b.md", "1\n")
    vault.commit_by_hand("vault backup", "a.md")
    vault.flush()
    assert vault.messages() == ["vault backup", "update: b"]
    assert vault.empty_commits() == []


def test_what_somebody_committed_over_our_write_is_not_put_back(vault: GitVault) -> None:
    vault.hand("a.md", "0\n")
    vault.commit_by_hand("start")
    vault.tool("a.md", "0\ntool\n")
    vault.hand("a.md", "0\ntool\nhand\n")
    vault.commit_by_hand("backup")
    vault.hand("a.md", "0\ntool\nhand\nmore\n")
    vault.flush()
    assert vault.messages() == ["start", "backup"]
    assert vault.at("HEAD", "a.md") == "0\ntool\nhand\n"
    assert [change.after for change, _ in vault.kept] == [b"0\ntool\n"]


def test_an_edit_from_before_our_write_is_committed_although_the_note_was_edited_again(vault: GitVault) -> None:
    vault.hand("a.md", "0\n")
    vault.commit_by_hand("start")
    vault.hand("a.md", "0\nhand\n")
    vault.tool("a.md", "0\nhand\ntool\n")
    vault.hand("a.md", "0\nhand\ntool\nhand again\n")
    vault.flush()
    assert vault.messages() == ["start", "Edited by hand: a", "update: a"]
    assert vault.kept == []


def _conflict(vault: GitVault) -> None:
    """Two branches that change the same line of plan.md."""
    vault.hand("plan.md", "line\n")
    vault.hand("free.md", "free\n")
    vault.commit_by_hand("start")
    vault.person("switch", "-q", "-c", "side")
    vault.hand("plan.md", "line of side\n")
    vault.commit_by_hand("side")
    vault.person("switch", "-q", "main")
    vault.hand("plan.md", "line of main\n")
    vault.commit_by_hand("main")


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (("rebase", "side"), "rebase"),
        (("rebase", "--apply", "side"), "rebase"),
        (("merge", "side"), "merge"),
        (("cherry-pick", "side"), "cherry-pick"),
        (("revert", "--no-edit", "HEAD~1"), "revert"),
    ],
)
def test_gt_01_nothing_is_committed_in_the_middle_of(vault: GitVault, command: tuple[str, ...], reason: str) -> None:
    _conflict(vault)
    vault.person(*command, ok=False)
    before = vault.person("rev-parse", "HEAD"), vault.person("ls-files", "-s")
    vault.tool("note.md", "meanwhile\n")
    done = vault.flush()
    assert done.commits == ()
    assert done.left == 1
    assert reason in done.waiting
    assert reason in vault.commits.waiting
    assert (vault.person("rev-parse", "HEAD"), vault.person("ls-files", "-s")) == before
    vault.person(command[0], "--abort")
    assert vault.flush().left == 0
    assert vault.at("HEAD", "note.md") == "meanwhile\n"
    assert "<<<<" not in vault.person("log", "-p", "--all")


def test_gt_01_a_write_during_a_rebase_is_committed_once_it_is_finished(vault: GitVault) -> None:
    _conflict(vault)
    vault.person("rebase", "side", ok=False)
    vault.tool("note.md", "by tool\n")
    assert vault.flush().left == 1
    vault.hand("plan.md", "both lines\n")
    vault.person("add", "plan.md")
    vault.person("-c", "core.editor=true", "rebase", "--continue")
    assert vault.flush().left == 0
    assert vault.messages() == ["start", "side", "main", "update: note"]
    assert vault.status() == ""


def test_nothing_is_committed_during_a_bisect_or_on_a_detached_head(vault: GitVault) -> None:
    _conflict(vault)
    vault.person("bisect", "start", "HEAD", "HEAD~1")
    vault.tool("note.md", "x\n")
    assert "bisect" in vault.flush().waiting
    vault.person("bisect", "reset")
    vault.person("checkout", "-q", "--detach")
    assert "detached" in vault.flush().waiting
    vault.person("switch", "-q", "main")
    assert vault.flush().left == 0


def test_a_held_index_is_waited_for_and_then_the_queue_stays(vault: GitVault) -> None:
    vault.tool("a.md", "x\n")
    lock = vault.root / ".git" / "index.lock"
    lock.touch()
    done = vault.flush()
    assert (done.commits, done.left) == ((), 1)
    assert "index.lock" in done.waiting
    assert lock.exists()
    lock.unlink()
    assert vault.flush().left == 0


def test_gt_02_without_an_identity_the_tool_signs_with_its_own_name(
    vault: GitVault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _use(isolate(tmp_path / "home", dict(os.environ), identity=False), monkeypatch)
    vault.tool("a.md", "x\n")
    assert vault.flush().left == 0
    assert person_git(vault.root, "log", "--format=%an <%ae>").strip() == "vault-memory <vault-memory@localhost>"
    assert Path(os.environ["GIT_CONFIG_GLOBAL"]).read_text() == ""
    assert "user" not in (vault.root / ".git" / "config").read_text()


def test_gt_02_without_git_nothing_is_queued_and_the_reason_is_told(
    vault: GitVault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    assert vault.tool("a.md", "x\n") is False
    assert vault.commits.refusal == "git is not installed"
    assert vault.flush().commits == ()


def test_a_folder_without_a_repository_says_so(tmp_path: Path) -> None:
    vault = GitVault(tmp_path / "vault")
    (vault.root / ".git").rename(tmp_path / "away")
    assert vault.tool("a.md", "x\n") is False
    assert "not in a git repository" in vault.commits.refusal


def test_a_signer_that_fails_is_never_called(vault: GitVault, tmp_path: Path) -> None:
    signer = tmp_path / "signer"
    signer.write_text(f"#!/bin/sh\ntouch {tmp_path / 'signed'}\nexit 1\n")
    signer.chmod(0o755)
    for key, value in (("commit.gpgSign", "true"), ("gpg.program", str(signer)), ("user.signingKey", "x")):
        vault.person("config", key, value)
    vault.tool("a.md", "x\n")
    assert vault.flush().left == 0
    assert not (tmp_path / "signed").exists()


def test_inside_a_bigger_repository_nothing_is_committed_until_asked_for(tmp_path: Path) -> None:
    (tmp_path / "big").mkdir()
    vault = GitVault(tmp_path / "big" / "notes here", top=tmp_path / "big")
    assert vault.tool("a.md", "x\n") is False
    assert "must be asked for" in vault.commits.refusal
    asked = GitVault(tmp_path / "big" / "notes here", top=tmp_path / "big", auto_commit="on")
    (tmp_path / "big" / "code.py").write_text("1")
    asked.tool("a.md", "x\ny\n")
    asked.flush()
    assert asked.person("show", "--name-only", "--format=").splitlines() == ["notes here/a.md"]
    assert asked.status() == "?? code.py\n"


def test_a_repository_that_a_git_file_only_points_to_counts_as_a_bigger_one(tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    person_git(tmp_path / "private", "init", "-q")
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / ".git").write_text("gitdir: ../private/.git\n")
    from vault_memory.files.commits import Commits
    from vault_memory.files.git import Git

    commits = Commits(Git(tmp_path / "vault"), tmp_path / "state", lambda change, reason: None)
    assert "must be asked for" in commits.refusal


def test_a_linked_work_tree_is_the_vaults_own(vault: GitVault, tmp_path: Path) -> None:
    vault.hand("a.md", "x\n")
    vault.commit_by_hand("start")
    vault.person("worktree", "add", "-q", "-b", "second", str(tmp_path / "second"))
    from vault_memory.files.git import Git

    repository = Git(tmp_path / "second").repository
    assert repository is not None
    assert repository.own
    assert repository.head().branch == "refs/heads/second"


def test_notes_that_git_ignores_or_would_filter_stay_out_and_their_bytes_are_handed_over(vault: GitVault) -> None:
    vault.hand(".gitignore", "private/\n")
    vault.hand(".gitattributes", "secret.md filter=git-crypt\n")
    vault.commit_by_hand("start")
    vault.tool("private/a.md", "p\n")
    vault.tool("secret.md", "s\n")
    vault.tool("open.md", "o\n")
    assert vault.flush().left == 0
    assert vault.person("ls-files").split() == [".gitattributes", ".gitignore", "open.md"]
    assert [(change.path, "ignores" in why or "filter" in why) for change, why in vault.kept] == [
        ("private/a.md", True), ("secret.md", True)]  # fmt: skip


def test_notes_in_a_repository_inside_the_vault_stay_out(vault: GitVault) -> None:
    (vault.root / "inner").mkdir()
    person_git(vault.root / "inner", "init", "-q")
    vault.tool("inner/a.md", "x\n")
    vault.flush()
    assert vault.person("rev-parse", "-q", "--verify", "HEAD", ok=False) == ""
    assert len(vault.kept) == 1


def test_line_endings_are_stored_as_git_would(vault: GitVault) -> None:
    vault.hand(".gitattributes", "*.txt.md text\nauto.md text=auto\nraw.md -text\n")
    vault.commit_by_hand("start")
    for path in ("a.txt.md", "auto.md", "raw.md", "plain.md"):
        vault.tool(path, b"one\r\ntwo\r\n")
    vault.flush()
    stored = {
        path: vault.person("cat-file", "-s", f"HEAD:{path}").strip()
        for path in ("a.txt.md", "auto.md", "raw.md", "plain.md")
    }
    assert stored == {"a.txt.md": "8", "auto.md": "8", "raw.md": "10", "plain.md": "10"}
    vault.tool("a.txt.md", b"one\r\ntwo\r\nthree\r\n")
    vault.flush()
    assert vault.status() == ""
    assert "Edited by hand" not in "".join(vault.messages())


def test_odd_names_are_committed_as_they_are(vault: GitVault) -> None:
    names = [":colon.md", 'quo"te.md', "back\\slash.md", "*.md", "[x].md", "ünï/çödé 日本.md", " lead.md", "-dash.md"]
    for name in names:
        vault.tool(name, f"{name}\n")
    vault.flush()
    listed = vault.person("-c", "core.quotePath=false", "ls-files", "-z").split("\0")
    assert sorted(filter(None, listed)) == sorted(names)
    trailers = read_trailers(vault.person("log", "-1", "--format=%B"))
    assert all(trailers.operation_of(name) for name in names)
    for name in names:
        vault.tool(name, f"{name} 2\n")
    vault.flush()
    assert vault.status() == ""


def test_values_of_a_caller_cannot_forge_trailers(vault: GitVault) -> None:
    change = Change(
        "a.md",
        None,
        b"x\n",
        "remember-1\nMemory-Agent: boss",
        START,
        "me\nMemory-Session: other",
        "s",
        "why\n\nMemory-Agent: x",
    )
    vault.hand("a.md", "x\n")
    vault.commits.record([change])
    vault.flush()
    trailers = read_trailers(vault.person("log", "-1", "--format=%B"))
    assert (trailers.agent, trailers.session) == ("me Memory-Session: other", "s")
    assert trailers.operation_of("a.md") == "remember-1-Memory-Agent:-boss"


def test_a_kept_file_mode_survives(vault: GitVault) -> None:
    vault.hand("run.md", "x\n")
    (vault.root / "run.md").chmod(0o755)
    vault.commit_by_hand("start")
    vault.tool("run.md", "y\n")
    vault.flush()
    assert vault.person("ls-tree", "HEAD", "run.md").startswith("100755")
    assert vault.status() == ""


def test_the_queue_survives_its_process_and_forgets_on_purge(tmp_path: Path) -> None:
    state = tmp_path / "state"
    queue = CommitQueue(state)
    assert len(queue) == 0
    assert not (state / "commits.sqlite").exists()
    queue.add([Change("a.md", None, b"secret-bytes", "o", START), Change("b.md", b"x", None, "o", START)], None)
    again = CommitQueue(state)
    assert [entry.change.path for entry in again.oldest()] == ["a.md", "b.md"]
    assert (state / "commits.sqlite").stat().st_mode & 0o077 == 0
    assert again.forget("a.md") == 1
    assert queue.paths() == {"b.md"}
    assert all(b"secret-bytes" not in file.read_bytes() for file in state.iterdir())


def test_a_big_queue_goes_out_in_portions(vault: GitVault, monkeypatch: pytest.MonkeyPatch) -> None:
    from vault_memory.files import queue

    monkeypatch.setattr(queue.CommitQueue.oldest, "__defaults__", (1000,))
    for number in range(10):
        vault.tool(f"n{number}.md", "x" * 600)
    done = vault.flush()
    assert done.left == 0
    assert 4 <= len(done.commits) <= 6
    assert vault.empty_commits() == []
    assert vault.status() == ""


def test_an_automatic_commit_of_the_second_of_our_two_writes_covers_the_first(vault: GitVault) -> None:
    vault.hand("a.md", "0\n")
    vault.commit_by_hand("start")
    vault.tool("a.md", "1\n")
    vault.tool("a.md", "2\n")
    vault.commit_by_hand("backup")
    vault.tool("a.md", "3\n")
    vault.flush()
    assert vault.messages() == ["start", "backup", "update: a"]
    assert [change.after for change, _ in vault.kept] == [b"1\n"]


def test_an_edit_by_hand_that_was_committed_between_our_writes_covers_those_before_it(vault: GitVault) -> None:
    vault.hand("a.md", "0\n")
    vault.commit_by_hand("start")
    vault.tool("a.md", "1\n")
    vault.tool("a.md", "2\n")
    vault.hand("a.md", "hand\n")
    vault.commit_by_hand("backup")
    vault.hand("a.md", "hand, not committed\n")
    vault.tool("a.md", "3\n")
    vault.flush()
    assert vault.messages() == ["start", "backup", "Edited by hand: a", "update: a"]
    assert [change.after for change, _ in vault.kept] == [b"1\n", b"2\n"]


def test_what_was_staged_before_our_writes_and_committed_after_them_is_older(vault: GitVault) -> None:
    vault.hand("a.md", "0\n")
    vault.commit_by_hand("start")
    vault.hand("a.md", "staged\n")
    vault.person("add", "a.md")
    vault.hand("a.md", "not staged\n")
    vault.tool("a.md", "1\n")
    vault.tool("a.md", "2\n")
    vault.person("commit", "-q", "-m", "staged only")
    vault.flush()
    assert vault.messages() == ["start", "staged only", "Edited by hand: a", "update: a", "update: a"]
    assert vault.at("HEAD", "a.md") == "2\n"
    assert vault.status() == ""


def test_a_queue_that_cannot_be_used_is_told_and_not_raised_as_a_bug(vault: GitVault) -> None:
    state = vault.root / ".vault-memory" / "state"
    state.mkdir(parents=True)
    (state / "commits.sqlite").write_bytes(b"no database " * 1000)
    with pytest.raises(PartialFailure, match="saved, but not queued"):
        vault.tool("a.md", "x\n")
    assert "cannot be used" in vault.flush().waiting


def test_a_full_disk_in_git_leaves_the_queue_and_says_why(vault: GitVault) -> None:
    vault.tool("a.md", "x\n")
    objects = vault.root / ".git" / "objects"
    objects.rename(objects.with_name("away"))
    objects.write_text("no folder")
    vault.git.refresh()
    done = vault.flush()
    assert (done.commits, done.left) == ((), 1)
    assert done.waiting
    objects.unlink()
    objects.with_name("away").rename(objects)
    vault.git.refresh()
    assert vault.flush().left == 0


def test_two_flushes_at_once_do_not_wait_for_each_other(vault: GitVault) -> None:
    vault.tool("a.md", "x\n")
    other = FileLock(vault.root / ".vault-memory" / "state" / "commits.lock")
    with other:
        assert vault.flush().waiting == "another process is committing"
    assert vault.flush().left == 0


def test_a_branch_that_moves_during_the_flush_is_built_on_again(
    vault: GitVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault.hand("a.md", "0\n")
    vault.commit_by_hand("start")
    vault.tool("a.md", "0\n1\n")
    real, calls = commits.build, []

    def late(*arguments: Any) -> tuple[str, ...]:
        made = real(*arguments)
        if not calls:
            calls.append(1)
            vault.hand("other.md", "x\n")
            vault.commit_by_hand("in between", "other.md")
        return made

    monkeypatch.setattr(commits, "build", late)
    assert vault.flush().left == 0
    assert vault.messages() == ["start", "in between", "update: a"]
    assert vault.status() == ""
