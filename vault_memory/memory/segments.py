"""A front-matter block as segments, one a key, comments included, so that fields can be merged. Converts nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from vault_memory.memory.front_matter import Parts, compose, key_text
from vault_memory.memory.spans import refusal, start_of_line

_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_BETWEEN: Final = re.compile(r"[ \t]*(?:\r\n|\n|\r)|#[^\r\n]*(?:\r\n|\n|\r|\Z)")


class Segment(Struct, frozen=True):
    """One key: the comments and blank lines before it, and its own lines."""

    name: str
    lead: str
    text: str


class Segments(Struct, frozen=True):
    """A block's keys in order, and what follows the last one."""

    by_name: Mapping[str, Segment]
    trailer: str = ""


def segments(parts: Parts) -> Segments:
    """The segments of a note's block; none when it has no front matter.

    Raises:
        MalformedNote: a root in flow style, or two keys on one line.
    """
    block = parts.block or ""
    root = compose(block)
    if root is None:
        return Segments({}, block)
    if root.flow_style:
        raise refusal("the properties are written as one {…} map", 2)
    starts = [start_of_line(block, key.start_mark.index) for key, _ in root.value]
    if len(set(starts)) != len(starts):
        raise refusal("several keys stand on one line")
    found: dict[str, Segment] = {}
    lead = block[: starts[0]]
    for (key, _), start, end in zip(root.value, starts, (*starts[1:], len(block)), strict=True):
        text, after = _without_trailer(block[start:end])
        found[key_text(key)] = Segment(key_text(key), lead, text)
        lead = after
    return Segments(found, lead)


def _without_trailer(text: str) -> tuple[str, str]:
    """A key's lines, and the blank and comment lines (at the margin) behind them, which belong to what follows."""
    lines = [match.group() for match in _LINE.finditer(text) if match.group()]
    last = len(lines)
    while last > 1 and _BETWEEN.fullmatch(lines[last - 1]):
        last -= 1
    return "".join(lines[:last]), "".join(lines[last:])
