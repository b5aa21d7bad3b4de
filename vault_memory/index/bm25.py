"""BM25 with the catalog's exact statistics: the only full-text score that is shown, the same for applied and pending
chunks. Owns the formula and the look-up of terms; where candidates come from is not its affair."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from vault_memory.index.analyse import in_bag
from vault_memory.index.numeric import Floats, NDArray, np

K1: Final = 1.2
B: Final = 0.75
"""The usual values (Robertson and Zaragoza 2009, The Probabilistic Relevance Framework, section 3.2)."""
PART_WEIGHT: Final = 0.25
"""Who asks for `C++` wants what says `C++`; a short note that says `C` must not come first."""
MAX_LIKE: Final = 24
"""At most so many index terms stand in for a word that no chunk holds."""
MIN_LIKE_CHARS: Final = 3
"""A shorter word is contained in too many terms to say anything; one of an unspaced script may be shorter."""

Doubles = NDArray[np.float64]


class WantedTerms(Struct, frozen=True):
    """A query's terms, what stands in for those that no chunk holds, and the statistics to score them by.

    Attributes:
        asked: the analysed terms of the query, without doubles.
        groups: for each of them the index terms that count as it: itself, or those that contain it; may be empty.
        weights: of each index term in `groups`: its idf, ln(1 + (N − df + .5) / (df + .5)), times its importance.
        importance: of each index term: 1, and PART_WEIGHT for a part of an identifier that some chunk holds whole.
        asked_idf: of each of `asked` itself (one that no chunk holds has df 0).
        average: mean length of the chunks, in terms; at least 1.
    """

    asked: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    weights: Mapping[str, float]
    importance: Mapping[str, float]
    asked_idf: Floats
    average: float

    @property
    def terms(self) -> tuple[str, ...]:
        """All index terms to look for, without doubles."""
        return tuple(self.weights)


def idf(total: int, frequencies: Sequence[int]) -> Floats:
    """ln(1 + (N − df + .5) / (df + .5)) for document frequencies out of `total`; never negative."""
    df = np.minimum(np.asarray(frequencies, np.float64), total)
    found: Floats = np.log(1 + (total - df + 0.5) / (df + 0.5)).astype(np.float32)
    return found


def wanted_terms(
    sql: sqlite3.Connection,
    asked: Sequence[str],
    total: int,
    total_length: int,
    parts: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> WantedTerms:
    """The query's terms with the statistics of all chunks in the vault (scope and filters do not change them).

    Args:
        sql: the catalog.
        asked: the analysed terms of the query, without doubles.
        total, total_length: number of chunks and the sum of their lengths.
        parts: the identifiers among the terms, each with the terms that are parts of it.
    """
    frequency = _frequencies(sql, asked)
    minor = {part for whole, inner in parts.items() if frequency.get(whole) for part in inner}
    groups = []
    for term in asked:
        like = {} if frequency.get(term) else _like(sql, term)
        frequency |= like
        groups.append((term,) if frequency.get(term) else tuple(sorted(like)))
    terms = list(dict.fromkeys(term for group in groups for term in group))
    importance = {term: PART_WEIGHT if term in minor else 1.0 for term in terms}
    values = idf(total, [frequency[term] for term in terms]).tolist()
    return WantedTerms(
        tuple(asked),
        tuple(groups),
        {term: value * importance[term] for term, value in zip(terms, values, strict=True)},
        importance,
        idf(total, [frequency.get(term, 0) for term in asked]),
        max(1.0, total_length / max(1, total)),
    )


def token_idf(sql: sqlite3.Connection, tokens: Sequence[int], total: int) -> Floats:
    """idf of each of the model's token ids over the chunks' token sets."""
    rows = sql.execute(
        "SELECT token, df FROM token_df WHERE token IN (SELECT value FROM json_each(?))", (json.dumps(list(tokens)),)
    )
    frequency = dict(rows.fetchall())
    return idf(total, [frequency.get(token, 0) for token in tokens])


def counter(terms: Sequence[str]) -> Callable[[str], list[int]]:
    """Counts how often each of `terms` occurs in a bag of terms."""
    wanted = [in_bag(term) for term in terms]

    def count(bag: str) -> list[int]:
        return [bag.count(term) for term in wanted]

    return count


def scores(wanted: WantedTerms, counts: Iterable[Sequence[int]], lengths: Sequence[int]) -> tuple[Doubles, Doubles]:
    """BM25 of each chunk, and what each of the query's terms contributes to it.

    Args:
        wanted: the query.
        counts: for each chunk, how often each of `wanted.terms` occurs in it.
        lengths: the length of each chunk in terms.

    Returns:
        Shapes (chunks,) and (chunks, asked). Terms that stand in for one word count once: the best of them.
    """
    tf = np.array(list(counts), np.float64).reshape(len(lengths), len(wanted.terms))
    norm = K1 * (1 - B + B * np.asarray(lengths, np.float64) / wanted.average)
    weight = np.fromiter(wanted.weights.values(), np.float64, len(wanted.weights))
    parts = weight * tf * (K1 + 1) / (tf + norm[:, None])
    place = {term: n for n, term in enumerate(wanted.terms)}
    shares = np.zeros((len(lengths), len(wanted.asked)), np.float64)
    for n, group in enumerate(wanted.groups):
        if group:
            shares[:, n] = parts[:, [place[term] for term in group]].max(axis=1)
    return shares.sum(axis=1), shares


def _frequencies(sql: sqlite3.Connection, terms: Sequence[str]) -> dict[str, int]:
    marks = json.dumps(list(terms))
    rows = sql.execute("SELECT term, df FROM terms WHERE term IN (SELECT value FROM json_each(?)) AND df > 0", (marks,))
    return dict(rows.fetchall())


def _like(sql: sqlite3.Connection, term: str) -> dict[str, int]:
    """The terms that contain the one given, those that begin with it first, then the most frequent."""
    if len(term) < MIN_LIKE_CHARS and term.isascii():
        return {}
    rows = sql.execute(
        "SELECT term, df FROM terms WHERE instr(term, ?1) AND df > 0"
        " ORDER BY substr(term, 1, length(?1)) = ?1 DESC, df DESC, term LIMIT ?2",
        (term, MAX_LIKE),
    )
    return dict(rows.fetchall())
