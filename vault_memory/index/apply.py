"""Brings all indexes up to what the catalog has recorded, by one process at a time. Owns the election, the order, the
checks after an unclean end, and the tombstones; the indexes themselves are changed by `apply_text`, `apply_vectors`
and `lance`.

Killed anywhere it goes on next time: an index's generation advances only after that index is durable, and what it
holds beyond is either ignored or put in again.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from vault_memory.index.apply_text import apply_text, check_text, restart_text
from vault_memory.index.apply_vectors import apply_vectors, check_vectors, compact_vectors, restart_vectors
from vault_memory.index.record import set_meta
from vault_memory.index.state import IndexState, read_state

if TYPE_CHECKING:
    from vault_memory.index.catalog import Catalog

PENDING_CHANGES: Final = 256
"""So many pending changes are worth an apply to a process that lives on …"""
PENDING_CHANGES_ONCE: Final = 2_000
"""… and so many to a command that would end otherwise."""
MAX_LANCEDB_LAG: Final = 100_000
_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


class Lock(Protocol):
    """The index lock; see `files.lock.FileLock`."""

    def try_acquire(self) -> bool:
        """Take it if it is free now."""

    def acquire(self) -> None:
        """Take it, waiting."""

    def release(self) -> None:
        """Give it up."""


def new_epoch() -> str:
    """A name that no other epoch has; it orders nothing and decides nothing."""
    return secrets.token_hex(6)


def boot_id() -> str:
    """Tells this boot of the machine from others: what was written before may not have reached the disk."""
    try:
        return _BOOT_ID.read_text("ascii").strip()
    except OSError:
        return f"boot {round((time.time() - time.monotonic()) / 60)}"


class Applier:
    """Applies for one vault. Usable from several threads: the lock lets one of them in."""

    def __init__(
        self,
        catalog: Catalog,
        folder: Path,
        lock: Lock,
        *,
        boot: str | None = None,
        epochs: Callable[[], str] = new_epoch,
    ) -> None:
        self._catalog = catalog
        self._folder = folder
        self._lock = lock
        self._boot = boot_id() if boot is None else boot
        self._epochs = epochs

    def pending(self) -> int:
        """How many changes an index of every search has yet to apply."""
        return self._state().pending

    def apply(self, *, wait: bool = False, purge: bool = False) -> bool:
        """Apply everything recorded; False when another process is at it (it will, or already does, what we would).

        Args:
            wait: wait for the other process instead.
            purge: leave nothing of removed chunks in any index.

        Raises:
            VaultLocked: `wait`, and the other process took too long.
        """
        if not wait and not self._lock.try_acquire():
            return False
        if wait:
            self._lock.acquire()
        try:
            self._apply(purge)
        finally:
            self._lock.release()
        return True

    def fill_lancedb(self) -> int:
        """Apply, then bring LanceDB up to it; the number of its rows. Imports lancedb, waits for the lock.

        Raises:
            VaultLocked: the other process took too long.
        """
        from vault_memory.index.lance import fill_lance

        self._lock.acquire()
        try:
            self._apply(purge=False)
            rows = fill_lance(self._catalog, self._folder, self._boot)
            self._forget_tombstones()
        finally:
            self._lock.release()
        return rows

    def check(self) -> None:
        """Compare all indexes with the catalog now, and put right or restart what differs; waits for the lock."""
        self._lock.acquire()
        try:
            self._check()
            self._apply(purge=False)
        finally:
            self._lock.release()

    def _apply(self, purge: bool) -> None:
        state = self._state()
        if state.clean != self._boot and (state.applied_text or state.applied_vectors):
            self._check()
        if not purge and self._state().pending == 0 and state.clean == self._boot:
            return
        self._catalog.set_meta(clean="")
        if purge:
            restart_text(self._catalog)
            self._drop_lancedb()
        self._apply_text()
        self._apply_vectors(purge)
        self._forget_tombstones()
        self._catalog.set_meta(clean=self._boot)

    def _apply_text(self) -> None:
        try:
            apply_text(self._catalog, self._folder, self._epochs())
        except (ValueError, FileNotFoundError):  # damaged, deleted, or of another version of Tantivy
            restart_text(self._catalog)
            apply_text(self._catalog, self._folder, self._epochs())

    def _apply_vectors(self, purge: bool) -> None:
        try:
            apply_vectors(self._catalog, self._folder, self._epochs())
            compact_vectors(self._catalog, self._folder, self._epochs(), always=purge)
        except (ValueError, FileNotFoundError):
            restart_vectors(self._catalog)

    def _check(self) -> None:
        check_vectors(self._catalog, self._folder)
        check_text(self._catalog, self._folder)

    def _drop_lancedb(self) -> None:
        """Its versions keep what was removed: delete it all, the next fill makes it anew."""
        from vault_memory.index.lance import restart_lance

        restart_lance(self._catalog, self._folder)

    def _forget_tombstones(self) -> None:
        """Tombstones that every index has applied are of no more use; an index not yet begun needs none.

        LanceDB is filled by some commands only: when it lags too far behind, it is better begun anew.
        """
        with self._catalog.writing() as sql:
            state = read_state(sql)
            applied = min(state.applied_text, state.applied_vectors)
            if state.applied_lancedb and state.generation - state.applied_lancedb > MAX_LANCEDB_LAG:
                set_meta(sql, {"applied_lancedb": 0})
            elif state.applied_lancedb:
                applied = min(applied, state.applied_lancedb)
            sql.execute("DELETE FROM gone WHERE generation <= ?", (applied,))

    def _state(self) -> IndexState:
        with self._catalog.reading() as sql:
            return read_state(sql)
