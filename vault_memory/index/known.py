"""What the catalog knows of the vault's files, as a sync compares it with the disk. For upkeep: it takes no scope."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from sqlite3 import Connection
from typing import Any, Final

from vault_memory.files.scan import Known
from vault_memory.files.stat import Stat
from vault_memory.index.rows import Identity, TimedNote
from vault_memory.memory.model import Finding
from vault_memory.memory.times import time_of_text

_PORTION: Final = 500


def known_files(sql: Connection, within: Collection[str] | None = None) -> dict[str, Known]:
    """The files at and below the paths `within` (None: all), readable or not, by path."""
    query = "SELECT path, size, mtime_ns, inode, scanned_ns FROM files"
    if within is None or "" in within:
        rows = sql.execute(query).fetchall()
    else:
        below = query + " WHERE path = ? OR (path > ? AND path < ?)"  # "0" is the character after "/"
        rows = [row for path in sorted(within) for row in sql.execute(below, (path, f"{path}/", f"{path}0"))]
    return {path: Known(Stat(size, mtime, inode), at) for path, size, mtime, inode, at in rows}


def changed_since(sql: Connection, known: Mapping[str, Known | None]) -> frozenset[str]:
    """The paths of which something else is known by now than `known` says (None: nothing was)."""
    query = "SELECT path, size, mtime_ns, inode, scanned_ns FROM files WHERE path IN"
    now = {path: Known(Stat(*numbers), at) for path, *numbers, at in _by_paths(sql, query, known)}
    return frozenset(path for path, before in known.items() if now.get(path) != before)


def left_out(sql: Connection) -> set[tuple[str, Finding]]:
    """What scans took for no note, by path, with the reason."""
    rows = sql.execute("SELECT path, code, reason FROM left_out")
    return {(path, Finding(code, reason)) for path, code, reason in rows}


def leave_out(sql: Connection, findings: Iterable[tuple[str, Finding]], gone: Iterable[str]) -> None:
    """Remember what a scan took for no note; what was said of the paths in `gone` is forgotten before."""
    sql.executemany("DELETE FROM left_out WHERE path = ?", [(path,) for path in gone])
    rows = [(path, finding.code, finding.reason) for path, finding in findings]
    sql.executemany("INSERT OR REPLACE INTO left_out VALUES (?, ?, ?)", rows)


def identities(sql: Connection, paths: Iterable[str]) -> dict[str, Identity]:
    """Id and revision of each of `paths` that is a note."""
    rows = _by_paths(sql, "SELECT path, id, revision FROM notes WHERE path IN", paths)
    return {path: Identity(id_, revision) for path, id_, revision in rows}


def timed(sql: Connection, paths: Iterable[str]) -> list[TimedNote]:
    """Those of `paths` that are notes, as their effective times are judged."""
    query = (
        "SELECT path, head, content, mtime_ns, stated_created, stated_updated, created_at, updated_at"
        " FROM notes JOIN files USING (path) WHERE path IN"
    )
    rows = _by_paths(sql, query, paths)
    return [
        TimedNote(path, (head + content).encode(), mtime, _time(created), _time(updated), *map(time_of_text, times))
        for path, head, content, mtime, created, updated, *times in rows
    ]


def _by_paths(sql: Connection, query: str, paths: Iterable[str]) -> Iterator[tuple[Any, ...]]:
    """The rows of a query that ends in `path IN`, for the paths, in portions."""
    wanted = sorted(set(paths))
    for start in range(0, len(wanted), _PORTION):
        portion = wanted[start : start + _PORTION]
        yield from sql.execute(f"{query} ({', '.join('?' * len(portion))})", portion)


def _time(text: str | None) -> datetime | None:
    return None if text is None else time_of_text(text)
