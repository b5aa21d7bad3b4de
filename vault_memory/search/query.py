"""What a person typed, taken apart: words, and the few marks of an optional query language. Never fails.

The marks are `"a phrase"`, `-word`, `tag:`, `type:`, `project:`, `path:`, `before:` and `after:`. Ordinary text is
full of colons, hyphens and quotes, so a piece is a mark only when it is one beyond doubt; everything else is plain
text, and what merely looked like a mark is listed, so that the answer can say how it was read.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from datetime import date, datetime
from typing import Final

from msgspec import Struct

from vault_memory.search import dates
from vault_memory.search.words import QUESTION_WORDS, words

MAX_CHARS: Final = 100_000
"""More of a query than this is not read."""
KEYS: Final = ("tag", "type", "project", "path", "before", "after")
_PIECE: Final = re.compile(r'(?P<key>[A-Za-z]+):"(?P<quoted>[^"]*)"(?=\s|$)|"(?P<phrase>[^"]+)"(?!\w)|\S+')
_AROUND: Final = " \t.,;:!?¿¡\"'`´“”„‘’«»()[]{}<>*…。，、！？：；（）「」"
"""Marks that stand around words; `+` and `#` belong to them (C++, C#, #123)."""
_MONTHS: Final = frozenset({"may"})
"""Months that are question words elsewhere."""
_POSSESSIVE: Final = re.compile(r"(?<=\w)['’]s$", re.IGNORECASE)
_EXCLUDED: Final = re.compile(r"-([^\W\d_][\w'’.-]{2,})")
_KEYED: Final = re.compile(r"([A-Za-z]+):(.*)", re.DOTALL)


class Plain(Struct, frozen=True):
    """A piece that looks like a mark and was taken as plain text, and why."""

    piece: str
    reason: str


class ParsedQuery(Struct, frozen=True):
    """A query in parts.

    Attributes:
        text: what is looked for, without the marks: plain text and the words of phrases, in reading order.
        phrases: what a memory must hold word for word (case and spacing aside).
        excluded: words that it must not hold.
        tags, types, projects, paths: what it must have; several of one kind mean any of them.
        after, before: its creation day lies on or after `after`, before `before`.
        plain: what looks like a mark and was read as plain text.
    """

    text: str
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    after: date | None = None
    before: date | None = None
    plain: tuple[Plain, ...] = ()

    @property
    def has_words(self) -> bool:
        """False when there is nothing to look for: no letter and no digit outside the marks."""
        return bool(words(self.text))

    @property
    def filters(self) -> bool:
        """True when a mark narrows what may be found."""
        return bool(self.tags or self.types or self.projects or self.paths or self.after or self.before)


def parse(query: str, now: datetime) -> ParsedQuery:
    """Take `query` apart; dates such as `after:yesterday` are reckoned from the asker's clock `now`."""
    reading = _Reading(now)
    for match in _PIECE.finditer(clean(query)):
        reading.take(match)
    return reading.result()


def clean(query: str) -> str:
    """The query in one Unicode form, without control characters, lone surrogates and what exceeds `MAX_CHARS`."""
    text = query[:MAX_CHARS].encode("utf-8", "ignore").decode("utf-8")
    text = "".join(" " if unicodedata.category(char) == "Cc" else char for char in text)
    return unicodedata.normalize("NFC", text).strip()


def search_words(text: str, now: datetime) -> str:
    """The words of `text` to look for, separated by spaces, each with the marks inside it (`node.js`, `C++`, `#123`).

    Question words, sentence marks and the possessive 's are left out; a month that looks like a question word stays
    where it is one ("in May"). When nothing else is left, all words stay.
    """
    keep = {word.lower() for hint in dates.find(text, now) for word in words(text[hint.start : hint.end])} & _MONTHS
    pieces = [stripped for piece in text.split() if (stripped := _POSSESSIVE.sub("", piece.strip(_AROUND)))]
    kept = [piece for piece in pieces if not _only_asks(piece, keep)]
    return " ".join(kept if any(words(piece) for piece in kept) else pieces)


def _only_asks(piece: str, keep: Collection[str]) -> bool:
    found = [word.lower() for word in words(piece)]
    return bool(found) and all(word in QUESTION_WORDS and word not in keep for word in found)


class _Reading:
    """Collects the parts of one query."""

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._text: list[str] = []
        self._phrases: list[str] = []
        self._excluded: list[str] = []
        self._kept: dict[str, list[str]] = {key: [] for key in KEYS}
        self._days: dict[str, date] = {}
        self._plain: list[Plain] = []

    def take(self, match: re.Match[str]) -> None:
        piece = match[0]
        if match["phrase"] is not None:
            self._phrase(match["phrase"], piece)
        elif match["key"] is not None:
            self._keyed(match["key"], match["quoted"], piece)
        elif (excluded := _EXCLUDED.fullmatch(piece)) is not None:
            self._excluded.append(excluded[1])
        elif (keyed := _KEYED.fullmatch(piece)) is not None and keyed[1] in KEYS:
            self._keyed(keyed[1], keyed[2], piece)
        else:
            self._as_text(piece, "the quotation mark has no partner" if piece.count('"') % 2 else "")

    def result(self) -> ParsedQuery:
        text = " ".join(self._text)
        excluded = self._excluded
        if excluded and not words(text):
            # On its own `-well` is something to look for: nobody asks for all notes but some.
            self._plain += [Plain(f"-{word}", "there is no other word to look for") for word in excluded]
            text, excluded = " ".join([text, *excluded]).strip(), []
        kept = self._kept
        return ParsedQuery(
            text=text, phrases=tuple(self._phrases), excluded=tuple(excluded), tags=tuple(kept["tag"]),
            types=tuple(kept["type"]), projects=tuple(kept["project"]), paths=tuple(kept["path"]),
            after=self._days.get("after"), before=self._days.get("before"), plain=tuple(self._plain),
        )  # fmt: skip

    def _phrase(self, phrase: str, piece: str) -> None:
        if words(phrase):
            self._phrases.append(" ".join(phrase.split()))
            self._text.append(phrase)
        else:
            self._as_text(piece, "there is no word between the quotation marks")

    def _keyed(self, key: str, value: str, piece: str) -> None:
        if key not in KEYS:
            self._as_text(piece, f"{key}: is no filter (there are {', '.join(KEYS)})")
        elif not words(value):
            self._as_text(piece, f"there is no value after {key}:")
        elif key in ("before", "after"):
            self._day(key, value, piece)
        else:
            self._kept[key].append(value.removeprefix("#") if key == "tag" else value)

    def _day(self, key: str, value: str, piece: str) -> None:
        hints = [hint for hint in dates.find(value, self._now) if not hint.any_year]
        if hints:
            self._days[key] = hints[0].first
        else:
            self._as_text(piece, f"{value} is no date (2026-03-05, 2026-03, 2026 or yesterday would be)")

    def _as_text(self, piece: str, reason: str) -> None:
        self._text.append(piece)
        if reason:
            self._plain.append(Plain(piece, reason))
