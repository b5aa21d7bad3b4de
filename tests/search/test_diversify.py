"""Near-copies are recognised word by word."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.search.pools import model
from vault_memory.search.diversify import copies, folded
from vault_memory.search.pool import NONE


def copy_of(*texts: str) -> list[int]:
    embedder = model()
    return copies(texts, embedder.vectors(embedder.tokenise(texts)))


def test_a_repetition_is_folded_under_the_first() -> None:
    assert copy_of("Deploy with fly.io.", "Use pnpm.", "Note: deploy with fly.io") == [NONE, NONE, 0]


def test_a_changed_fact_is_never_a_copy() -> None:
    assert copy_of("Use Redis for sessions.", "Do not use Redis for sessions.") == [NONE, NONE]
    assert copy_of("The limit is 100 per minute.", "The limit is 1000 per minute.") == [NONE, NONE]
    assert copy_of("The cluster is in eu-west-1.", "The cluster is in eu-west-2.") == [NONE, NONE]


def test_equal_texts_are_copies_without_any_vector() -> None:
    assert copies(["同じ メモ", "other", "同じ  メモ", "同じ メモ"]) == [NONE, NONE, 0, 0]


def test_copies_stand_directly_behind_their_original() -> None:
    assert folded(4, [NONE, NONE, 0, 1]) == [0, 2, 1, 3]


@settings(deadline=None)
@given(st.lists(st.sampled_from(["a b c", "A b  c", "d", "", "e f"]), max_size=8))
def test_folding_loses_and_doubles_nothing(texts: list[str]) -> None:
    found = copies(texts)
    assert sorted(folded(len(texts), found)) == list(range(len(texts)))
    assert all(first == NONE or (first < n and found[first] == NONE) for n, first in enumerate(found))
