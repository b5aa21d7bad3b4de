"""Byte-exact edits of front matter: only the lines of the named keys change, or nothing does and the reason is said.

Splices into the text at the spans of spans.py and proves every result by reading it again. Never re-dumps YAML.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any, Final

import yaml

from vault_memory.errors import InvalidRequest
from vault_memory.memory.front_matter import BOM, Entry, Parts, entries, split_text
from vault_memory.memory.listedit import list_splices
from vault_memory.memory.model import FIELDS, RELATION_TYPES, Memory
from vault_memory.memory.render import links, written
from vault_memory.memory.safety import editable_parts
from vault_memory.memory.scalars import double_quoted, entry_lines, flow, single_quoted
from vault_memory.memory.spans import Slot, check_plain, has_comment, refusal, slots
from vault_memory.memory.values import BadValue, TooMany, own_value, read_value, reserved_names

Splice = tuple[int, int, str]
"""Replace the characters from start to end by the text."""

_UNREADABLE: Final = object()


def patch(data: bytes, changes: Mapping[str, Any], *, relation_types: Collection[str] = RELATION_TYPES) -> bytes:
    """The note with the named front-matter keys set, every other byte as it was.

    A value that the file already holds changes nothing. New keys go to the end of the block in its newline style; a
    note without front matter gets a block on top.

    Args:
        data: the note's bytes.
        changes: key to value; None removes the key. Relations are lists of targets without brackets. Keys that are
            neither fields nor relations take any JSON-compatible value.
        relation_types: keys that are relations, the vault's own included.

    Raises:
        MalformedNote: the edit could not keep the rest; nothing is changed.
        InvalidRequest: a value outside its field's type, vocabulary or bounds.
        UnreadableNote: invalid UTF-8 or a NUL byte.
    """
    parts = editable_parts(data)
    text = parts.head + parts.body
    wanted = _Wanted(changes, frozenset(relation_types))
    result = _with_new_block(parts, wanted) if parts.block is None else _with_edits(text, parts, wanted)
    if result != text:
        _prove(parts, split_text(result), wanted)
    return result.encode()


def metadata_changes(
    memory: Memory, wanted: Mapping[str, Any], *, relation_types: Collection[str] = RELATION_TYPES
) -> dict[str, Any]:
    """The changes for `patch` that set a caller's own keys; None removes one.

    Keys that equal a field, a relation or `metadata` live in the map `metadata:`, all others at the top level.
    """
    reserved = reserved_names(relation_types)
    changes = {name: value for name, value in wanted.items() if name not in reserved}
    if any(name in reserved for name in wanted):
        held = {name: value for name, value in memory.metadata.items() if name in reserved}
        inner = {name: value for name, value in (held | dict(wanted)).items() if name in reserved and value is not None}
        changes["metadata"] = inner or None
    return changes


class _Wanted:
    """What the caller asks for: each key's text, and the value that reading it must give."""

    def __init__(self, changes: Mapping[str, Any], relation_types: frozenset[str]) -> None:
        self._relation_types = relation_types
        self.values = {name: self._written(name, value) for name, value in changes.items()}
        self.expected = {name: self._expected(name, value) for name, value in self.values.items()}

    def _written(self, name: str, value: Any) -> Any:
        if value is not None and name in self._relation_types and name not in FIELDS:
            return links(value)
        return written(name, value)

    def _expected(self, name: str, value: Any) -> Any:
        if value is None:
            return None
        try:
            return self.read(name, next(iter(entries(entry_lines(name, value)).values())))
        except BadValue as bad:
            raise InvalidRequest.of(name, bad.reason) from bad

    def read(self, name: str, entry: Entry) -> Any:
        """The value under the rules of that key's kind."""
        return read_value(name, entry.value, entry.source, self._relation_types)

    def held_by(self, name: str, entry: Entry) -> bool:
        """True when the file already says it."""
        return _read_or_unreadable(self, name, entry) == self.expected[name] and self.values[name] is not None

    def item_text(self, name: str, node: yaml.Node, source: str) -> str | None:
        """What one item of a list says, in the form in which the whole list is read."""
        single = yaml.SequenceNode("tag:yaml.org,2002:seq", [node], node.start_mark, node.end_mark)
        try:
            read = self.read(name, Entry(single, single, source))
        except (BadValue, TooMany):
            return None
        return read[0] if len(read) == 1 and isinstance(read[0], str) else None


def _read_or_unreadable(wanted: _Wanted, name: str, entry: Entry) -> Any:
    try:
        return wanted.read(name, entry)
    except (BadValue, TooMany):
        return _UNREADABLE


def _with_new_block(parts: Parts, wanted: _Wanted) -> str:
    lines = "".join(_added(wanted, wanted.values, parts.newline, ""))
    if not lines:
        return parts.head + parts.body
    return f"{parts.bom}---{parts.newline}{lines}---{parts.newline}{parts.body}"


