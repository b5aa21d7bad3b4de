"""The knowledge graph of the MCP reference server: JSON lines of entities and relations (`memory.json`, `.jsonl`)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from vault_memory.formats.record import (
    Bundle,
    Incoming,
    NotThisFormat,
    Outgoing,
    Unreadable,
    id_of,
)
from vault_memory.memory.model import RELATION_TYPES

_KINDS = ("entity", "relation")


def matches(text: str) -> bool:
    """Whether the first line is an entity or a relation."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    try:
        item = json.loads(first)
    except ValueError:
        return False
    return isinstance(item, Mapping) and item.get("type") in _KINDS


def read(text: str) -> Bundle:
    """One memory for each entity, its observations a list; relations become typed links, their own word noted.

    Raises:
        NotThisFormat: no line is an entity or a relation.
    """
    if not matches(text):
        raise NotThisFormat("the first line is neither an entity nor a relation")
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    items = [(number, _parsed(line)) for number, line in lines]
    bad = [Unreadable(f"line {number}", "is neither an entity nor a relation") for number, item in items if not item]
    entities: dict[str, dict[str, Any]] = {}
    for number, item in items:
        if item and item["type"] == "entity":
            name = _first(item, "name", "entityName", "id")
            if name is None:
                bad.append(Unreadable(f"line {number}", "an entity without a name"))
            else:
                entities.setdefault(name, {"type": item.get("entityType"), "observations": [], "edges": []})
                entities[name]["observations"] += [str(each) for each in item.get("observations") or ()]
    for number, item in items:
        if item and item["type"] == "relation" and (reason := _connect(entities, item)):
            bad.append(Unreadable(f"line {number}", reason))
    return Bundle("server-memory", (*(_memory(name, entity) for name, entity in entities.items()), *bad))


def write(notes: Iterable[Outgoing]) -> str:
    """Each memory as an entity with its content as one observation, each relation between them as a line."""
    known = list(notes)
    names = {note.memory.ref: note.memory.title or note.memory.ref for note in known}
    lines = [
        {
            "type": "entity",
            "name": names[note.memory.ref],
            "entityType": note.memory.memory_type,
            "observations": [note.memory.content],
        }
        for note in known
    ]
    lines += [
        {"type": "relation", "from": names[note.memory.ref], "to": names[target], "relationType": kind}
        for note in known
        for kind, targets in note.targets.items()
        for target in targets
        if target in names
    ]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        item = json.loads(line)
    except ValueError:
        return None
    return item if isinstance(item, dict) and item.get("type") in _KINDS else None


def _first(item: Mapping[str, Any], *keys: str) -> str | None:
    return next((str(item[key]) for key in keys if item.get(key)), None)


def _connect(entities: Mapping[str, dict[str, Any]], item: Mapping[str, Any]) -> str:
    """Hang the edge on its source; why it could not be, else an empty text."""
    source, target = _first(item, "from", "from_id"), _first(item, "to", "to_id")
    word = _first(item, "relationType", "relation_type") or "relates_to"
    if source is None or source not in entities or target not in entities:
        return f"a relation between {source!r} and {target!r}, which are not both entities"
    if source != target:
        entities[source]["edges"].append((word, target))
    return ""


def _memory(name: str, entity: Mapping[str, Any]) -> Incoming:
    texts = entity["observations"]
    content = texts[0] if len(texts) == 1 else "\n".join(f"- {text}" for text in texts)
    relations: dict[str, tuple[str, ...]] = {}
    notes: list[tuple[str, str, str]] = []
    for word, target in entity["edges"]:
        kind = word if word in RELATION_TYPES else "relates_to"
        relations[kind] = tuple(dict.fromkeys((*relations.get(kind, ()), _id(target))))
        if kind != word:
            notes.append((kind, _id(target), word))
    metadata = {"entity_type": entity["type"]} if entity["type"] else {}
    fields = {"id": _id(name), "title": name, "memory_type": "fact"}
    return Incoming(name, fields, content or name, relations, tuple(notes), metadata)


def _id(name: str) -> str:
    """Names are free text there: the id is made from the name and always the same."""
    return id_of(f"server-memory entity {name}")
