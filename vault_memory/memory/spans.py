"""Where each key of a front-matter block lies, to the character. Owns positions; decides and writes nothing.

libyaml's end marks run over trailing blanks and comments for block collections, and an alias has the marks of its
anchor; this module gives the true ends or refuses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import yaml
from msgspec import Struct

from vault_memory.errors import MalformedNote
from vault_memory.memory.findings import line_at
from vault_memory.memory.front_matter import compose, key_text, leaves

_COLON: Final = re.compile(r"[ \t]*:")
_LINE_END: Final = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_REST: Final = re.compile(r"[^\r\n]*")
_REFERENCE: Final = (yaml.AnchorToken, yaml.AliasToken, yaml.TagToken)


class Slot(Struct, frozen=True):
    """One key of a block mapping. All numbers are character positions in `block`.

    `line_start` begins the key's line, `after_colon` follows its colon, `start:end` is the value without trailing
    comment (both equal `after_colon` for an empty value), `line_end` is the end of the value's last line.
    """

    name: str
    block: str
    node: yaml.Node
    line_start: int
    after_colon: int
    start: int
    end: int

    @property
    def line_end(self) -> int:
        return end_of_line(self.block, self.end)

    @property
    def tail(self) -> str:
        """What follows the value on its last line, without the line end: blanks, perhaps a comment."""
        match = _REST.match(self.block, self.end)
        return match.group() if match else ""

    @property
    def gap(self) -> str:
        """What stands between the colon and the value."""
        return self.block[self.after_colon : self.start]

    @property
    def empty(self) -> bool:
        return self.start == self.end

    @property
    def line(self) -> int:
        """The key's line in the note, counted from 1."""
        return line_at(self.block, self.line_start) + 1


def refusal(reason: str, line: int | None = None) -> MalformedNote:
    """The error of an edit that cannot keep all the rest; nothing was written."""
    where = f"line {line}: " if line is not None else ""
    return MalformedNote(f"{where}{reason}", hint="edit the note by hand", reason=reason, line=line)


def start_of_line(text: str, index: int) -> int:
    """The position after the line end before `index`."""
    return max(text.rfind("\n", 0, index), text.rfind("\r", 0, index)) + 1


def end_of_line(text: str, index: int) -> int:
    """The position after the line end that follows `index`."""
    match = _LINE_END.match(text, index)
    return match.end() if match else len(text)


def slots(block: str) -> tuple[dict[str, Slot], str]:
    """The keys of a block by name, and the indentation they stand at.

    Raises:
        MalformedNote: a root in flow style, or an explicit key: nothing a line edit could keep.
    """
    root = compose(block)
    if root is None:
        return {}, ""
    if root.flow_style:
        raise refusal("the properties are written as one {…} map", 2)
    found = {key_text(key): _slot(block, key, value) for key, value in root.value}
    return found, " " * int(root.start_mark.column)


def _slot(block: str, key: yaml.Node, value: yaml.Node) -> Slot:
    start = key.start_mark.index
    line_start = start_of_line(block, start)
    colon = _COLON.match(block, key.end_mark.index)
    plain_key = isinstance(key, yaml.ScalarNode) and block[start : start + 1] not in "&*!"
    if colon is None or not plain_key or block[line_start:start].strip():
        return Slot(key_text(key), block, value, line_start, -1, -1, -1)
    after = colon.end()
    if _is_absent(value):
        return Slot(key_text(key), block, value, line_start, after, after, after)
    if value.start_mark.index < after:  # an alias has the marks of its anchor
        return Slot(key_text(key), block, value, line_start, -1, -1, -1)
    return Slot(key_text(key), block, value, line_start, after, value.start_mark.index, end_of(value, block))


def _is_absent(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and bool(node.start_mark.index == node.end_mark.index)


def end_of(node: yaml.Node, block: str) -> int:
    """Where a value truly ends: block scalars with their last line that says something, block lists with their leaf."""
    if isinstance(node, yaml.ScalarNode):
        if node.style not in ("|", ">"):
            return int(node.end_mark.index)
        content = block[node.start_mark.index : node.end_mark.index].rstrip()
        return int(node.start_mark.index) + len(content) + len(_trailing_blanks(block, node, len(content)))
    if not isinstance(node, yaml.CollectionNode) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1] if isinstance(node, yaml.SequenceNode) else node.value[-1][1]
    if _is_absent(last):
        return len(block[: last.start_mark.index].rstrip())
    return end_of(last, block)


def _trailing_blanks(block: str, node: yaml.Node, length: int) -> str:
    """Blanks at the end of a block scalar's last line belong to its text."""
    match = re.compile(r"[ \t]*").match(block, node.start_mark.index + length)
    return match.group() if match else ""


def check_plain(slot: Slot) -> None:
    """Refuse a key whose value could not be replaced without touching something else.

    Raises:
        MalformedNote: explicit keys, anchors, aliases and tags in the key or its value.
    """
    if slot.after_colon < 0:
        raise refusal(f"{slot.name} is written with an anchor, an alias, a tag or an explicit key", slot.line)
    region = slot.block[slot.line_start : slot.line_end]
    if any(mark in region for mark in "&*!") and any(_references(slot)):
        raise refusal(f"{slot.name} holds an anchor, an alias or a tag", slot.line)


def _references(slot: Slot) -> Iterator[bool]:
    for token in yaml.scan(slot.block, Loader=yaml.CSafeLoader):
        if slot.line_start <= token.start_mark.index < max(slot.end, slot.after_colon):
            yield isinstance(token, _REFERENCE)


def has_comment(slot: Slot) -> bool:
    """True when a comment lies inside the value (not after it): between items, or in a block scalar's first line."""
    text = slot.block
    position = slot.start
    for leaf in leaves(slot.node):
        if "#" in text[position : leaf.start_mark.index] or _header_comment(leaf, text):
            return True
        position = max(position, end_of(leaf, text))
    return "#" in text[position : slot.end]


def _header_comment(leaf: yaml.Node, text: str) -> bool:
    if not isinstance(leaf, yaml.ScalarNode) or leaf.style not in ("|", ">"):
        return False
    header = _REST.match(text, leaf.start_mark.index)
    return header is not None and "#" in header.group()
