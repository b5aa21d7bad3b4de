"""The whole product on one vault: the installed program, a watcher in its own process, a person with git."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.files.git_vault import person_git

PROGRAM = [sys.executable, "-m", "vault_memory"]


def until(true: Callable[[], object], seconds: float = 20.0, pause: float = 0.05) -> float:
    """Wait until something holds; after how many seconds it did. Fails when it never does."""
    started = time.monotonic()
    while not true():
        if time.monotonic() - started > seconds:
            raise AssertionError(f"not within {seconds} s")
        time.sleep(pause)
    return time.monotonic() - started


class Product:
    """A vault and the processes on it."""

    def __init__(self, root: Path, init: Sequence[str] = ()) -> None:
        self.root = root
        self.watcher: subprocess.Popen[str] | None = None
        self.cli("init", str(root), "--no-default", *init)

    def cli(self, *arguments: str, at: Path | None = None, ok: bool = True) -> subprocess.CompletedProcess[str]:
        """One command line in a process of its own."""
        vault = [] if arguments[0] in ("init", "hook") or at is not None else ["--vault", str(self.root)]
        done = subprocess.run(
            [*PROGRAM, *arguments, *vault],
            capture_output=True,
            text=True,
            cwd=at or Path.cwd(),
            stdin=subprocess.DEVNULL,
        )
        assert not ok or done.returncode == 0, f"{arguments}: {done.stderr}{done.stdout}"
        return done

    def ask(self, *arguments: str) -> Any:
        """The answer of a command as JSON."""
        return json.loads(self.cli(*arguments, "--json").stdout)

    def found(self, query: str) -> list[str]:
        """Paths that a search answers with, best first, searched by words so that only real matches count."""
        return [hit["memory"]["path"] for hit in self.ask("search", query, "--mode", "keyword")["hits"]]

    def git(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The person's git, whose exit code is looked at."""
        return subprocess.run(["git", *arguments], cwd=self.root, capture_output=True, text=True)

    def commit_all(self, message: str = "by hand") -> None:
        """What a person does at the end of the day."""
        person_git(self.root, "add", "-A")
        person_git(self.root, "commit", "-q", "-m", message)

    def watch(self, wrapped: Sequence[str] = ()) -> None:
        """Start `vault-memory watch`, as a command of `wrapped`, and wait until it watches; once."""
        if self.watcher is not None:
            return
        self.watcher = subprocess.Popen(
            [*wrapped, *PROGRAM, "watch", "--vault", str(self.root)],
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        until(lambda: self.ask("status")["watcher"]["running"])

    def kill_watcher(self) -> None:
        """kill -9."""
        assert self.watcher is not None
        self.watcher.kill()
        self.watcher.communicate()
        self.watcher = None

    def stop(self) -> int:
        """End the watcher as a service manager does; its exit code."""
        if self.watcher is None:
            return 0
        self.watcher.send_signal(signal.SIGTERM)
        self.watcher.communicate(timeout=30)
        code, self.watcher = self.watcher.returncode, None
        return code

    def cpu_seconds(self) -> float:
        """What the watcher's process has used so far."""
        assert self.watcher is not None
        fields = Path(f"/proc/{self.watcher.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
