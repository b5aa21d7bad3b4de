"""export, import and backup as commands: what a person types, sees and gets as exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from vault_memory import init_vault


class Shell:
    """Runs commands on one vault."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        init_vault(folder / "vault", git=False)

    def __call__(self, *words: str, code: int = 0, text: str = "") -> str:
        done = subprocess.run(
            [sys.executable, "-m", "vault_memory", *words, "--vault", "vault"], cwd=self.folder, input=text.encode(),
            capture_output=True, check=False,
            env={"PATH": os.environ["PATH"], "HOME": str(self.folder), "VAULT_MEMORY_CONFIG": "/nonexistent"},
        )  # fmt: skip
        assert done.returncode == code, done.stderr.decode()
        return done.stdout.decode()


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


SNAPSHOT = json.dumps([
    {"id": "good", "actorId": "bot", "content": "Actors come along", "createdAt": "2024-01-01T00:00:00Z"},
    {"id": "bad", "content": ""},
])  # fmt: skip


def test_a_plan_comes_first_and_a_bad_record_shows_in_the_exit_code(shell: Shell) -> None:
    plan = json.loads(shell("import", "-", "--json", text=SNAPSHOT, code=3))
    assert (plan["executed"], plan["counts"]) == (False, {"new": 1, "refused": 1})
    assert json.loads(shell("export", "--format", "memstack"))["memories"] == []
    done = json.loads(shell("import", "-", "--execute", "--json", text=SNAPSHOT, code=3))
    assert (done["executed"], done["refs"]) == (True, ["good"])
    assert "bad" in shell("import", "-", text=SNAPSHOT, code=3)


def test_the_owners_export_holds_every_actor_unless_one_is_named(shell: Shell) -> None:
    shell("import", "-", "--execute", text=SNAPSHOT, code=3)
    assert [one["actorId"] for one in json.loads(shell("export", "--format", "memstack"))["memories"]] == ["bot"]
    assert json.loads(shell("export", "--format", "memstack", "--actor", "other"))["memories"] == []
    told = shell("export", "notes out", "--format", "notes")
    assert "notes out" in told
    assert list((shell.folder / "notes out").rglob("*.md"))
    shell("export", "notes out", code=2)


def test_a_secret_goes_in_only_when_the_person_says_so(shell: Shell) -> None:
    text = json.dumps([{"id": "key", "content": "the token is ghp_" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1bC3"}])
    assert "ghp_" not in shell("import", "-", "--execute", text=text, code=3)
    assert json.loads(shell("import", "-", "--execute", "--allow-secret", "--json", text=text))["counts"] == {"new": 1}
