"""The actor's key-value folder: `__manifest`, one `memory-<id>` for each memory, and `archived_memories`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from vault_memory.formats.record import (
    BadRecord,
    Bundle,
    Incoming,
    NotThisFormat,
    Outgoing,
    Unreadable,
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
from vault_memory.memory.model import SOURCES

MANIFEST: Final = "__manifest"
ARCHIVE: Final = "archived_memories"
_CATEGORY: Final = "category"


def matches(folder: Path) -> bool:
    """Whether the folder holds such a store, in either spelling of its file names."""
    return _file(folder, MANIFEST) is not None or any(folder.glob("memory-*.json"))


def read(folder: Path) -> Bundle:
    """The memories of the store, those outside its manifest too; the folder's name is the actor.

    Raises:
        NotThisFormat: there is no such store.
    """
    if not matches(folder):
        raise NotThisFormat(f"{folder} holds neither {MANIFEST}.json nor memory-*.json")
    names = _names(folder)
    loaded = [(name, _load(folder, f"memory-{name}")) for name in names]
    lost = tuple(Unreadable(name, "its file is missing or no JSON object") for name, item in loaded if item is None)
    live = each([item for _, item in loaded if item is not None], lambda item, name: _memory(item, name, folder.name))
    archive = _load(folder, ARCHIVE)
    old = each(
        archive if isinstance(archive, list) else [],
        lambda item, name: _memory({**item, "archived": True}, name, folder.name),
    )
    return Bundle("actor", (*live, *lost, *old))


def documents(notes: Iterable[Outgoing], exported_at: datetime) -> dict[str, Any]:
    """The files of a store by name: the manifest, the memories and the archive."""
    files: dict[str, Any] = {}
    archive = []
    for note in notes:
        body = record(note)
        if note.memory.status == "archived":
            archive.append(body)
        elif note.memory.status == "active":
            files[f"memory-{body['id']}.json"] = body
    ids = [body["id"] for body in files.values()]
    files[f"{MANIFEST}.json"] = {"version": 1, "memoryIds": ids, "updatedAt": text_time(exported_at)}
    return files | ({f"{ARCHIVE}.json": archive} if archive else {})


def record(note: Outgoing) -> dict[str, Any]:
    """One memory as the actor names its parts; its `updatedAt` is the later of change and last access."""
    memory = note.memory
    times = [moment for moment in (memory.updated_at, note.usage.last_accessed_at) if moment is not None]
    body = {
        "id": memory.ref,
        "url": memory.url,
        "site": None,
        "title": memory.title,
        "content": memory.content,
        "memoryType": memory.memory_type,
        "tags": list(memory.tags),
        "confidence": memory.confidence,
        "importance": memory.importance,
        "source": memory.source,
        "projectId": memory.project,
        "relatedUrls": list(memory.related_urls),
        "createdAt": text_time(memory.created_at),
        "updatedAt": text_time(max(times, default=None)),
        "contentHash": memory.content_hash[:16],
    }
    return body | present({_CATEGORY: memory.domain})


def _names(folder: Path) -> list[str]:
    manifest = _load(folder, MANIFEST)
    listed = manifest.get("memoryIds") if isinstance(manifest, Mapping) else None
    names = [str(name) for name in listed] if isinstance(listed, list) else []
    found = sorted(path.stem.removeprefix("memory-") for path in folder.glob("memory-*.json"))
    return list(dict.fromkeys((*names, *found)))


def _file(folder: Path, key: str) -> Path | None:
    if "/" in key or "\\" in key:
        return None
    return next((path for path in (folder / f"{key}.json", folder / key) if path.is_file()), None)


def _load(folder: Path, key: str) -> Any:
    path = _file(folder, key)
    try:
        return None if path is None else json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None


def _memory(record: Mapping[str, Any], name: str, actor: str) -> Incoming:
    memory_type, metadata = type_of(record.get("memoryType"), "general")
    source = record.get("source")
    project = record.get("projectId")
    if project is not None and not isinstance(project, str):
        raise BadRecord("'projectId' must be text")
    fields = present(
        {
            "id": id_of(record.get("id")),
            "title": record.get("title"),
            "memory_type": memory_type,
            "status": "archived" if record.get("archived") else None,
            "actor": actor,
            "project": project,
            "domain": record.get(_CATEGORY),
            "tags": words_of(record.get("tags"), "tags"),
            "importance": unit_of(record.get("importance"), "importance"),
            "confidence": unit_of(record.get("confidence"), "confidence"),
            "source": source if source in SOURCES else None,
            "url": record.get("url"),
            "related_urls": words_of(record.get("relatedUrls"), "relatedUrls"),
            "created_at": time_of(record.get("createdAt"), "createdAt"),
            "updated_at": time_of(record.get("updatedAt"), "updatedAt"),
        }
    )
    return Incoming(name, fields, content_of(record), metadata=metadata)
