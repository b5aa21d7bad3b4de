"""What a long-lived process does beside answering: watch, make chunks, apply, commit, fill LanceDB, tend what grows.
Owns one daemon thread.

Several processes may do this for one vault: the lease elects the one that watches, the index lock the one that applies,
and the commit queue is anybody's. Nothing here is needed for correctness, so a failure is logged and tried again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Final

from vault_memory.errors import VaultError
from vault_memory.files.git import GitError
from vault_memory.files.git_upkeep import tend
from vault_memory.files.watch import Mode, Watcher, WatchStatus
from vault_memory.vault import Vault

TICK_SECONDS: Final = 0.5
STEP_MS: Final = 500.0
"""Work is done in steps of so long, and others may use the vault in between."""
_BREATH_SECONDS: Final = 0.02
_SETTLE_NS: Final = 200_000_000
"""An event needs no longer than this to reach us, so changes before that are in the catalog."""
CHORES_SECONDS: Final = 3600.0
"""How often git is tended and old merge bases are deleted; the first time CHORES_AFTER_SECONDS from the start."""
CHORES_AFTER_SECONDS: Final = 10.0
LANCEDB_SECONDS: Final = 30.0
"""LanceDB is filled at most so often: it costs little for each change in a batch and much for one alone."""

log = logging.getLogger(__name__)


class Upkeep:
    """Keeps `vault` in step from `start` to `stop`.

    Args:
        vault: stays open until after `stop`.
        watch: also watch for changes by hand (another process may already be doing so).
        fill_lancedb: below `index.lancedb_from`, too, keep a table in step that is there (`reindex --lancedb`).
            Loading LanceDB takes a second and 120 MB, so a small vault without a table does without.
        seconds: a clock that never goes back.
    """

    def __init__(
        self,
        vault: Vault,
        *,
        watch: bool = True,
        fill_lancedb: bool = False,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._vault = vault
        self._watch = watch
        self._watcher: Watcher | None = None
        self._stopping = threading.Event()
        self._fill_lancedb = fill_lancedb
        self._seconds = seconds
        self._next_commit = seconds() + vault.config.git.batch_seconds
        self._next_fill = seconds()
        self._next_chores = seconds() + CHORES_AFTER_SECONDS
        self._told: tuple[Mode, str] | None = None
        self._thread = threading.Thread(target=self._run, name="vault-upkeep", daemon=True)

    @property
    def status(self) -> WatchStatus | None:
        """How this process's watcher is doing; None when it does not watch."""
        return self._watcher.status if self._watcher else None

    def start(self) -> None:
        """Begin; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """End within a second or two; a step that is under way ends first."""
        self._stopping.set()
        if self._watcher is not None:
            self._watcher.stop()
        self._thread.join(2 * STEP_MS / 1000 + 1)
        self._vault.lease.release()

    def wait_idle(self, timeout_seconds: float) -> bool:
        """Wait until changes made by hand so far are in the catalog; False when that takes longer."""
        deadline = time.monotonic() + timeout_seconds
        while self._watcher is None and time.monotonic() < deadline:
            time.sleep(0.02)
        return self._watcher is not None and self._watcher.wait_idle(max(0.0, deadline - time.monotonic()))

    def _run(self) -> None:
        while not self._stopping.is_set():
            more = False
            try:
                more = self._tick()
            except (VaultError, OSError, GitError) as error:
                log.warning("upkeep: %s", error)
            self._stopping.wait(_BREATH_SECONDS if more else TICK_SECONDS)

    def _tick(self) -> bool:
        """One round of work; whether there are chunks left to make, so that the next should come soon."""
        if self._watch and self._watcher is None and self._vault.lease.take():
            self._start_watcher()
        left = self._vault.derive_pending(STEP_MS)
        self._vault.indexes.apply_if_due(lives_on=True)
        if self._seconds() >= self._next_commit:
            self._next_commit = self._seconds() + self._vault.config.git.batch_seconds
            self._vault.commits.flush()
        self._tell()
        if not left and self._seconds() >= self._next_fill:
            self._fill()
        if not left and self._seconds() >= self._next_chores:
            self._next_chores = self._seconds() + CHORES_SECONDS
            self._chores()
        return bool(left)

    def _fill(self) -> None:
        """Bring LanceDB up to the vector file, when that has news for it and somebody will ask it."""
        indexes, catalog = self._vault.indexes, self._vault.catalog
        big = catalog.meta("chunk_count") >= self._vault.config.index.lancedb_from
        if (big or (self._fill_lancedb and catalog.meta("applied_lancedb"))) and indexes.lancedb_lags():
            self._next_fill = self._seconds() + LANCEDB_SECONDS
            indexes.applier.fill_lancedb()

    def _chores(self) -> None:
        """What keeps a vault quick in the long run, in the process that watches: the same by others would be waste."""
        if not self._vault.lease.held:
            return
        catalog, today = self._vault.catalog, self._vault.clock().date().isoformat()
        if catalog.meta("bases_expired") != today and self._vault.expire_bases():
            catalog.set_meta(bases_expired=today)
        repository = self._vault.git.repository
        if repository is not None and repository.own and not self._vault.commits.refusal:
            known = int(catalog.meta("commits_indexed") or 0)
            if (now := tend(repository, known)) != known:
                catalog.set_meta(commits_indexed=now)

    def _start_watcher(self) -> None:
        place = self._vault.folders.place
        self._watcher = Watcher(
            self._vault.root,
            self._vault.ignore,
            self._changed,
            on_idle=self._idle,
            polling=place is not None and place.network,
        )
        self._watcher.start()

    def _changed(self, paths: frozenset[str] | None) -> None:
        """Record what changed, in steps, so that a first index of a big vault never blocks an answer."""
        if paths is None:
            self._vault.lease.beat(0)
        try:
            while not self._stopping.is_set():
                seen_ns = time.time_ns()
                changes = self._vault.look(paths, budget_ms=STEP_MS)
                if changes.complete:
                    self._beat(seen_ns)
                    return
                self._vault.lease.beat(0, changes.total - changes.done)
                time.sleep(_BREATH_SECONDS)
        except (VaultError, OSError):
            self._vault.lease.beat(0)  # until it is tried again, questions look for themselves
            raise

    def _idle(self) -> None:
        seen_ns = time.time_ns()
        self._vault.look(())  # a commit changes no note, yet dates notes that state none
        self._beat(seen_ns)

    def _beat(self, seen_ns: int) -> None:
        """Polling sees changes late, so only a real watch vouches for the catalog."""
        watching = self._watcher is not None and self._watcher.status.mode == "watching"
        self._vault.lease.beat(seen_ns - _SETTLE_NS if watching else 0)

    def _tell(self) -> None:
        """Let `status` of other processes know how the watch is going."""
        status = self.status
        now = (status.mode, status.detail) if status else None
        if status is not None and now != self._told:
            self._vault.catalog.set_meta(watcher_mode=status.mode, watcher_detail=status.detail)
            self._told = now
