"""The catalog's SQLite file: opening, one connection a thread, transactions, and starting anew when it is of no use.

Owns connections and pragmas; knows no table but `meta`. The file is a cache: a damaged one, or one with another schema,
is replaced without asking.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from vault_memory.errors import IndexUnavailable, VaultLocked
from vault_memory.index.schema import INDEXES, META_START, SCHEMA_VERSION, TABLES, USAGE_TABLES

BUSY_TIMEOUT_MS: Final = 5_000
_PRAGMAS: Final = (
    f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}",
    "PRAGMA synchronous = NORMAL",  # a crash of the machine may lose the newest rows, which the next scan restores
    "PRAGMA foreign_keys = ON",
    "PRAGMA secure_delete = ON",  # what is purged must not stay in free pages
    "PRAGMA cache_size = -16000",
    "PRAGMA temp_store = MEMORY",
)


class Database:
    """The SQLite file at `path`, with the usage file attached as schema `usage` (read-only) when there is one.

    Usable from several threads, each of which gets its own connection; not across fork.
    """

    def __init__(self, path: Path, usage: Path | None = None) -> None:
        self.path = path
        self._usage = usage
        self._pid = os.getpid()
        self._was_open = False
        self._lock = threading.Lock()
        self._connections: dict[threading.Thread, tuple[sqlite3.Connection, tuple[int, int]]] = {}

    def connection(self) -> sqlite3.Connection:
        """This thread's connection, in autocommit mode.

        Opened anew when the file was deleted or replaced since: an index folder may be removed at any time.

        Raises:
            IndexUnavailable: the file cannot be opened or made.
            RuntimeError: the process is a fork of the one that opened the database.
        """
        if os.getpid() != self._pid:
            raise RuntimeError("a catalog must not be used across fork; open the vault in the child")
        thread = threading.current_thread()
        held = self._connections.get(thread)
        if held is not None:
            if held[1] == _identity(self.path):
                return held[0]
            held[0].close()
        with self._lock:
            self._drop_dead_threads()
            connection = self._opened()
            self._was_open = True
            self._connections[thread] = connection, _identity(self.path)
        return connection

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A transaction that sees one state of the catalog throughout; inside another one, that one."""
        connection = self.connection()
        if connection.in_transaction:
            yield connection
            return
        with _translated(self.path):
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("ROLLBACK")

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """The only writer's transaction: all of it becomes visible at its end, or nothing of it.

        Raises:
            VaultLocked: another process has been writing for longer than the busy timeout.
            IndexUnavailable: the disk is full, or another version of the program has rebuilt the catalog.
        """
        connection = self.connection()
        with _translated(self.path):
            connection.execute("BEGIN IMMEDIATE")
            try:
                if connection.execute("PRAGMA user_version").fetchone()[0] != SCHEMA_VERSION:
                    raise IndexUnavailable("another version of vault-memory has rebuilt the catalog", hint="restart")
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def begin_anew(self) -> None:
        """Forget everything; processes that have the file open notice by the new `born` in `meta`.

        Raises:
            VaultLocked: another process keeps the file busy.
        """
        with _translated(self.path):
            _made_anew(self.connection(), always=True)

    def close(self) -> None:
        """Close every thread's connection."""
        with self._lock:
            for connection, _ in self._connections.values():
                connection.close()
            self._connections.clear()

    def _drop_dead_threads(self) -> None:
        for thread in [thread for thread in self._connections if not thread.is_alive()]:
            self._connections.pop(thread)[0].close()

    def _opened(self) -> sqlite3.Connection:
        with _translated(self.path):
            # Once it was open, a folder missing further up is a vault that was unmounted: nothing may be made there.
            self.path.parent.mkdir(parents=not self._was_open, exist_ok=True)
            try:
                return self._connected()
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):
                    raise
                _discard(self.path)  # not a database, or a damaged one
                return self._connected()

    def _connected(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        try:
            for pragma in _PRAGMAS:
                connection.execute(pragma)
            _prepare(connection)
            self._attach_usage(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _attach_usage(self, connection: sqlite3.Connection) -> None:
        if self._usage is None:
            connection.execute("ATTACH ':memory:' AS usage")
            for statement in USAGE_TABLES:
                connection.execute(statement.format(schema="usage."))
        else:  # read-only, so that a writer of the catalog never waits for one of usage
            connection.execute("ATTACH ? AS usage", (f"{self._usage.absolute().as_uri()}?mode=ro",))


def _prepare(connection: sqlite3.Connection) -> None:
    """Make the tables, or make them anew when they are of another version."""
    if connection.execute("PRAGMA user_version").fetchone()[0] == SCHEMA_VERSION:
        return
    _switch_to_wal(connection)
    _made_anew(connection, always=False)


def _made_anew(connection: sqlite3.Connection, *, always: bool) -> None:
    """Drop and make all tables; unless `always`, only when nobody else was faster."""
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("BEGIN EXCLUSIVE")
    if always or connection.execute("PRAGMA user_version").fetchone()[0] != SCHEMA_VERSION:
        _drop_all(connection)
        for statement in (TABLES + INDEXES).split(";\n"):
            connection.execute(statement)
        connection.executemany("INSERT INTO meta VALUES (?, ?)", META_START.items())
        connection.execute("INSERT INTO meta VALUES ('born', lower(hex(randomblob(8))))")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    connection.execute("COMMIT")
    connection.execute("PRAGMA foreign_keys = ON")


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    """Several processes may make a catalog at once, and for this one step SQLite does not wait by itself."""
    end = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(0.01)


def _drop_all(connection: sqlite3.Connection) -> None:
    names = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    ).fetchall()
    for (name,) in names:
        quoted = name.replace('"', '""')  # a table's name cannot be a parameter
        connection.execute(f'DROP TABLE "{quoted}"')


def _identity(path: Path) -> tuple[int, int]:
    try:
        stat = path.stat()
    except FileNotFoundError:
        return 0, 0
    return stat.st_dev, stat.st_ino


def _discard(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """SQLite's failures that a person can do something about, as ours; a damaged file is left to the caller."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise VaultLocked("another process is writing to the catalog", hint="try again in a moment") from error
        raise IndexUnavailable(f"the catalog {path} cannot be used: {error}") from error
    except OSError as error:
        raise IndexUnavailable(f"the catalog {path} cannot be used: {error}") from error
