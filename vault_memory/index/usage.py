"""When memories were last read, and how often: local state that no note holds and no rebuild may lose.

Owns `usage.sqlite`. Writes happen after an answer and in batches; the catalog attaches the file to sort by it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Final

from msgspec import Struct

from vault_memory.errors import IndexUnavailable, VaultLocked
from vault_memory.index.schema import USAGE_TABLES
from vault_memory.memory.times import time_of_text, time_text

_COUNT: Final = """
INSERT INTO usage VALUES (?, ?, ?)
ON CONFLICT (ref) DO UPDATE SET last_accessed_at = max(last_accessed_at, excluded.last_accessed_at),
                                access_count = access_count + excluded.access_count
"""
_TAKE: Final = "DELETE FROM usage WHERE ref = ? RETURNING last_accessed_at, access_count"


class Access(Struct, frozen=True):
    """How a memory was used: UTC time of the last access, number of accesses."""

    last_accessed_at: datetime | None = None
    access_count: int = 0


class Usage:
    """The usage file at `path`. One connection, guarded by a lock: usable from several threads, not across fork."""

    def __init__(self, path: Path) -> None:
        """Make the file if there is none; one that is no database is kept beside it as `….damaged` and begun anew."""
        self.path = path
        self._lock = Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._connection = _opened(path)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise IndexUnavailable(f"{path} cannot be opened: {error}") from error
            path.replace(path.with_name(path.name + ".damaged"))
            self._connection = _opened(path)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def record(self, refs: Iterable[str], now: datetime) -> None:
        """Count one access of each ref at `now`; an earlier time never replaces a later one.

        Raises:
            VaultLocked: another process keeps the file busy (the access is then not counted).
        """
        at = time_text(now)
        self._write(_COUNT, [(ref, at, 1) for ref in refs])

    def add(self, accesses: Mapping[str, Access]) -> None:
        """Add what another vault or an export knew: counts add up, the later time wins."""
        rows = [(r, time_text(a.last_accessed_at), a.access_count) for r, a in accesses.items() if a.last_accessed_at]
        self._write(_COUNT, rows)

    def get(self, refs: Iterable[str]) -> dict[str, Access]:
        """The accesses of those refs that were ever accessed."""
        query = "SELECT ref, last_accessed_at, access_count FROM usage WHERE ref = ?"
        with self._lock:
            rows = [row for ref in sorted(set(refs)) for row in self._connection.execute(query, (ref,))]
        return {ref: Access(time_of_text(at), count) for ref, at, count in rows}

    def move(self, refs: Mapping[str, str]) -> None:
        """Let usage follow from old refs to new ones; where the new one has some already, they add up."""
        with self._lock, _busy_is_locked(), self._connection:
            for old, new in sorted(refs.items()):
                moved = self._connection.execute(_TAKE, (old,)).fetchone()
                if moved:
                    self._connection.execute(_COUNT, (new, *moved))

    def purge(self, refs: Iterable[str]) -> None:
        """Forget the refs, leaving no trace in the file."""
        self._write("DELETE FROM usage WHERE ref = ?", [(ref,) for ref in refs])
        with self._lock, _busy_is_locked():
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def _write(self, statement: str, rows: Sequence[tuple[str | int, ...]]) -> None:
        if rows:
            with self._lock, _busy_is_locked(), self._connection:
                self._connection.executemany(statement, rows)


def _opened(path: Path) -> sqlite3.Connection:
    path.touch(0o600)
    connection = sqlite3.connect(path, timeout=5, check_same_thread=False)
    try:
        for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "secure_delete = ON"):
            connection.execute(f"PRAGMA {pragma}").fetchone()
        for statement in USAGE_TABLES:
            connection.execute(statement.format(schema=""))
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def _busy_is_locked() -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        raise VaultLocked(f"the usage file cannot be written: {error}") from error
