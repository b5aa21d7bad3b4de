"""Edits of JSON and JSONC text that touch nothing but the named entry.

Owns spans: where a value stands in the text, and how to put one in or take one out so that comments, order, indentation
and line ends around it survive. Pure text in, text out; it must not read files or know any client.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from json import JSONDecodeError, JSONDecoder
from typing import Any, Final

from msgspec import Struct

Key = str | int
_BLANKS: Final = " \t\r\n"
_DECODER: Final = JSONDecoder()
_DEPTH: Final = 200


class BrokenText(ValueError):
    """The text is not what its file should hold; `line` counts from 1."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(f"line {line}: {reason}")
        self.reason = reason
        self.line = line


class EntryExists(ValueError):
    """Something already stands where an entry should go."""


class Node(Struct, frozen=True):
    """A value and its place: `text[start:end]`. `members` is None for anything but an object or an array."""

    start: int
    end: int
    value: Any
    members: tuple[Member, ...] | None = None

    @property
    def is_object(self) -> bool:
        """True for `{…}`."""
        return isinstance(self.value, dict)


class Member(Struct, frozen=True):
    """One entry of an object (named by key) or array (by position); `start` is where its key or value begins."""

    key: Key
    start: int
    node: Node


def parse(text: str, *, comments: bool) -> Node:
    """The root value of `text`.

    Args:
        text: a whole file without its byte-order mark.
        comments: also accept `//` and `/* */` comments and trailing commas.

    Raises:
        BrokenText: not valid; names line and reason.
    """
    return _Scanner(text, comments).document()


def find(root: Node, path: Sequence[Key]) -> Node | None:
    """The node at `path`, or None. Of duplicate keys the last counts, as every JSON reader has it."""
    node = root
    for key in path:
        matching = [member for member in node.members or () if member.key == key]
        if not matching:
            return None
        node = matching[-1].node
    return node


def put(text: str, path: Sequence[str], value: Any, *, comments: bool) -> str:
    """`text` with `value` at `path`, objects on the way made as needed; blank text counts as `{}`.

    Raises:
        EntryExists: the path is taken, or leads through something that is not an object.
        BrokenText: the text cannot be parsed.
    """
    source = text if text.strip() else "{}" + _newline(text)
    root = parse(source, comments=comments)
    node, depth = _deepest(root, path)
    if depth == len(path):
        raise EntryExists(f"{'.'.join(path)} is already there")
    if not node.is_object:
        raise EntryExists(f"{'.'.join(path[:depth]) or 'the file'} is not an object")
    for key in reversed(path[depth + 1 :]):
        value = {key: value}
    return _insert(source, node, path[depth], value, comments)


def add(text: str, path: Sequence[str], value: Any, *, comments: bool) -> str:
    """`text` with `value` as a new last item of the array at `path`, which is made when it is missing.

    Raises:
        EntryExists: something that is not an array stands there.
        BrokenText: the text cannot be parsed.
    """
    source = text if text.strip() else "{}" + _newline(text)
    node = find(parse(source, comments=comments), path)
    if node is None:
        return put(source, path, [value], comments=comments)
    if node.members is None or node.is_object:
        raise EntryExists(f"{'.'.join(path)} is not a list")
    return _insert(source, node, None, value, comments)


def remove(text: str, path: Sequence[Key], *, comments: bool, keep: int = 0) -> str:
    """`text` without the entry at `path`; parents left empty go too, but never the first `keep` levels of the path.

    An absent entry leaves the text as it is.

    Raises:
        BrokenText: the text cannot be parsed.
    """
    root = parse(text, comments=comments)
    if not path or find(root, path) is None:
        return text
    parent = find(root, path[:-1])
    assert parent is not None
    assert parent.members is not None
    position = max(i for i, member in enumerate(parent.members) if member.key == path[-1])
    if len(parent.members) == 1 and len(path) - 1 > keep and not _has_comment(text, parent):
        return remove(text, path[:-1], comments=comments, keep=keep)
    return _cut(text, parent, position, comments)


def _deepest(root: Node, path: Sequence[str]) -> tuple[Node, int]:
    """The last node on `path` that exists, and how many keys lead to it."""
    node = root
    for depth, key in enumerate(path):
        below = find(node, [key]) if node.is_object else None
        if below is None:
            return node, depth
        node = below
    return node, len(path)


def _insert(text: str, node: Node, key: str | None, value: Any, comments: bool) -> str:
    assert node.members is not None
    label = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
    if node.members and "\n" not in text[node.start : node.end]:
        return _insert_inline(text, node, label + json.dumps(value, ensure_ascii=False), comments)
    newline, unit = _newline(text), _indent_unit(text)
    outer = _indent_at(text, node.start)
    inner = _member_indent(text, node) or outer + unit
    body = json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", newline + inner)
    close = node.end - 1
    head = text[:close].rstrip(_BLANKS)
    tail = text[len(head) : close] if node.members else newline + outer
    comma = ""
    if node.members:
        last = node.members[-1].node.end
        after = _skip(text, last, comments)
        if text[after] == ",":
            comma = ","
        else:
            head = text[:last] + "," + head[last:]
    return f"{head}{newline}{inner}{label}{body}{comma}{tail}{text[close:]}"


def _insert_inline(text: str, node: Node, member: str, comments: bool) -> str:
    assert node.members
    last = node.members[-1].node.end
    after = _skip(text, last, comments)
    if text[after] == ",":
        return f"{text[: after + 1]} {member},{text[after + 1 :]}"
    return f"{text[:last]}, {member}{text[last:]}"


