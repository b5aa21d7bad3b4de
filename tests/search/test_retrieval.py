"""The retrieval benchmark: its metrics and loaders, and the figures that the ranking must keep on public data."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.retrieval import data, metrics
from benchmarks.retrieval.__main__ import measure
from benchmarks.retrieval.recipes import NOW, product, tantivy_bm25
from benchmarks.retrieval.vault import MemoryVault, Metadata
from tests.search.pools import model, token_vectors
from vault_memory.config import Ranking

DATA = Path(os.environ.get("VAULT_MEMORY_RETRIEVAL_DATA", "../shared/data"))
LEAST = {"locomo": (0.83, 0.65, 0.875), "realtalk": (0.635, 0.53, 0.80), "cranfield": (0.39, 0.377, 0.84)}
"""recall@10, nDCG@10, hit@10."""
LOADERS: dict[str, Callable[[Path], list[data.Collection]]] = {
    "locomo": data.locomo, "realtalk": data.realtalk, "cranfield": data.cranfield,
}  # fmt: skip


def test_metrics_are_those_of_the_definitions() -> None:
    found = dict(zip(metrics.NAMES, metrics.figures(["x", "a", "y", "b"], {"a", "b"}), strict=True))
    assert found["recall@5"] == found["recall@10"] == 1
    assert found["MRR@10"] == 0.5
    assert found["nDCG@10"] == pytest.approx((1 / 1.584963 + 1 / 2.321928) / (1 + 1 / 1.584963), abs=1e-6)
    assert metrics.figures([], {"a"}) == (0, 0, 0, 0, 0, 0)
    assert metrics.figures([*range(10), "a"], {"a"})[5] == 0


def test_chats_are_read_with_their_evidence_repaired(tmp_path: Path) -> None:
    turns = [{"dia_id": f"D1:{n}", "speaker": "Ana", "text": f"turn {n}"} for n in (1, 2)]
    turns[1]["blip_caption"] = "a dog"
    qa = [{"question": "q", "evidence": ["D:1:1; D1:02", "D"], "category": 2}, {"question": "none", "evidence": ["D"]}]
    talk = {
        "sample_id": "c",
        "qa": qa,
        "conversation": {"session_1": turns, "session_1_date_time": "1:56 pm on 8 May, 2023"},
    }
    (tmp_path / "a.json").write_text(json.dumps([talk]), "utf-8")
    (collection,) = data.locomo(tmp_path)
    assert [document.body for document in collection.documents] == ["Ana: turn 1", "Ana: turn 2 [shares a dog]"]
    assert collection.documents[0].created_at is not None
    assert collection.documents[0].created_at.isoformat() == "2023-05-08T13:56:00+00:00"
    assert [(q.text, q.relevant, q.category) for q in collection.questions] == [("q", frozenset({0, 1}), 2)]


def test_collections_in_one_vault_stay_apart() -> None:
    one = data.Collection("a", (data.Document("1", "", "x", "s"),), (data.Question("q", frozenset({0})),))
    joined = data.together([one, one])
    assert [question.relevant for question in joined.questions] == [{0}, {1}]
    assert joined.documents[0].session == "a/s"


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", LEAST)
def test_the_ranking_keeps_its_figures(name: str) -> None:
    if not (DATA / name).is_dir():
        pytest.skip(f"there is no {DATA / name}; name the folder in VAULT_MEMORY_RETRIEVAL_DATA")
    collections = LOADERS[name](DATA / name)
    vaults = [(MemoryVault(c, model(), Metadata.default(c.documents, NOW.timestamp())), c) for c in collections]
    ours = metrics.means(measure(product(token_vectors(), Ranking()), vaults).rows)
    reference = metrics.means(measure(tantivy_bm25, vaults).rows)
    for vault, collection in vaults:
        vault.metadata = Metadata.random(collection.documents, 20261130, NOW.timestamp())
    random_notes = metrics.means(measure(product(token_vectors(), Ranking()), vaults).rows)
    found = (ours[1], ours[3], ours[5])
    assert all(have >= least for have, least in zip(found, LEAST[name], strict=True)), found
    assert ours[3] > reference[3] + 0.015
    assert ours[1] - random_notes[1] <= 0.0125
    assert ours[3] - random_notes[3] <= 0.0125
