"""Four processes that write, a person who edits, and automatic commits beside them: one clean history."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.files.git_vault import GitVault, isolate
from vault_memory.files.lock import FileLock

REPOSITORY = Path(__file__).parents[2]
WRITER = """
import random, sys
from pathlib import Path
from tests.files.test_commits_processes import write_mixed
write_mixed(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
"""


def write_mixed(root: Path, number: int, count: int) -> None:
    """What one process does: creates, edits, moves and removes notes, its own and shared ones, and flushes at times."""
    chance = random.Random(number)
    vault = GitVault(root)
    vault.keep = _keeper(root, number)  # type: ignore[method-assign]
    vault.commits._keep = vault.keep
    lock = FileLock(root / ".vault-memory" / "state" / "vault.lock", wait_seconds=60)
    for step in range(count):
        with lock:
            _one_write(vault, chance, f"w{number}-{step}")
        if chance.random() < 0.2:
            vault.flush()
    vault.commits.close()


def _one_write(vault: GitVault, chance: random.Random, mark: str) -> None:
    notes = sorted(file.relative_to(vault.root).as_posix() for file in (vault.root / "memories").glob("*.md"))
    kind = chance.choice(["create", "edit", "edit", "edit", "move", "remove"]) if notes else "create"
    path = chance.choice(notes) if notes else ""
    old = (vault.root / path).read_text() if path else ""
    if kind == "create":
        changes = [vault.change(f"memories/{mark}.md", f"{mark}\n", f"remember-{mark}", mark[:2])]
    elif kind == "edit":
        changes = [vault.change(path, f"{old}{mark}\n", f"append-{mark}", mark[:2])]
    elif kind == "move":
        changes = [vault.change(f"memories/{mark}.md", old, f"move-{mark}", mark[:2]),
                   vault.change(path, None, f"move-{mark}", mark[:2])]  # fmt: skip
    else:
        changes = [vault.change(path, None, f"delete-{mark}", mark[:2])]
    assert vault.commits.record(changes)
    if kind in ("create", "edit"):
        with (vault.root / ".vault-memory" / f"wrote-{mark[:2]}").open("a") as file:
            file.write(f"{mark}\n")


def _keeper(root: Path, number: int):  # type: ignore[no-untyped-def]
    def keep(change, reason):  # type: ignore[no-untyped-def]
        with (root / ".vault-memory" / f"kept{number}").open("ab") as file:
            file.write((change.before or b"") + (change.after or b""))

    return keep


def _backups(vault: GitVault, writers: list[subprocess.Popen[bytes]], chance: random.Random) -> None:
    """Edit a note of one's own and commit everything now and then, as obsidian-git would."""
    while any(writer.poll() is None for writer in writers):
        vault.hand("diary.md", f"{chance.random()}\n")
        vault.person("add", "-A", ok=False)
        vault.person("commit", "-q", "-m", "vault backup", ok=False)
        time.sleep(chance.random() * 0.1)


@pytest.mark.parametrize("writes", [pytest.param(25, id="short"), pytest.param(200, id="long", marks=pytest.mark.slow)])
@pytest.mark.timeout(900)
def test_four_writers_and_a_backup_make_one_clean_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name, value in isolate(tmp_path / "home", dict(os.environ)).items():
        monkeypatch.setenv(name, value)
    vault = GitVault(tmp_path / "vault")
    (vault.root / "memories").mkdir()
    (vault.root / ".vault-memory" / "state").mkdir(parents=True)
    vault.hand("diary.md", "0\n")
    vault.commit_by_hand("start")
    vault.commits._keep = _keeper(vault.root, 4)
    command = [sys.executable, "-c", WRITER, str(vault.root)]
    writers = [subprocess.Popen([*command, str(n), str(writes)], cwd=REPOSITORY) for n in range(4)]
    _backups(vault, writers, random.Random(7))
    assert [writer.returncode for writer in writers] == [0, 0, 0, 0]
    assert vault.flush().left == 0

    assert "vault backup" in vault.messages()
    assert any("Memory-Operation" in body for body in vault.person("log", "--format=%B%x01").split("\x01"))
    assert vault.empty_commits() == []
    assert vault.person("log", "--merges", "--format=%H") == ""
    assert vault.person("fsck", "--no-dangling") == ""
    assert not (vault.root / ".git" / "index.lock").exists()
    assert set(vault.status().split()) <= {"M", "diary.md"}
    _no_foreign_path(vault)
    _nothing_lost(vault)


def _no_foreign_path(vault: GitVault) -> None:
    """No commit that the tool made holds the person's diary."""
    form = "--format=%x01%s%x02%(trailers:key=Memory-Operation)%x02"
    for block in vault.person("log", "--name-only", form).split("\x01")[1:]:
        subject, trailers, names = block.split("\x02")
        if trailers.strip() or subject.startswith("Edited by hand"):
            assert all(name.startswith("memories/") for name in names.split())


def _nothing_lost(vault: GitVault) -> None:
    """Every line that a writer added is in some commit or among the kept bytes, and HEAD holds what the disk holds."""
    texts = vault.person("log", "-p", "--no-renames", "--format=", "--no-color")
    kept = "".join(file.read_text() for file in (vault.root / ".vault-memory").glob("kept*"))
    found = {line[1:] for line in texts.splitlines() if line.startswith("+")} | set(kept.splitlines())
    wrote = "".join(file.read_text() for file in (vault.root / ".vault-memory").glob("wrote-*")).split()
    assert len(wrote) > 40
    assert set(wrote) <= found
    disk = {file.name for file in (vault.root / "memories").glob("*.md")}
    assert {name.removeprefix("memories/") for name in vault.person("ls-files", "memories").split()} == disk
