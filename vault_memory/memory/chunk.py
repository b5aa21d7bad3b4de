"""Cuts a memory into the passages that are searched and shown. Owns where a chunk begins and ends, and what is said
about the whole memory beside each chunk. Pure: it neither analyses nor embeds, and knows no index."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from vault_memory.memory.model import Memory

MAX_CHUNK_BYTES: Final = 1200
"""Upper bound of a chunk in UTF-8 bytes: about 300 word pieces of English, 400 characters of Chinese. MaxSim and
averaged vectors both lose on longer passages, and shorter ones lose their context."""
MIN_CHUNK_BYTES: Final = 160
"""Sections smaller than this share a chunk with the next one: a heading alone says too little to be found by."""

_HEADING = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$", re.MULTILINE)
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)([^\n]*)$", re.MULTILINE)
_BREAKS = (
    re.compile(r"\n[ \t]*\n\s*"),
    re.compile(r"\n"),
    re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])"),
    re.compile(r"\s+|(?<=[，、,])"),
)
"""Where a passage may be cut, best first: between paragraphs, lines, sentences, words."""
_MARKUP = re.compile(r"^[\s#>*_-]+")


class Chunk(Struct, frozen=True):
    """A passage of a memory: `content[start:end]`, the n-th from 0, under `heading` ("" before the first one)."""

    n: int
    start: int
    end: int
    heading: str
    text: str


def chunks(memory: Memory) -> tuple[Chunk, ...]:
    """The passages of a memory in reading order; they do not overlap and leave out only blank space.

    A short memory is one chunk. A memory without any text still has one, empty chunk, so that its title can be found.
    """
    content = memory.content
    spans = [span for span in _spans(content) if not content[span[0] : span[1]].isspace()]
    if not content.strip():
        spans = [(0, 0, "")]
    return tuple(Chunk(n, start, end, heading, content[start:end]) for n, (start, end, heading) in enumerate(spans))


def label(memory: Memory, n: int) -> str:
    """What is indexed and embedded beside chunk `n`: title, aliases, tags and domain, one a line.

    A title that only repeats the beginning of the body is left out where the chunk already says it: always when it was
    cut from the first sentence, and for the first chunk when it is the first heading.
    """
    parts = [*memory.aliases, " ".join(memory.tags), memory.domain or ""]
    if memory.title and not _repeats(memory, n):
        parts.insert(0, memory.title)
    return "\n".join(part for part in parts if part)


def _repeats(memory: Memory, n: int) -> bool:
    body = memory.content.lstrip()
    text = _MARKUP.sub("", body[: len(memory.title) + 80])
    title = _squeezed(memory.title.rstrip("….").rstrip())
    if not _squeezed(text).startswith(title):
        return False
    return n == 0 or not body.startswith("#")


def _squeezed(text: str) -> str:
    return " ".join(text.split()).casefold()


def _spans(content: str) -> Iterator[tuple[int, int, str]]:
    limit = _characters(content, MAX_CHUNK_BYTES)
    if len(content) <= limit:
        heading = next(_headings(content), None)
        at_top = heading is not None and not content[: heading[0]].strip()
        yield 0, len(content), heading[1] if heading and at_top else ""
        return
    for start, end, title in _merged(_sections(content), _characters(content, MIN_CHUNK_BYTES), limit):
        for first, last in _pieces(content, start, end, limit):
            yield first, last, title


def _characters(content: str, size: int) -> int:
    """How many characters of this text take `size` bytes, so that scripts with several bytes a character get fewer."""
    if content.isascii():
        return size
    return max(1, size * len(content) // len(content.encode("utf-8", "surrogatepass")))


def _headings(content: str) -> Iterator[tuple[int, str]]:
    """Position and text of each heading line outside fenced code."""
    if "#" not in content:
        return
    code = _fenced(content)
    for match in _HEADING.finditer(content):
        if not any(start <= match.start() < end for start, end in code):
            yield match.start(), match.group(2) or ""


def _fenced(content: str) -> list[tuple[int, int]]:
    blocks: list[tuple[int, int]] = []
    opened: tuple[int, str] | None = None
    for match in _FENCE.finditer(content):
        mark, rest = match.groups()
        if opened is None:
            opened = match.start(), mark
        elif mark.startswith(opened[1]) and not rest.strip():
            blocks.append((opened[0], match.end()))
            opened = None
    if opened is not None:
        blocks.append((opened[0], len(content)))
    return blocks


def _sections(content: str) -> list[tuple[int, int, str]]:
    starts = [(0, "")]
    for position, text in _headings(content):
        if position == 0:
            starts = []
        starts.append((position, text))
    ends = [position for position, _ in starts[1:]] + [len(content)]
    return [(start, end, text) for (start, text), end in zip(starts, ends, strict=True)]


def _merged(sections: Iterable[tuple[int, int, str]], small: int, limit: int) -> Iterator[tuple[int, int, str]]:
    """Joins a small section to the one after it, while both fit into one chunk."""
    held: tuple[int, int, str] | None = None
    for section in sections:
        if held is not None and held[1] - held[0] < small and section[1] - held[0] <= limit:
            held = held[0], section[1], held[2] or section[2]
            continue
        if held is not None:
            yield held
        held = section
    if held is not None:
        yield held


def _pieces(content: str, start: int, end: int, limit: int, level: int = 0) -> Iterator[tuple[int, int]]:
    """Cuts a span into pieces of at most `limit` characters at the best kind of break that serves.

    Neighbouring parts share a piece while they fit; a part that is too long by itself is cut alone, so that what
    follows it stands in a piece of its own and is not drowned.
    """
    if end - start <= limit:
        yield start, end
        return
    if level == len(_BREAKS):
        yield from ((at, min(at + limit, end)) for at in range(start, end, limit))
        return
    first = start
    for at, stop in _parts(content, start, end, level):
        if stop - first <= limit:
            continue
        if first < at:
            yield first, at
        first = at
        if stop - at > limit:
            yield from _pieces(content, at, stop, limit, level + 1)
            first = stop
    if first < end:
        yield first, end


def _parts(content: str, start: int, end: int, level: int) -> Iterator[tuple[int, int]]:
    at = start
    for match in _BREAKS[level].finditer(content, start, end):
        if match.end() > at:
            yield at, match.end()
            at = match.end()
    if at < end:
        yield at, end
