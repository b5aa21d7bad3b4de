"""Whether a new statement repeats an old one, changes it, or stands beside it. Pure; cosine never decides alone.

Measured on pairs of real statements, cosine separates "same fact" from "changed fact" worse than a coin: "Use X" and
"Do not use X" lie at .976. So a pair counts as the same only word by word, and any guard (number, date, version, path,
identifier, name, negation, order) turns it into a changed fact, whatever the cosine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Literal

from vault_memory.memory.words import DATE_WORDS, NEGATIONS, Token, tokens

VerdictKind = Literal["duplicate", "adds_nothing", "changed", "similar", "different"]

ADDS_NOTHING_COSINE: Final = 0.75
SIMILAR_COSINE: Final = 0.80
_REASONS: Final = frozenset("because since as so".split())


@dataclass(frozen=True, slots=True)
class Verdict:
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
    fresh, known = tokens(new), tokens(old)
    if fresh and [t.text for t in fresh] == [t.text for t in known]:
        return Verdict("duplicate")
    if not fresh or not known:
        return Verdict("different")
    near = cosine is not None and cosine >= SIMILAR_COSINE
    if cosine is not None and cosine >= ADDS_NOTHING_COSINE and _only_drops_a_reason(fresh, known):
        return Verdict("adds_nothing")
    differs = difference(known, fresh)
    if differs and (near or shared_rare >= 2 or _mostly_equal(fresh, known)):
        return Verdict("changed", differs)
    return Verdict("similar") if near or _mostly_equal(fresh, known) else Verdict("different")


def difference(old: tuple[Token, ...], new: tuple[Token, ...]) -> str:
    """What differs between two statements that would make them two facts, in words; empty when nothing does."""
    lost, gained = _minus(old, new), _minus(new, old)
    for label, test in _GUARDS:
        before = [t.shown for t in lost if test(t)]
        after = [t.shown for t in gained if test(t)]
        if before or after:
            return f"the {label} differs: {' '.join(before) or '(none)'} → {' '.join(after) or '(none)'}"
    if not lost and not gained:
        return "the order differs"
    if len(lost) == len(gained) == 1:
        return f"the value differs: {lost[0].shown} → {gained[0].shown}"
    return ""


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
    ("sign", lambda t: t.kind == "symbol"),
)


def _only_drops_a_reason(new: tuple[Token, ...], old: tuple[Token, ...]) -> bool:
    """True when `new` is the beginning of `old` and what is left out is a reason, no condition."""
    kept = len(new)
    if kept >= len(old) or [t.text for t in new] != [t.text for t in old[:kept]]:
        return False
    dropped = old[kept:]
    return dropped[0].text in _REASONS and not any(t.text in NEGATIONS for t in dropped)


def _mostly_equal(new: tuple[Token, ...], old: tuple[Token, ...]) -> bool:
    """True when at least three quarters of both run alike: a value was swapped inside the same sentence."""
    return SequenceMatcher(None, [t.text for t in new], [t.text for t in old], autojunk=False).ratio() >= 0.75
