"""How two statements are compared word by word: tokens that keep what carries meaning, and their kinds. Pure.

The rule behind every line: only what never changes a fact may be dropped (case of ordinary words, spacing, sentence
punctuation, articles, lead-ins). When in doubt a sign stays, because a kept repetition costs less than a lost fact.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, Literal

from msgspec import Struct

TokenKind = Literal["word", "name", "number", "date", "version", "path", "identifier", "unit", "flag", "symbol"]

NEGATIONS: Final = frozenset(
    """no not never none neither nor nothing nobody nowhere without cannot stop stopped avoid avoids avoided lacks lack
    lacking fails failed refuse refuses refused disable disables disabled deny denies denied forbid forbids forbidden
    ban bans banned except unless hardly barely seldom rarely dont doesnt didnt isnt arent wasnt werent wont cant
    shouldnt mustnt couldnt wouldnt hasnt havent hadnt aint kein keine nicht nie pas jamais""".split()
)
"""Words that turn a statement round; a pair that differs in one of them is never the same fact."""
CONDITIONS: Final = frozenset(
    """only if when whenever until till before after while during at least most all some any each every both either
    few little many more less fewer exactly about around roughly must may might shall should can could will would
    always sometimes often usually mostly once already yet still again to from into onto over under above below via
    instead was were had did used now previously formerly""".split()
)
"""Words that bound a statement: how much, when, how surely, from where to where."""
_MONTHS: Final = "january february march april may june july august september october november december".split()
_DAYS: Final = "monday tuesday wednesday thursday friday saturday sunday".split()
_NEAR_DAYS: Final = "today tomorrow yesterday tonight noon midnight sept".split()
DATE_WORDS: Final = frozenset(
    [*_MONTHS, *(m[:3] for m in _MONTHS), *_DAYS, *(f"{d}s" for d in _DAYS), *(d[:3] for d in _DAYS), *_NEAR_DAYS]
)
_NOT_AFTER_ARTICLE: Final = frozenset(
    """is are was were be has have had does do did will would can could may might must shall should and or but nor to of
    in on at by for from with as than then if when not few little number""".split()
)
"""After these, "a" is a letter ("plan A is …") or part of a quantity ("a few")."""

_CONTRACTIONS: Final = (
    (re.compile(r"\bcan['’]?t\b|\bcannot\b", re.I), "can not"),
    (re.compile(r"\bwon['’]t\b", re.I), "will not"),
    (re.compile(r"\bshan['’]t\b", re.I), "shall not"),
    (re.compile(r"(?<=\w)n['’]t\b", re.I), " not"),
    (re.compile(r"(?<=\w)['’]re\b", re.I), " are"),
    (re.compile(r"(?<=\w)['’]ve\b", re.I), " have"),
    (re.compile(r"(?<=\w)['’]ll\b", re.I), " will"),
    (re.compile(r"\b(it|that|there|he|she|what|where)['’]s\b", re.I), r"\1 is"),
    (re.compile(r"\bi['’]m\b", re.I), "i am"),
)
_FILLER: Final = re.compile(
    r"""^[\s>#*_•·"'“‘(\[-]*(?:
    (?:(?:a|just\s+a)\s+)?(?:(?:quick|small|side)\s+)?
        (?:note(?:\s+to\s+self)?|reminder|fyi|til|btw|info|fact|memo|important|heads?[\s-]up|psa|nb|n\.b\.|tl;?dr)
        (?:\s*[:,–—]+|\s+[–—-]+\s)
    |(?:please\s+)?(?:note|remember|keep\s+in\s+mind|bear\s+in\s+mind|be\s+aware|don['’]t\s+forget)\s+that\b
    |(?:please\s+)?(?:remember|keep\s+in\s+mind)\s*[:,]
    |(?:we|you|i)\s+(?:should\s+|must\s+|need\s+to\s+)?(?:note|remember)\s+that\b
    |for\s+(?:the\s+record|your\s+information)\s*[,:]
    |(?:as\s+a|just\s+a)\s+(?:(?:quick|friendly)\s+)?reminder(?:\s*[,:]|\s+that\b)
    |by\s+the\s+way\s*[,:]?|just\s+so\s+you\s+know\s*[,:]?
    |it(?:\s+is|['’]s)\s+worth\s+noting\s+that\b|it\s+should\s+be\s+noted\s+that\b|it\s+is\s+important\s+that\s+we\s+note\b
    |(?:so|well|also|ok|okay|basically|actually|hey|anyway)\s*,
    |fyi\b)["'”’*_]*\s*""",
    re.I | re.X,
)
_AFTERTHOUGHT: Final = re.compile(
    r"[\s,;(–—-]+(?:fyi|btw|by the way|just so you know|for the record|for your information)[\s.!)]*$", re.I
)
_INVISIBLE: Final = dict.fromkeys(map(ord, "\u200b\u2060\ufeff\u00ad\ufe0f"), None)
_PLAIN: Final = {
    **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)},  # full-width forms
    **dict.fromkeys(map(ord, "\u2010\u2011"), "-"), ord("−"): "-", ord("’"): "'", ord("‘"): "'", ord("ʼ"): "'",
}  # fmt: skip
_INTERVAL: Final = re.compile(r"([\[(])(\s*[-+]?\d[\d.]*\s*[,;]\s*[-+]?(?:\d[\d.]*|∞|inf)\s*)([\])])")
_BRACKETS: Final = {"[": "⟦", "(": "⦅", "]": "⟧", ")": "⦆"}
_PERCENT: Final = re.compile(r"(?<=\d)\s*(?:per\s?cent)\b", re.I)
_TOKEN: Final = re.compile(
    r"""(?P<date>\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?Z?)?(?![\d-])
        |(?<![\w.])\d{1,2}[./]\d{1,2}[./]\d{2,4}(?![\w./])|(?<![\w.:])\d{1,2}:\d{2}(?::\d{2})?(?![\w:]))
    |(?P<url>[a-z][a-z0-9+.-]*://[^\s<>"'`]+)
    |(?P<range>(?<=\d)\s?[-–—]\s?(?=\d))
    |(?P<flag>(?<![\w-])--?[a-z](?:[\w.=,/:@-]*\w)?(?![\w]))
    |(?P<number>(?<![\w.])[-+]?\d+(?:,\d+)*(?:\.\d+)?(?![\w.]*\.\d)(?=[a-zµ%]{0,4}(?:[^\w]|$)))
    |(?P<word>(?:\*{1,2}(?=[./]))?[~./\\@\#$%&]*\w(?:[\w']|[-./\\:@+\#&=](?=[\w/])|(?<=[./])\*+)*(?:\+\+|\#|\+(?=\s|$))?
        (?:[./\\]+\*+(?:\.\w+)?)?)
    |(?P<symbol>\[\s\]|\[\]|\{\}|\(\)|""|''|<?[-=]+>|<[-=]+(?=\s)|[!=]==?|!(?=\w)|[<>=≠≤≥≈±]{1,3}|[%$€£¥/\\~?⟦⦅⟧⦆]
        |(?<=\S\s)\*+(?=\s|$)|(?<=\d)\*+(?=\d)|(?<!\S)\.{1,2}(?!\S)
        |[^\w\s.,;:!"'‘“”„«»‹›‚()\[\]{}*_`|…–—•·‧\#-])""",
    re.I | re.X,
)
_VERSION: Final = re.compile(r"v?\d+(?:\.\d+)+[\w.-]*|v\d+[\w.-]*", re.I)
_THOUSANDS: Final = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_CAPITALISED: Final = re.compile(r"[A-Z][\w']*")
_ODD_SIGN: Final = re.compile(r"[_@#$%+=:.&\d²³¹½¼¾]")
_REMEMBERED_CHARACTERS: Final = 2_000
_UNIT: Final = re.compile(r"[a-zA-Zµ]{1,4}(?:/[a-z]{1,3})?")
_SAME_IN_ANY_CASE: Final = frozenset("am pm min mins max sec secs hr hrs day days year week".split())


class Token(Struct, frozen=True):
    """One meaningful piece of a statement: `text` as compared, `shown` as written."""

    text: str
    shown: str
    kind: TokenKind


def without_filler(text: str) -> str:
    """`text` without lead-ins and afterthoughts that say nothing ("Note:", "Remember that", ", FYI")."""
    while (found := _FILLER.match(text)) and found.end() < len(text):
        text = text[found.end() :]
    return _AFTERTHOUGHT.sub("", text) or text


def tokens(text: str) -> tuple[Token, ...]:
    """The statement as tokens in order: articles dropped, case folded save in paths, identifiers and units."""
    return _remembered(text) if len(text) <= _REMEMBERED_CHARACTERS else _tokens(text)


def _tokens(text: str) -> tuple[Token, ...]:
    found = list(_scanned(_plain(text)))
    kept = [token for n, token in enumerate(found) if not _says_nothing(token, found[n + 1 : n + 2])]
    return tuple(kept or found)


_remembered = lru_cache(4_096)(_tokens)
"""One text is compared with many, and the same known ones come up again with every write."""


def _plain(text: str) -> str:
    """Compatible spellings made one: composed letters, plain hyphens and quotes, contractions written out."""
    text = unicodedata.normalize("NFC", text).translate(_INVISIBLE).translate(_PLAIN)
    text = without_filler(text)
    for pattern, replacement in _CONTRACTIONS if "'" in text else _CONTRACTIONS[:1]:
        text = pattern.sub(replacement, text)
    text = _PERCENT.sub("%", text)
    return _INTERVAL.sub(lambda m: f"{_BRACKETS[m[1]]}{m[2]}{_BRACKETS[m[3]]}", text)


def _scanned(text: str) -> Iterator[Token]:
    before: Token | None = None
    for match in _TOKEN.finditer(text):
        token = _token(match, text, before)
        yield token
        before = token


def _token(match: re.Match[str], text: str, before: Token | None) -> Token:
    group = match.lastgroup or "word"
    shown = match.group().strip()
    if group == "number":
        plain = shown.replace(",", "") if _THOUSANDS.fullmatch(shown) else shown
        return Token(plain, shown, "number")
    if group == "range":
        return Token("–", "–", "symbol")
    if group == "symbol":
        return Token({"&": "and", "[ ]": "☐"}.get(shown, shown), shown, "symbol")
    if group == "flag":
        return Token(shown, shown, "flag")
    shown = shown.rstrip(".:'" if group != "url" else ".:,;!?)]}'")
    if group == "date":
        return Token(shown.lower(), shown, "date")
    return _word(shown, text, match.start(), before)


def _word(shown: str, text: str, start: int, before: Token | None) -> Token:
    if before is not None and before.kind == "number" and _is_unit(shown):
        return Token(shown, shown, "unit")
    kind = _kind(shown, starts_sentence=_starts_sentence(text, start))
    keeps_case = kind in ("path", "identifier")
    return Token(shown if keeps_case else shown.lower(), shown, kind)


def _is_unit(shown: str) -> bool:
    low = shown.lower()
    return bool(_UNIT.fullmatch(shown)) and low not in DATE_WORDS and low not in _SAME_IN_ANY_CASE


def _starts_sentence(text: str, position: int) -> bool:
    before = text[:position].rstrip(" \t\"'“‘(*_-•>#")
    return not before or before[-1] in ".!?:\n"


def _kind(shown: str, *, starts_sentence: bool) -> TokenKind:
    if shown.lower() in DATE_WORDS:
        return "date"
    if _VERSION.fullmatch(shown):
        return "version"
    if "/" in shown or "\\" in shown or shown.startswith(("~", ".", "*")):
        return "path"
    inner = shown.strip("'")
    if _ODD_SIGN.search(inner) or inner[1:] != inner[1:].lower():
        return "identifier"
    if not starts_sentence and _CAPITALISED.fullmatch(shown):
        return "name"
    return "word"


def _says_nothing(token: Token, following: list[Token]) -> bool:
    """Articles, and "please"; not the letter A, nor what begins a quantity ("a few")."""
    if token.text in ("the", "please"):
        return token.kind in ("word", "name")
    if token.text not in ("a", "an") or token.kind not in ("word", "name") or not following:
        return False
    if token.kind == "name":  # a capital inside the sentence: "option A"
        return False
    return following[0].kind != "symbol" and following[0].text not in _NOT_AFTER_ARTICLE
