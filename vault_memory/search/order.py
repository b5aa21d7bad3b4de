"""From a judged pool to notes in order: the best chunk of each note, ties by ref. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from vault_memory.search import dates
from vault_memory.search.rank import Judged, judge
from vault_memory.search.words import words

if TYPE_CHECKING:
    from vault_memory.config import Ranking
    from vault_memory.search.pool import Ints, Pool, QueryNumbers, TokenVectors


@dataclass(frozen=True, slots=True)
class Ordered:
    """The pool's notes, best first: `rows` holds the row of the best chunk of each note, in order."""

    rows: Ints
    judged: Judged


def order(
    text: str, query: QueryNumbers, pool: Pool, token_vectors: TokenVectors, weights: Ranking, now: datetime
) -> Ordered:
    """Rank the pool for the query `text`, asked at `now` in the asker's zone."""
    names = {word.lower() for word in words(text)}
    hints = dates.find(text, now)
    judged = judge(query, pool, token_vectors, weights, names=names, hints=hints, zone=now.tzinfo)
    return Ordered(_best_of_each(pool, judged), judged)


def _best_of_each(pool: Pool, judged: Judged) -> Ints:
    """Rows by score, then ref and number; only the first of each note."""
    rows = sorted(range(len(pool)), key=lambda row: (-judged.score[row], pool.ref[row], pool.number[row]))
    first: dict[int, int] = {}
    for row in rows:
        first.setdefault(int(pool.note[row]), row)
    return np.array(list(first.values()), np.int64)
