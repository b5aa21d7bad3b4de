"""What git tells of a note: its versions through moves, its dates, its lines, and what an operation changed."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.files.git_vault import PERSON, START, GitVault, isolate, person_git
from vault_memory.files.git import Git
from vault_memory.files.history import blame, diff, history, show
from vault_memory.files.history_dates import DateMap, read_dates
from vault_memory.files.history_purge import paths_in_history, purge_command
from vault_memory.files.history_undo import steps_of_operation, steps_of_session

LONG = "".join(f"line {n} of a text that is long enough to be recognised\n" for n in range(30))


@pytest.fixture(autouse=True)
def _environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name, value in isolate(tmp_path / "home", dict(os.environ)).items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def vault(tmp_path: Path) -> GitVault:
    return GitVault(tmp_path / "vault")


def _dated(vault: GitVault, day: int, message: str, *paths: str) -> None:
    """A commit by hand on a day of 2025."""
    stamp = f"2025-01-{day:02}T00:00:00Z"
    os.environ |= {"GIT_AUTHOR_DATE": stamp, "GIT_COMMITTER_DATE": stamp}
    try:
        vault.commit_by_hand(message, *paths)
    finally:
        del os.environ["GIT_AUTHOR_DATE"], os.environ["GIT_COMMITTER_DATE"]


def _day(day: int) -> int:
    return int(datetime(2025, 1, day, tzinfo=UTC).timestamp())


def test_who_when_and_what_is_told_newest_first(vault: GitVault) -> None:
    vault.hand("a.md", "1\n")
    _dated(vault, 1, "by hand: with | odd \t signs")
    vault.commits.record([vault.change("a.md", "1\n2\n", "append-7x")])
    vault.flush()
    tool, hand = history(vault.repository, "a.md")
    assert (tool.agent, tool.session, tool.operation, tool.by_tool) == ("claude", "s1", "append-7x", True)
    assert (tool.when, tool.kind) == (START.replace(second=1), "changed")
    assert (hand.author, hand.agent, hand.by_tool, hand.kind) == (PERSON, None, False, "created")
    assert hand.summary == "by hand: with | odd \t signs"
    assert hand.commit is not None
    assert show(vault.repository, "a.md", hand.commit) == b"1\n"
    assert history(vault.repository, "a.md", limit=1) == (tool,)
    assert history(vault.repository, "none.md") == ()


def test_moves_by_hand_are_followed(vault: GitVault) -> None:
    vault.hand("old place/ä.md", LONG)
    _dated(vault, 1, "start")
    (vault.root / "new").mkdir()
    vault.person("mv", "old place/ä.md", "new/b.md")
    vault.hand("new/b.md", LONG + "more\n")
    _dated(vault, 2, "moved")
    vault.hand("new/b.md", LONG + "more\nand more\n")
    _dated(vault, 3, "edit")
    edit, moved, start = history(vault.repository, "new/b.md")
    assert [v.kind for v in (edit, moved, start)] == ["changed", "moved", "created"]
    assert moved.came_from == start.path == "old place/ä.md"
    assert start.commit is not None
    assert show(vault.repository, "new/b.md", start.commit) == LONG.encode()
    assert show(vault.repository, "new/b.md", start.commit[:10]) == LONG.encode()


def test_a_move_with_a_rewritten_text_is_followed_by_its_id(vault: GitVault) -> None:
    head = "---\nid: 1ngvj1k9f3qw\n---\n"
    vault.hand("a.md", head + "short\n")
    vault.hand("decoy.md", "---\nid: 2ngvj1k9f3qw\n---\nsomething else that goes as well\n")
    _dated(vault, 1, "start")
    vault.hand("a.md", None)
    vault.hand("decoy.md", None)
    vault.hand("b.md", head + LONG)
    _dated(vault, 2, "moved and rewritten")
    moved, start = history(vault.repository, "b.md")
    assert (moved.kind, moved.came_from, start.path) == ("moved", "a.md", "a.md")


def test_removed_notes_keep_their_history(vault: GitVault) -> None:
    vault.tool("a.md", "x\n")
    vault.tool("a.md", None)
    vault.flush()
    removed, created = history(vault.repository, "a.md")
    assert [removed.kind, created.kind] == ["removed", "created"]
    assert removed.commit is not None
    assert created.commit is not None
    assert show(vault.repository, "a.md", removed.commit) is None
    assert show(vault.repository, "a.md", created.commit) == b"x\n"


def test_kept_versions_stand_among_the_commits_and_alone_without_git(vault: GitVault) -> None:
    vault.tool("a.md", "1\n")
    vault.tool("a.md", "2\n")
    vault.flush()
    kept = [("r1", START.replace(second=1, microsecond=5)), ("r0", START.replace(year=2025))]
    assert [v.revision or v.operation for v in history(vault.repository, "a.md", kept=kept)] == [
        "update-0002", "r1", "update-0001", "r0"]  # fmt: skip
    assert [v.revision for v in history(None, "a.md", kept=kept)] == ["r1", "r0"]


@pytest.mark.parametrize("commit", ["--output=x", "main", "HEAD:a.md", "", "zzzz", "abc", "deadbeef"])
def test_only_ids_of_commits_are_shown(vault: GitVault, commit: str) -> None:
    vault.tool("a.md", "x\n")
    vault.flush()
    assert show(vault.repository, "a.md", commit) is None
    assert list(vault.root.glob("x")) == []


def test_a_diff_shows_lines_and_missing_ends() -> None:
    assert diff(b"a\nb\n", b"a\nb\n") == ""
    assert diff(b"a\nb\n", b"a\nc", "x", "y").splitlines()[-3:] == ["-b", "+c", "\\ No newline at end of file"]


def test_blame_names_the_agent_of_each_line(vault: GitVault) -> None:
    vault.hand("a.md", "hand\n\ttabbed\n")
    _dated(vault, 1, "start")
    vault.tool("a.md", "hand\n\ttabbed\ntool\n")
    vault.flush()
    lines = blame(vault.repository, "a.md")
    assert [(line.number, line.text, line.agent) for line in lines] == [
        (1, "hand", None), (2, "\ttabbed", None), (3, "tool", "claude")]  # fmt: skip
    assert lines[0].author == PERSON
    assert blame(vault.repository, "none.md") == ()


def test_dates_are_those_of_the_authors_and_reach_back_over_plain_renames(vault: GitVault) -> None:
    vault.hand("a.md", LONG)
    _dated(vault, 1, "1")
    vault.hand("b.md", "b\n")
    _dated(vault, 2, "2")
    vault.person("mv", "a.md", "sub.md")
    _dated(vault, 3, "3")
    vault.hand("b.md", "b\nb\n")
    _dated(vault, 4, "4")
    dates = read_dates(vault.repository)
    moved, edited = dates.of("sub.md"), dates.of("b.md")
    assert moved is not None
    assert edited is not None
    assert (moved.first, moved.last) == (_day(1), _day(3))
    assert (edited.first, edited.last, edited.commits) == (_day(2), _day(4), 2)
    assert dates.of("none.md") is None
    assert DateMap.from_json(dates.to_json()).of("sub.md") == moved
    assert DateMap.from_json("no map") == DateMap()


def test_pt_02_after_a_pull_only_the_touched_note_has_moved(vault: GitVault, tmp_path: Path) -> None:
    for number in range(10):
        vault.hand(f"n{number}.md", f"{number}\n")
        _dated(vault, 1 + number, f"{number}")
    person_git(tmp_path, "clone", "-q", str(vault.root), "clone")
    clone = Git(tmp_path / "clone")
    assert clone.repository is not None
    before = read_dates(clone.repository)
    assert [before.of(f"n{n}.md").last for n in range(10)] == [_day(1 + n) for n in range(10)]  # type: ignore[union-attr]
    vault.hand("n3.md", "3\n3\n")
    _dated(vault, 20, "touch")
    person_git(tmp_path / "clone", "pull", "-q")
    after = read_dates(clone.repository, before)
    assert after.passed == 1
    assert {path for path in after.seen if after.of(path) != before.of(path)} == {"n3.md"}
    assert after.of("n3.md").last == _day(20)  # type: ignore[union-attr]


def test_dates_start_over_when_history_was_rewritten(vault: GitVault) -> None:
    vault.hand("a.md", "1\n")
    _dated(vault, 1, "1")
    known = read_dates(vault.repository)
    vault.person("commit", "-q", "--amend", "--date", "2025-01-09T00:00:00Z", "-m", "again")
    dates = read_dates(vault.repository, known)
    assert dates.of("a.md").first == _day(9)  # type: ignore[union-attr]


def test_a_merge_that_settles_a_conflict_counts_as_a_change(vault: GitVault) -> None:
    vault.hand("a.md", "0\n")
    vault.hand("b.md", "0\n")
    _dated(vault, 1, "start")
    vault.person("switch", "-q", "-c", "side")
    vault.hand("a.md", "side\n")
    _dated(vault, 2, "side")
    vault.person("switch", "-q", "main")
    vault.hand("a.md", "main\n")
    _dated(vault, 3, "main")
    vault.person("merge", "side", ok=False)
    vault.hand("a.md", "both\n")
    _dated(vault, 4, "merge")
    dates = read_dates(vault.repository)
    assert dates.of("a.md").last == _day(4)  # type: ignore[union-attr]
    assert dates.of("b.md").last == _day(1)  # type: ignore[union-attr]


STEP = st.tuples(st.sampled_from(["edit", "move", "remove", "side"]), st.integers(0, 4), st.integers(0, 4))


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(STEP, min_size=4, max_size=8), st.integers(1, 6))
def test_dates_read_in_portions_are_those_of_one_pass(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, int]], cut: int
) -> None:
    vault = GitVault(tmp_path_factory.mktemp("dates") / "vault")
    vault.hand("n0.md", "start\n")
    vault.commit_by_hand()
    known = None
    for number, (what, one, other) in enumerate(steps):
        file, target = f"n{one}.md", f"n{other}.md"
        if what == "move" and (vault.root / file).exists() and not (vault.root / target).exists():
            vault.person("mv", file, target)
        elif what == "remove" and (vault.root / file).exists():
            vault.hand(file, None)
        else:
            vault.hand(file, f"{number}\n")
        _dated(vault, 1 + (number * 7) % 28, f"{number}") if vault.status() else None
        if number == cut:
            known = read_dates(vault.repository)
    whole, portions = read_dates(vault.repository), read_dates(vault.repository, known)
    assert {path: portions.of(path) for path in portions.seen} == {path: whole.of(path) for path in whole.seen}
    listed = vault.person("ls-files").split()
    times = {path: vault.person("log", "--format=%at", "--", path).split() for path in listed}
    for path, found in times.items():
        dates = whole.of(path)
        assert dates is not None
        assert dates.last == max(map(int, found))
        assert dates.commits == len(found)


def test_the_steps_of_an_operation_give_the_bytes_to_go_back_to(vault: GitVault) -> None:
    vault.hand("a.md", "0\n")
    vault.commit_by_hand()
    vault.commits.record([vault.change("a.md", "0\n1\n", "append-1"), vault.change("b.md", "new\n", "remember-2")])
    vault.commits.record([vault.change("c.md", "c\n", "move-3"), vault.change("a.md", None, "move-3")])
    vault.flush()
    assert [(s.path, s.before, s.after) for s in steps_of_operation(vault.repository, "append-1")] == [
        ("a.md", b"0\n", b"0\n1\n")]  # fmt: skip
    assert [(s.path, s.before, s.after) for s in steps_of_operation(vault.repository, "move-3")] == [
        ("a.md", b"0\n1\n", None), ("c.md", None, b"c\n")]  # fmt: skip
    assert [s.path for s in steps_of_session(vault.repository, "s1")] == ["a.md", "c.md", "a.md", "b.md"]
    assert steps_of_operation(vault.repository, "append") == ()
    assert steps_of_session(vault.repository, "s") == ()


def test_a_person_who_quotes_a_trailer_is_not_taken_for_a_session(vault: GitVault) -> None:
    vault.hand("a.md", "x\n")
    vault.commit_by_hand("Revert what Memory-Session: s1 did\n\nMemory-Session: s1 was wrong.\n\nSigned: me")
    assert steps_of_session(vault.repository, "s1") == ()


def test_the_purge_command_removes_every_earlier_version_and_nothing_else(vault: GitVault) -> None:
    vault.hand("se[c]ret's.md", LONG)
    vault.hand("sec.md", "stays\n")
    _dated(vault, 1, "start")
    vault.person("mv", "se[c]ret's.md", "moved.md")
    vault.hand("moved.md", LONG + "more\n")
    _dated(vault, 2, "moved")
    paths = paths_in_history(vault.repository, "moved.md")
    assert set(paths) == {"moved.md", "se[c]ret's.md"}
    old = vault.person("rev-parse", "HEAD:moved.md").strip()
    (vault.root / "moved.md").unlink()
    _dated(vault, 3, "purged")
    subprocess.run(["sh", "-c", purge_command(vault.repository, paths)], check=True, capture_output=True)
    assert vault.person("cat-file", "-e", old, ok=False) == ""
    assert "more" not in vault.person("log", "-p", "--all")
    assert vault.person("ls-files").split() == ["sec.md"]
    assert subprocess.run(["git", "cat-file", "-e", old], cwd=vault.root, capture_output=True).returncode != 0


def test_history_of_a_vault_inside_a_bigger_repository_stays_inside(tmp_path: Path) -> None:
    vault = GitVault(tmp_path / "big" / "notes", top=tmp_path / "big", auto_commit="on")
    (tmp_path / "big" / "code.md").write_text(LONG)
    vault.person("add", "-A")
    vault.person("commit", "-q", "-m", "code")
    vault.person("mv", "code.md", "notes/a.md")
    vault.person("commit", "-q", "-m", "moved in")
    assert [v.kind for v in history(vault.repository, "a.md")] == ["created"]
    assert set(read_dates(vault.repository).seen) == {"a.md"}
