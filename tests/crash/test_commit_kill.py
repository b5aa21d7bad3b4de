"""A flush that is killed at any line: the next one makes exactly the history that an undisturbed one would have made.

The kill is `os._exit` in a fork, as hard as SIGKILL for everything but git's own child, which outlives us in both.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests.files.git_vault import GitVault, isolate
from vault_memory.files import commits as module
from vault_memory.files.commits import Commits
from vault_memory.files.commits_build import advance, build, zero_id
from vault_memory.files.git_index import refresh
from vault_memory.files.queue import Attempt, CommitQueue

FILES = Path(module.__file__).parent
TRACED = tuple(str(FILES / f"{name}.py") for name in ("commits", "commits_build", "queue", "git_index", "git"))
TWINS = (str(FILES / "commits.py"), __file__)
EXPECTED = ["start", "Edited by hand: a", "update 4 notes", "update 2 notes"]
STAGED = "M  staged.md\n"


@pytest.fixture
def template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault whose queue waits: two changes of a note that a person edited, a new note, a removed one, and one that
    is changed and changed back, which alone tells a second run of the same queue from the first."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name, value in isolate(tmp_path / "home", dict(os.environ)).items():
        monkeypatch.setenv(name, value)
    vault = GitVault(tmp_path / "template")
    for path in ("a.md", "b.md", "back.md", "staged.md"):
        vault.hand(path, "0\n")
    vault.commit_by_hand("start")
    vault.hand("staged.md", "0\nstaged\n")
    vault.person("add", "staged.md")
    vault.hand("a.md", "0\nhand\n")
    vault.tool("a.md", "0\nhand\n1\n")
    vault.tool("new.md", "new\n")
    vault.tool("b.md", None)
    vault.tool("back.md", "1\n")
    vault.tool("a.md", "0\nhand\n1\n2\n")
    vault.tool("back.md", "0\n")
    vault.commits.close()
    return vault.root


def _kill_at(target: int, run: Callable[[], object], traced: Sequence[str] = TRACED) -> bool:
    """Run in a fork that dies before its `target`-th new line of the traced modules; True when it died there."""
    child = os.fork()
    if child == 0:
        seen: set[tuple[str, int]] = set()

        def trace(frame: FrameType, event: str, _: Any) -> Any:
            name = frame.f_code.co_filename
            if name not in traced:
                return None
            if event == "line" and (name, frame.f_lineno) not in seen:
                seen.add((name, frame.f_lineno))
                if len(seen) == target:
                    os._exit(9)
            return trace

        sys.settrace(trace)
        try:
            run()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def _faults(root: Path) -> list[str]:
    """What is wrong after a kill: with the index a person would commit now, and with the history after a new flush."""
    vault = GitVault(root)
    faults = [f"staged undo of {path}" for path in ("a.md", "b.md", "back.md", "new.md") if _undone(vault, path)]
    done = vault.flush()
    if (done.left, done.waiting) != (0, ""):
        faults.append(f"left {done.left}: {done.waiting}")
    if vault.messages() != EXPECTED:
        faults.append(f"history {vault.messages()}")
    if vault.status() != STAGED:
        faults.append(f"status {vault.status()!r}")
    if vault.person("for-each-ref", "--format=%(refname)").split() != ["refs/heads/main"]:
        faults.append("a ref was left behind")
    if (root / ".git" / "index.lock").exists():
        faults.append("index.lock was left behind")
    vault.commits.close()
    return faults


def _undone(vault: GitVault, path: str) -> bool:
    held = vault.person("ls-files", "-s", "--", path).split()[1:2]
    head = vault.person("rev-parse", "-q", "--verify", f"HEAD:{path}", ok=False).split()
    file = vault.root / path
    newest = [vault.repository.blob_id(file.read_bytes())] if file.exists() else []
    return held not in (head, newest)


def _all_faults(
    template: Path, place: Path, twin: type[Commits], step: int, traced: Sequence[str] = TRACED
) -> tuple[list[str], int]:
    """The faults of the first kill point that has any, points being `step` lines apart; and how many were tried."""
    faults: list[str] = []
    points, died = 0, True
    while died and not faults:
        root = place / f"at{points}" / "vault"
        shutil.copytree(template, root, symlinks=True)
        died = _kill_at(1 + points * step, lambda root=root: _fresh(twin, root).flush(), traced)  # type: ignore[misc]
        faults += [f"killed at {1 + points * step}: {fault}" for fault in _faults(root)]
        shutil.rmtree(root.parent)
        points += 1
    return faults, points


def _fresh(twin: type[Commits], root: Path) -> Commits:
    return twin(GitVault(root).git, root / ".vault-memory" / "state", lambda change, reason: None)


class _ForgetsItsAttempt(Commits):
    """The broken twin that does not note what it is about to do."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.queue.begin = lambda attempt: None  # type: ignore[method-assign]


class _BranchFirst(Commits):
    """The broken twin that moves the branch before the person's index."""

    def _commit(self, repository: Any, head: Any, batch: Any, last: int) -> tuple[str, ...]:
        modes = {path: entry.mode for path, entry in batch.tracked.items()}
        made = build(repository, head.commit, batch.plan.commits, modes, None)
        self.queue.begin(Attempt(head.branch, made[-1], last))
        advance(repository, head.branch, head.commit, made[-1], None)
        refresh(repository, batch.tracked, module._outcome(repository, batch), zero_id(repository))
        return made


class _EmptiesFirst(Commits):
    """The broken twin that drops the queue before the branch has the commits."""

    def _commit(self, repository: Any, head: Any, batch: Any, last: int) -> tuple[str, ...]:
        self.queue.end(last)
        return super()._commit(repository, head, batch, last)


def test_a_flush_that_is_not_killed_has_no_faults(template: Path, tmp_path: Path) -> None:
    root = tmp_path / "copy" / "vault"
    shutil.copytree(template, root)
    assert not _kill_at(1_000_000, lambda: _fresh(Commits, root).flush())
    assert _faults(root) == []


def test_a_flush_killed_at_every_seventh_line_costs_nothing(template: Path, tmp_path: Path) -> None:
    faults, points = _all_faults(template, tmp_path, Commits, step=7)
    assert faults == []
    assert points > 15


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_flush_killed_at_every_line_costs_nothing(template: Path, tmp_path: Path) -> None:
    faults, points = _all_faults(template, tmp_path, Commits, step=1)
    assert faults == []
    assert points > 150


@pytest.mark.slow
@pytest.mark.parametrize("twin", [_ForgetsItsAttempt, _BranchFirst, _EmptiesFirst])
def test_the_broken_twins_are_caught(template: Path, tmp_path: Path, twin: type[Commits]) -> None:
    faults, _ = _all_faults(template, tmp_path, twin, step=1, traced=TWINS)
    assert faults


def test_a_killed_add_leaves_all_of_it_or_nothing(tmp_path: Path) -> None:
    from tests.files.git_vault import START
    from vault_memory.files.queue import Change

    changes = [Change(f"{n}.md", None, b"x", "o", START) for n in range(3)]
    target, died = 1, True
    while died:
        state = tmp_path / f"state{target}"
        died = _kill_at(target, lambda state=state: CommitQueue(state).add(changes, None))  # type: ignore[misc]
        assert len(CommitQueue(state)) in (0, 3)
        target += 1
    assert target > 10
    assert len(CommitQueue(state)) == 3
