"""What a mistyped or unfinished word may mean among the words that the vault knows. Pure: the words are an argument."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

MIN_CHARS: Final = 4
"""Shorter words are one letter away from too many others."""
TWO_EDITS_FROM: Final = 8
"""A word of so many letters may hold two mistakes."""


def allowed_edits(word: str) -> int:
    """How many mistakes a word may hold: none below 4 letters or with a digit, else 1, from 8 letters on 2."""
    if len(word) < MIN_CHARS or not word.isalpha():
        return 0
    return 2 if len(word) >= TWO_EDITS_FROM else 1


def corrections(word: str, known: Iterable[tuple[str, int]], limit: int = 3) -> list[str]:
    """The known words that `word` may be a misspelling of: fewest edits first, then the most frequent, then A–Z.

    Args:
        word: a lower-case word (or stem) that occurs nowhere.
        known: the vault's words (or stems) and how many chunks hold each.
        limit: at most so many.

    Returns:
        Words within `allowed_edits` that begin with the same letter or share all letters but their order at the
        beginning; the first letter is hardly ever wrong, and comparing fewer words keeps this cheap.
    """
    edits = allowed_edits(word)
    found = [
        (distance, -frequency, term)
        for term, frequency in known
        if frequency > 0
        and abs(len(term) - len(word)) <= edits
        and (term[:1] == word[:1] or term[:2] == word[1::-1])
        and 0 < (distance := edit_distance(word, term, edits)) <= edits
    ]
    return [term for _, _, term in sorted(found)[:limit]] if edits else []


def completions(prefix: str, known: Iterable[tuple[str, int]], limit: int = 10) -> list[str]:
    """The known words that begin with `prefix` (lower case, not empty): most frequent first, then A–Z."""
    found = [(-frequency, term) for term, frequency in known if frequency > 0 and prefix and term.startswith(prefix)]
    return [term for _, term in sorted(found)[:limit]]


def edit_distance(a: str, b: str, bound: int) -> int:
    """Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`; bound + 1 when more.

    Optimal string alignment (Damerau 1964), row by row, given up as soon as a whole row exceeds the bound.
    """
    if abs(len(a) - len(b)) > bound:
        return bound + 1
    older: list[int] = []
    row = list(range(len(b) + 1))
    for i in range(1, len(a) + 1):
        older, row = row, list(_next_row(a, b, i, row, older))
        if min(row) > bound:
            return bound + 1
    return min(row[-1], bound + 1)


def _next_row(a: str, b: str, i: int, above: list[int], older: list[int]) -> Iterator[int]:
    left = i
    yield left
    for j in range(1, len(b) + 1):
        best = min(above[j] + 1, left + 1, above[j - 1] + (a[i - 1] != b[j - 1]))
        if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
            best = min(best, older[j - 2] + 1)
        left = best
        yield left