def _cut(text: str, parent: Node, position: int, comments: bool) -> str:
    """`text` without one member of `parent` and without the comma that it brought."""
    assert parent.members is not None
    member = parent.members[position]
    start, end = member.start, member.node.end
    after = _skip(text, end, comments)
    followed = text[after] == ","
    if followed:
        end = after + 1
    lost_comma = None
    if not followed and position:
        lost_comma = _skip(text, parent.members[position - 1].node.end, comments)
    start, end = _whole_lines(text, start, end, drop_before=not followed)
    if lost_comma is not None:
        text = text[:lost_comma] + text[lost_comma + 1 :]
        start, end = start - (start > lost_comma), end - 1
    result = text[:start] + text[end:]
    if len(parent.members) == 1:
        inside = slice(parent.start + 1, parent.end - 1 - (end - start))
        if not result[inside].strip():
            result = result[: inside.start] + result[inside.stop :]
    return result


def _whole_lines(text: str, start: int, end: int, *, drop_before: bool) -> tuple[int, int]:
    """The span widened to whole lines where nothing else stands on them, else by the blanks that belong to it."""
    line_start = start - len(text[:start]) + len(text[:start].rstrip(" \t"))
    own_start = line_start == 0 or text[line_start - 1] == "\n"
    rest = re.compile(r"[ \t]*(\r?\n|$)").match(text, end)
    if own_start and rest:
        return line_start, rest.end()
    if drop_before:
        return len(text[:start].rstrip(_BLANKS)), end
    return start, end + len(text[end:]) - len(text[end:].lstrip(" \t"))


def _has_comment(text: str, node: Node) -> bool:
    """True when something other than the members stands inside the container: a person's comment."""
    assert node.members is not None
    inside = text[node.start + 1 : node.members[0].start] + text[node.members[-1].node.end : node.end - 1]
    return bool(inside.strip(_BLANKS + ","))


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indent_unit(text: str) -> str:
    """One level of indentation as the file has it: that of its first indented line; two spaces for want of one."""
    found = re.search(r"^([ \t]+)[\"{\[]", text, re.MULTILINE)
    return found[1] if found else "  "


def _indent_at(text: str, position: int) -> str:
    """The blanks that begin the line of `position`."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _member_indent(text: str, node: Node) -> str | None:
    """The indentation of the first member, when it begins a line of its own."""
    if not node.members:
        return None
    line = text[text.rfind("\n", 0, node.members[0].start) + 1 : node.members[0].start]
    return line if not line.strip(" \t") else None


def _skip(text: str, position: int, comments: bool) -> int:
    """The first position at or after `position` that holds neither a blank nor (when allowed) a comment."""
    while position < len(text):
        if text[position] in _BLANKS:
            position += 1
        elif comments and text.startswith("//", position):
            end = text.find("\n", position)
            position = len(text) if end < 0 else end
        elif comments and text.startswith("/*", position):
            end = text.find("*/", position + 2)
            if end < 0:
                raise BrokenText("a comment is never closed", _line(text, position))
            position = end + 2
        else:
            break
    return position


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


class _Scanner(Struct, frozen=True):
    text: str
    comments: bool

    def document(self) -> Node:
        node = self._value(self._skip(0), 0)
        end = self._skip(node.end)
        if end < len(self.text):
            raise self._broken("unexpected text after the end", end)
        return node

    def _value(self, position: int, depth: int) -> Node:
        if depth > _DEPTH:
            raise self._broken("nested too deeply", position)
        if self.text.startswith("{", position):
            return self._container(position, "}", depth)
        if self.text.startswith("[", position):
            return self._container(position, "]", depth)
        try:
            value, end = _DECODER.raw_decode(self.text, position)
        except JSONDecodeError as error:
            raise self._broken(error.msg[:1].lower() + error.msg[1:], error.pos) from None
        return Node(position, end, value)

    def _container(self, start: int, closing: str, depth: int) -> Node:
        members: list[Member] = []
        position = self._skip(start + 1)
        while not self.text.startswith(closing, position):
            member = self._keyed(position, depth) if closing == "}" else self._item(position, len(members), depth)
            members.append(member)
            position = self._skip(member.node.end)
            if self.text.startswith(",", position):
                position = self._skip(position + 1)
                if self.text.startswith(closing, position) and not self.comments:
                    raise self._broken("a comma stands before the end", position)
            elif not self.text.startswith(closing, position):
                raise self._broken(f"a comma or {closing} is missing", position)
        pairs = [(member.key, member.node.value) for member in members]
        value: Any = dict(pairs) if closing == "}" else [value for _, value in pairs]
        return Node(start, position + 1, value, tuple(members))

    def _item(self, position: int, number: int, depth: int) -> Member:
        return Member(number, position, self._value(position, depth + 1))

    def _keyed(self, position: int, depth: int) -> Member:
        if not self.text.startswith('"', position):
            raise self._broken("a key in double quotes is missing", position)
        key = self._value(position, depth)
        colon = self._skip(key.end)
        if not self.text.startswith(":", colon):
            raise self._broken("a colon is missing", colon)
        return Member(str(key.value), position, self._value(self._skip(colon + 1), depth + 1))

    def _skip(self, position: int) -> int:
        return _skip(self.text, position, self.comments)

    def _broken(self, reason: str, position: int) -> BrokenText:
        return BrokenText(reason, _line(self.text, position))
