"""The one analyser: text to search terms. Queries, the index, the overlay and the scorer all use it, so that they agree
by construction. Owns no index and no statistics."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

VERSION: Final = 2
"""Part of the index fingerprint: raise it whenever the same text would give other terms."""
MAX_TERM_CHARS: Final = 200
"""Longer terms are cut here on both sides: a 64- or 128-digit hash stays whole, a blob stays bounded."""

_KEPT_WORDS: Final = 1 << 15
"""Words whose terms are remembered: text repeats its words, and looking one up is ten times as fast."""
_KEPT_CHARS: Final = 64

_UNSPACED: Final = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    r"\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31a0-\u31ff"  # kana, bopomofo
    r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    r"\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    r"\U00020000-\U0003ffff"  # rare Han
)
_PICTURES: Final = r"\u2600-\u27bf\u2b00-\u2bff\U0001f1e6-\U0001f1ff\U0001f300-\U0001faff"
_RUN = re.compile(f"[{_UNSPACED}]+")
_PICTURE = re.compile(f"[{_PICTURES}]")

_MARK = re.compile(
    r"[._/\\:@#+A-Z-](?:"
    r"(?<=\w[._/\\:@])(?=\w)|(?<=\w::)(?=\w)"  # node.js, a/b, a:b, snake_case, std::sort
    r"|(?<=\w-)(?=\d)|(?<=\d-)(?=\w)"  # eu-west-1, 2024-05-01
    r"|(?<=#)(?=\w)|(?<=\w#)|(?<=\w\+)(?=\+)"  # #123, C#, C++
    r"|(?<=[a-z\d][A-Z])|(?<=[A-Z][A-Z])(?=[a-z]{2}))"  # camelCase, HTTPServer
)
"""What makes a word an identifier. It begins with one set of characters so that prose is skipped at full speed."""
_HUMPED = re.compile(r"[a-z\d][A-Z]|[A-Z]{2}[a-z]{2}")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_WHOLE = re.compile(r"#?\w(?:.*\w)?(?:\+\+|#)?", re.DOTALL)
_SPLIT = re.compile(r"://|[^\w.:@#+-]+")
_NAME = re.compile(r"[^\W_]+")
_RELEASE = re.compile(r"v\d[\w.+-]*")

_WORDS: Final[TextAnalyzer] = (
    TextAnalyzerBuilder(Tokenizer.simple())
    .filter(Filter.lowercase())
    .filter(Filter.ascii_fold())
    .filter(Filter.stemmer("english"))
    .build()
)
_FOLD: Final[TextAnalyzer] = (
    TextAnalyzerBuilder(Tokenizer.raw()).filter(Filter.lowercase()).filter(Filter.ascii_fold()).build()
)


def analyse(text: str) -> list[str]:
    """The terms under which a text is found, doubles kept: the bag that BM25 counts, in reading order.

    Words are lower case, folded to ASCII where Unicode allows, and stemmed as English. An identifier (`node.js`,
    `src/app/main.py`, `snake_case`, `camelCase`, `#123`, `C++`, `v1.2.3`, an address) is there whole and by its parts.
    Scripts that are written without spaces are there by character and by pair, so that any part is found.
    """
    words = text.split()
    known = _known_word if max(map(len, words), default=0) <= _KEPT_CHARS else _word
    return list(chain.from_iterable(map(known, words)))


def analyse_query(text: str) -> list[str]:
    """The terms to look for: as `analyse`, without doubles, in query order.

    A run of an unspaced script asks for its pairs only; a single character asks for itself.
    """
    words = (analyse(word) if word.isascii() else _word(word, query=True) for word in text.split())
    return list(dict.fromkeys(chain.from_iterable(words)))


def bag(terms: Iterable[str]) -> str:
    """Terms as one text that `split` takes apart and that `in_bag` searches: each has its own two spaces."""
    return "".join(f" {term} " for term in terms)


def in_bag(term: str) -> str:
    """What to count in a bag for a term: without common spaces, neighbours that are equal count both."""
    return f" {term} "


def identifier_parts(text: str) -> dict[str, frozenset[str]]:
    """The identifiers in a text as whole terms, each with the terms of its parts: `c++` has the part `c`."""
    found: dict[str, frozenset[str]] = {}
    for word in filter(_MARK.search, text.split()):
        terms = _word(word, query=True)
        wholes = [term for term in terms if not term.isalnum()] or list(terms[:1])
        found |= {whole: frozenset(terms) - set(wholes) for whole in wholes}
    return found


def _word(word: str, *, query: bool = False) -> tuple[str, ...]:
    """The terms of what stands between two spaces."""
    if word.isascii():
        return tuple(_part(word, []))
    parts = _readable(word).split()  # some characters, like a lone accent, come apart at a space
    return tuple(
        chain.from_iterable(_part(part, [*_unspaced(part, query=query), *_PICTURE.findall(part)]) for part in parts)
    )


def _part(word: str, special: Sequence[str]) -> Iterator[str]:
    terms: list[str] = _WORDS.analyze(_RUN.sub(" ", word) if special else word)
    terms += special
    if _MARK.search(word):
        terms += _identifiers(word)
    return (term[:MAX_TERM_CHARS] for term in terms)


_known_word = lru_cache(_KEPT_WORDS)(_word)


def _readable(text: str) -> str:
    """The text in one Unicode form and without what no encoder takes (halves of surrogate pairs)."""
    text = unicodedata.normalize("NFKC", text)
    return text.encode("utf-8", "ignore").decode("utf-8")


def _unspaced(text: str, *, query: bool) -> Iterator[str]:
    for run in _RUN.findall(text):
        if not query or len(run) == 1:
            yield from run
        yield from (run[at : at + 2] for at in range(len(run) - 1))


def _identifiers(word: str) -> Iterator[str]:
    """What word splitting would lose: identifiers as a whole and their parts between slashes, brackets and the like."""
    pieces = dict.fromkeys(match.group() for piece in (word, *_SPLIT.split(word)) if (match := _WHOLE.search(piece)))
    for piece in pieces:
        if not piece.isalnum() and _MARK.search(piece):
            yield from _FOLD.analyze(_RUN.sub("", piece))
            if _RELEASE.fullmatch(piece):
                yield piece[1:]
    for name in _NAME.findall(word):
        if _HUMPED.search(name):
            yield from _WORDS.analyze(" ".join(_HUMP.findall(name)))


def locate(text: str, terms: Collection[str]) -> list[tuple[int, int]]:
    """Where the terms of a query stand in a text: half-open spans of characters in reading order, not overlapping."""
    wanted = frozenset(terms)
    spans = [
        (token.char_offset_from, token.char_offset_to)
        for token in _WORDS.pre_tokenize(text.encode("utf-8", "replace").decode("utf-8")).tokens
        if token.text in wanted
    ]
    literal = [term for term in wanted if not term.isascii() or not term.isalnum()]
    lowered = text.lower() if literal else ""
    if len(lowered) == len(text):
        for term in literal:
            spans += [(match.start(), match.end()) for match in re.finditer(re.escape(term), lowered)]
    return _disjoint(sorted(spans))


def _disjoint(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined
