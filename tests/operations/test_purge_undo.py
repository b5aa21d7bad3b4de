"""purge leaves no copy of a text that no commit holds; undo brings back bytes and never overwrites a later edit."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from vault_memory import init_vault, open_vault
from vault_memory.errors import ConfirmationNeeded, InvalidRequest, MemoryNotFound, RevisionConflict
from vault_memory.surfaces.python import VaultMemory

WORD = "zebrafish"


@pytest.fixture(params=[True, False], ids=["git", "no git"])
def vm(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[VaultMemory]:
    init_vault(tmp_path, git=request.param)
    with open_vault(tmp_path, environ={}, session="s1") as opened:
        yield opened


def holding(root: Path, word: str) -> list[str]:
    """Every file below the vault, state, index and git objects included, that holds the word."""
    return [str(p) for p in sorted(root.rglob("*")) if p.is_file() and word.encode() in p.read_bytes().lower()]


def log(root: Path) -> str:
    return subprocess.run(["git", "log", "--all", "-p"], cwd=root, capture_output=True, text=True, check=True).stdout


def operation(vm: VaultMemory, name: str) -> str:
    entries = [entry for entry in vm._vault.audit.entries() if entry["operation"] == name]
    return str(entries[-1]["id"])


def test_purge_wants_the_exact_phrase_and_shows_its_plan(vm: VaultMemory) -> None:
    memory = vm.remember(content=f"The {WORD} plan").memory
    for phrase in (None, "DELETE", f"delete {memory.id}", f"DELETE {memory.id} "):
        with pytest.raises(ConfirmationNeeded) as needed:
            vm.purge(ref=memory.id, confirm_phrase=phrase)
        assert needed.value.extra["phrase"] == f"DELETE {memory.id}"
        assert needed.value.extra["plan"]["path"] == memory.path
    assert vm.get(refs=[memory.id]).memories[0].content == f"The {WORD} plan"


def test_purge_of_an_uncommitted_note_leaves_no_trace_anywhere(vm: VaultMemory, tmp_path: Path) -> None:
    """The title is in the link of the other note, whose history it belongs to, so it says nothing here."""
    other = vm.remember(content="Whales sing at night").memory
    memory = vm.remember(content=f"The {WORD} plan", title="Plan", reason=f"{WORD} told me").memory
    vm.update(ref=memory.id, content=f"The {WORD} plan, second text")
    vm.remember(content=f"The {WORD} plan 2, second text")
    vm.relate(from_ref=other.id, to_ref=memory.id, relation_type="depends_on", note="why")
    vm.search(query=WORD)
    vm._vault.indexes.applier.apply(wait=True)
    second = vm.list(q="plan 2").items[0]
    assert holding(tmp_path, WORD)
    for gone in (memory, second):
        answer = vm.purge(ref=gone.id, confirm_phrase=f"DELETE {gone.id}")
        assert answer.outcome == "purged"
        assert answer.command is None
    assert vm.get(refs=[other.id]).memories[0].relations == {}
    assert vm.review().total == 0
    vm.close()
    assert holding(tmp_path, WORD) == []
    if (tmp_path / ".git").exists():
        assert WORD not in log(tmp_path)


def test_purge_says_that_commits_still_hold_it_and_its_command_clears_them(tmp_path: Path) -> None:
    init_vault(tmp_path)
    with open_vault(tmp_path, environ={}) as vm:
        memory = vm.remember(content=f"The {WORD} plan").memory
        vm._vault.commits.flush()
        (tmp_path / memory.path).write_text(f"My unsaved thoughts on the {WORD}")
        answer = vm.purge(ref=memory.path, confirm_phrase=f"DELETE {memory.path}")
    assert answer.in_git_history
    assert "unsaved thoughts" not in log(tmp_path)
    assert subprocess.run(answer.command, shell=True, capture_output=True, check=False).returncode == 0
    assert f"The {WORD} plan" not in log(tmp_path)


def test_undo_of_an_operation_brings_back_the_bytes_as_one_new_write(vm: VaultMemory, tmp_path: Path) -> None:
    memory = vm.remember(content="Rate limit is 100").memory
    before = (tmp_path / memory.path).read_bytes()
    vm.update(ref=memory.id, content="Rate limit is 1000")
    done = vm.undo(operation=operation(vm, "update"))
    assert done.restored == (memory.path,)
    assert (tmp_path / memory.path).read_bytes() == before
    assert vm.get(refs=[memory.id]).memories[0].content == "Rate limit is 100"
    again = vm.undo(operation=done.operation)
    assert again.restored == (memory.path,)
    assert vm.get(refs=[memory.id]).memories[0].content == "Rate limit is 1000"


def test_undo_of_a_session_takes_back_all_it_wrote_and_nothing_else(tmp_path: Path) -> None:
    init_vault(tmp_path)
    with open_vault(tmp_path, environ={}, session="old") as vm:
        memory = vm.remember(content="Lions sleep").memory
    with open_vault(tmp_path, environ={}, session="bad") as vm:
        vm.update(ref=memory.id, content="Lions never sleep")
        vm.update(ref=memory.id, tags=["wrong"])
        made = vm.remember(content="Something made up entirely").memory
        vm.forget(ref=memory.id)
        done = vm.undo(session="bad")
        assert done.restored == (memory.path,)
        assert done.removed == (made.path,)
        back = vm.get(refs=[memory.id]).memories[0]
        assert (back.content, back.tags, back.status) == ("Lions sleep", (), "active")
        with pytest.raises(MemoryNotFound):
            vm.get(refs=[made.id])


def test_undo_names_a_later_edit_and_leaves_it(vm: VaultMemory, tmp_path: Path) -> None:
    batch = vm.remember_many(memories=[{"content": "Tigers roam"}, {"content": "Bees hum softly"}])
    first, second = (one.memory for one in batch.results)
    by_hand = (tmp_path / first.path).read_text() + "\nMy own line."
    (tmp_path / first.path).write_text(by_hand)
    done = vm.undo(operation=operation(vm, "remember_many"))
    assert [clash.path for clash in done.conflicts] == [first.path]
    assert done.removed == (second.path,)
    assert (tmp_path / first.path).read_text() == by_hand
    with pytest.raises(RevisionConflict):
        vm.undo(operation=operation(vm, "remember_many"))


def test_undo_of_a_move_puts_note_and_links_back(vm: VaultMemory, tmp_path: Path) -> None:
    memory = vm.remember(content="Tigers roam").memory
    linking = vm.remember(content="See [[tigers-roam]] for cats").memory
    texts = {path: (tmp_path / path).read_bytes() for path in (memory.path, linking.path)}
    vm.move(ref=memory.id, path="elsewhere/cats.md")
    vm.undo(operation=operation(vm, "move"))
    assert {path: (tmp_path / path).read_bytes() for path in texts} == texts
    assert not (tmp_path / "elsewhere/cats.md").exists()


def test_undo_in_another_project_finds_nothing(tmp_path: Path) -> None:
    init_vault(tmp_path)
    with open_vault(tmp_path, environ={}, project="p") as vm:
        vm.remember(content="Only for p")
        name = operation(vm, "remember")
    with open_vault(tmp_path, environ={}, project="q") as vm, pytest.raises(MemoryNotFound):
        vm.undo(operation=name)


def test_a_dry_run_of_undo_changes_nothing(vm: VaultMemory, tmp_path: Path) -> None:
    memory = vm.remember(content="Tigers roam").memory
    planned = vm.undo(operation=operation(vm, "remember"), dry_run=True)
    assert planned.removed == (memory.path,)
    assert (tmp_path / memory.path).exists()
    with pytest.raises(InvalidRequest):
        vm.undo()
