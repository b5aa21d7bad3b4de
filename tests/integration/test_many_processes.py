"""Processes that write to one vault at the same time, and clones that write to the same notes at different times."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from tests.files.git_vault import person_git
from tests.integration.product import Product, until
from vault_memory import open_vault

WRITER = """
import sys
from vault_memory import open_vault
from vault_memory.errors import RevisionConflict, VaultLocked
root, me, writes = sys.argv[1], sys.argv[2], int(sys.argv[3])

def insisting(write):
    while True:
        try:
            return write()
        except (RevisionConflict, VaultLocked):
            continue

with open_vault(root, agent=f"agent{me}", session=f"session{me}") as vm:
    own = []
    for n in range(writes):
        kind = n % 4
        if kind in (0, 1):
            made = vm.remember(content=f"quarry {me}x{n} opens", title=f"Quarry {me}x{n}", force=True,
                               on_duplicate="keep_both")
            own.append(made.memory.id)
        elif kind == 2:
            insisting(lambda: vm.append(ref="shared.md", text=f"line {me}x{n}"))
        else:
            insisting(lambda: vm.update(ref=own[-1], importance=0.75))
        if n % 10 == 9:
            vm._vault.commits.flush()
"""


@pytest.mark.parametrize("writes", [16, pytest.param(200, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])])
def test_four_processes_a_watcher_and_commits_lose_nothing(make: Callable[..., Product], writes: int) -> None:
    product = make()
    root = product.root
    (root / "shared.md").write_text("# Shared\n")
    (root / "a person's.md").write_text("not committed by any tool\n")
    person_git(root, "add", "shared.md")
    person_git(root, "commit", "-q", "-m", "shared")
    product.watch()
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(root), str(me), str(writes)], stderr=subprocess.PIPE)
        for me in range(4)
    ]
    for writer in writers:
        assert writer.wait(timeout=1500) == 0, writer.stderr and writer.stderr.read().decode()
        assert writer.stderr
        writer.stderr.close()
    (root / "shared.md").write_text((root / "shared.md").read_text() + "the end\n")
    assert product.stop() == 0

    with open_vault(root) as vm:
        vm.list()
        vm._vault.commits.flush()
        items = [item for page in range(0, 2000, 100) for item in vm.list(limit=100, offset=page, touch=False).items]
        assert vm._vault.commits.queue is not None
        assert len(vm._vault.commits.queue) == 0
    titles = sorted(item.title for item in items if item.title.startswith("Quarry"))
    assert titles == sorted(f"Quarry {me}x{n}" for me in range(4) for n in range(writes) if n % 4 < 2)
    ids = [item.id for item in items if item.id]
    assert len(ids) == len(set(ids))
    assert {item.importance for item in items if item.title.startswith("Quarry") and updated(item.title)} == {0.75}
    lines = (root / "shared.md").read_text().split()
    for me in range(4):
        for n in range(2, writes, 4):
            assert lines.count(f"{me}x{n}") == 1, (me, n)
    history_is_clean(root)


def updated(title: str) -> bool:
    """Whether this note is one that its writer updated: the second of two."""
    return int(title.rpartition("x")[2]) % 4 == 1


def history_is_clean(root: Path) -> None:
    """One line of commits, none of them empty, none with a path that no tool wrote, and the whole of what was."""
    assert person_git(root, "log", "--merges", "--format=%h") == ""
    trees = [line.split() for line in person_git(root, "log", "--format=%T").splitlines()]
    assert all(one != other for one, other in pairwise(trees)), "an empty commit"
    assert "person's" not in person_git(root, "log", "--name-only", "--format=")
    status = person_git(root, "status", "--porcelain", "-uall").splitlines()
    assert sorted(status) == [" M shared.md", '?? "a person\'s.md"']
    person_git(root, "fsck", "--strict")


def test_two_clones_that_edit_the_same_notes_merge_where_they_may(make: Callable[..., Product], tmp_path: Path) -> None:
    ours = make(root=tmp_path / "ours")
    body = "# Plan\n\nfirst line\n\nmiddle line\n\nlast line\n"
    with open_vault(ours.root) as vm:
        apart, same, moved = (vm.remember(content=body, title=t, force=True, on_duplicate="keep_both") for t in "ASM")
    clone = tmp_path / "theirs"
    person_git(tmp_path, "clone", "-q", str(ours.root), str(clone))
    theirs = make(root=clone)  # init sets the merge driver up in this clone
    with open_vault(ours.root) as vm:
        vm.update(ref=apart.memory.id, importance=0.9, tags=["ours"])
        vm.update(ref=apart.memory.id, content=body.replace("first line", "first line of ours"))
        vm.update(ref=same.memory.id, content=body.replace("middle line", "middle line of ours"))
        vm.append(ref=moved.memory.id, text="appended by us")
    with open_vault(clone) as vm:
        vm.update(ref=apart.memory.id, confidence=0.4, tags=["theirs"])
        vm.update(ref=apart.memory.id, content=body.replace("last line", "last line of theirs"))
        vm.update(ref=same.memory.id, content=body.replace("middle line", "middle line of theirs"))
        vm.update(ref=moved.memory.id, pinned=True)
    person_git(
        clone, "config", "merge.vault-memory.driver", f"{sys.executable} -m vault_memory git-merge %O %A %B %L %P"
    )
    merge = theirs.git("pull", "--no-rebase", "-q", "--no-edit", str(ours.root), "main")
    assert merge.returncode == 1, merge.stdout + merge.stderr
    conflicted = person_git(clone, "diff", "--name-only", "--diff-filter=U").splitlines()
    assert conflicted == [same.memory.path]
    with open_vault(clone) as vm:
        merged = vm.get(refs=[apart.memory.id]).memories[0]
        assert (merged.importance, merged.confidence, sorted(merged.tags)) == (0.9, 0.4, ["ours", "theirs"])
        assert "first line of ours" in merged.content
        assert "last line of theirs" in merged.content
        kept = vm.get(refs=[moved.memory.id]).memories[0]
        assert kept.pinned
        assert "appended by us" in kept.content
        assert vm.doctor().exit_code == 3
        note = clone / same.memory.path
        note.write_text(re.sub(r"<<<<<<<.*?\n(.*?)=======\n.*?>>>>>>>.*?\n", r"\1", note.read_text(), flags=re.S))
        person_git(clone, "add", "-A")
        person_git(clone, "commit", "-q", "--no-edit")
        until(lambda: vm.doctor().exit_code == 0)
