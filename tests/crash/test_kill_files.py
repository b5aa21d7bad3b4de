"""Kill at every line of files/: a note is old or new, never a mixture, and what is left over is cleared away."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.crash import dying, naive
from vault_memory.files import rename
from vault_memory.files.atomic import PREFIX
from vault_memory.files.ignore import Ignore
from vault_memory.files.scan import scan
from vault_memory.files.store import NoteStore
from vault_memory.files.versions import Versions

OLD = b"old " * 5000
NEW = b"new " * 5000
OTHER = b"other " * 3000
NOW = datetime(2026, 11, 30, tzinfo=UTC)
State = dict[str, bytes]
"""Path to bytes of all notes."""


@dataclass(frozen=True)
class Change:
    """A change of a vault that holds a.md and b.md, and the states in which a kill may leave it."""

    work: Callable[[NoteStore], None]
    naive: Callable[[str], None]
    allowed: tuple[State, ...]

    @property
    def done(self) -> State:
        return self.allowed[-1]


BEFORE: State = {"a.md": OLD, "x/b.md": OTHER}


def batch(store: NoteStore) -> None:
    with store.batch():
        store.create("n/c.md", NEW)
        store.replace("a.md", NEW, OLD)
        store.move("x/b.md", "y/b.md")
        store.remove("n/c.md", NEW)


CHANGES = {
    "create": Change(
        lambda store: void(store.create("new/folder/c.md", NEW)),
        lambda root: naive.create(f"{root}/c.md", NEW),
        (BEFORE, BEFORE | {"new/folder/c.md": NEW}),
    ),
    "replace": Change(
        lambda store: void(store.replace("a.md", NEW, OLD)),
        lambda root: naive.replace(f"{root}/a.md", NEW, OLD),
        (BEFORE, BEFORE | {"a.md": NEW}),
    ),
    "move": Change(
        lambda store: void(store.move("a.md", "y/z.md")),
        lambda root: naive.move(f"{root}/a.md", f"{root}/z.md"),
        (BEFORE, {"y/z.md": OLD, "x/b.md": OTHER}),
    ),
    "remove": Change(
        lambda store: store.remove("a.md", OLD),
        lambda root: naive.remove(f"{root}/a.md", OLD),
        (BEFORE, {"x/b.md": OTHER}),
    ),
    "batch": Change(
        batch,
        lambda root: naive.replace(f"{root}/a.md", NEW, OLD),
        (
            BEFORE,
            BEFORE | {"n/c.md": NEW},
            {"a.md": NEW, "x/b.md": OTHER, "n/c.md": NEW},
            {"a.md": NEW, "y/b.md": OTHER, "n/c.md": NEW},
            {"a.md": NEW, "y/b.md": OTHER},
        ),
    ),
}


def void(_: object) -> None:
    return None


def fresh(root: Path) -> Path:
    shutil.rmtree(root, ignore_errors=True)
    (root / ".vault-memory").mkdir(parents=True)
    for path, data in BEFORE.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_bytes(data)
    return root


def state_of(root: Path) -> State:
    """What a scan shows, that is: what would be indexed."""
    return {path: (root / path).read_bytes() for path in scan(root, Ignore(root)).files}


def hidden(root: Path) -> list[str]:
    return [path.name for path in root.rglob(f"{PREFIX}*")]


def recovered(root: Path) -> State:
    NoteStore(root).recover(scan(root, Ignore(root)).leftovers)
    assert hidden(root) == []
    return state_of(root)


def check_every_kill(root: Path, change: Change, work: Callable[[], None], files: frozenset[str]) -> int:
    """Kill at the first line, the second, … until the work gets through; the number of kills."""
    for number in range(1, 2000):
        fresh(root)
        killed = dying.killed_at(number, work, files)
        assert state_of(root) in change.allowed, f"killed at line {number}"
        assert recovered(root) in change.allowed, f"recovered from line {number}"
        if not killed:
            assert state_of(root) == change.done
            return number - 1
    raise AssertionError("the work never ends")


@pytest.fixture
def platform(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The file system as it is, one without swapping renames, and one without hard links too."""
    if request.param != "swap":
        monkeypatch.setattr("ctypes.CDLL", lambda *_, **__: object())
    if request.param == "plain":
        monkeypatch.setattr(os, "link", refuse)
    rename._system_call.cache_clear()
    yield request.param
    rename._system_call.cache_clear()


def refuse(*_: object, **__: object) -> None:
    raise OSError(errno.EPERM, "no hard links here")


SWAPPING = [("swap", name, dying.CHANGING_MODULES) for name in CHANGES]
ELSEWHERE = [("link", "replace", dying.CHANGING_MODULES), ("plain", "replace", dying.CHANGING_MODULES)]
THOROUGH = [
    pytest.param(platform, name, dying.FILES_MODULES, marks=pytest.mark.slow)
    for platform in ("swap", "link", "plain")
    for name in CHANGES
]


@pytest.mark.parametrize(("platform", "name", "modules"), [*SWAPPING, *ELSEWHERE, *THOROUGH], indirect=["platform"])
def test_a_kill_at_any_line_leaves_old_or_new(
    platform: str, name: str, modules: frozenset[str], tmp_path: Path
) -> None:
    change, root = CHANGES[name], tmp_path / "vault"
    if name in ("move", "batch") and platform == "link":  # for an instant the note has both its names
        both = BEFORE | {"y/z.md": OLD}, {"a.md": NEW, "x/b.md": OTHER, "y/b.md": OTHER, "n/c.md": NEW}
        change = Change(change.work, change.naive, (*both, *change.allowed))
    kills = check_every_kill(root, change, lambda: change.work(NoteStore(root)), modules)
    assert kills > 20


@pytest.mark.parametrize("name", CHANGES)
def test_the_same_test_catches_a_broken_twin(name: str, tmp_path: Path) -> None:
    change, root = CHANGES[name], tmp_path / "vault"
    with pytest.raises(AssertionError, match="killed at line"):
        check_every_kill(root, change, lambda: change.naive(str(root)), frozenset([naive.__file__]))


def keep(folder: Path, *, until_purge: bool) -> str:
    return Versions(folder).keep("a.md", OLD, NOW, until_purge=until_purge)


def test_a_kept_version_is_whole_or_absent(tmp_path: Path) -> None:
    folder = tmp_path / "versions"
    versions = Versions(folder)
    for number in range(1, 500):
        shutil.rmtree(folder, ignore_errors=True)
        killed = dying.killed_at(number, lambda: void(keep(folder, until_purge=True)))
        kept = versions.list("a.md")
        assert [versions.get("a.md", version.revision) for version in kept] in ([], [OLD])
        if not killed:
            assert len(kept) == 1
            break
    assert number > 20


def test_a_base_becomes_permanent_without_a_moment_of_absence(tmp_path: Path) -> None:
    folder = tmp_path / "versions"
    versions = Versions(folder)
    for number in range(1, 500):
        shutil.rmtree(folder, ignore_errors=True)
        revision = keep(folder, until_purge=False)
        killed = dying.killed_at(number, lambda: void(keep(folder, until_purge=True)))
        assert versions.get("a.md", revision) == OLD
        if not killed:
            assert [version.until_purge for version in versions.list("a.md")] == [True]
            break
    assert number > 20
