"""What Markdown text is made of, as far as notes need it: code, headings, inline tags. Positions only, no edits."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

Span = tuple[int, int]

_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_FENCE: Final = re.compile(r"[ \t]*(?:>[ \t]*)*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})([^\r\n]*)")
_CLOSING: Final = re.compile(r"[ \t]*(?:>[ \t]*)*(`{3,}|~{3,})[ \t]*\Z")
_INDENTED: Final = re.compile(r"(?: {4}| {0,3}\t)[ \t]*[^\s]")
_LIST_ITEM: Final = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|\Z)")
_TICKS: Final = re.compile(r"\\`|`+")
_PARAGRAPH_END: Final = re.compile(r"(?:\r\n|\n|\r)[ \t]*(?:\r\n|\n|\r)")
_HEADING: Final = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]+([^\r\n]*?))?(?:[ \t]+#+)?[ \t]*(?:\r\n|\n|\r|\Z)", re.MULTILINE)
_TAG: Final = re.compile(
    r"(?<!\S)#([^\s\u2000-\u206f\u2e00-\u2e7f'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\]+)",
)


class Heading(Struct, frozen=True):
    """An ATX heading: its level, its text without marks, and the span of its line (line end included)."""

    level: int
    text: str
    start: int
    end: int


def code_spans(text: str) -> tuple[Span, ...]:
    """The spans of fenced blocks, indented blocks and inline code, in order, none overlapping.

    After CommonMark, with fences recognised at any indentation and behind quote and list marks, because a note's
    fences sit in lists and callouts. A fence that is never closed runs to the end.
    """
    blocks = tuple(_blocks(text)) if _may_have_blocks(text) else ()
    if "`" not in text:
        return blocks
    return tuple(sorted((*blocks, *_inline(text, blocks))))


def _may_have_blocks(text: str) -> bool:
    return "```" in text or "~~~" in text or "    " in text or "\t" in text


def _lines(text: str) -> Iterator[Span]:
    for match in _LINE.finditer(text):
        if match.end() > match.start():
            yield match.span()


def _blocks(text: str) -> Iterator[Span]:
    fence: tuple[int, str] | None = None
    open_block = True  # a line before which an indented block may start: the start, a blank line, a block itself
    in_list = False
    for start, end in _lines(text):
        line = text[start:end].rstrip("\r\n")
        if fence is not None:
            if _closes(line, fence[1]):
                yield fence[0], end
                fence, open_block = None, True
            continue
        if (opening := _FENCE.match(line)) and not ("`" in opening[2] and opening[1][0] == "`"):
            fence = (start, opening[1])
            continue
        if not line.strip():
            open_block = True
        elif _INDENTED.match(line) and not in_list:
            if open_block:
                yield start, end
        else:
            in_list = bool(_LIST_ITEM.match(line)) or (in_list and line[:1] in " \t")
            open_block = False
    if fence is not None:
        yield fence[0], len(text)


def _closes(line: str, opening: str) -> bool:
    match = _CLOSING.match(line)
    return match is not None and match[1].startswith(opening)


def _inline(text: str, blocks: Sequence[Span]) -> Iterator[Span]:
    """Inline code of each paragraph outside the blocks; a run of backticks closes at the next run of its length."""
    for start, end in _paragraphs(text, blocks):
        runs = [run for run in _TICKS.finditer(text, start, end) if run[0] != "\\`"]
        closers: dict[int, list[int]] = {}
        for number, run in enumerate(runs):
            closers.setdefault(len(run[0]), []).append(number)
        number = 0
        while number < len(runs):
            same = closers[len(runs[number][0])]
            after = bisect_right(same, number)
            if after == len(same):
                number += 1
                continue
            closer = same[after]
            yield runs[number].start(), runs[closer].end()
            number = closer + 1


def _paragraphs(text: str, blocks: Sequence[Span]) -> Iterator[Span]:
    start = 0
    for block_start, block_end in (*blocks, (len(text), len(text))):
        position = start
        for blank in _PARAGRAPH_END.finditer(text, start, block_start):
            yield position, blank.start()
            position = blank.end()
        if position < block_start:
            yield position, block_start
        start = block_end


def inside(spans: Sequence[Span], position: int) -> bool:
    """True when `position` lies in one of the ordered spans."""
    index = bisect_right(spans, (position, len(spans) and spans[-1][1] + 1)) - 1
    return index >= 0 and spans[index][0] <= position < spans[index][1]


def headings(text: str) -> tuple[Heading, ...]:
    """The headings outside code, in order."""
    if "#" not in text:
        return ()
    found = [Heading(len(m[1]), (m[2] or "").strip(), m.start(), m.end()) for m in _HEADING.finditer(text)]
    spans = code_spans(text) if found else ()
    return tuple(heading for heading in found if not inside(spans, heading.start))


def first_title(text: str) -> str | None:
    """The text of the first heading of level 1 that says something."""
    if "# " not in text and "#\t" not in text:
        return None
    return next((heading.text for heading in headings(text) if heading.level == 1 and heading.text), None)


def inline_tags(text: str) -> tuple[str, ...]:
    """`#tags` outside code without their mark, in order, each spelling once (Obsidian: not digits alone)."""
    if "#" not in text:
        return ()
    found = [match for match in _TAG.finditer(text) if not match[1].isdigit()]
    spans = code_spans(text) if found else ()
    return tuple(dict.fromkeys(match[1] for match in found if not inside(spans, match.start())))
