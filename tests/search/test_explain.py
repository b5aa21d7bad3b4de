"""Explanations are made of the numbers that ranked."""

from __future__ import annotations

import numpy as np
import pytest

from tests.search.pools import ask, plain_pool, vault
from tests.search.test_order import SOFTWARE, ranked
from vault_memory.config import Ranking
from vault_memory.search.explain import Outside, expected, explain

WEIGHTS = Ranking()


def test_the_parts_add_up_to_the_score() -> None:
    numbers, pool, ordered = ask(vault(SOFTWARE), "billing port of postgres")
    for row in ordered.rows:
        found = explain(numbers, pool, ordered, WEIGHTS, int(row))
        assert sum(part.contribution for part in found.parts) == pytest.approx(found.base)
        assert found.score == pytest.approx(found.base * found.factor, abs=1e-5)
        total = sum(part.contribution for part in found.adjustments)
        assert found.factor == pytest.approx(1 + np.clip(total, -0.15, 0.15), abs=1e-6)


def test_a_hit_is_explained_in_words_strongest_first() -> None:
    numbers, pool, ordered = ask(vault(SOFTWARE), "billing port of postgres")
    found = explain(numbers, pool, ordered, WEIGHTS, int(ordered.rows[0]))
    assert found.met == ("bill", "postgr")
    assert found.missed == ("port",)
    assert found.sentences[0].startswith("It has a near partner for each word of the query")
    assert found.sentences[-1].startswith("It meets ")
    assert not found.weak


def test_a_page_that_is_too_short_is_the_reason() -> None:
    pool = plain_pool(3, bm25=np.array([3, 2, 1], np.float32))
    found = expected("m002", pool, ranked(pool), WEIGHTS, shown=["m000"])
    assert (found.stage, found.rank) == ("ranked_lower", 3)
    assert "it lost most by bm25" in found.reason


def test_every_stage_at_which_a_memory_can_fall_out_has_its_reason() -> None:
    pool = plain_pool(3, term_hits=np.array([[True], [True], [False]]))
    ordered = ranked(pool)

    def stage(ref: str, shown: tuple[str, ...] = (), **known: object) -> str:
        return expected(ref, pool, ordered, WEIGHTS, shown=shown, **known).stage  # type: ignore[arg-type]

    assert stage("m000", ("m000",)) == "shown"
    assert stage("m001", min_score=1.1) == "below_min_score"
    assert stage("m001", copy_of={"m001": "m000"}) == "folded"
    assert stage("m002") == "no_match"
    assert stage("m009") == "unknown"
    assert stage("m009", outside=Outside(exists=True, visible=False)) == "hidden"
    assert stage("m009", outside=Outside(exists=True, passes=False)) == "filtered"
    assert stage("m009", outside=Outside(exists=True)) == "not_selected"


def test_a_memory_that_was_no_candidate_is_compared_with_the_last_one() -> None:
    pool = plain_pool(2, bm25=np.array([4, 2.5], np.float32))
    found = expected("x", pool, ranked(pool), WEIGHTS, shown=(), outside=Outside(exists=True, bm25=1.25, cosine=0.12))
    assert "keyword score of 1.25 where the last of 2 candidates has 2.50" in found.reason
    assert "cosine of 0.12, and that list is empty" in found.reason
