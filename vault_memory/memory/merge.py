"""Three-way merges of whole notes, pure. Lines for stale writes, field by field for git's merge driver.

Field-wise: lists as sets, `updated_at` the later, `version` the higher, the body by lines; a conflict only where both
sides touched the same place, marked the way git does.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, Final

from msgspec import Struct

from vault_memory.errors import MalformedNote
from vault_memory.memory.front_matter import Entry, Parts, UnreadableNote, decode, split_text
from vault_memory.memory.line_merge import Chunk, conflict, merge, with_markers
from vault_memory.memory.model import RELATION_TYPES
from vault_memory.memory.moments import ImpossibleTime, parse_time
from vault_memory.memory.patch import patch
from vault_memory.memory.safety import is_sound
from vault_memory.memory.segments import Segment, Segments, segments
from vault_memory.memory.values import BadValue, TooMany, read_value

_TIMES: Final = frozenset({"updated_at", "updated", "modified"})
_NEWLINE: Final = re.compile("\r\n|\n|\r")
_FENCE: Final = "---"


class MergeResult(Struct, frozen=True):
    """The merged note; `conflict` tells whether markers stand in it."""

    data: bytes
    conflict: bool


def merge_bytes(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """The merge of two changed notes by lines; None when both touched the same place.

    None also when the lines merge but the result would be front matter that no longer reads (a key twice).
    """
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    chunks = list(merge(base.splitlines(True), ours.splitlines(True), theirs.splitlines(True)))
    if any(chunk.theirs is not None for chunk in chunks):
        return None
    merged = b"".join(line for chunk in chunks for line in chunk.ours)
    return None if is_sound(ours) and is_sound(theirs) and not is_sound(merged) else merged


def merge_fields(
    base: bytes,
    ours: bytes,
    theirs: bytes,
    *,
    relation_types: Collection[str] = RELATION_TYPES,
    labels: tuple[str, str] = ("ours", "theirs"),
    marker_size: int = 7,
) -> MergeResult:
    """The field-wise merge of two changed notes; `base` is empty when both sides added the note.

    Notes whose front matter cannot be cut into fields are merged by lines.
    """
    if ours == theirs or theirs == base:
        return MergeResult(ours, False)
    if ours == base:
        return MergeResult(theirs, False)
    if is_sound(ours) and is_sound(theirs):
        try:
            return _Merge(base, ours, theirs, frozenset(relation_types), labels, marker_size).result()
        except (MalformedNote, UnreadableNote):
            pass  # some shape that only lines can keep
    return _by_lines(base, ours, theirs, labels, marker_size)


def _by_lines(base: bytes, ours: bytes, theirs: bytes, labels: tuple[str, str], marker_size: int) -> MergeResult:
    chunks = list(merge(base.splitlines(True), ours.splitlines(True), theirs.splitlines(True)))
    newline = b"\r\n" if b"\r\n" in ours else b"\n"
    data = with_markers(chunks, labels, marker_size, newline)
    broken = is_sound(ours) and is_sound(theirs) and not is_sound(data)
    return MergeResult(data, broken or _has_conflict(chunks))


def _has_conflict(chunks: Collection[Chunk]) -> bool:
    return any(chunk.theirs is not None for chunk in chunks)


class _Merge:
    """One field-wise merge: three notes, cut into segments and bodies."""

    def __init__(
        self,
        base: bytes,
        ours: bytes,
        theirs: bytes,
        relation_types: frozenset[str],
        labels: tuple[str, str],
        marker_size: int,
    ) -> None:
        self._parts = tuple(split_text(decode(data)) for data in (base, ours, theirs))
        self._relation_types = relation_types
        self._labels = labels
        self._marker_size = marker_size
        shape = self._parts[1] if self._parts[1].block is not None else self._parts[2]
        self._shape: Parts = shape
        self._newline = shape.newline
        self._base, self._ours, self._theirs = (self._segments(parts) for parts in self._parts)
        self.conflict = False

    def _segments(self, parts: Parts) -> Segments:
        """Segments in our newline style, so that a change of style alone is no change of a field."""
        found = segments(parts)
        restyled = {
            name: Segment(name, self._restyled(one.lead), self._restyled(one.text))
            for name, one in found.by_name.items()
        }
        return Segments(restyled, self._restyled(found.trailer))

    def _restyled(self, text: str) -> str:
        return _NEWLINE.sub(self._newline, text)

    def result(self) -> MergeResult:
        data = self._head().encode() + self._body()
        if not self.conflict and not is_sound(data):
            raise MalformedNote("the merged front matter would not read back")
        return MergeResult(data, self.conflict)

    def _body(self) -> bytes:
        base, ours, theirs = (parts.body.encode().splitlines(True) for parts in self._parts)
        chunks = list(merge(base, ours, theirs))
        self.conflict = self.conflict or _has_conflict(chunks)
        return with_markers(chunks, self._labels, self._marker_size, self._newline.encode())

    def _head(self) -> str:
        shape = self._shape
        if shape.block is None:
            return self._parts[1].head
        block = "".join(self._key(name) for name in self._order())
        block += self._between(self._base.trailer, self._ours.trailer, self._theirs.trailer)
        end = shape.block_start + len(shape.block)
        return shape.head[: shape.block_start] + block + shape.head[end:]

    def _order(self) -> list[str]:
        """Our order; a key that only they have follows the key it follows there."""
        order = list(self._ours.by_name)
        previous: str | None = None
        for name in self._theirs.by_name:
            if name not in self._ours.by_name:
                order.insert(order.index(previous) + 1 if previous in order else len(order), name)
            previous = name
        return order

    def _key(self, name: str) -> str:
        base, ours, theirs = (side.by_name.get(name) for side in (self._base, self._ours, self._theirs))
        leads = [one.lead if one is not None else "" for one in (base, ours, theirs)]
        texts = [one.text if one is not None else "" for one in (base, ours, theirs)]
        if name in self._base.by_name and (ours is None or theirs is None):
            kept = leads[1] or leads[2]
        else:
            kept = self._between(*leads)
        return kept + self._settled(name, *texts)

    @staticmethod
    def _between(base: str, ours: str, theirs: str) -> str:
        """Comments and blank lines: the side that changed them, else ours and the lines that only they have."""
        if ours == theirs or theirs == base:
            return ours
        if ours == base:
            return theirs
        have = ours.splitlines()
        return ours + "".join(line for line in theirs.splitlines(True) if line.strip() and line.rstrip() not in have)

    def _settled(self, name: str, base: str, ours: str, theirs: str) -> str:
        """A key's lines: the side that changed them, else what the rule of the field makes of both."""
        if ours == theirs or theirs == base:
            return ours
        if ours == base:
            return theirs
        merged = self._by_rule(name, base, ours, theirs)
        if merged is not None:
            return merged
        self.conflict = True
        newline = self._newline.encode()
        return conflict(ours.encode(), theirs.encode(), self._labels, self._marker_size, newline).decode()

    def _by_rule(self, name: str, base: str, ours: str, theirs: str) -> str | None:
        """The merged lines, None when the rule knows no answer."""
        old, mine, other = (self._value(name, text) for text in (base, ours, theirs))
        if ours and theirs and mine is not None and mine == other:
            return ours
        if name in _TIMES or name == "version":
            return self._higher(name, ours, theirs, mine, other)
        lists = [value for value in (old, mine, other) if value is not None]
        if lists and all(isinstance(value, (list, tuple)) for value in lists) and _only_texts(lists):
            return self._united(name, ours or theirs, _union(old or (), mine or (), other or ()))
        return None

    @staticmethod
    def _higher(name: str, ours: str, theirs: str, mine: Any, other: Any) -> str | None:
        if not ours or not theirs:
            return ours or theirs
        left, right = (_moment(value) if name in _TIMES else value for value in (mine, other))
        return None if left is None or right is None else (ours if left >= right else theirs)

    def _united(self, name: str, lines: str, values: list[str]) -> str | None:
        """`lines` with the list's items replaced, in the style they have; None where a comment would be lost."""
        nl = self._newline
        note = f"{_FENCE}{nl}{lines}{_FENCE}{nl}".encode()
        try:
            changed = patch(note, {name: values}, relation_types=self._relation_types).decode()
        except MalformedNote:
            return None
        return split_text(changed).block

    def _value(self, name: str, lines: str) -> Any:
        """What a key's lines say; None when they are missing or say nothing usable."""
        nl = self._newline
        entries: Mapping[str, Entry] = split_text(f"{_FENCE}{nl}{lines}{_FENCE}{nl}").entries or {}
        if (entry := entries.get(name)) is None:
            return None
        try:
            return read_value(name, entry.value, entry.source, self._relation_types)
        except (BadValue, TooMany):
            return None


def _moment(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return parse_time(value)
    except ImpossibleTime:
        return None


def _only_texts(lists: Collection[Any]) -> bool:
    return all(isinstance(item, str) for value in lists for item in value)


def _union(base: Collection[str], ours: Collection[str], theirs: Collection[str]) -> list[str]:
    """Lists as sets: what either side took out is gone, what either added is in; our order, then theirs."""
    gone = {item for item in base if item not in ours or item not in theirs}
    return [item for item in dict.fromkeys((*ours, *theirs)) if item not in gone]
