"""The order of hits: best chunk, ties, successors, adjustments, and the honest empty answer."""

from __future__ import annotations

import random
from datetime import timedelta

import numpy as np
import pytest

from tests.search.pools import NOW, ask, one_term, plain_pool, refs, token_vectors, vault
from vault_memory.config import Ranking
from vault_memory.search import adjust
from vault_memory.search.order import Ordered, order
from vault_memory.search.pool import NONE, Pool

BILLING = "Postgres for billing listens on 5433."
SOFTWARE = [
    "We deploy through fly.io from the main branch.", "Redis caches sessions for thirty minutes.",
    "The staging cluster runs in eu-west-1.", "Use pnpm, not npm, in the web repository.",
    "CI runs on self-hosted runners.", "Feature flags live in LaunchDarkly.", BILLING,
    "API keys rotate every ninety days.", "The mobile app uses React Native.", "Logs are shipped to Loki.",
    "Errors are tracked in Sentry.",
    "Nightly backups go to S3 at two o'clock.", "The search service is written in Rust.",
    "Database migrations run with Alembic.", "Code review needs two approvals.",
    "Rate limit is 100 requests per minute.",
    "The public API is versioned by date.", "Frontend tests use Playwright.", "Docker images are built with buildx.",
    "The design system is documented in Storybook.",
]  # fmt: skip
TALK = [
    "Ana: Good morning!", "Ben: Hi Ana, how was the trip?", "Ana: Great, we saw the lighthouse.",
    "Ben: Where did you stay for the night?", "Ana: In a small guesthouse behind the dunes.", "Ben: Sounds lovely.",
    "Ana: The kids collected shells.", "Ben: Did the dog come along?", "Ana: No, he stayed with my sister.",
]  # fmt: skip


def ranked(pool: Pool, weights: Ranking = Ranking()) -> Ordered:  # noqa: B008
    return order("walnut", one_term(), pool, token_vectors(), weights, NOW)


def test_equal_hits_stand_by_ref_whatever_the_order_of_the_rows() -> None:
    shuffled = list(range(57))
    random.Random(7).shuffle(shuffled)
    pool = plain_pool(57, ref=tuple(f"m{n:03}" for n in shuffled))
    assert refs(pool, ranked(pool)) == [f"m{n:03}" for n in range(57)]


def test_a_note_stands_once_by_its_best_chunk() -> None:
    pool = plain_pool(
        4, note=np.array([0, 0, 1, 1]), ref=("a", "a", "b", "b"), number=np.array([0, 1, 0, 1]),
        bm25=np.array([1, 3, 2, 0], np.float32),
    )  # fmt: skip
    assert ranked(pool).rows.tolist() == [1, 2]


def test_the_order_does_not_depend_on_the_order_of_the_rows() -> None:
    numbers, pool, ordered = ask(vault(SOFTWARE), "where do errors of the public API go")
    again = order("where do errors of the public API go", numbers, pool, token_vectors(), Ranking(), NOW)
    assert again.scores.tolist() == ordered.scores.tolist()


def test_a_superseded_memory_stands_directly_behind_its_successor() -> None:
    pool = plain_pool(4, bm25=np.array([4, 3, 2, 1], np.float32), successor=np.array([2, NONE, NONE, 1]))
    assert refs(pool, ranked(pool)) == ["m001", "m003", "m002", "m000"]


def test_memories_that_supersede_each_other_are_all_shown() -> None:
    pool = plain_pool(3, successor=np.array([1, 2, 0]))
    assert sorted(refs(pool, ranked(pool))) == ["m000", "m001", "m002"]


def test_a_superseded_memory_without_its_successor_keeps_its_place() -> None:
    pool = plain_pool(2, bm25=np.array([2, 1], np.float32), successor=np.array([99, NONE]))
    assert refs(pool, ranked(pool)) == ["m000", "m001"]


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("importance", np.array([0.5, 0.9], np.float32)),
        ("confidence", np.array([0.8, 1.0], np.float32)),
        ("decayed_confidence", np.array([0.1, 0.8], np.float32)),
        ("pinned", np.array([False, True])),
        ("verification", np.array([-1, 0])),
        ("verification", np.array([0, 1])),
        ("url_match", np.array([0.5, 1], np.float32)),
        ("project_match", np.array([False, True])),
        ("updated_at", np.array([NOW.timestamp() - 400 * 86400, NOW.timestamp()])),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_the_vault_knows_decides_between_equals(column: str, values: object) -> None:
    pool = plain_pool(2, **{column: values})
    assert refs(pool, ranked(pool)) == ["m001", "m000"]


