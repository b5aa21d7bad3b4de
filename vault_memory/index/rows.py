"""Between a memory and its row in the catalog, both ways, and the values that are recorded. No SQL is run here."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import replace

from vault_memory.files.scan import Known
from vault_memory.memory.filter import folded_tags
from vault_memory.memory.link_text import LinkStyle, links
from vault_memory.memory.model import EMPTY, Finding, Memory
from vault_memory.memory.slug import fold
from vault_memory.memory.times import Provenance, effective_times, time_of_ns, time_of_text, time_text
from vault_memory.memory.urls import site_of, url_key

if TYPE_CHECKING:
    from vault_memory.index.derive import ChunkData


class LinkData(Struct, frozen=True):
    """A link of a note as written, without brackets, heading and alias; `relation` None for one in the body."""

    target: str
    relation: str | None = None
    style: LinkStyle = "wiki"


class Record(Struct, frozen=True):
    """One note to be recorded: its memory as parsed, its effective times, its file, and what was derived from it.

    `chunks` None: they are still to be made (the note is listed and read, but not found by a search yet).
    """

    memory: Memory
    head: str
    """The file's text before the content."""
    file: Known
    """The file as the scan saw it before it was read: its bytes may be newer, never older."""
    times: tuple[datetime, datetime]
    """Effective created_at and updated_at."""
    chunks: tuple[ChunkData, ...] | None = None

    @property
    def timed(self) -> Memory:
        """The memory with its effective times: what the catalog gives back."""
        return replace(self.memory, created_at=self.times[0], updated_at=self.times[1])


class Identity(Struct, frozen=True):
    """What tells one note from another."""

    id: str | None
    revision: str

    @classmethod
    def of(cls, memory: Memory) -> Identity:
        """The identity of a parsed memory."""
        return cls(memory.id, memory.revision)

    def ref(self, path: str) -> str:
        """The ref of the note, when it stands at `path`."""
        return self.id or path


class TimedNote(Struct, frozen=True):
    """A note as its effective times are judged: the file's bytes and mtime, the stated times and those in force."""

    path: str
    data: bytes
    mtime_ns: int
    stated_created: datetime | None
    stated_updated: datetime | None
    created_at: datetime
    updated_at: datetime


class BadFile(Struct, frozen=True):
    """A file that is no readable note: remembered, so that it is named and not read again until it changes."""

    path: str
    file: Known
    finding: Finding


class Row(Struct, frozen=True):
    """A memory as the catalog gives it, with what is not in the note."""

    memory: Memory
    note: int
    """Key of the note in the catalog, never used twice."""
    generation: int
    last_accessed_at: datetime | None = None
    access_count: int = 0


def record_of(
    memory: Memory,
    data: bytes,
    file: Known,
    provenance: Provenance | None = None,
    *,
    chunks: tuple[ChunkData, ...] | None = None,
) -> Record:
    """The record of a parsed memory: `data` are the file's bytes, `provenance` what git knows (None: no repository)."""
    text = data.decode()
    head = text[: len(text) - len(memory.content)]
    mtime = time_of_ns(file.stat.mtime_ns)
    times = effective_times(memory.created_at, memory.updated_at, mtime, provenance or Provenance())
    return Record(memory, head, file, times, chunks)


_CONFLICT_COPY: Final = re.compile(
    r"\(.*conflict(ed)? copy.*\)|\(case conflict.*\)|\.sync-conflict-\d{8}-\d{6}|_conflict-\d{8}-\d{6}"
    r"|\(conflict.* \d{4}-\d{2}-\d{2}.*\)",
    re.IGNORECASE,
)
"""How Obsidian Sync, Dropbox, Nextcloud, Syncthing and ownCloud name the losing copy of a note."""


def is_conflict_copy(path: str) -> bool:
    """Whether the file name is one that a sync tool gives to a conflict copy."""
    name = path.rpartition("/")[2]
    return "onflict" in name.lower() and _CONFLICT_COPY.search(name) is not None


def link_key(target: str) -> str:
    """The folded last part of a link target, path or title, without `.md`: equal for a link and what it can mean."""
    return fold(target.strip().rpartition("/")[2]).removesuffix(".md")


def links_of(memory: Memory) -> tuple[LinkData, ...]:
    """The links of a memory: its relations in their order, then those of the body."""
    stated = [LinkData(target, relation) for relation, targets in memory.relations.items() for target in targets]
    return (*stated, *(LinkData(link.target, None, link.style) for link in links(memory.content)))


COLUMNS: Final = (
    "note", "path", "path_key", "name_key", "id", "ref", "generation", "kind", "derived", "status", "memory_type",
    "project", "actor", "created_at", "updated_at", "expires_at", "valid_from", "valid_to", "importance", "confidence",
    "verification", "pinned", "version", "source", "source_id", "domain", "session", "agent", "url", "url_key", "site",
    "title", "revision", "content_hash", "conflict_copy", "stated_created", "stated_updated", "tags_folded", "fields",
    "head", "content", "folded",
)  # fmt: skip
_LISTS: Final = ("tags", "aliases", "related_urls", "stacks", "flags", "relation_notes", "inline_tags")
_to_json: Final = json.JSONEncoder(separators=(",", ":")).encode
_MAX_INTEGER: Final = 2**63 - 1


