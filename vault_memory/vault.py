"""The vault: opens the parts, owns their lifetime, and is THE write path. Ranks nothing and renders nothing.

A write goes: vault lock → read the bytes on disk → compare the revision → patch → swap the file in, comparing what was
replaced → (at the end of the batch) folders synced, one catalog transaction, commit queue, audit → unlock.
What must hold before the answer: durable, whole, contained, in the catalog. Commits and indexes are repairable, so a
failure there is a warning in the answer, never an error.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from vault_memory.config import CONFIG_FILE, Config
from vault_memory.errors import MalformedNote, VaultError, VaultNotFound
from vault_memory.files.audit import AuditLog
from vault_memory.files.ignore import Ignore
from vault_memory.files.lease import Lease
from vault_memory.files.lock import FileLock
from vault_memory.files.places import Folders, folders_of
from vault_memory.files.scan import GAP_SECONDS
from vault_memory.files.store import NoteStore
from vault_memory.files.versions import Versions
from vault_memory.memory.ids import IdSource
from vault_memory.memory.model import MEMORY_TYPES, RELATION_TYPES, Memory, revision_of
from vault_memory.memory.scope import UNBOUND, Scope

if TYPE_CHECKING:
    from vault_memory.batch import Batch, Why, Written
    from vault_memory.files.commits import Commits
    from vault_memory.files.git import Git
    from vault_memory.files.history import Version
    from vault_memory.files.queue import Change
    from vault_memory.index.catalog import Catalog
    from vault_memory.index.indexes import Indexes
    from vault_memory.index.local import Local
    from vault_memory.index.provenance import Provenances
    from vault_memory.index.read import Derive
    from vault_memory.index.sync import Changes, Progress, Sync
    from vault_memory.index.usage import Usage

Clock = Callable[[], datetime]

REFRESH_MS: Final = 300.0
"""How long a question waits for notes that changed on disk before it is answered with what is known."""
_MANY: Final = 256
"""More notes without chunks than this are left to the process that watches, when there is one."""


def system_clock() -> datetime:
    """The time now, UTC-aware."""
    return datetime.now(UTC)


class Freshness(Struct, frozen=True):
    """How far the catalog was behind the disk when a question was answered."""

    changed: bool
    """Something new was recorded for this question."""
    unread: int = 0
    """Changed files that there was no time to read."""
    underived: int = 0
    """Notes recorded but not searchable yet."""
    watched: bool = False
    """A watcher keeps the catalog in step, so the disk was looked at only when something had just changed."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to tell the caller when the answer may be incomplete."""
        if not self.unread and not self.underived:
            return ()
        return (f"indexing: {self.unread + self.underived} notes to go; ask again in a moment",)


