"""A vault in a real repository with a person at it, for the tests of the git layer."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from vault_memory.files.commits import AutoCommit, Commits, Flushed
from vault_memory.files.git import Git, Repository
from vault_memory.files.queue import Change

START = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
PERSON = "Ada Person"
EMAIL = "ada@example.org"


class GitVault:
    """A folder with `git init` done, the person's git, and our write-and-record."""

    def __init__(self, root: Path, top: Path | None = None, auto_commit: AutoCommit = "auto") -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self.top = top or root
        if not (self.top / ".git").exists():
            person_git(self.top, "init", "-q", "-b", "main")
        (self.top / ".git" / "info" / "exclude").write_text(".vault-memory/\n")
        self.git = Git(root)
        self.kept: list[tuple[Change, str]] = []
        self.commits = Commits(self.git, root / ".vault-memory" / "state", self.keep, auto_commit=auto_commit)
        self.ticks = 0

    def keep(self, change: Change, reason: str) -> None:
        self.kept.append((change, reason))

    @property
    def repository(self) -> Repository:
        assert self.git.repository is not None, self.git.problem
        return self.git.repository

    def change(
        self,
        path: str,
        text: str | bytes | None,
        operation: str = "",
        agent: str | None = "claude",
        session: str = "s1",
    ) -> Change:
        """Write as the tool does (the bytes before are those on disk) without queueing."""
        self.ticks += 1
        file = self.root / path
        before = file.read_bytes() if file.exists() else None
        after = text.encode() if isinstance(text, str) else text
        if after is None:
            file.unlink()
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(after)
        at = START + timedelta(seconds=self.ticks)
        return Change(path, before, after, operation or f"update-{self.ticks:04}", at, agent, session)

    def tool(self, path: str, text: str | bytes | None, operation: str = "", agent: str | None = "claude") -> bool:
        """One write of the tool, queued."""
        return self.commits.record([self.change(path, text, operation, agent)])

    def hand(self, path: str, text: str | None) -> None:
        """One edit by the person in an editor."""
        file = self.root / path
        if text is None:
            file.unlink()
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def flush(self) -> Flushed:
        return self.commits.flush()

    def person(self, *arguments: str, ok: bool = True) -> str:
        return person_git(self.top, *arguments, ok=ok)

    def commit_by_hand(self, message: str = "by hand", *paths: str) -> None:
        self.person("add", "-A", *(["--", *paths] if paths else []))
        self.person("commit", "-q", "-m", message)

    def messages(self) -> list[str]:
        """Subjects, oldest first."""
        return self.person("log", "--reverse", "--format=%s").splitlines()

    def at(self, commit: str, path: str) -> str:
        return self.person("show", f"{commit}:{path}")

    def status(self) -> str:
        return self.person("status", "--porcelain")

    def empty_commits(self) -> list[str]:
        """Commits (merges aside) whose tree is their parent's."""
        lines = self.person("log", "--no-merges", "--format=%H %T %P").splitlines()
        trees = {line.split()[0]: line.split()[1] for line in self.person("log", "--format=%H %T").splitlines()}
        return [c for c, tree, *parents in map(str.split, lines) if parents and trees.get(parents[0]) == tree]


def person_git(folder: Path, *arguments: str, ok: bool = True, stdin: str = "") -> str:
    """Run the person's git, with no overrides of ours."""
    done = subprocess.run(
        ["git", "-c", "advice.detachedHead=false", *arguments],
        cwd=folder, capture_output=True, text=True, input=stdin, env=os.environ | {"GIT_EDITOR": "true"},
    )  # fmt: skip
    assert not ok or done.returncode == 0, f"git {arguments}: {done.stderr}{done.stdout}"
    return done.stdout


def isolate(home: Path, environ: dict[str, str], identity: bool = True) -> dict[str, str]:
    """Variables for a git that sees no configuration of this machine, with or without an identity."""
    home.mkdir(exist_ok=True)
    config = home / ".gitconfig"
    config.write_text(f"[user]\n\tname = {PERSON}\n\temail = {EMAIL}\n" if identity else "")
    cleaned = {key: value for key, value in environ.items() if not key.startswith("GIT_")}
    return cleaned | {"HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": str(config), "EMAIL": ""}


def subjects(messages: Sequence[str], start: str) -> list[str]:
    return [message for message in messages if message.startswith(start)]
