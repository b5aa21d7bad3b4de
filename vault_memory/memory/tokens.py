"""How many tokens a text will take, estimated without a tokeniser. Pure."""

from __future__ import annotations

from collections.abc import Callable

TokenCounter = Callable[[str], int]


def estimate_tokens(text: str) -> int:
    """The larger of a quarter of the characters and 1.3 for each word, rounded up (the rule of the MemStack seed)."""
    words = len(text.split())
    return max(-(-len(text) // 4), -(-words * 13 // 10))