def note_values(record: Record, note: int, generation: int, kind: int) -> tuple[Any, ...]:
    """The values of COLUMNS for a record."""
    m = record.memory
    path_key = fold(m.path)
    return (
        note, m.path, path_key, path_key.rpartition("/")[2], m.id, m.ref, generation, kind, record.chunks is not None,
        m.status, m.memory_type, m.project, m.actor, *map(time_text, record.times), _text(m.expires_at),
        _text(m.valid_from), _text(m.valid_to), m.importance, m.confidence, m.verification, m.pinned,
        min(m.version, _MAX_INTEGER), m.source, m.source_id, m.domain, m.session, m.agent, m.url,
        None if m.url is None else url_key(m.url), site_of(m.url), m.title, m.revision, m.content_hash,
        is_conflict_copy(m.path), _text(m.created_at), _text(m.updated_at), folded_tags(m),
        _to_json(_rest(m)), record.head, m.content, _folded_if_needed(m.content),
    )  # fmt: skip


ROW_COLUMNS: Final = (
    "note", "generation", "path", "content", "id", "title", "memory_type", "status", "project", "domain", "actor",
    "session", "agent", "source", "source_id", "importance", "confidence", "verification", "pinned", "url",
    "expires_at", "valid_from", "valid_to", "created_at", "updated_at", "version", "revision", "fields",
)  # fmt: skip
ROW_SQL: Final = ", ".join(f"notes.{column}" for column in ROW_COLUMNS) + ", u.last_accessed_at, u.access_count"
"""The columns of `row_of`; the query joins `usage.usage AS u ON u.ref = notes.ref`."""


def row_of(values: tuple[Any, ...]) -> Row:
    """The inverse of `note_values`, from the columns of ROW_SQL."""
    (
        note, generation, path, content, id_, title, memory_type, status, project, domain, actor, session, agent,
        source, source_id, importance, confidence, verification, pinned, url, expires_at, valid_from, valid_to,
        created_at, updated_at, version, revision, rest, last_accessed_at, access_count,
    ) = values  # fmt: skip
    memory = Memory(
        path=path, content=content, id=id_, title=title, memory_type=memory_type, status=status, project=project,
        domain=domain, actor=actor, session=session, agent=agent, source=source, source_id=source_id,
        importance=importance, confidence=confidence, verification=verification, pinned=bool(pinned), url=url,
        expires_at=_time(expires_at), valid_from=_time(valid_from), valid_to=_time(valid_to),
        created_at=_time(created_at), updated_at=_time(updated_at), revision=revision,
        **({"version": version} | _from_json(json.loads(rest))),
    )  # fmt: skip
    return Row(memory, note, generation, _time(last_accessed_at), access_count or 0)


def _rest(memory: Memory) -> dict[str, Any]:
    """What of the memory has no column of its own, in JSON's types; values at their default are left out."""
    rest: dict[str, Any] = {name: list(value) for name in _LISTS if (value := getattr(memory, name))}
    if memory.emotional_valence:
        rest["emotional_valence"] = memory.emotional_valence
    if memory.anchor_scope is not None:
        rest["anchor_scope"] = memory.anchor_scope
    if memory.outcome is not None:
        rest["outcome"] = memory.outcome
    if memory.relations:
        rest["relations"] = {relation: list(targets) for relation, targets in memory.relations.items()}
    if memory.metadata:
        rest["metadata"] = _plain(memory.metadata)
    if memory.findings:
        rest["findings"] = [[f.code, f.reason, f.line, f.blocks_edit] for f in memory.findings]
    if memory.stated:
        rest["stated"] = sorted(memory.stated)
    if memory.version > _MAX_INTEGER:
        rest["version"] = memory.version
    return rest


def _from_json(rest: dict[str, Any]) -> dict[str, Any]:
    for name in _LISTS:
        if name in rest:
            rest[name] = tuple(rest[name])
    relations: Mapping[str, Any] = rest.get("relations", EMPTY)
    if relations:
        rest["relations"] = MappingProxyType({name: tuple(targets) for name, targets in relations.items()})
    if "metadata" in rest:
        rest["metadata"] = MappingProxyType(rest["metadata"])
    if "findings" in rest:
        rest["findings"] = tuple(Finding(*values) for values in rest["findings"])
    rest["stated"] = frozenset(rest.get("stated", ()))
    return rest


def _plain(value: Any) -> Any:
    """`value` with mappings and sequences of any kind as those that JSON knows."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _folded_if_needed(content: str) -> str | None:
    """The folded content where SQLite's `lower`, which knows ASCII only, would give something else."""
    if content.isascii():
        return None
    text = fold(content)
    return None if text.encode() == content.encode().lower() else text


def _text(value: datetime | None) -> str | None:
    return None if value is None else time_text(value)


def _time(text: str | None) -> datetime | None:
    return None if text is None else time_of_text(text)
