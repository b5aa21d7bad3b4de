"""Token vectors that are converted once: the model's table is kept in half precision, and turning rows of it into unit
vectors costs more than comparing them. Owns that memory and nothing else; deterministic, no I/O of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from vault_memory.search.pool import Floats, Ints, TokenVectors


class RememberedTokens:
    """A `TokenVectors` that asks `load` for each token once. Pages of rows never asked for are never committed.

    Usable from several threads: a row is written before it is marked as known, and always with the same values.

    Args:
        load: gives the unit vectors of token ids.
        tokens: size of the vocabulary.
        dimensions: width of the vectors.
    """

    def __init__(self, load: TokenVectors, tokens: int, dimensions: int) -> None:
        self._load = load
        self._rows = np.zeros((tokens, dimensions), np.float32)
        self._known = np.zeros(tokens, bool)

    def __call__(self, token_ids: Ints, /) -> Floats:
        missing = token_ids[~self._known[token_ids]]
        if len(missing):
            self._rows[missing] = self._load(missing)
            self._known[missing] = True
        return self._rows.take(token_ids, 0)