class Vault:
    """One open vault. Usable from several threads, not across fork; close it, or use it in a `with` statement."""

    def __init__(self, root: Path, config: Config, *, clock: Clock = system_clock) -> None:
        self.config = config
        self.clock = clock
        self.store = NoteStore(root)
        self.root = self.store.root
        self.ids = IdSource(secrets.randbelow)
        self._threads = threading.RLock()
        self._relation_types = (*RELATION_TYPES, *config.vocabulary.relation_types)
        self._memory_types = (*MEMORY_TYPES, *config.vocabulary.memory_types)

    @classmethod
    def open(cls, root: Path, config: Config, *, clock: Clock = system_clock) -> Vault:
        """The vault at `root`; what a killed writer left behind is put right by the first look at the disk.

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
        """Let a write that is under way end, commit what waits, and give up every file."""
        with self._threads:
            self._close()

    def _close(self) -> None:
        opened = vars(self)
        if "commits" in opened:
            self.commits.flush()
            self.commits.close()
        if "catalog" in opened:
            self.catalog.close()
        if "usage" in opened:
            self.usage.close()
        if "local" in opened:
            self.local.close()

    # The parts, each opened when it is first needed.

    @cached_property
    def folders(self) -> Folders:
        """Where index/ and state/ are: in the vault, or in the user's folders when the vault is on a synced disk."""
        return folders_of(self.root)

    @cached_property
    def ignore(self) -> Ignore:
        """What is no note."""
        return Ignore(self.root, self.config.notes.ignore)

    @cached_property
    def usage(self) -> Usage:
        """When memories were last read."""
        from vault_memory.index.usage import Usage

        return Usage(self.folders.state / "usage.sqlite")

    @cached_property
    def local(self) -> Local:
        """What waits for review, and idempotency keys."""
        from vault_memory.index.local import Local

        return Local(self.folders.state / "local.sqlite")

    @cached_property
    def catalog(self) -> Catalog:
        """Everything known about the notes."""
        from vault_memory.index.catalog import Catalog

        return Catalog.open(self.folders.index, usage=self.usage.path)

    @cached_property
    def indexes(self) -> Indexes:
        """Model, chunks, full text and vectors; opened by writes and searches, never by plain reads."""
        from vault_memory.index.embed import load_embedder
        from vault_memory.index.indexes import Indexes
        from vault_memory.search.sessions import session_is_log

        settings = self.config.index
        return Indexes(
            self.catalog,
            self.folders.index,
            FileLock(self.folders.index / "apply.lock", what="The index"),
            lambda: load_embedder(settings.model),
            is_log=session_is_log,
            lancedb_from=settings.lancedb_from,
        )

    @cached_property
    def sync(self) -> Sync:
        """The way of notes into the catalog for plain reads: chunks are left to who searches."""
        return self._sync()

    @cached_property
    def full_sync(self) -> Sync:
        """The same with chunks, for writes and searches."""
        self.indexes.prepare()
        return self._sync(self.indexes.derive)

    def _sync(self, derive: Derive | None = None) -> Sync:
        from vault_memory.index.read import Reader, Vocabulary
        from vault_memory.index.sync import Sync

        words = Vocabulary(self._relation_types, self._memory_types)
        reader = Reader(self.store, vocabulary=words, provenances=self._provenances(), derive=derive)
        most = self.config.notes.max_note_bytes
        return Sync(reader, self.catalog, self.ignore, self.usage, max_bytes=most, on_replaced=self._keep_base)

    @cached_property
    def commits(self) -> Commits:
        """The queue of our writes on their way into commits."""
        from vault_memory.files.commits import Commits

        return Commits(self.git, self.folders.state, self._keep, auto_commit=self.config.git.auto_commit)

    @cached_property
    def git(self) -> Git:
        """The vault's git, if it has one."""
        from vault_memory.files.git import Git

        return Git(self.root)

    @cached_property
    def versions(self) -> Versions:
        """Replaced texts that no commit holds, and merge bases."""
        return Versions(self.folders.state / "versions")

    @cached_property
    def audit(self) -> AuditLog:
        """Every write, who and why."""
        return AuditLog(self.folders.state / "audit.jsonl")

    @cached_property
    def lease(self) -> Lease:
        """What the watcher says of itself, whichever process it runs in."""
        return Lease(self.folders.state / "watcher.lease")

    # Reading.

    def parse(self, data: bytes, path: str) -> Memory:
        """The memory these bytes hold, under the vault's vocabulary.

        Raises:
            MalformedNote: they are no text.
        """
        from vault_memory.memory import markdown

        try:
            return markdown.parse(data, path, relation_types=self._relation_types, memory_types=self._memory_types)
        except markdown.UnreadableNote as error:
            raise MalformedNote(f"{path} is not readable text: {error}", path=path) from error

    def current(self, memory: Memory, scope: Scope) -> Memory | None:
        """A recorded memory as its file has it now; None when the file is gone. What differs is recorded first."""
        try:
            data = self.store.read(memory.path)
        except FileNotFoundError:
            time.sleep(GAP_SECONDS)  # a save's rename gap
            data = self.store.read(memory.path) if self.store.exists(memory.path) else b""
            if not data:
                self.look([memory.path])
                return None
        if revision_of(data) == memory.revision:
            return memory
        self.look([memory.path])
        row = self.catalog.get(memory.path, scope)
        return row.memory if row else None

    def refresh(self, *, searchable: bool = False, budget_ms: float = REFRESH_MS) -> Freshness:
        """Bring the catalog up to the disk, unless a watcher does so; for at most `budget_ms`.

        Args:
            searchable: also make the chunks that searches need.
            budget_ms: time for reading notes; what is left is named in the answer.
        """
        lease = self.lease.state()
        if lease is not None and budget_ms <= REFRESH_MS and (lease.left or self.catalog.underived_count() > _MANY):
            # A first index or a big checkout, which somebody is at: to work along would only hold both up.
            underived = self.catalog.underived_count() if searchable else 0
            return Freshness(changed=False, unread=lease.left, underived=underived, watched=True)
        changed, left = False, 0
        if lease is None or not lease.clean_ns:
            changes = self.look(None, budget_ms=budget_ms)
            changed, left = bool(changes.added or changes.changed or changes.removed), changes.total - changes.done
        underived = self.derive_pending(budget_ms) if searchable else 0
        return Freshness(changed, left, underived, watched=lease is not None)

    def look(
        self, paths: Collection[str] | None, *, budget_ms: float | None = None, progress: Progress | None = None
    ) -> Changes:
        """Bring the notes at and below `paths` (None: all) into the catalog, chunks not included.

        Raises:
            StorageError: a folder cannot be read; nothing is removed from the catalog.
        """
        with self._threads:
            changes = self.sync.run(paths, budget_ms=budget_ms, progress=progress)
            if changes.leftovers and self._recovered(changes.leftovers):
                changes = self.sync.run(paths, budget_ms=budget_ms, progress=progress)
        return changes

    def derive_pending(self, budget_ms: float | None = None, *, progress: Progress | None = None) -> int:
        """Make the chunks that are still to be made; how many notes are left when the time is up."""
        if not self.catalog.underived_count() and "full_sync" in vars(self):
            return 0
        with self._threads:
            return self.full_sync.derive_pending(budget_ms=budget_ms, progress=progress)

    def base(self, path: str, revision: str) -> Memory | None:
        """The note as it was at a revision, from the kept bases or the catalog; None when nobody kept it."""
        kept = self.versions.get(path, revision)
        data = self.catalog.source(path, UNBOUND) if kept is None else kept
        return None if data is None or revision_of(data) != revision else self.parse(data, path)

    def version(self, path: str, name: str) -> bytes | None:
        """The note's bytes at a revision that was kept or at a commit; None when there is no such version."""
        from vault_memory.files.history import show

        kept = self.versions.get(path, name)
        if kept is not None or self.git.repository is None:
            return kept
        self.commits.flush()
        return show(self.git.repository, path, name)

    def history(self, path: str, limit: int) -> tuple[Version, ...]:
        """The newest `limit` versions of a note, newest first, from git and the kept versions."""
        from vault_memory.files.history import history

        self.commits.flush()
        kept = [(version.revision, version.kept_at) for version in self.versions.list(path) if version.until_purge]
        return history(self.git.repository, path, limit, kept)

    # Writing.

    @contextmanager
    def write(self, why: Why, now: datetime) -> Iterator[Batch]:
        """Hold the vault and give a batch to write with; on leaving, what was written is recorded, even on an error.

        Raises:
            VaultLocked: another process has been writing for too long.
        """
        from vault_memory.batch import Batch

        with self._threads, self._lock:
            batch = Batch(self, why, now)
            try:
                with self.store.batch():
                    yield batch
            finally:
                if batch.written:
                    self._record(batch)

    def _record(self, batch: Batch) -> None:
        last: dict[str, Written] = {written.path: written for written in batch.written}
        from vault_memory.index.sync import Written as Recorded

        kept = [Recorded(w.path, w.after, w.stat) for w in last.values() if w.after is not None and w.stat is not None]
        removed = [path for path, written in last.items() if written.after is None]
        self.full_sync.record(kept, removed)
        try:
            self.commits.record(batch.changes())
            self.audit.append(batch.entries())
        except (OSError, VaultError) as error:
            batch.warnings.append(f"saved, but the history could not be queued: {error}")

    def _recovered(self, leftovers: Collection[str]) -> bool:
        """Put right what a killed writer left, unless a writer is at it now; whether a text came back."""
        if not self._lock.try_acquire():
            return False
        try:
            return bool(self.store.recover(leftovers))
        finally:
            self._lock.release()

    def keep(self, path: str, data: bytes, now: datetime) -> None:
        """Keep the bytes a write is about to replace: durably where no commit will hold them, else as a merge base."""
        self.versions.keep(path, data, now, until_purge=bool(self.commits.refusal))

    def _keep_base(self, path: str, data: bytes) -> None:
        """Keep what an edit by hand replaced, so that a caller who read it can still merge; never in an edit's way."""
        with suppress(VaultError):
            self.versions.keep(path, data, self.clock(), until_purge=False)

    def expire_bases(self) -> bool:
        """Delete the merge bases that are too old; False when a writer is at work, so that it is better done later."""
        if not self._lock.try_acquire():
            return False
        try:
            self.versions.expire(self.clock())
        finally:
            self._lock.release()
        return True

    def _keep(self, change: Change, reason: str) -> None:
        for data in (change.before, change.after):
            if data is not None:
                self.versions.keep(change.path, data, change.at, until_purge=True)

    @cached_property
    def _lock(self) -> FileLock:
        return FileLock(self.folders.state / "vault.lock")

    def _provenances(self) -> Provenances:
        from vault_memory.index.provenance import GitProvenance, NoRepository

        repository = self.git.repository
        return NoRepository() if repository is None else GitProvenance(repository, self.catalog.meta("dates") or "")
