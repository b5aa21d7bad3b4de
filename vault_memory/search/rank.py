"""The order of the candidates: features times weights, best chunk of each note, ties by ref. Pure arithmetic."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from vault_memory.search.features import Features

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vault_memory.config import Ranking as Weights
    from vault_memory.search.pool import Floats, Ints, Pool

PENALTIES = frozenset({"question"})
"""Features that lower a score; their weights are subtracted."""

NAMES = tuple(field.name for field in fields(Features))


def signed_weights(weights: Weights) -> dict[str, float]:
    """The weight of each feature as it enters the sum, in the order of `Features`."""
    return {name: -getattr(weights, name) if name in PENALTIES else getattr(weights, name) for name in NAMES}


def score(found: Features, weights: Weights) -> NDArray[np.float64]:
    """The weighted sum of the features, one a row, before adjustments."""
    total = np.zeros(len(found.bm25), np.float64)
    for name, weight in signed_weights(weights).items():
        total += weight * getattr(found, name)
    return total
