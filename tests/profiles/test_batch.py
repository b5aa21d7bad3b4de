"""The actor's batch documents, as scripts pass them to the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from vault_memory.surfaces.profiles.batch import store_name


class Batch:
    """Runs documents in processes of their own."""

    def __init__(self, vault: Path) -> None:
        self.vault = vault

    def __call__(self, document: Any, *, code: int = 0, file: bool = False) -> Any:
        text = document if isinstance(document, str) else json.dumps(document)
        if file:
            (self.vault.parent / "input.json").write_text(text)
        done = subprocess.run(
            [sys.executable, "-m", "vault_memory", "run", "input.json" if file else "-", "--vault", str(self.vault)],
            input=text.encode(), capture_output=True, cwd=self.vault.parent, check=False,
            env={"PATH": os.environ["PATH"], "HOME": str(self.vault.parent), "VAULT_MEMORY_CONFIG": "/nonexistent"},
        )  # fmt: skip
        assert done.returncode == code, done.stderr.decode()
        return json.loads(done.stdout) if done.stdout else done.stderr.decode()


@pytest.fixture
def batch(vault: Path) -> Batch:
    return Batch(vault)


STORE = {"memoryStoreId": "Team ~ Stripe Integration!"}
DEFAULTS = {
    "maxResults": 20, "maxTokens": 2500, "searchOptions": {"limit": 20, "includeArchived": False},
    "decayConfig": {
        "enabled": False, "halfLifeDays": 30, "minImportance": 0.1, "pruneThreshold": 0.05, "maxMemoriesPerUser": 1000,
    },
}  # fmt: skip


def test_a_script_of_the_actor_runs_through_all_its_actions(batch: Batch) -> None:
    stored = batch(
        {
            **STORE, **DEFAULTS, "action": "remember", "url": "https://docs.stripe.com/webhooks/#top",
            "content": "Always verify webhook signatures using the raw request body.",
            "memoryDetails": {"memoryType": "auth_flow", "tags": ["stripe", "webhook"], "confidence": 0.85},
        },
        file=True,
    )  # fmt: skip
    memory = stored["memory"]
    assert (stored["action"], stored["ok"], stored["storeName"]) == ("remember", True, "team-~-stripe-integration")
    assert memory["title"] == "Notes for https://docs.stripe.com/webhooks/#top"
    assert (memory["url"], memory["site"]) == ("https://docs.stripe.com/webhooks", "docs.stripe.com")
    assert (memory["memoryType"], memory["source"], memory["confidence"]) == ("auth_flow", "agent", 0.85)
    second = {**STORE, "action": "store", "content": "Stripe retries failed webhooks three times.", "tags": "retry"}
    recall = {**STORE, "action": "recall", "url": "https://docs.stripe.com/webhooks", "maxResults": 1}
    search = {**STORE, **DEFAULTS, "action": "search", "query": "webhook signature"}
    pack = {**STORE, "action": "context_pack", "url": "https://docs.stripe.com/webhooks", "query": "webhook"}
    update = {**STORE, "action": "update", "memoryId": memory["id"], "memoryDetails": {"importance": 0.9}}
    stats, prune = {**STORE, "action": "stats"}, {**STORE, "action": "prune", "decayConfig": {"halfLifeDays": 90}}
    answers = batch([second, recall, search, pack, update, stats, prune])
    assert all(answer["ok"] and answer["memoryStoreId"] == STORE["memoryStoreId"] for answer in answers)
    assert [one["id"] for one in answers[1]["memories"]] == [memory["id"]]
    assert (answers[2]["query"], answers[2]["memories"][0]["id"]) == ("webhook signature", memory["id"])
    assert len(answers[2]["scores"]) == answers[2]["count"]
    text = answers[3]["contextMarkdown"]
    assert text.startswith(
        "## Site memory context pack\n**Target URL:** https://docs.stripe.com/webhooks\n**Query:** webhook\n\n### Notes"
    )
    assert "- **Type:** auth_flow\n- **URL:** https://docs.stripe.com/webhooks\n- **Updated:** 20" in text
    assert "- **Tags:** stripe, webhook\n\nAlways verify" in text
    assert answers[3]["tokenEstimate"] <= 2500
    assert answers[3]["warnings"] == []
    assert answers[4]["memory"]["importance"] == 0.9
    assert (answers[5]["totalMemories"], answers[5]["byType"]) == (2, {"auth_flow": 1, "general": 1})
    assert (answers[6]["pruned"], answers[6]["remaining"], answers[6]["decayEnabled"]) == (0, 2, True)
    gone = batch({**STORE, "action": "delete", "memoryId": memory["id"]})
    assert (gone["action"], gone["memoryId"]) == ("delete", memory["id"])
    assert batch({**STORE, "action": "stats"})["totalMemories"] == 1


def test_a_store_sees_its_own_memories_and_the_project_narrows_them(batch: Batch) -> None:
    def remember(store: str, content: str, **more: Any) -> dict[str, Any]:
        return {"action": "remember", "memoryStoreId": store, "content": content, **more}

    answers = batch([
        remember("one", "A fact for everyone in the store"),
        remember("one", "A fact of the research phase", projectId="research"),
        remember("one", "A fact of the writing phase", projectId="writing"),
        remember("two", "A fact of another store"),
        {"action": "recall", "memoryStoreId": "one", "projectId": "research"},
        {"action": "recall", "memoryStoreId": "one"},
        {"action": "recall", "memoryStoreId": "two"},
    ])  # fmt: skip
    assert sorted(one["content"] for one in answers[4]["memories"]) == [
        "A fact for everyone in the store", "A fact of the research phase",
    ]  # fmt: skip
    assert (answers[5]["count"], answers[6]["count"]) == (3, 1)


def test_what_is_wrong_with_a_document_decides_the_exit_code(batch: Batch) -> None:
    assert "action and memoryStoreId" in batch({"memoryStoreId": "x"}, code=2)
    assert "action and memoryStoreId" in batch({"action": "stats"}, code=2)
    assert "unknown action" in batch({**STORE, "action": "explode"}, code=2)
    assert "no JSON" in batch("{", code=2)
    assert "no memory" in batch({**STORE, "action": "forget", "memoryId": "nope"}, code=12)
    answers = batch([{**STORE, "action": "search"}, 7, {**STORE, "action": "stats"}], code=3)
    assert [answer["ok"] for answer in answers] == [False, False, True]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("sharjeel~site-memory-agent", "sharjeel~site-memory-agent"), ("  My Store!! ", "my-store"),
        ("", "default-site-memory"), ("~~--~", "default-site-memory"), ("a--b///c", "a-b-c"), ("x" * 99, "x" * 63),
        ("Größe", "gr-e"),
    ],
)  # fmt: skip
def test_a_store_is_named_by_the_actors_rule(written: str, name: str) -> None:
    assert store_name(written) == name
