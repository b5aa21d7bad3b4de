"""What the catalog knows of the vault's files, as the next scan is compared with it. Knows nothing of memories."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from sqlite3 import Connection

from vault_memory.files.scan import Known
from vault_memory.files.stat import Stat
from vault_memory.memory.model import Finding


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
    query = "SELECT size, mtime_ns, inode, scanned_ns FROM files WHERE path = ?"
    changed = []
    for path, before in known.items():
        row = sql.execute(query, (path,)).fetchone()
        if (Known(Stat(*row[:3]), row[3]) if row else None) != before:
            changed.append(path)
    return frozenset(changed)


def left_out(sql: Connection) -> set[tuple[str, Finding]]:
    """What scans took for no note, by path, with the reason."""
    rows = sql.execute("SELECT path, code, reason FROM left_out")
    return {(path, Finding(code, reason)) for path, code, reason in rows}


def leave_out(sql: Connection, findings: Iterable[tuple[str, Finding]], gone: Iterable[str]) -> None:
    """Remember what a scan took for no note; what was said of the paths in `gone` is forgotten before."""
    sql.executemany("DELETE FROM left_out WHERE path = ?", [(path,) for path in gone])
    rows = [(path, finding.code, finding.reason) for path, finding in findings]
    sql.executemany("INSERT OR REPLACE INTO left_out VALUES (?, ?, ?)", rows)
