"""Mistyped and unfinished words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_memory.search.spelling import completions, corrections, edit_distance

KNOWN = [("postgr", 4), ("deploy", 9), ("deploi", 1), ("databas", 7), ("authent", 3), ("rotat", 2), ("gone", 0)]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("depoly", ["deploy"]),
        ("deplay", ["deploy"]),
        ("datbas", ["databas"]),
        ("edploy", ["deploy"]),
        ("authnet", ["authent"]),
    ],
)
def test_a_word_with_one_mistake_is_recognised(typed: str, meant: list[str]) -> None:
    assert corrections(typed, KNOWN) == meant


@pytest.mark.parametrize("typed", ["dep", "v2.31", "12345", "quark", "gonne", "deploy"])
def test_short_words_numbers_and_strange_words_are_left_alone(typed: str) -> None:
    assert corrections(typed, KNOWN) in ([], ["deploi"])


def test_fewest_mistakes_then_the_most_frequent_then_the_alphabet() -> None:
    known = [("planet", 1), ("planer", 5), ("plane", 1), ("planes", 5)]
    assert corrections("planeo", known) == ["planer", "planes", "plane"]


def test_a_long_word_may_hold_two_mistakes() -> None:
    assert corrections("kubernetse", [("kubernetes", 1)]) == ["kubernetes"]
    assert corrections("kuberntse", [("kubernetes", 1)]) == ["kubernetes"]


def test_completions_are_frequent_words_first() -> None:
    assert completions("de", KNOWN) == ["deploy", "deploi"]
    assert completions("", KNOWN) == []
    assert completions("go", KNOWN) == []


@settings(deadline=None)
@given(st.text("abc", max_size=7), st.text("abc", max_size=7))
def test_the_distance_is_symmetric_and_zero_only_for_equals(a: str, b: str) -> None:
    assert edit_distance(a, b, 9) == edit_distance(b, a, 9)
    assert (edit_distance(a, b, 9) == 0) == (a == b)
    assert edit_distance(a, b, 1) == min(edit_distance(a, b, 9), 2)
