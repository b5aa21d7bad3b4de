"""Near-copies among the hits: which of them say what a better one said already. Pure; nothing is thrown away here.

Cosine proposes and never decides: "Use X" and "Do not use X" are nearly one vector. A hit is a copy only when the rule
for duplicates says, word by word, that it adds nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from vault_memory.memory.duplicates import judge
from vault_memory.memory.words import tokens
from vault_memory.search.pool import NONE

if TYPE_CHECKING:
    from vault_memory.search.pool import Floats

PROPOSED: Final = 0.9
"""Cosine from which two hits are compared word by word."""
MAX_FOLDED: Final = 50
"""Only so many of the best hits are looked at: nobody reads copies further down."""
MAX_COMPARED_CHARS: Final = 4_000
"""Longer texts are copies only when they are equal but for case and spaces."""


def copies(texts: Sequence[str], vectors: Floats | None = None) -> list[int]:
    """For each text the place of the earlier one that it repeats, `NONE` for one that says something of its own.

    Args:
        texts: the hits' contents, best first.
        vectors: their unit vectors, zeros where there is none; shape (texts, dimensions). Without them only equal
            texts are copies.
    """
    found = [NONE] * len(texts)
    first_of: dict[str, int] = {}
    proposed = _proposed(vectors)
    for n, text in enumerate(texts):
        first = first_of.setdefault(" ".join(text.split()).casefold(), n)
        if first != n:
            found[n] = first if found[first] == NONE else found[first]
            continue
        originals = (earlier for earlier in proposed.get(n, ()) if found[earlier] == NONE)
        found[n] = next((earlier for earlier in originals if _adds_nothing(text, texts[earlier], PROPOSED)), NONE)
    return found


def _proposed(vectors: Floats | None) -> dict[int, list[int]]:
    """For each place the earlier ones that are near enough to be compared, in order."""
    if vectors is None or not len(vectors):
        return {}
    found: dict[int, list[int]] = {}
    best = vectors[:MAX_FOLDED]
    near = best @ best.T >= PROPOSED
    for later, earlier in zip(*near.nonzero(), strict=True):
        if earlier < later:
            found.setdefault(int(later), []).append(int(earlier))
    return found


def folded(count: int, copy_of: Sequence[int]) -> list[int]:
    """The first `count` places with every copy moved to directly after what it repeats; nothing is lost or doubled."""
    followers: dict[int, list[int]] = {}
    for n in range(count):
        if copy_of[n] != NONE:
            followers.setdefault(copy_of[n], []).append(n)
    return [place for n in range(count) if copy_of[n] == NONE for place in (n, *followers.get(n, ()))]


def _adds_nothing(text: str, original: str, cosine: float) -> bool:
    """The rule for duplicates; a cosine of at least `cosine` is known."""
    if max(len(text), len(original)) > MAX_COMPARED_CHARS:
        return False
    if _beginning(text) != _beginning(original):
        return False  # a repetition begins alike; texts of few words are all near each other, and judging is slow
    return judge(text, original, cosine=cosine).same


@lru_cache(maxsize=1_000)
def _beginning(text: str) -> tuple[str, ...]:
    """The first meaningful words, by which two statements that say the same begin."""
    return tuple(token.text for token in tokens(text)[:2])
