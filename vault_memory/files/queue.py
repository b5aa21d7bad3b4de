"""The queue of changes that wait to be committed: durable against kills, shared by processes, exact to the byte.

Owns `commits.sqlite` in the state folder and nothing else; it neither knows git nor touches notes. Power loss may cost
the newest entries (a commit is a *should*, the note itself is already safe), never the file's integrity.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

QUEUE_FILE: Final = "commits.sqlite"
BATCH_BYTES: Final = 32_000_000
_WAIT_SECONDS: Final = 5.0
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS change(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  path TEXT NOT NULL, before BLOB, after BLOB,
  operation TEXT NOT NULL, agent TEXT, session TEXT, reason TEXT NOT NULL, at TEXT NOT NULL, head TEXT);
CREATE INDEX IF NOT EXISTS change_path ON change(path);
CREATE TABLE IF NOT EXISTS attempt(ref TEXT NOT NULL, tip TEXT NOT NULL, last INTEGER NOT NULL);
"""
_INSERT: Final = (
    "INSERT INTO change(path, before, after, operation, agent, session, reason, at, head) VALUES(?,?,?,?,?,?,?,?,?)"
)


class Change(Struct, frozen=True):
    """One write of ours: `before` and `after` are the file's bytes, None where there was or is no file.

    `operation` identifies one call, without blanks, its name first: `remember-1ngvj1k9f3qw`. Changes of one call
    (a move and the links it rewrote) carry the same one.
    """

    path: str
    before: bytes | None
    after: bytes | None
    operation: str
    at: datetime
    agent: str | None = None
    session: str | None = None
    reason: str = ""


class Queued(Struct, frozen=True):
    """A change in the queue: its number (they count up) and the commit HEAD was at when it was made."""

    number: int
    change: Change
    head: str | None


class Attempt(Struct, frozen=True):
    """A flush that was about to move `ref` to `tip`, after which the entries up to `last` are done."""

    ref: str
    tip: str
    last: int


class CommitQueue:
    """The changes of one vault that no commit holds yet, oldest first. Safe for several threads and processes.

    The file is made by the first `add`; `close` gives up the connection (any later call opens it again).
    """

    def __init__(self, state: Path) -> None:
        self._file = state / QUEUE_FILE
        self._database: sqlite3.Connection | None = None
        self._lock = threading.RLock()

    def add(self, changes: Iterable[Change], head: str | None) -> None:
        """Append changes, all or none; `head` is the commit HEAD was at when they were written."""
        rows = [_row(change, head) for change in changes]
        with self._transaction(create=True) as database:
            database.executemany(_INSERT, rows)

    def oldest(self, limit_bytes: int = BATCH_BYTES) -> tuple[Queued, ...]:
        """The oldest changes, at least one if there is any, as many as `limit_bytes` of note text hold."""
        with self._transaction() as database:
            return tuple(_within(database.execute("SELECT * FROM change ORDER BY number"), limit_bytes))

    def paths(self) -> frozenset[str]:
        """The paths with a change that waits."""
        with self._transaction() as database:
            return frozenset(path for (path,) in database.execute("SELECT DISTINCT path FROM change"))

    def __len__(self) -> int:
        with self._transaction() as database:
            (count,) = database.execute("SELECT count(*) FROM change").fetchone()
            return int(count)

    def attempt(self) -> Attempt | None:
        """The flush that was begun and not ended, if any: it was killed, or it runs now."""
        with self._transaction() as database:
            row = database.execute("SELECT ref, tip, last FROM attempt").fetchone()
            return Attempt(*row) if row else None

    def begin(self, attempt: Attempt) -> None:
        """Note what the flush is about to do, so that after a kill the same changes are not committed twice."""
        with self._transaction() as database:
            database.execute("DELETE FROM attempt")
            database.execute("INSERT INTO attempt VALUES(?,?,?)", (attempt.ref, attempt.tip, attempt.last))

    def end(self, last: int) -> None:
        """Drop the entries up to and including `last` and the note of the attempt, together; 0 drops only the note."""
        with self._transaction() as database:
            database.execute("DELETE FROM attempt")
            database.execute("DELETE FROM change WHERE number <= ?", (last,))

    def forget(self, path: str) -> int:
        """Drop every entry of a path (a purge) and overwrite its bytes in the files; how many there were."""
        with self._transaction() as database:
            count = database.execute("DELETE FROM change WHERE path = ?", (path,)).rowcount
        with self._lock:
            if self._database:
                self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return count

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._database:
                self._database.close()
            self._database = None

    @contextmanager
    def _transaction(self, create: bool = False) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if self._database is None:
                if not create and not self._file.exists():
                    yield from _nothing()
                    return
                self._database = _opened(self._file)
            with self._database:
                yield self._database


def _nothing() -> Iterator[sqlite3.Connection]:
    """An empty queue in memory: reading a vault that never committed must not create files in it."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(_SCHEMA)
        yield database


def _opened(file: Path) -> sqlite3.Connection:
    file.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
    database = sqlite3.connect(file, timeout=_WAIT_SECONDS, check_same_thread=False)
    database.execute("PRAGMA synchronous=NORMAL")
    database.execute("PRAGMA secure_delete=ON")
    if database.execute("PRAGMA user_version").fetchone() == (0,):
        database.execute("PRAGMA journal_mode=WAL")
        database.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version=1; COMMIT;")
    return database


def _row(change: Change, head: str | None) -> tuple[object, ...]:
    at = change.at.astimezone(UTC).isoformat()
    who = (change.agent, change.session)
    return (change.path, change.before, change.after, change.operation, *who, change.reason, at, head)


def _within(rows: Iterable[tuple[Any, ...]], limit_bytes: int) -> Iterator[Queued]:
    used = 0
    for number, path, before, after, operation, agent, session, reason, at, head in rows:
        used += len(before or b"") + len(after or b"")
        change = Change(path, before, after, operation, datetime.fromisoformat(at), agent, session, reason)
        yield Queued(number, change, head)
        if used > limit_bytes:
            return
