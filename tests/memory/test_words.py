"""Tokens: nothing that can change a fact is dropped, and what never does is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.memory.words import tokens, without_filler


def kinds(text: str) -> list[tuple[str, str]]:
    return [(token.text, token.kind) for token in tokens(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Limit is 5 MB", [("limit", "word"), ("is", "word"), ("5", "number"), ("MB", "unit")]),
        ("Run -V", [("run", "word"), ("-V", "flag")]),
        ("Costs 1,500", [("costs", "word"), ("1500", "number")]),
        ("cd ..", [("cd", "word"), ("..", "symbol")]),
        ("Ask Alice", [("ask", "word"), ("alice", "name")]),
        ("On 2024-05-14", [("on", "word"), ("2024-05-14", "date")]),
        ("Node v18.2", [("node", "word"), ("v18.2", "version")]),
        ("Set userId", [("set", "word"), ("userId", "identifier")]),
        ("In src/a.py", [("in", "word"), ("src/a.py", "path")]),
        ("10-20", [("10", "number"), ("–", "symbol"), ("20", "number")]),
    ],
)
def test_each_piece_has_its_kind(text: str, expected: list[tuple[str, str]]) -> None:
    assert kinds(text) == expected


@pytest.mark.parametrize(
    "text",
    ["Note: we ship", "FYI we ship", "Remember that we ship", "By the way, we ship", "we ship, FYI", "- we ship"],
)
def test_lead_ins_and_afterthoughts_say_nothing(text: str) -> None:
    assert [token.text for token in tokens(text)] == ["we", "ship"]


@pytest.mark.parametrize("text", ["❌ Note: we ship", "Note -5 degrees", "Remember to ship", "Note"])
def test_what_only_looks_like_a_lead_in_stays(text: str) -> None:
    assert without_filler(text) == text


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_text_becomes_tokens_that_say_what_was_written(text: str) -> None:
    assert all(token.text and token.shown for token in tokens(text))


@given(st.text("ab1.,-+/\\~*%$€#@!?<>=[](){}\"' ", max_size=12))
def test_signs_never_make_it_fail(text: str) -> None:
    assert tokens(text) == tokens(text)
