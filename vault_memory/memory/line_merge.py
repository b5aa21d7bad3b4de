"""Three-way merge of lines. Pure; knows nothing of notes.

Changes to different lines merge even where the lines touch (git would call that a conflict): front-matter fields stand
line by line, and a person's edit of one must not block a tool's edit of the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from msgspec import Struct

Lines = Sequence[bytes]

_MAX_CELLS: Final = 25_000_000
"""Above this many pairs of lines a diff could hold the vault lock for seconds; the changed middle is then one hunk."""


class Hunk(Struct, frozen=True):
    """Lines `start:end` of the base become `lines`."""

    start: int
    end: int
    lines: tuple[bytes, ...]


class Chunk(Struct, frozen=True):
    """A stretch of the result. Clean when `theirs` is None, else both sides' lines of a conflict."""

    ours: tuple[bytes, ...]
    theirs: tuple[bytes, ...] | None = None


def hunks(base: Lines, side: Lines) -> list[Hunk]:
    """What turns `base` into `side`, in order, none touching."""
    start = _shared(base, side)
    rest = min(len(base), len(side)) - start
    end = min(_shared(base[::-1], side[::-1]), rest)
    old, new = base[start : len(base) - end], side[start : len(side) - end]
    if len(old) * len(new) > _MAX_CELLS:
        return [Hunk(start, start + len(old), tuple(new))]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [
        Hunk(start + i1, start + i2, tuple(new[j1:j2]))
        for kind, i1, i2, j1, j2 in matcher.get_opcodes()
        if kind != "equal"
    ]


def _shared(one: Lines, other: Lines) -> int:
    """How many lines both begin with."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def merge(base: Lines, ours: Lines, theirs: Lines) -> Iterator[Chunk]:
    """The merged lines in order, conflicts included."""
    left, right = hunks(base, ours), hunks(base, theirs)
    position = 0
    while left or right:
        mine, other = _next_group(left, right)
        start = min(hunk.start for hunk in (*mine, *other))
        end = max(hunk.end for hunk in (*mine, *other))
        yield Chunk(tuple(base[position:start]))
        yield from _settled(base[start:end], _applied(base, start, end, mine), _applied(base, start, end, other))
        position = end
    yield Chunk(tuple(base[position:]))


def _next_group(left: list[Hunk], right: list[Hunk]) -> tuple[list[Hunk], list[Hunk]]:
    """Take the first hunk off either list, and all that overlap it directly or through others."""
    mine: list[Hunk] = []
    other: list[Hunk] = []
    if not right or (left and (left[0].start, left[0].end) <= (right[0].start, right[0].end)):
        mine.append(left.pop(0))
    else:
        other.append(right.pop(0))
    while True:
        if right and any(_overlap(hunk, right[0]) for hunk in mine):
            other.append(right.pop(0))
        elif left and any(_overlap(hunk, left[0]) for hunk in other):
            mine.append(left.pop(0))
        else:
            return mine, other


def _overlap(one: Hunk, other: Hunk) -> bool:
    """True when both change one line, or both insert at one place."""
    if one.start == one.end == other.start == other.end:
        return True
    return one.start < other.end and other.start < one.end


def _applied(base: Lines, start: int, end: int, changes: Sequence[Hunk]) -> tuple[bytes, ...]:
    lines: list[bytes] = []
    position = start
    for hunk in changes:
        lines += [*base[position : hunk.start], *hunk.lines]
        position = hunk.end
    return (*lines, *base[position:end])


def _settled(base: Lines, ours: tuple[bytes, ...], theirs: tuple[bytes, ...]) -> Iterator[Chunk]:
    """One group's result: the side that changed, or a conflict without the lines both sides share at its ends."""
    if ours == theirs or theirs == tuple(base):
        yield Chunk(ours)
        return
    if ours == tuple(base):
        yield Chunk(theirs)
        return
    start = _shared(ours, theirs)
    end = min(_shared(ours[::-1], theirs[::-1]), min(len(ours), len(theirs)) - start)
    yield Chunk(ours[:start])
    yield Chunk(ours[start : len(ours) - end], theirs[start : len(theirs) - end])
    yield Chunk(ours[len(ours) - end :])


def with_markers(chunks: Sequence[Chunk], labels: tuple[str, str], marker_size: int, newline: bytes) -> bytes:
    """The merged text; conflicts stand between git's markers."""
    return b"".join(
        b"".join(chunk.ours)
        if chunk.theirs is None
        else conflict(b"".join(chunk.ours), b"".join(chunk.theirs), labels, marker_size, newline)
        for chunk in chunks
    )


def conflict(ours: bytes, theirs: bytes, labels: tuple[str, str], marker_size: int, newline: bytes) -> bytes:
    """Two texts between conflict markers, each on lines of its own."""
    first, second = (label.encode() for label in labels)
    return b"".join(
        (
            b"<" * marker_size + b" " + first + newline,
            _ended(ours, newline),
            b"=" * marker_size + newline,
            _ended(theirs, newline),
            b">" * marker_size + b" " + second + newline,
        )
    )


def _ended(text: bytes, newline: bytes) -> bytes:
    return text if not text or text.endswith((b"\n", b"\r")) else text + newline
