"""How two statements are compared word by word: tokens that keep what carries meaning, and their kinds. Pure."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final, Literal

TokenKind = Literal["word", "name", "number", "date", "version", "path", "identifier", "symbol"]

NEGATIONS: Final = frozenset(
    """no not never none neither nor nothing nobody nowhere without cannot stop stopped avoid avoids avoided lacks lack
    lacking fails failed refuse refuses refused disable disables disabled deny denies denied forbid forbids forbidden
    ban bans banned except unless hardly barely seldom rarely dont doesnt didnt isnt arent wasnt werent wont cant
    shouldnt mustnt couldnt wouldnt hasnt havent hadnt aint kein keine nicht nie pas jamais""".split()
)
"""Words that turn a statement round; a pair that differs in one of them is never the same fact."""
_MONTHS = "january february march april may june july august september october november december".split()
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_NEAR_DAYS = "today tomorrow yesterday tonight noon midnight sept".split()
DATE_WORDS: Final = frozenset(
    [*_MONTHS, *(m[:3] for m in _MONTHS), *_DAYS, *(f"{d}s" for d in _DAYS), *(d[:3] for d in _DAYS), *_NEAR_DAYS]
)
ARTICLES: Final = frozenset("a an the please just".split())

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
    r"""^\W*(?:(?:note(?:\s+to\s+self)?|reminder|fyi|til|btw|info|fact|memo|quick\s+note|important|heads?[\s-]up)\s*[:,–—-]+
    |(?:please\s+)?(?:note|remember|keep\s+in\s+mind|bear\s+in\s+mind|be\s+aware|don['’]t\s+forget)\s+that\b
    |(?:please\s+)?remember\s*:
    |for\s+(?:the\s+record|your\s+information)\s*[,:]
    |(?:as\s+a|just\s+a)\s+(?:quick\s+)?reminder\s*[,:]
    |by\s+the\s+way\s*[,:]?|just\s+so\s+you\s+know\s*[,:]?|it\s+is\s+worth\s+noting\s+that\b|fyi\b)\s*""",
    re.I | re.X,
)
_TOKEN: Final = re.compile(
    r"""(?P<date>\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?Z?)?
    |\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}:\d{2}(?::\d{2})?)
    |(?P<url>[a-z][a-z0-9+.-]*://\S+)
    |(?P<number>[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w.]*\.\d)(?=[a-zµ%]{0,4}(?:\W|$)))
    |(?P<word>[~./\\@#$%&]*\w(?:[\w'’]|[-./\\:@+#&=](?=[\w/]))*(?:\+\+|\#)?)
    |(?P<symbol>!=|[<>=≠≤≥≈±]{1,3}|[%$€£¥]|[^\w\s.,;:!?"'’‘“”()\[\]{}*_`|–—/\\#~-])""",
    re.I | re.X,
)
_VERSION: Final = re.compile(r"v?\d+(?:\.\d+)+[\w.-]*|v\d+[\w.-]*", re.I)
_UPPER_NAME: Final = re.compile(r"[A-Z][\w'’]*")


@dataclass(frozen=True, slots=True)
class Token:
    """One meaningful piece of a statement: `text` as compared, `shown` as written."""

    text: str
    shown: str
    kind: TokenKind


def without_filler(text: str) -> str:
    """`text` without lead-ins that say nothing ("Note:", "Remember that")."""
    while (found := _FILLER.match(text)) and found.end():
        text = text[found.end() :]
    return text


def tokens(text: str) -> tuple[Token, ...]:
    """The statement as tokens in order: case folded for words, kept for paths and identifiers, articles dropped.

    Text without any case of its own (all upper or all lower) is compared without case throughout.
    """
    text = without_filler(unicodedata.normalize("NFKC", text))
    for pattern, replacement in _CONTRACTIONS:
        text = pattern.sub(replacement, text)
    caseless = text == text.lower() or text == text.upper()
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        token = _token(match, starts_sentence=_starts_sentence(text, match.start()), caseless=caseless)
        if token.text not in ARTICLES:
            found.append(token)
    return tuple(found)


def _starts_sentence(text: str, position: int) -> bool:
    before = text[:position].rstrip(" \t\"'“‘(*_-•>#")
    return not before or before[-1] in ".!?:\n"


def _token(match: re.Match[str], *, starts_sentence: bool, caseless: bool) -> Token:
    shown = match.group().rstrip(".:'’")
    group = match.lastgroup or "word"
    if group == "date":
        return Token(shown.lower(), shown, "date")
    if group == "number":
        return Token(shown.replace(",", "").replace("−", "-").removeprefix("+"), shown, "number")
    if group == "symbol":
        return Token(shown, shown, "symbol")
    kind = _kind(shown, starts_sentence=starts_sentence)
    keeps_case = kind in ("path", "identifier") and not caseless
    return Token(shown if keeps_case else shown.lower().replace("’", "'"), shown, kind)


def _kind(shown: str, *, starts_sentence: bool) -> TokenKind:
    if shown.lower() in DATE_WORDS:
        return "date"
    if _VERSION.fullmatch(shown):
        return "version"
    if "/" in shown or "\\" in shown or shown.startswith(("~", ".")):
        return "path"
    inner = shown.strip("'’")
    if any(c in inner for c in "_@#+=:.&") or any(c.isdigit() for c in inner) or inner[1:] != inner[1:].lower():
        return "identifier"
    if not starts_sentence and _UPPER_NAME.fullmatch(shown):
        return "name"
    return "word"
