"""Duplicate verdicts: a changed fact is never taken for a repetition, a trivial edit always is, whatever the cosine."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.index.embed import load_embedder
from vault_memory.memory.duplicates import difference, judge, only_spelling
from vault_memory.memory.words import tokens

_LINES = Path(__file__).with_name("duplicate_pairs.tsv").read_text("utf-8").splitlines()[1:]
PAIRS = [tuple(part.replace("⏎", "\n") for part in line.split("\t")) for line in _LINES]
"""(kind, old, new); line ends inside a text are written ⏎."""
SAME = ("trivial", "reason")
COSINES = (None, 0.0, 0.76, 0.93, 1.0)


def pairs(*kinds: str, but: tuple[str, ...] = ()) -> list[tuple[str, str, str]]:
    return [pair for pair in PAIRS if (not kinds or pair[0] in kinds) and pair[0] not in but]


def test_there_are_at_least_three_hundred_pairs_of_all_kinds() -> None:
    kinds = {kind for kind, _, _ in PAIRS}
    assert len(set(PAIRS)) >= 300
    assert kinds >= {"reworded", "trivial", "negated", "number", "date", "name", "value", "order", "related"}


@pytest.mark.parametrize("cosine", COSINES)
def test_no_changed_fact_is_ever_the_same_in_either_direction(cosine: float | None) -> None:
    taken = [
        (kind, new, old)
        for kind, old, new in pairs(but=SAME)
        for one, other in ((new, old), (old, new))
        for rare in (0, 5)
        if judge(one, other, cosine=cosine, shared_rare=rare).same
    ]
    assert taken == []


@pytest.mark.parametrize("cosine", COSINES)
def test_every_trivial_edit_is_a_duplicate_in_either_direction(cosine: float | None) -> None:
    missed = [
        (old, new)
        for _, old, new in pairs("trivial")
        for one, other in ((new, old), (old, new))
        if judge(one, other, cosine=cosine).kind != "duplicate"
    ]
    assert missed == []


def test_a_statement_that_only_leaves_out_the_reason_adds_nothing() -> None:
    verdicts = {judge(new, old, cosine=0.9).kind for _, old, new in pairs("reason")}
    assert verdicts == {"adds_nothing"}
    assert all(not judge(new, old, cosine=0.5).same for _, old, new in pairs("reason"))


def test_with_the_model_most_changed_facts_are_named_as_such() -> None:
    model = load_embedder()
    kinds = ("negated", "number", "unit", "date", "name", "order", "identifier", "path", "version")
    changed = [
        (verdict := judge(new, old, cosine=float(model.encode(new) @ model.encode(old)))).kind == "changed"
        and bool(verdict.differs)
        for _, old, new in pairs(*kinds)
    ]
    assert sum(changed) / len(changed) >= 0.9


def test_related_statements_are_left_alone() -> None:
    model = load_embedder()
    kinds = {judge(n, o, cosine=float(model.encode(n) @ model.encode(o))).kind for _, o, n in pairs("related")}
    assert kinds == {"different"}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("Rate limit is 100", "Rate limit is 1000", "the number differs: 100 → 1000"),
        ("We deploy on Fridays", "We never deploy on Fridays", "the negation differs: (none) → never"),
        ("Moved to May", "Moved to June", "the date differs: May → June"),
        ("SQLite over DuckDB", "DuckDB over SQLite", "the order differs"),
        ("Theme is dark", "Theme is light", "the value differs: dark → light"),
        ("Holds 5 MB", "Holds 5 GB", "the unit differs: MB → GB"),
        ("It is in a/b.py", "It is in a/c.py", "the path differs: a/b.py → a/c.py"),
    ],
)
def test_the_difference_is_said_in_words_the_old_value_first(old: str, new: str, words: str) -> None:
    assert difference(tokens(old), tokens(new)) == words


def test_a_guard_always_wins_over_the_cosine() -> None:
    assert judge("Do not use Postgres", "Use Postgres", cosine=1.0).kind == "changed"


def test_only_spelling_tells_an_identifier_in_another_case() -> None:
    assert only_spelling(tokens("see proj-1042"), tokens("see PROJ-1042"))
    assert not only_spelling(tokens("see PROJ-1043"), tokens("see PROJ-1042"))
    assert not only_spelling(tokens("See PROJ-1042."), tokens("see PROJ-1042"))


def test_long_texts_are_the_same_only_word_by_word() -> None:
    long = "the deploy of service %d went well. " * 200 % tuple(range(200))
    assert judge(long + " Done!", long + " done", cosine=1.0).kind == "duplicate"
    assert judge(long + " Done 5", long + " done 6", cosine=1.0).kind == "similar"


@given(st.text(max_size=80), st.floats(-1, 1))
def test_every_text_is_judged_and_only_an_equal_one_repeats_it(text: str, cosine: float) -> None:
    verdict = judge(text, text, cosine=cosine)
    assert verdict.kind == ("duplicate" if tokens(text) else "different")


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=4), st.lists(st.integers(0, 10**6), min_size=1, max_size=4))
def test_lists_of_other_numbers_are_never_the_same(one: list[int], other: list[int]) -> None:
    texts = [f"ports {', '.join(map(str, numbers))} are open" for numbers in (one, other)]
    assert judge(*texts, cosine=1.0).same == (one == other)
