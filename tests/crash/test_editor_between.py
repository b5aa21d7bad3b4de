"""An editor saves between any two lines of a write: its text stays in place or is handed over, never lost."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.crash import dying, naive
from vault_memory.files import rename
from vault_memory.files.atomic import PREFIX, FileChanged
from vault_memory.files.ignore import Ignore
from vault_memory.files.scan import scan
from vault_memory.files.store import NoteStore

OLD, NEW, EDITED = b"old text\n", b"new text of ours\n", b"what a person typed meanwhile\n"
MOST_LINES = 1000
ATOMIC = frozenset(path for path in dying.CHANGING_MODULES if path.endswith(("atomic.py", "rename.py")))


def save_by_rename(note: Path) -> None:
    """As most editors do."""
    temp = note.with_name(".swap-of-the-editor")
    temp.write_bytes(EDITED)
    temp.replace(note)


def save_in_place(note: Path) -> None:
    """As Obsidian and nano do."""
    note.write_bytes(EDITED)


def save_by_backup(note: Path) -> None:
    """As vim does with `backupcopy=no`: the old file steps aside."""
    if note.exists():
        note.rename(note.with_name(note.name + "~"))
    note.write_bytes(EDITED)
    note.with_name(note.name + "~").unlink(missing_ok=True)


SAVES = {"rename": save_by_rename, "in place": save_in_place, "backup": save_by_backup}


def fresh(root: Path) -> Path:
    shutil.rmtree(root, ignore_errors=True)
    (root / ".vault-memory").mkdir(parents=True)
    (root / "a.md").write_bytes(OLD)
    return root / "a.md"


def replace(root: Path) -> None:
    NoteStore(root).replace("a.md", NEW, OLD)


def remove(root: Path) -> None:
    NoteStore(root).remove("a.md", OLD)


def naive_replace(root: Path) -> None:
    naive.replace_unseen(f"{root}/a.md", NEW, OLD)


def lines_at_which_a_save_is_lost(
    root: Path, work: Callable[[Path], None], save: Callable[[Path], None], files: frozenset[str]
) -> list[int]:
    """Let an editor save before the first line, the second, … of the work; where its text is gone afterwards."""
    lost = []
    for number in range(1, MOST_LINES):
        note = fresh(root)

        def interrupted(number: int = number, note: Path = note) -> None:
            saved: list[int] = []

            def act() -> None:
                save(note)
                saved.append(number)

            dying.at_line(number, files, act)
            told: bytes | None = EDITED
            try:
                work(root)
            except FileChanged as change:
                told = change.current
            os._exit(1 if told != EDITED else 0 if saved else 3)

        code = dying.in_fork(interrupted)
        assert code in (0, 3), f"the work failed when a save came at line {number}"
        if code == 3:
            assert number > 5
            return lost
        if not note.exists() or note.read_bytes() != EDITED:
            lost.append(number)
        assert [path.name for path in root.glob(f"{PREFIX}*")] == []
    raise AssertionError("the work never ends")


@pytest.mark.parametrize("save", SAVES)
def test_a_save_during_a_replacement_stays(save: str, tmp_path: Path) -> None:
    assert lines_at_which_a_save_is_lost(tmp_path / "v", replace, SAVES[save], dying.CHANGING_MODULES) == []


@pytest.mark.parametrize(
    "save", ["rename", *(pytest.param(name, marks=pytest.mark.slow) for name in SAVES if name != "rename")]
)
def test_a_save_during_a_removal_stays(save: str, tmp_path: Path) -> None:
    lost = lines_at_which_a_save_is_lost(tmp_path / "v", remove, SAVES[save], dying.CHANGING_MODULES)
    assert lost == []


def test_a_write_that_compares_only_before_loses_a_save(tmp_path: Path) -> None:
    files = frozenset([naive.__file__])
    assert lines_at_which_a_save_is_lost(tmp_path / "v", naive_replace, save_by_rename, files) != []


def test_without_swapping_renames_only_the_last_microseconds_are_blind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ctypes.CDLL", lambda *_, **__: object())
    rename._system_call.cache_clear()
    try:
        lost = lines_at_which_a_save_is_lost(tmp_path / "v", replace, save_by_rename, dying.CHANGING_MODULES)
    finally:
        rename._system_call.cache_clear()
    assert len(lost) <= 2, "only after the last look at the inode and before the rename"


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("work", [replace, remove])
def test_a_save_followed_by_a_kill_at_any_later_line_is_found_again(
    work: Callable[[Path], None], tmp_path: Path
) -> None:
    root = tmp_path / "v"
    for save_at in range(1, MOST_LINES):
        for kill_after in range(1, MOST_LINES):
            note = fresh(root)

            def interrupted(save_at: int = save_at, kill_after: int = kill_after, note: Path = note) -> None:
                def save_and_die_later() -> None:
                    save_by_rename(note)
                    dying.at_line(kill_after, ATOMIC, dying.die)

                dying.at_line(save_at, ATOMIC, save_and_die_later)
                try:
                    work(root)
                except FileChanged:
                    os._exit(0)
                os._exit(3 if (note.exists() and note.read_bytes() == NEW) or not note.exists() else 0)

            code = dying.in_fork(interrupted)
            if code == 3:
                return
            NoteStore(root).recover(scan(root, Ignore(root)).leftovers)
            texts = [(root / path).read_bytes() for path in scan(root, Ignore(root)).files]
            assert EDITED in texts, f"saved at {save_at}, killed {kill_after} lines later"
            if code != dying.KILLED:
                break
    raise AssertionError("the work never ends")
