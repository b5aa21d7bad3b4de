"""The actor's nine endpoints: its bodies and statuses, and each user's memories apart from the others'."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import pytest

from tests.surfaces.rest_server import Server, serving

MEMORY_KEYS = {
    "id", "url", "site", "title", "content", "memoryType", "tags", "confidence", "source", "projectId", "relatedUrls",
    "createdAt", "updatedAt", "contentHash",
}  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("actor") / "vault") as running:
        yield running


def store(server: Server, user: str, content: str, **fields: Any) -> Any:
    reply = server.ask("POST", "/api/memories", {"userId": user, "content": content, **fields})
    assert reply.status == 201, reply.body
    assert reply.json["success"] is True
    return reply.json["memory"]


def test_storing_answers_201_with_the_memory(server: Server) -> None:
    content = "Prefers TypeScript over JavaScript."
    memory = store(server, "user-alice-7f3a", content, category="preference", tags=["language"], importance=0.85)
    assert set(memory) >= MEMORY_KEYS
    assert (memory["memoryType"], memory["confidence"], memory["importance"]) == ("general", 0.8, 0.85)
    assert (memory["category"], memory["tags"]) == ("preference", ["language"])
    assert memory["contentHash"] == hashlib.sha256(content.encode()).hexdigest()[:16]
    assert memory["archived"] is False


def test_a_page_is_normalised_and_names_the_memory(server: Server) -> None:
    memory = store(server, "pages", "Preload Actors.", url="https://docs.apify.com/integrations/mcp/#tools")
    assert memory["url"] == "https://docs.apify.com/integrations/mcp"
    assert memory["site"] == "docs.apify.com"
    assert memory["title"].startswith("Notes for https://docs.apify.com/integrations/mcp")


@pytest.mark.parametrize("body", [{"userId": "x"}, {"content": "x"}, {"userId": "", "content": "x"}, {}])
def test_what_is_missing_answers_400_with_an_error(server: Server, body: Any) -> None:
    reply = server.ask("POST", "/api/memories", body)
    assert (reply.status, reply.json) == (400, {"error": "userId and content are required"})


def test_recall_gives_the_users_own_newest_first(server: Server) -> None:
    for n in range(3):
        store(server, "bob", f"Bob's fact number {n}", category="even" if n % 2 == 0 else "odd")
    store(server, "eve", "Eve's own.")
    found = server.ask("GET", "/api/memories/bob").json
    assert (found["success"], found["count"]) == (True, 3)
    assert [m["content"][-1] for m in found["memories"]] == ["2", "1", "0"]
    assert server.ask("GET", "/api/memories/bob?category=even&limit=1").json["count"] == 1
    assert server.ask("GET", "/api/memories/nobody").json == {"success": True, "count": 0, "memories": []}


def test_search_gives_scores_and_matched_terms(server: Server) -> None:
    store(server, "carol", "Deploys run through the staging pipeline.")
    store(server, "carol", "The cat is called Minka.")
    body = {"userId": "carol", "query": "deploy staging", "limit": 3}
    found = server.ask("POST", "/api/memories/search", body).json
    assert found["count"] == len(found["results"])
    best = found["results"][0]
    assert best["memory"]["content"].startswith("Deploys")
    assert 0 < best["score"] <= 1
    assert best["matchedTerms"]
    none = server.ask("POST", "/api/memories/search", {**body, "userId": "dave"}).json
    assert none == {"success": True, "count": 0, "results": []}
    assert server.ask("POST", "/api/memories/search", {"userId": "carol"}).status == 400


def test_a_memory_is_changed_and_deleted_by_its_user_only(server: Server) -> None:
    memory = store(server, "fay", "Lives in Albany.")
    address = f"/api/memories/fay/{memory['id']}"
    changed = server.ask("PUT", address, {"content": "Lives in Troy.", "tags": ["home"]})
    assert (changed.status, changed.json["memory"]["content"]) == (200, "Lives in Troy.")
    foreign = f"/api/memories/gus/{memory['id']}"
    for reply in (server.ask("PUT", foreign, {"content": "Taken."}), server.ask("DELETE", foreign)):
        assert (reply.status, list(reply.json)) == (404, ["error"])
    assert server.ask("DELETE", address).json["success"] is True
    assert server.ask("GET", "/api/memories/fay").json["count"] == 0
    assert server.ask("DELETE", address).status == 404


def test_stats_and_prune_count_the_users_own(server: Server) -> None:
    for n in range(6):
        store(server, "hal", f"A fading thought, number {n}.", confidence=0.04)
    kept = store(server, "hal", "A sure thing.", confidence=0.95)
    stats = server.ask("GET", "/api/memories/hal/stats").json["stats"]
    assert (stats["totalMemories"], stats["byType"]) == (7, {"general": 7})
    assert stats["lastUpdated"]
    off = server.ask("POST", "/api/memories/hal/prune", {"decayConfig": {"enabled": False}}).json
    assert (off["pruned"], off["remaining"], off["decayEnabled"]) == (0, 7, False)
    pruned = server.ask("POST", "/api/memories/hal/prune", {"decayConfig": {"pruneThreshold": 0.05}}).json
    assert (pruned["pruned"], pruned["remaining"], len(pruned["archived"])) == (6, 1, 6)
    assert server.ask("GET", "/api/memories/hal").json["memories"][0]["id"] == kept["id"]


def test_an_unknown_field_is_named_beside_the_answer(server: Server) -> None:
    reply = server.ask("POST", "/api/memories", {"userId": "ida", "content": "A fact.", "colour": "red"})
    assert reply.status == 201
    assert "colour" in reply.headers["vault-warning"]


def test_the_list_of_endpoints_is_the_list_of_endpoints(server: Server) -> None:
    listed = server.raw("GET", "/api/docs", {}).json["endpoints"]
    assert len(listed) == 9
