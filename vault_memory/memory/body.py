"""Byte-exact edits of a note's body: all of it, its end, or one section. Front matter is never touched.

Added lines take the note's newline style; a whole new content is kept byte for byte.
"""

from __future__ import annotations

import re
from typing import Final

from vault_memory.errors import InvalidRequest
from vault_memory.memory.front_matter import BOM, Parts, split_text
from vault_memory.memory.prose import Heading, headings
from vault_memory.memory.safety import editable_parts
from vault_memory.memory.scalars import check_text
from vault_memory.memory.spans import refusal

_NEWLINE: Final = re.compile("\r\n|\n|\r")
_MARKS: Final = re.compile(r"(#{1,6})[ \t]+(.*)")


def replace_content(data: bytes, content: str) -> bytes:
    """The note with another body, its front matter byte for byte as it was.

    Raises:
        MalformedNote: malformed or conflicted notes, whose body cannot be told from the rest.
        InvalidRequest: text that no file can hold.
    """
    return _with_body(editable_parts(data), check_text(content, "content"))


def append(data: bytes, text: str, heading: str | None = None) -> bytes:
    """The note with `text` on new lines at its end, or at the end of the section under `heading`.

    Blank lines at the end of a section stay behind the new text; nothing else is added but line ends.

    Args:
        data: the note's bytes.
        text: what to add.
        heading: a heading's text, with or without its `#` marks (with them, the level must agree).

    Raises:
        MalformedNote: conflicted notes; malformed ones when a heading is named.
        InvalidRequest: no such heading, or several of them.
    """
    parts = editable_parts(data, front_matter=heading is not None)
    body = parts.body
    position = len(body) if heading is None else _last_text(body, *section(body, heading))
    return _with_body(parts, body[:position] + _as_lines(body[:position], text, parts.newline) + body[position:])


def replace_section(data: bytes, heading: str, text: str) -> bytes:
    """The note with other text under a heading, down to the next heading of its level or above.

    The heading's line and blank lines around the section's text stay as they are.

    Raises:
        MalformedNote: malformed or conflicted notes.
        InvalidRequest: no such heading, or several of them.
    """
    parts = editable_parts(data)
    body = parts.body
    start, end = section(body, heading)
    last = _last_text(body, start, end)
    first = min(_first_text(body, start, end), last)
    lines = _as_lines(body[:first], text, parts.newline) if text.strip() else ""
    return _with_body(parts, body[:first] + lines + body[last:])


def section(body: str, heading: str) -> tuple[int, int]:
    """The span of the text under a heading, sub-sections included, the heading's own line not.

    Raises:
        InvalidRequest: no such heading, or several of them.
    """
    found = headings(body)
    index = found.index(_the_heading(found, heading))
    level = found[index].level
    end = next((later.start for later in found[index + 1 :] if later.level <= level), len(body))
    return found[index].end, end


def _the_heading(found: tuple[Heading, ...], wanted: str) -> Heading:
    marks = _MARKS.fullmatch(wanted.strip())
    level, text = (len(marks[1]), marks[2].strip()) if marks else (None, wanted.strip())
    of_level = [one for one in found if level in (None, one.level)]
    same = [one for one in of_level if one.text == text] or [
        one for one in of_level if one.text.casefold() == text.casefold()
    ]
    if len(same) == 1:
        return same[0]
    problem = f"stands {len(same)} times in the note" if same else "is not in the note"
    raise InvalidRequest.of("heading", problem, allowed=[f"{'#' * one.level} {one.text}" for one in found])


def _first_text(body: str, start: int, end: int) -> int:
    """Where the first line of the span begins that is not blank, else its end."""
    position = start
    for line in body[start:end].splitlines(keepends=True):
        if line.strip():
            return position
        position += len(line)
    return end


def _last_text(body: str, start: int, end: int) -> int:
    """The position after the span's last line that is not blank (its line end included), else the span's start."""
    length = len(body[start:end].rstrip())
    if not length:
        return start
    newline = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)").match(body, start + length)
    return newline.end() if newline else end


def _as_lines(before: str, text: str, newline: str) -> str:
    """`text` as whole lines: a line end in front if the text before it lacks one, and one at its end."""
    lines = _NEWLINE.sub(newline, check_text(text, "text"))
    start = newline if before and not before.endswith(("\n", "\r")) else ""
    return start + lines + ("" if lines.endswith(newline) else newline)


def _with_body(parts: Parts, body: str) -> bytes:
    """Head and new body as bytes; where the body's start would be read as front matter, an empty block goes before it.

    Raises:
        MalformedNote: the result would not read back as asked.
    """
    head = parts.head
    if body and head and not head.endswith(("\n", "\r", BOM)):
        head += parts.newline
    if _reads_as(head + body, parts, body):
        return (head + body).encode()
    guarded = f"{parts.bom}---{parts.newline}---{parts.newline}{body}"
    if parts.block is None and not (parts.finding and parts.finding.blocks_edit) and split_text(guarded).body == body:
        return guarded.encode()
    raise refusal("the new text would change how the front matter is read")


def _reads_as(text: str, before: Parts, body: str) -> bool:
    after = split_text(text)
    malformed = after.finding is not None and after.finding.blocks_edit
    was_malformed = before.finding is not None and before.finding.blocks_edit
    return after.body == body and (after.block is None) == (before.block is None) and malformed == was_malformed
