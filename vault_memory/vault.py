"""The vault: opens the parts, owns their lifetime, and is THE write path. Ranks nothing and renders nothing.

A write goes: vault lock → read the bytes on disk → compare the revision → patch → swap the file in, comparing what was
replaced → (at the end of the batch) folders synced, one catalog transaction, commit queue, audit → unlock.
What must hold before the answer: durable, whole, contained, in the catalog. Commits and indexes are repairable, so a
failure there is a warning in the answer, never an error.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from vault_memory.batch import Batch, Why
from vault_memory.config import CONFIG_FILE, Config
from vault_memory.errors import VaultNotFound
from vault_memory.files.store import NoteStore
from vault_memory.memory import markdown
from vault_memory.memory.ids import IdSource
from vault_memory.memory.model import Memory, revision_of

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    """The time now, UTC-aware."""
    return datetime.now(UTC)


class Vault:
    """One open vault. Usable from several threads, not across fork; close it, or use it in a `with` statement."""

    def __init__(self, root: Path, config: Config, *, clock: Clock = system_clock) -> None:
        self.config = config
        self.clock = clock
        self.store = NoteStore(root)
        self.root = self.store.root
        self.ids = IdSource(secrets.randbelow)
        self._threads = threading.RLock()

    @classmethod
    def open(cls, root: Path, config: Config, *, clock: Clock = system_clock) -> Vault:
        """The vault at `root`, with what a killed writer left behind put right.

        Raises:
            VaultNotFound: there is no vault there.
        """
        if not (root / CONFIG_FILE.parent).is_dir():
            raise VaultNotFound(f"{root} is no vault", hint=f"make one with: vault-memory init {root}")
        return cls(root, config, clock=clock)

    def __enter__(self) -> Vault:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Commit what waits, apply what an index lacks when little is left, and give up every file."""
        opened = vars(self)
        if "commits" in opened:
            self.commits.flush()
            self.commits.close()
        if "catalog" in opened:
            self.catalog.close()
        if "usage" in opened:
            self.usage.close()

    # The parts, each opened when it is first needed.

    @cached_property
    def places(self) -> Places:
        """Where index/ and state/ are: in the vault, or in the user's folders when the vault is on a synced disk."""
        return places_of(self.root)

    @cached_property
    def usage(self) -> Usage:
        """When memories were last read."""
        from vault_memory.index.usage import Usage

        return Usage(self.places.state / "usage.sqlite")

    @cached_property
    def catalog(self) -> Catalog:
        """Everything known about the notes."""
        from vault_memory.index.catalog import Catalog

        return Catalog.open(self.places.index, usage=self.usage.path)

    @cached_property
    def embedder(self) -> Embedder | None:
        """The embedding model; None when it cannot be loaded, and then notes are found by their words only."""
        from vault_memory.index.embed import ModelUnavailable, load_embedder

        try:
            return load_embedder(self.config.index.model)
        except ModelUnavailable:
            return None

    @cached_property
    def git(self) -> Git:
        """The vault's git, if it has one."""
        return Git(self.root)

    @cached_property
    def commits(self) -> Commits:
        """The queue of our writes on their way into commits."""
        return Commits(self.git, self.places.state, self._keep, auto_commit=self.config.git.auto_commit)

    @cached_property
    def versions(self) -> Versions:
        """Replaced texts that no commit holds, and merge bases."""
        return Versions(self.places.state / "versions")

    @cached_property
    def audit(self) -> AuditLog:
        """Every write, who and why."""
        return AuditLog(self.places.state / "audit.jsonl")
