"""Links as they stand in a note's text, with their places. Finds them; resolves and changes nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal
from urllib.parse import unquote

from msgspec import Struct

from vault_memory.memory.prose import code_spans, inside

LinkStyle = Literal["wiki", "markdown"]

_WIKI: Final = re.compile(r"!?\[\[([^\[\]\r\n]+)\]\]")
_TITLE: Final = r"(?:[ \t]+(?:\"[^\"\r\n]*\"|'[^'\r\n]*'|\([^()\r\n]*\)))?[ \t]*"
_PLACE: Final = r"(?:<([^<>\r\n]*)>|((?:[^\s()<>\\]|\\[^\r\n]|\([^\s()<>\\]*\))+))"
_INLINE: Final = re.compile(rf"\]\([ \t]*{_PLACE}{_TITLE}\)")
_DEFINITION: Final = re.compile(r"^ {0,3}\[(?!\^)([^\[\]\r\n]+)\]:[ \t]*(?:<([^<>\r\n]*)>|(\S+))", re.MULTILINE)
_EXTERNAL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|\\\\")
_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_MAX_LABEL: Final = 2000


class Link(Struct, frozen=True):
    """One link to a note or file of the vault.

    `target` is decoded text without heading; `target_start:target_end` is where it stands, as written. `heading` is
    what follows `#` (`^block` for a block), `alias` the shown text, None when there is none.
    """

    start: int
    end: int
    target: str
    heading: str | None
    alias: str | None
    embed: bool
    style: LinkStyle
    target_start: int
    target_end: int


def links(content: str) -> tuple[Link, ...]:
    """The links outside code in the order of their targets; links to the web and within the note are left out."""
    if "[" not in content:
        return ()
    found = [*_wikilinks(content), *_inline_links(content), *_definitions(content)]
    spans = code_spans(content) if found else ()
    wanted = (link for link in found if link.target and not inside(spans, link.start))
    return tuple(sorted(wanted, key=lambda link: link.target_start))


def _is_escaped(text: str, position: int) -> bool:
    start = position
    while start > 0 and text[start - 1] == "\\":
        start -= 1
    return (position - start) % 2 == 1


def _wikilinks(text: str) -> Iterator[Link]:
    for match in _WIKI.finditer(text):
        embed = match[0][0] == "!"
        brackets = match.start() + (1 if embed else 0)
        if _is_escaped(text, brackets):
            continue
        inner, bar, alias = match[1].partition("|")
        inner = inner.removesuffix("\\") if bar else inner  # in a table the bar is written \|
        target, mark, heading = inner.partition("#")
        if "://" in target:
            continue
        start = brackets + 2 + len(target) - len(target.lstrip())
        yield Link(
            match.start(),
            match.end(),
            target.strip(),
            heading if mark else None,
            alias if bar else None,
            embed,
            "wiki",
            start,
            start + len(target.strip()),
        )


def _inline_links(text: str) -> Iterator[Link]:
    for match in _INLINE.finditer(text):
        opening = _opening_bracket(text, match.start())
        if opening is None:
            continue
        embed = text[opening - 1 : opening] == "!" and opening > 0
        group = 1 if match[1] is not None else 2
        alias = text[opening + 1 : match.start()]
        start = opening - 1 if embed else opening
        if (link := _markdown_link(match, group, start, alias, embed)) is not None:
            yield link


def _definitions(text: str) -> Iterator[Link]:
    """`[label]: path`, the place that reference links point to."""
    for match in _DEFINITION.finditer(text):
        group = 2 if match[2] is not None else 3
        if (link := _markdown_link(match, group, match.start(), match[1], False)) is not None:
            yield link


def _markdown_link(match: re.Match[str], group: int, start: int, alias: str, embed: bool) -> Link | None:
    written = match[group]
    if _EXTERNAL.match(written):
        return None
    place, mark, heading = written.partition("#")
    return Link(
        start,
        match.end(),
        unquote(_ESCAPE.sub(r"\1", place)),
        unquote(heading) if mark else None,
        alias,
        embed,
        "markdown",
        match.start(group),
        match.start(group) + len(place),
    )


def _opening_bracket(text: str, closing: int) -> int | None:
    """The `[` that belongs to the `]` at `closing`; None when there is none in the same paragraph."""
    depth = 0
    for position in range(closing - 1, max(closing - _MAX_LABEL, 0) - 1, -1):
        character = text[position]
        if character == "\n" and text[position - 1 : position] in ("\n", ""):
            return None
        if character in "[]" and not _is_escaped(text, position):
            if character == "[" and depth == 0:
                return position
            depth += 1 if character == "]" else -1
    return None
