"""From a note's bytes to a Memory. Reading never fails on a person's note: what is odd becomes a finding."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping
from datetime import datetime
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, Final

from vault_memory.memory import findings as find
from vault_memory.memory.front_matter import Entry, Parts, decode, split_text
from vault_memory.memory.model import (
    CONFLICT_CODES,
    EMPTY,
    FIELDS,
    MEMORY_TYPES,
    RELATION_TYPES,
    Finding,
    Memory,
    revision_of,
)
from vault_memory.memory.moments import ImpossibleTime, parse_time
from vault_memory.memory.prose import first_title, inline_tags
from vault_memory.memory.values import BadValue, TooMany, field_value, link_targets, own_value, text_of

_TIME_KEYS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {"created_at": ("created", "date"), "updated_at": ("updated", "modified")}
)
"""Other people's words for our times, in the order in which they are asked when ours is missing."""


def parse(
    data: bytes,
    path: str,
    *,
    relation_types: Collection[str] = RELATION_TYPES,
    memory_types: Collection[str] = MEMORY_TYPES,
) -> Memory:
    """The memory that a note's bytes hold.

    Args:
        data: the file's bytes.
        path: its vault path; the title's last resort.
        relation_types: keys that are relations, the vault's own included.
        memory_types: the vocabulary of `memory_type`, the vault's own included.

    Raises:
        UnreadableNote: invalid UTF-8 or a NUL byte; nothing else is ever raised.
    """
    parts = split_text(decode(data))
    reading = _Reading(frozenset(relation_types), frozenset(memory_types))
    reading.note(parts)
    if not reading.fields.get("title"):
        reading.fields["title"] = _title(parts, path)
    return Memory(
        path=path,
        content=parts.body,
        relations=reading.relations or EMPTY,
        metadata=reading.metadata or EMPTY,
        inline_tags=inline_tags(parts.body),
        findings=tuple(reading.findings),
        stated=frozenset(reading.stated),
        revision=revision_of(data),
        **reading.fields,
    )


def findings_of(parts: Parts) -> tuple[Finding, ...]:
    """What is odd about a note, under the built-in vocabulary."""
    reading = _Reading(frozenset(RELATION_TYPES), frozenset(MEMORY_TYPES))
    reading.note(parts)
    return tuple(reading.findings)


def _title(parts: Parts, path: str) -> str:
    """The first heading, else the file name; a malformed block's comments look like headings and don't count."""
    heading = None if parts.finding is not None and parts.finding.blocks_edit else first_title(parts.body)
    return heading or unicodedata.normalize("NFC", PurePosixPath(path).name.removesuffix(".md"))


class _Reading:
    """Collects what one front matter states, and what is odd about it."""

    def __init__(self, relation_types: frozenset[str], memory_types: frozenset[str]) -> None:
        self._relation_types = relation_types
        self._memory_types = memory_types
        self.fields: dict[str, Any] = {}
        self.stated: set[str] = set()
        self.relations: dict[str, tuple[str, ...]] = {}
        self.metadata: dict[str, Any] = {}
        self.findings: list[Finding] = []

    def note(self, parts: Parts) -> None:
        self._front_matter(parts)
        if (conflict := find.conflict_markers(parts.head + parts.body)) is not None:
            self.findings.append(conflict)

    def _front_matter(self, parts: Parts) -> None:
        if parts.finding is not None:
            self.findings.append(parts.finding)
        entries = parts.entries or {}
        for name, entry in entries.items():
            if entry.repeated_at is not None:
                self.findings.append(find.duplicate_key(name, entry.repeated_at, entry.line))
            self._entry(name, entry)
        for name, others in _TIME_KEYS.items():
            if name not in self.fields:
                self._time_from(name, [entries[other] for other in others if other in entries])
        self._spread_metadata()

    def _entry(self, name: str, entry: Entry) -> None:
        try:
            if name in FIELDS:
                self._field(name, entry)
            elif name in self._relation_types:
                self._relation(name, entry)
            else:
                self.metadata[name] = own_value(entry.value, entry.source)
        except BadValue as bad:
            blocks = bad.code in CONFLICT_CODES
            reason = f"{name}: {bad.reason}"
            self.findings.append(Finding(bad.code, reason, entry.line, blocks_edit=blocks))
        except TooMany:
            self.findings.append(find.alias_limit(name, entry.line))

    def _field(self, name: str, entry: Entry) -> None:
        value = field_value(FIELDS[name], entry.value, entry.source)
        if name == "memory_type" and value is not None and value not in self._memory_types:
            raise BadValue("out_of_vocabulary", f"{value!r} is no memory type of this vault")
        if value is None:
            return
        self.fields[name] = value
        self.stated.add(name)

    def _relation(self, name: str, entry: Entry) -> None:
        if targets := link_targets(entry.value, entry.source):
            self.relations[name] = targets
            self.stated.add(name)

    def _time_from(self, name: str, entries: list[Entry]) -> None:
        """Take the first usable time of other keys; they stay a person's own keys, so nothing counts as stated."""
        for entry in entries:
            try:
                text = text_of(entry.value, entry.source)
                moment: datetime | None = parse_time(text) if text else None
            except BadValue:
                continue
            except ImpossibleTime:
                reason = f"{entry.key.value}: no such date: {entry.value.value}"
                self.findings.append(Finding("impossible_date", reason, entry.line, blocks_edit=True))
                continue
            if moment is not None:
                self.fields[name] = moment
                return

    def _spread_metadata(self) -> None:
        """A map `metadata:` holds the keys that would clash with ours; a key of the same name outside it wins."""
        inner = self.metadata.get("metadata")
        if isinstance(inner, dict):
            del self.metadata["metadata"]
            self.metadata = inner | self.metadata