def test_all_adjustments_together_stay_within_the_bound() -> None:
    best = plain_pool(
        1, importance=np.ones(1, np.float32), confidence=np.ones(1, np.float32),
        decayed_confidence=np.ones(1, np.float32), pinned=np.array([True]),
        verification=np.ones(1, int), url_match=np.ones(1, np.float32),
        project_match=np.array([True]), updated_at=np.array([NOW.timestamp() + 9e9]),
    )  # fmt: skip
    worst = plain_pool(
        1, importance=np.zeros(1, np.float32), confidence=np.zeros(1, np.float32),
        decayed_confidence=np.zeros(1, np.float32), verification=-np.ones(1, int), updated_at=np.array([np.nan]),
    )  # fmt: skip
    high, low, plain = (
        adjust.factors(adjust.signals(p, NOW.timestamp()), 0.15)[0] for p in (best, worst, plain_pool(1))
    )
    assert high == pytest.approx(1.15)
    assert 0.85 <= low < 0.9
    assert plain == pytest.approx(1, abs=1e-6)


def test_a_clearly_better_match_stays_ahead_of_everything_the_vault_knows() -> None:
    numbers, pool, _ = ask(vault(SOFTWARE), "billing port of postgres")
    favour = np.array([ref != "m006" for ref in pool.ref])
    loved = {"pinned": favour, "importance": favour.astype(np.float32), "verification": favour.astype(int)}
    moved = Pool(**{name: getattr(pool, name) for name in Pool.__slots__} | loved)
    found = order("billing port of postgres", numbers, moved, token_vectors(), Ranking(), NOW)
    assert refs(moved, found)[0] == "m006"


def test_sr_04_a_nonsense_query_is_empty_or_plainly_weak() -> None:
    _, _, ordered = ask(vault(SOFTWARE), "purple giraffe sonata tax")
    assert all(ordered.relevance[row] < 0.1 for row in ordered.rows)


def test_sr_04_the_right_note_is_found_with_evidence() -> None:
    software = vault(SOFTWARE)
    _, pool, exact = ask(software, "postgres 5433")
    assert refs(pool, exact)[0] == "m006"
    assert exact.relevance[exact.rows[0]] == pytest.approx(1.0)
    _, pool, asked = ask(software, "billing database port")
    assert "m006" in refs(pool, asked)[:3]
    assert asked.relevance[asked.rows[0]] > 0.2


@pytest.mark.parametrize(
    ("query", "ref"),
    [
        ("how do we release to production", "m000"), ("package manager for the website", "m003"),
        ("where do exceptions get reported", "m010"), ("request throttling", "m015"), ("container image build", "m018"),
        ("how many people must approve a change", "m014"),
    ],
)  # fmt: skip
def test_a_paraphrase_without_a_common_word_is_not_thrown_away(query: str, ref: str) -> None:
    _, pool, ordered = ask(vault(SOFTWARE), query)
    assert ref in refs(pool, ordered)[:3]
    assert ordered.relevance[pool.ref.index(ref)] > 0.01


@pytest.mark.parametrize("query", ["", "   ", "(", "?!", "😀"])
def test_a_query_without_a_word_finds_nothing(query: str) -> None:
    _, _, ordered = ask(vault(SOFTWARE), query)
    assert ordered.rows.tolist() == []


def test_an_empty_pool_is_an_empty_answer() -> None:
    pool = plain_pool(0, term_hits=np.zeros((0, 1), bool))
    assert ranked(pool).rows.tolist() == []


def test_an_answer_is_found_by_the_question_before_it() -> None:
    _, pool, ordered = ask(vault(TALK, session="s"), "Where did Ana stay for the night?")
    assert refs(pool, ordered)[0] == "m004"


def test_without_a_log_neighbours_count_for_nothing() -> None:
    _, _, ordered = ask(vault(TALK), "Where did Ana stay for the night?")
    for name in ("window", "context", "neighbours", "session", "answer"):
        assert not getattr(ordered.features, name).any()


def test_the_day_asked_for_leads() -> None:
    texts = ["We changed the retry limit."] * 3
    days = [NOW - timedelta(days=back) for back in (400, 1, 40)]
    _, pool, ordered = ask(vault(texts, created_at=days), "what did we change about the retry limit yesterday")
    assert refs(pool, ordered)[0] == "m001"


def test_the_speaker_that_the_query_names_leads() -> None:
    _, pool, ordered = ask(vault(["Ana: I like tea.", "Ben: I like tea."]), "what does Ben like")
    assert refs(pool, ordered)[0] == "m001"
