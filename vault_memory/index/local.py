"""Local state that no note holds and no rebuild may lose: what waits for review or was confirmed, and idempotency keys.

Owns `local.sqlite` in the state folder. It holds references and times, never a note's text, and is purged with a note.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Final

from msgspec import Struct

from vault_memory.errors import IndexUnavailable, VaultLocked
from vault_memory.memory.times import time_of_text, time_text

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS review (    -- pairs of memories a person or an agent has to settle
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    ref    TEXT NOT NULL,               -- the newer memory
    rival  TEXT NOT NULL,               -- the one it may change or repeat
    kind   TEXT NOT NULL,               -- changed or similar
    at     TEXT NOT NULL,
    UNIQUE (ref, rival)
) STRICT;
CREATE TABLE IF NOT EXISTS confirmed ( -- what a person vouched for by hand; a note cannot say that of itself
    ref     TEXT PRIMARY KEY,
    content TEXT NOT NULL,              -- SHA-256 of the content that was vouched for: another one is not
    at      TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS idempotency (
    owner TEXT NOT NULL,                -- whose key it is: project and actor
    key   TEXT NOT NULL,
    ref   TEXT NOT NULL,                -- what was stored under it
    at    TEXT NOT NULL,
    PRIMARY KEY (owner, key)
) STRICT, WITHOUT ROWID;
"""


class Waiting(Struct, frozen=True):
    """A pair that waits for review."""

    number: int
    ref: str
    rival: str
    kind: str
    at: datetime


class Local:
    """The file at `path`. One connection, guarded by a lock: usable from several threads, not across fork."""

    def __init__(self, path: Path) -> None:
        """Make the file if there is none.

        Raises:
            IndexUnavailable: it cannot be opened.
        """
        self._lock = Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._connection = sqlite3.connect(path, timeout=5, check_same_thread=False)
            path.chmod(0o600)
            for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "secure_delete = ON"):
                self._connection.execute(f"PRAGMA {pragma}").fetchone()
            self._connection.executescript(_TABLES)
        except sqlite3.DatabaseError as error:
            raise IndexUnavailable(f"{path} cannot be opened: {error}", hint="move it away and try again") from error

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def stored_under(self, owner: str, key: str) -> str | None:
        """The ref that was stored under an idempotency key; None when it is unused."""
        with self._lock:
            query = "SELECT ref FROM idempotency WHERE owner = ? AND key = ?"
            row = self._connection.execute(query, (owner, key)).fetchone()
        return str(row[0]) if row else None

    def use_key(self, owner: str, key: str, ref: str, now: datetime) -> None:
        """Remember what was stored under a key."""
        with self._writing() as sql:
            sql.execute("INSERT OR REPLACE INTO idempotency VALUES (?, ?, ?, ?)", (owner, key, ref, time_text(now)))

    def wait(self, ref: str, rival: str, kind: str, now: datetime) -> None:
        """Put a pair into the review queue; one that waits already stays as it is."""
        with self._writing() as sql:
            query = "INSERT OR IGNORE INTO review (ref, rival, kind, at) VALUES (?, ?, ?, ?)"
            sql.execute(query, (ref, rival, kind, time_text(now)))

    def waiting(self) -> tuple[Waiting, ...]:
        """Everything that waits for review, oldest first."""
        with self._lock:
            query = "SELECT number, ref, rival, kind, at FROM review ORDER BY number"
            rows = self._connection.execute(query).fetchall()
        return tuple(Waiting(number, ref, rival, kind, time_of_text(at)) for number, ref, rival, kind, at in rows)

    def settled(self, numbers: Iterable[int]) -> None:
        """Take pairs out of the review queue."""
        with self._writing() as sql:
            sql.executemany("DELETE FROM review WHERE number = ?", [(number,) for number in numbers])

    def confirm(self, ref: str, content_hash: str, now: datetime) -> None:
        """A person vouches for the memory as it is now."""
        with self._writing() as sql:
            sql.execute("INSERT OR REPLACE INTO confirmed VALUES (?, ?, ?)", (ref, content_hash, time_text(now)))

    def doubt(self, ref: str) -> None:
        """Nobody vouches for the memory any more."""
        with self._writing() as sql:
            sql.execute("DELETE FROM confirmed WHERE ref = ?", (ref,))

    def confirmed(self) -> dict[str, str]:
        """What a person vouched for: refs and the hashes of the contents then."""
        with self._lock:
            return dict(self._connection.execute("SELECT ref, content FROM confirmed"))

    def purge(self, refs: Iterable[str]) -> int:
        """Forget the refs, leaving no trace in the file; how many rows there were."""
        count = 0
        with self._writing() as sql:
            for ref in refs:
                count += sql.execute("DELETE FROM review WHERE ref = ?1 OR rival = ?1", (ref,)).rowcount
                count += sql.execute("DELETE FROM idempotency WHERE ref = ?", (ref,)).rowcount
                count += sql.execute("DELETE FROM confirmed WHERE ref = ?", (ref,)).rowcount
        with self._lock:
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return count

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                with self._connection:
                    yield self._connection
            except sqlite3.OperationalError as error:
                raise VaultLocked(f"the local state cannot be written: {error}") from error
