"""The part of a text that shows why it was found. Pure; where the query's words stand comes as spans."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

WIDTH: Final = 240
"""Usual length of a snippet in characters."""
_EARLIER: Final = 0.25
"""Share of the room that stands before the first match."""
_SENTENCE: Final = re.compile(r"[^.!?。！？\n]+[.!?。！？\n]*\s*")
_EDGE: Final = 24
"""How far a cut may move to fall between words."""


class Mark(Struct, frozen=True):
    """Where a word of the query stands in a text, and how much it weighs (its idf)."""

    start: int
    end: int
    term: str
    weight: float = 1.0


class Snippet(Struct, frozen=True):
    """`content[start:end]` without the blanks around it, with what to emphasise; "…" is the renderer's to add.

    Attributes:
        text: the passage as it stands in the note.
        start, end: where it is, in characters.
        marks: half-open spans within `text`, in reading order, not overlapping.
        cut_before, cut_after: there is more of the note on that side.
    """

    text: str
    start: int
    end: int
    marks: tuple[tuple[int, int], ...]
    cut_before: bool
    cut_after: bool


def snippet(
    content: str,
    marks: Sequence[Mark],
    *,
    within: tuple[int, int] | None = None,
    width: int = WIDTH,
    meaning: Callable[[str], float] | None = None,
) -> Snippet:
    """The passage of at most `width` characters that holds the most of the query.

    Args:
        content: the note's text.
        marks: where the query's words stand in it; each term counts once a passage.
        within: the chunk that matched; passages outside are not looked at.
        width: how long the passage may be.
        meaning: how near a sentence is to the query, asked only when no word of it stands there.
    """
    low, high = within or (0, len(content))
    low, high = max(0, min(low, len(content))), max(0, min(high, len(content)))
    inside = sorted((m for m in marks if low <= m.start and m.end <= high), key=lambda m: (m.start, m.end))
    if inside:
        first, last = _densest(inside, width)
    else:
        first = last = _nearest_sentence(content, low, high, meaning)
    start = max(low, min(first - int(_EARLIER * max(0, width - (last - first))), high - width))
    return _cut(content, start, min(high, start + width), low, high, inside)


def _densest(marks: Sequence[Mark], width: int) -> tuple[int, int]:
    """First and last character of the window that holds the most distinct terms by weight; the earliest of equals."""
    best, best_weight, end = (marks[0].start, marks[0].end), -1.0, 0
    inside: dict[str, int] = {}
    weight = {mark.term: mark.weight for mark in marks}
    for begin, mark in enumerate(marks):
        while end < len(marks) and marks[end].end - mark.start <= width:
            inside[marks[end].term] = inside.get(marks[end].term, 0) + 1
            end += 1
        total = sum(weight[term] for term, count in inside.items() if count)
        if total > best_weight + 1e-9:
            best, best_weight = (mark.start, max(mark.end, marks[max(end - 1, begin)].end)), total
        if mark.term in inside:
            inside[mark.term] -= 1
        end = max(end, begin + 1)
    return best


def _nearest_sentence(content: str, low: int, high: int, meaning: Callable[[str], float] | None) -> int:
    """Where the sentence nearest in meaning begins; the beginning of the chunk when nobody can tell."""
    if meaning is None:
        return low
    sentences = [match for match in _SENTENCE.finditer(content, low, high) if match[0].strip()]
    best = max(sentences, key=lambda match: (meaning(match[0].strip()), -match.start()), default=None)
    return best.start() if best else low


def _cut(content: str, start: int, end: int, low: int, high: int, marks: Sequence[Mark]) -> Snippet:
    start, end = _between_words(content, start, end, low, high, marks)
    while start < end and content[start].isspace():
        start += 1
    while end > start and content[end - 1].isspace():
        end -= 1
    spans = tuple((m.start - start, m.end - start) for m in marks if start <= m.start and m.end <= end)
    before, after = bool(content[:start].strip()), bool(content[end:].strip())
    return Snippet(content[start:end], start, end, _disjoint(spans), before, after)


def _between_words(content: str, start: int, end: int, low: int, high: int, marks: Sequence[Mark]) -> tuple[int, int]:
    """The cuts moved inwards to the next blank, when there is one near that costs no mark (there is none in CJK)."""
    first = min((m.start for m in marks if start <= m.start < end), default=end)
    last = max((m.end for m in marks if start < m.end <= end), default=start)
    if start > low and not content[start - 1].isspace():
        blank = re.compile(r"\s").search(content, start, min(first, start + _EDGE))
        start = blank.end() if blank else start
    if end < high and not content[end].isspace():
        blanks = [m.start() for m in re.compile(r"\s").finditer(content, max(last, end - _EDGE, start), end)]
        end = blanks[-1] if blanks else end
    return start, end


def _disjoint(spans: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return tuple(joined)
