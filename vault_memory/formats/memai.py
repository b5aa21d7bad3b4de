"""MemAI's SQLite file. Read, never written: relations and superseded ones stay, edits become dated versions."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from vault_memory.formats.record import (
    BadRecord,
    Bundle,
    Earlier,
    Incoming,
    NotThisFormat,
    content_of,
    each,
    id_of,
    present,
    time_of,
    type_of,
    words_of,
)
from vault_memory.memory.model import RELATION_TYPES, VERIFICATIONS

_MAGIC: Final = b"SQLite format 3\0"


def matches(path: Path) -> bool:
    """Whether the file is an SQLite database."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def read(path: Path) -> Bundle:
    """The memories of the file, which is opened for reading only.

    Raises:
        NotThisFormat: no SQLite file, or without MemAI's tables.
    """
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro", uri=True)) as sql:
            sql.row_factory = sqlite3.Row
            rows = [dict(row) for row in sql.execute("SELECT * FROM memories ORDER BY created_at, uid")]
            edits = _grouped(_optional(sql, "SELECT * FROM edits ORDER BY edited_at, rowid"), "memory_uid")
            links = _grouped(_optional(sql, "SELECT * FROM relations ORDER BY created_at, rowid"), "from_uid")
            case = _optional(sql, "SELECT value FROM meta WHERE key = 'domain_case'")
    except sqlite3.DatabaseError as error:
        raise NotThisFormat(f"no MemAI file: {error}") from error
    warnings = tuple(
        f"the file's domain_case was '{row['value']}'; set it here with domain_case in the settings"
        for row in case
        if row["value"] not in (None, "preserve")
    )
    known = {str(row["uid"]) for row in rows}

    def memory(row: Mapping[str, Any], name: str) -> Incoming:
        return _memory(row, name, edits.get(name, []), links.get(name, []), known)

    return Bundle("memai", each(rows, memory, ("uid",)), warnings=warnings)


def _optional(sql: sqlite3.Connection, query: str) -> list[dict[str, Any]]:
    """The rows, or none: older files lack some tables."""
    try:
        return [dict(row) for row in sql.execute(query)]
    except sqlite3.OperationalError:
        return []


def _grouped(rows: list[dict[str, Any]], key: str) -> dict[str, list[dict[str, Any]]]:
    groups: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[str(row[key])].append(row)
    return groups


def _memory(
    row: Mapping[str, Any], name: str, edits: list[dict[str, Any]], links: list[dict[str, Any]], known: set[str]
) -> Incoming:
    memory_type, metadata = type_of(row.get("type"), "note")
    relations, notes = _relations(row, links, known, metadata)
    confidence = row.get("confidence")
    fields = present(
        {
            "id": id_of(row.get("uid")),
            "memory_type": memory_type,
            "domain": row.get("domain"),
            "session": row.get("session"),
            "tags": words_of(row.get("tags"), "tags"),
            "status": "archived" if row.get("status") == "archived" else None,
            "verification": confidence if confidence in VERIFICATIONS else None,
            "created_at": time_of(row.get("created_at"), "created_at"),
            "updated_at": time_of(row.get("updated_at"), "updated_at"),
            "version": len(edits) + 1,
        }
    )
    earlier = tuple(_earlier(edit) for edit in edits if edit.get("prev_content"))
    return Incoming(name, fields, content_of(row), relations, notes, metadata, earlier=earlier)


def _earlier(edit: Mapping[str, Any]) -> Earlier:
    at = time_of(edit.get("edited_at"), "edited_at")
    if at is None:
        raise BadRecord("an edit has no time")
    return Earlier(str(edit["prev_content"]), at, str(edit.get("note") or ""))


def _relations(
    row: Mapping[str, Any], links: list[dict[str, Any]], known: set[str], metadata: dict[str, Any]
) -> tuple[dict[str, tuple[str, ...]], tuple[tuple[str, str, str], ...]]:
    """Edges to memories of the file; a relation type that is unknown here becomes relates_to with its word noted."""
    edges = [(str(link["relation_type"]), str(link["to_uid"]), str(link.get("note") or "")) for link in links]
    if row.get("superseded_by"):
        edges.append(("superseded_by", str(row["superseded_by"]), ""))
    relations: dict[str, tuple[str, ...]] = {}
    notes: list[tuple[str, str, str]] = []
    for word, target, note in edges:
        if target not in known or target == str(row.get("uid")):
            metadata.setdefault("lost_relations", []).append(f"{word} {target}")
            continue
        kind = word if word in RELATION_TYPES else "relates_to"
        said = note if kind == word else f"{word}: {note}" if note else word
        relations[kind] = tuple(dict.fromkeys((*relations.get(kind, ()), id_of(target))))
        if said:
            notes.append((kind, id_of(target), said))
    return relations, tuple(notes)
