"""MemStack's snapshot `{version: 1, memories, exportedAt}`, and the bare array that its command line takes too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from vault_memory.formats.record import (
    Bundle,
    Incoming,
    NotThisFormat,
    Outgoing,
    content_of,
    each,
    id_of,
    present,
    text_time,
    time_of,
    type_of,
    unit_of,
    words_of,
)


def matches(document: Any) -> bool:
    """Whether a JSON document looks like a snapshot or its bare array."""
    if isinstance(document, list):
        return all(isinstance(item, Mapping) and "content" in item for item in document[:3])
    return isinstance(document, Mapping) and isinstance(document.get("memories"), list) and "format" not in document


def read(document: Any) -> Bundle:
    """The memories of a snapshot.

    Raises:
        NotThisFormat: another version, or nothing in it.
    """
    if isinstance(document, Mapping):
        if document.get("version") != 1:
            raise NotThisFormat(f"a snapshot must say version 1, not {document.get('version')!r}")
        document = document.get("memories")
    if not isinstance(document, list):
        raise NotThisFormat("'memories' must be a list")
    return Bundle("memstack", each(document, _memory))


def write(notes: Iterable[Outgoing], exported_at: datetime) -> dict[str, Any]:
    """The snapshot. What MemStack has no field for (times of change, relations, pins) does not come along."""
    return {"version": 1, "memories": [record(note) for note in notes], "exportedAt": text_time(exported_at)}


def record(note: Outgoing) -> dict[str, Any]:
    """One memory as MemStack names its parts."""
    memory = note.memory
    body = {
        "id": memory.ref,
        "actorId": memory.actor or "",
        "memoryType": memory.memory_type,
        "content": memory.content,
        "importance": memory.importance,
        "emotionalValence": memory.emotional_valence,
        "tags": list(memory.tags),
        "metadata": dict(memory.metadata),
        "createdAt": text_time(memory.created_at),
    }
    optional = {"sourceId": memory.source_id, "expiresAt": text_time(memory.expires_at)}
    return body | present(optional)


def _memory(record: Mapping[str, Any], name: str) -> Incoming:
    memory_type, extra = type_of(record.get("memoryType"), "interaction")
    metadata = record.get("metadata")
    fields = present(
        {
            "id": id_of(record.get("id")),
            "memory_type": memory_type,
            "actor": record.get("actorId") or None,
            "tags": words_of(record.get("tags"), "tags"),
            "importance": unit_of(record.get("importance"), "importance"),
            "emotional_valence": unit_of(record.get("emotionalValence"), "emotionalValence", low=-1),
            "source_id": record.get("sourceId"),
            "expires_at": time_of(record.get("expiresAt"), "expiresAt"),
            "created_at": time_of(record.get("createdAt"), "createdAt"),
        }
    )
    own = dict(metadata) if isinstance(metadata, Mapping) else {}
    return Incoming(name, fields, content_of(record), metadata=own | extra)
