"""Figures for one ranked list, and their means. Binary relevance; nothing below rank 20 counts."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from statistics import fmean

NAMES = ("recall@5", "recall@10", "recall@20", "nDCG@10", "MRR@10", "hit@10")


def figures(ranked: Sequence[object], relevant: Collection[object]) -> tuple[float, ...]:
    """The figures in the order of `NAMES`; `relevant` must not be empty."""
    hits = [item in relevant for item in ranked[:20]]
    total = len(relevant)
    gain = sum(hit / math.log2(rank + 2) for rank, hit in enumerate(hits[:10]))
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(total, 10)))
    first = next((1 / (rank + 1) for rank, hit in enumerate(hits[:10]) if hit), 0.0)
    return sum(hits[:5]) / total, sum(hits[:10]) / total, sum(hits) / total, gain / ideal, first, float(any(hits[:10]))


def means(rows: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    """The mean of each column."""
    return tuple(fmean(column) for column in zip(*rows, strict=True))
