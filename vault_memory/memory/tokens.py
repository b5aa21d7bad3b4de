"""How many tokens a text costs a model, estimated without one: the single estimator of every budget. Pure."""

from __future__ import annotations

from collections.abc import Callable

Counter = Callable[[str], int]


def estimate_tokens(text: str) -> int:
    """max(⌈characters / 4⌉, ⌈words × 1.3⌉): rather too many than too few (formula of the MemStack pipeline)."""
    return max(-(-len(text) // 4), -(-len(text.split()) * 13 // 10))
