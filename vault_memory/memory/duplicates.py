"""Whether a new statement repeats an old one, changes it, or stands beside it. Pure; cosine never decides alone.

Measured on pairs of real statements, cosine separates "same fact" from "changed fact" worse than a coin: "Use X" and
"Do not use X" lie at .976. So a pair counts as the same only word by word, and any guard (number, date, version, path,
identifier, name, negation, order) turns it into a changed fact, whatever the cosine.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from difflib import SequenceMatcher
from typing import Final, Literal

from msgspec import Struct

from vault_memory.memory.words import CONDITIONS, DATE_WORDS, NEGATIONS, Token, tokens, without_filler

VerdictKind = Literal["duplicate", "adds_nothing", "changed", "similar", "different"]

ADDS_NOTHING_COSINE: Final = 0.75
SIMILAR_COSINE: Final = 0.80
MAX_COMPARED_TOKENS: Final = 400
"""Longer statements are the same only when all their tokens are; what differs in them is not looked for."""
_VALUE_TOKENS: Final = 4
"""Up to so many swapped words are one value that differs."""
_MOSTLY: Final = 0.6
_WORD: Final = re.compile(r"\w+")
_ORDINARY: Final = re.compile(r"[A-Z]?[a-z]+")


class Verdict(Struct, frozen=True):
    """How a new statement relates to an old one; `differs` names the change in words, old value first."""

    kind: VerdictKind
    differs: str = ""

    @property
    def same(self) -> bool:
        """True when storing the new statement would add nothing."""
        return self.kind in ("duplicate", "adds_nothing")


def judge(new: str, old: str, *, cosine: float | None, shared_rare: int = 0) -> Verdict:
    """Compare a new statement with an old one.

    Args:
        new: the statement about to be stored.
        old: the one already there.
        cosine: of their embeddings; None when either has none.
        shared_rare: how many rare terms they have in common.
    """
    if _typed_without_case(new, old) or _typed_without_case(old, new):
        new, old = new.lower(), old.lower()
    fresh, known = tokens(new), tokens(old)
    if not fresh or not known:
        return Verdict("different")
    if _texts(fresh) == _texts(known):
        return Verdict("duplicate")
    near = cosine is not None and cosine >= SIMILAR_COSINE
    if max(len(fresh), len(known)) > MAX_COMPARED_TOKENS:
        return Verdict("similar") if near else Verdict("different")
    if cosine is not None and cosine >= ADDS_NOTHING_COSINE and _only_drops_a_reason(fresh, known):
        return Verdict("adds_nothing")
    alike = near or _mostly_equal(fresh, known)
    if not alike and shared_rare < 2:
        return Verdict("different")
    differs = difference(known, fresh)
    if differs:
        return Verdict("changed", differs)
    return Verdict("similar") if alike else Verdict("different")


def only_spelling(new: tuple[Token, ...], old: tuple[Token, ...]) -> bool:
    """True when two statements differ, but only in the case and punctuation of their words (PROJ-1042, proj-1042)."""
    return _texts(new) != _texts(old) and _letters(new) == _letters(old)


def likeness(one: tuple[Token, ...], other: tuple[Token, ...]) -> float:
    """The share of words that both statements have: shared over all, counted as sets; 0 to 1, two digits."""
    left, right = {t.text.lower() for t in one}, {t.text.lower() for t in other}
    return round(len(left & right) / len(left | right), 2) if left or right else 0.0


def _letters(statement: tuple[Token, ...]) -> str:
    return "".join(c for t in statement for c in t.text.lower() if c.isalnum())


def _texts(statement: tuple[Token, ...]) -> list[str]:
    return [token.text for token in statement]


def _typed_without_case(whole: str, mixed: str) -> bool:
    """True when `whole` is typed all in capitals or all in small letters where `mixed` is not, so that the case of its
    identifiers says nothing. An ordinary word must show it: one identifier in another case is a changed fact.
    """
    if whole not in (whole.lower(), whole.upper()):
        return False
    words, others = _WORD.findall(without_filler(whole)), _WORD.findall(without_filler(mixed))
    return len(words) == len(others) and any(
        word != other and word.lower() == other.lower() and _ORDINARY.fullmatch(other) and (not n or len(word) > 3)
        for n, (word, other) in enumerate(zip(words, others, strict=True))
    )


def difference(old: tuple[Token, ...], new: tuple[Token, ...]) -> str:
    """What differs between two statements that would make them two facts, in words; empty when nothing does."""
    lost, gained = _minus(old, new), _minus(new, old)
    for label, test in _GUARDS:
        before = [t.shown for t in lost if test(t)]
        after = [t.shown for t in gained if test(t)]
        if before or after:
            return f"the {label} differs: {' '.join(before) or '(none)'} → {' '.join(after) or '(none)'}"
    if not lost and not gained:
        return "" if _texts(old) == _texts(new) else "the order differs"
    if len(lost) <= _VALUE_TOKENS and len(gained) <= _VALUE_TOKENS and lost and gained:
        return f"the value differs: {_shown(lost)} → {_shown(gained)}"
    return ""


def _shown(tokens_: list[Token]) -> str:
    return " ".join(t.shown for t in tokens_)


def _minus(left: tuple[Token, ...], right: tuple[Token, ...]) -> list[Token]:
    """The tokens of `left` that `right` lacks, in order, counting repetitions."""
    spare = Counter(t.text for t in right)
    rest: list[Token] = []
    for token in left:
        if spare[token.text]:
            spare[token.text] -= 1
        else:
            rest.append(token)
    return rest


_GUARDS: Final[tuple[tuple[str, Callable[[Token], bool]], ...]] = (
    ("negation", lambda t: t.text in NEGATIONS),
    ("number", lambda t: t.kind == "number"),
    ("date", lambda t: t.kind == "date" or t.text in DATE_WORDS),
    ("version", lambda t: t.kind == "version"),
    ("path", lambda t: t.kind == "path"),
    ("identifier", lambda t: t.kind == "identifier"),
    ("name", lambda t: t.kind == "name"),
    ("unit", lambda t: t.kind == "unit"),
    ("flag", lambda t: t.kind == "flag"),
    ("sign", lambda t: t.kind == "symbol"),
    ("condition", lambda t: t.text in CONDITIONS),
)


def _only_drops_a_reason(new: tuple[Token, ...], old: tuple[Token, ...]) -> bool:
    """True when `new` is the beginning of `old` and what is left out is a reason in plain words, no condition."""
    kept = len(new)
    if kept >= len(old) or _texts(new) != _texts(old[:kept]):
        return False
    dropped = old[kept:]
    plain = all(t.kind == "word" and t.text not in NEGATIONS | CONDITIONS | DATE_WORDS for t in dropped)
    return dropped[0].text == "because" and plain


def _mostly_equal(new: tuple[Token, ...], old: tuple[Token, ...]) -> bool:
    """True when most of both runs alike: a value was swapped inside the same sentence."""
    matcher = SequenceMatcher(None, _texts(new), _texts(old), autojunk=False)
    return matcher.quick_ratio() >= _MOSTLY and matcher.ratio() >= _MOSTLY