def _added(wanted: _Wanted, names: Collection[str], newline: str, indent: str) -> Iterator[str]:
    for name in names:
        if wanted.values[name] is not None and wanted.expected[name] is not None:
            yield entry_lines(name, wanted.values[name], newline, indent)


def _with_edits(text: str, parts: Parts, wanted: _Wanted) -> str:
    block = parts.block or ""
    known, indent = slots(block)
    splices: list[Splice] = []
    for name in wanted.values:
        if (slot := known.get(name)) is not None:
            splices += _edit(slot, wanted)
    added = "".join(_added(wanted, [name for name in wanted.values if name not in known], parts.newline, indent))
    if added:
        splices.append((len(block), len(block), added))
    changed = apply(block, splices)
    return text[: parts.block_start] + changed + text[parts.block_start + len(block) :]


def apply(text: str, splices: Collection[Splice]) -> str:
    """The text with every splice applied; they must not overlap."""
    for start, end, new in sorted(splices, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _edit(slot: Slot, wanted: _Wanted) -> list[Splice]:
    value = wanted.values[slot.name]
    if wanted.held_by(slot.name, Entry(slot.node, slot.node, slot.block)):
        return []
    check_plain(slot)
    if value is None:
        return [removal(slot)]
    if isinstance(value, list) and value and _is_block_list(slot.node):
        texts = [wanted.item_text(slot.name, item, slot.block) for item in slot.node.value]
        return list_splices(slot, texts, _items(value, wanted.expected[slot.name]))
    if has_comment(slot):
        raise refusal(f"a comment inside {slot.name} would be lost", slot.line)
    return [_replacement(slot, value)]


def _is_block_list(node: yaml.Node) -> bool:
    return isinstance(node, yaml.SequenceNode) and not node.flow_style


def _items(value: list[Any], expected: Any) -> list[tuple[str, str]]:
    """Each item as it will be read and as it is written."""
    if len(expected) == len(value):
        return [(str(read), flow(item)) for read, item in zip(expected, value, strict=True)]
    return [(str(read), flow(read)) for read in expected]


def _replacement(slot: Slot, value: Any) -> Splice:
    new = _restyled(slot.node, value)
    if slot.empty:
        return slot.start, slot.end, f" {new}"
    if "\n" in slot.gap or "\r" in slot.gap:
        return slot.after_colon, slot.end, f" {new}{slot.gap.rstrip()}"
    return slot.start, slot.end, new


def _restyled(node: yaml.Node, value: Any) -> str:
    """The new value in the quotes of the old one, where it has quotes and the new value is text."""
    new = flow(value)
    if not isinstance(value, (str, datetime)) or not isinstance(node, yaml.ScalarNode):
        return new
    bare = value if isinstance(value, str) else new
    if node.style == "'":
        return single_quoted(bare) or new
    return double_quoted(bare) if node.style == '"' else new


def removal(slot: Slot) -> Splice:
    """Cut a key out with all its lines; a comment behind the value stays, on a line of its own.

    Raises:
        MalformedNote: a comment inside the value would be lost.
    """
    if "#" in slot.gap or has_comment(slot):
        raise refusal(f"a comment inside {slot.name} would be lost", slot.line)
    comment = slot.tail.strip()
    if not comment:
        return slot.line_start, slot.line_end, ""
    indent = slot.block[slot.line_start : slot.line_start + _indentation(slot)]
    return slot.line_start, slot.end + slot.tail.index("#"), indent


def _indentation(slot: Slot) -> int:
    line = slot.block[slot.line_start : slot.after_colon]
    return len(line) - len(line.lstrip(" "))


def _prove(before: Parts, after: Parts, wanted: _Wanted) -> None:
    """Read the result again: exactly the named keys may differ, in value and in place.

    Raises:
        MalformedNote: anything else changed, so the edit must not be written.
    """
    old, new = before.entries or {}, after.entries or {}
    kept = [name for name in old if name in new]
    same_place = (
        after.block is not None and after.body == before.body and after.head.startswith(BOM) == bool(before.bom)
    )
    if not same_place or kept != list(new)[: len(kept)]:
        raise refusal("the edit would change more than the named properties")
    for name in old.keys() | new.keys():
        if name in wanted.values:
            _prove_named(name, new.get(name), wanted)
        elif name not in new or name not in old or _own(old[name]) != _own(new[name]):
            raise refusal(f"the edit would also change {name}", old[name].line if name in old else None)


def _prove_named(name: str, entry: Entry | None, wanted: _Wanted) -> None:
    found = None if entry is None else _read_or_unreadable(wanted, name, entry)
    if found != wanted.expected[name] or (entry is not None and entry.repeated_at is not None):
        raise refusal(f"{name} would not read back as asked")


def _own(entry: Entry) -> Any:
    try:
        return own_value(entry.value, entry.source), entry.repeated_at
    except TooMany:
        return _UNREADABLE
