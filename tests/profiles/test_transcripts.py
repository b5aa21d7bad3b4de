"""A whole working session of an agent that was written for each of the other systems, and the next one's start."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio

from tests.profiles.talking import Talk, talking

Session = Callable[[Talk], Awaitable[Any]]


def session(vault: Path, profile: str, play: Session, **options: Any) -> Any:
    """Play one session in a process of its own; what it returns."""

    async def whole() -> Any:
        async with talking(vault, profile, **options) as talk:
            return await play(talk)

    return anyio.run(whole)


def test_memai_from_the_first_note_to_the_next_sessions_pulse(vault: Path) -> None:
    async def first(call: Talk) -> dict[str, str]:
        uid = (await call("note", content="The API runs on Render", domain="infra", tags="deploy, api"))["uid"]
        trap = await call("anti_pattern", pattern="Retry on 409", why_wrong="It doubles orders", instead="Read first")
        await call("handoff", content="Finish the migration of the billing tables", domain="infra")
        await call("reasoning", content="Chose Render because of its private network", domain="infra")
        mark = await call(
            "checkpoint",
            intent="Move billing",
            established="Schema done",
            pursuing="Backfill",
            open_questions="Cut-over",
        )
        hits = await call("search", query="where does the API run")
        assert hits[0]["uid"] == uid
        assert hits[0]["match_source"] in ("fts", "vec", "both")
        assert {hit["type"] for hit in await call("recall", query="render network")} == {"note"}
        assert await call("edit_memory", uid=uid, new_content="The API runs on fly.io", note="moved") == {
            "ok": True, "uid": uid, "warnings": [],
        }  # fmt: skip
        assert (await call("edit_memory", uid="nope", new_content="x"))["ok"] is False
        await call("link_memories", from_uid=mark["uid"], to_uid=uid, relation_type="depends_on", note="target")
        assert (await call.refused("link_memories", from_uid=uid, to_uid="nope", relation_type="relates_to"))[
            "code"
        ] == "memory_not_found"
        assert (await call("get_relations", uid=uid))[0]["direction"] == "in"
        assert (await call("set_confidence", uid=uid, confidence="confirmed"))["confidence"] == "confirmed"
        assert await call("get_memory", uid="nope") == {}
        full = await call("get_memory", uid=uid)
        assert full["content"] == "The API runs on fly.io"
        assert [edit["prev_content"] for edit in full["edit_history"]] == ["The API runs on Render"]
        assert (full["confidence"], full["tags"]) == ("confirmed", "deploy, api")
        return {"uid": uid, "trap": trap["uid"], "mark": mark["uid"]}

    made = session(vault, "memai", first)

    async def second(call: Talk) -> None:
        pulse = await call("pulse")
        assert pulse["checkpoint"]["uid"] == made["mark"]
        assert pulse["checkpoint"]["relations"][0]["to_uid"] == made["uid"]
        assert [row["uid"] for row in pulse["anti_patterns"]] == [made["trap"]]
        assert len(pulse["handoffs"]) == 1
        assert [row["domain"] for row in await call("list_domains")] == ["infra"]
        assert (await call("list_by_domain", domain="infra", limit=5000))[0]["type"] == "reasoning"
        assert (await call("forget", uid=made["trap"], reason="solved"))["status"] == "archived"
        assert made["trap"] not in {row["uid"] for row in await call("list_recent")}
        refusal = await call.refused("forget", uid=made["uid"], superseded_by="nope")
        assert refusal["code"] == "memory_not_found"
        problem = await call.refused("purge_memory", uid=made["trap"], confirm_phrase="yes")
        assert problem["phrase"] == f"DELETE {made['trap']}"
        assert (await call("purge_memory", uid=made["trap"], confirm_phrase=problem["phrase"]))["ok"]
        assert await call("get_memory", uid=made["trap"]) == {}
        assert (await call("help", command="note"))["name"] == "note"
        assert await call("get_domain_case") == {"policy": "preserve"}
        assert (await call("set_domain_case", policy="lower"))["before"] == "preserve"
        coerced = await call("note", content="Port 8080 is taken on the build host", domain="INFRA")
        assert coerced["domain_adjusted"] == {"from": "INFRA", "to": "infra", "policy": "lower"}
        for query in ("NOT", "helm AND", '"helm'):
            assert isinstance(await call("search", query=query), list)

    session(vault, "memai", second)

    async def third(call: Talk) -> None:
        assert await call("get_domain_case") == {"policy": "lower"}

    session(vault, "memai", third)


def test_memstack_from_the_first_store_to_the_next_sessions_context(vault: Path) -> None:
    async def first(call: Talk) -> list[str]:
        stored = await call(
            "memory_store", content="Login fails with error 503 on Chrome 125", actorId="bot", importance=0.85,
            tags=["login", "bug"], metadata={"ticket": 7},
        )  # fmt: skip
        assert (stored["memoryType"], stored["actorId"], stored["importance"]) == ("interaction", "bot", 0.85)
        assert stored["metadata"] == {"ticket": 7}
        batch = await call(
            "memory_store_batch",
            memories=[{"content": f"Message {n} of the chat", "actorId": "bot"} for n in range(4)],
        )
        over = await call("memory_store", content="Prefers small pull requests", actorId="bot", importance=7,
                          memoryType="preference")  # fmt: skip
        assert over["importance"] == 1
        assert "importance was set to 1" in over["warnings"][0]
        found = await call("memory_retrieve", actorId="bot", query="login error", strategy="hybrid")
        assert found[0]["id"] == stored["id"]
        assert await call("memory_retrieve", actorId="somebody else") == []
        assert await call("memory_get", id="nope") is None
        assert (await call("memory_get", id=stored["id"]))["content"].startswith("Login fails")
        context = await call("memory_compile_context", actorId="bot", maxTokens=200)
        assert "## Important Memories\n" in context["systemPrompt"]
        assert "(importance: 0.85)" in context["systemPrompt"]
        assert context["tokenEstimate"] <= 200
        return [stored["id"], *(one["id"] for one in batch), over["id"]]

    ids = session(vault, "memstack", first)

    async def second(call: Talk) -> None:
        assert "Login fails" in await call.text("memory://bot/context")
        assert '"totalMemories": 6' in await call.text("memory://bot/stats")
        assert (await call("memory_dry_run_prune", type="byAge", maxAge=3600, actorId="bot"))["count"] == 0
        plan = await call("memory_dry_run_prune", type="byCount", maxPerActor=5, actorId="bot")
        assert plan["count"] == 1
        assert (await call("memory_prune", type="byCount", maxPerActor=5, actorId="bot"))["pruned"] == plan[
            "wouldPrune"
        ]
        kept = [one for one in ids[1:5] if one not in plan["wouldPrune"]]
        merged = await call("memory_merge", ids=kept[:2])
        assert merged["id"] in kept
        done = await call("memory_summarize", actorId="bot", skipMostRecent=0)
        assert (done["summary"]["memoryType"], done["deletedCount"]) == ("summary", 3)
        assert (await call("memory_touch", id=ids[5]))["touched"]
        snapshot = await call("memory_export", actorId="bot")
        assert snapshot["version"] == 1
        assert ids[5] in {memory["id"] for memory in snapshot["memories"]}
        assert (await call("memory_delete", id=ids[5]))["deleted"]
        assert await call("memory_get", id=ids[5]) is None
        assert (await call("memory_delete", id="nope"))["deleted"] is False
        assert (await call("memory_delete_many", ids=["nope", kept[2]]))["deletedCount"] == 1
        moved = [{**memory, "id": f"new-{n}", "actorId": "other"} for n, memory in enumerate(snapshot["memories"][:2])]
        assert (await call("memory_import", memories=moved))["imported"] == 2
        assert (await call("memory_import", memories=moved))["imported"] == 0
        assert (await call("memory_purge_actor", actorId="other"))["purged"] >= 1
        assert (await call("memory_export", actorId="other"))["memories"] != []
        assert await call("memory_retrieve", actorId="other") == []
        assert (await call("memory_health"))["storage"] is True
        assert (await call("memory_stats"))["totalMemories"] == 0
        prompt = await call.client.get_prompt("memory_context", {"actorId": "bot"})
        assert "What is remembered" in prompt.messages[0].content.text

    session(vault, "memstack", second)


def test_memstack_harness_keeps_projects_apart(vault: Path) -> None:
    async def first(call: Talk) -> str:
        own = await call("memory_store", content="This project uses Hono", kind="decision", tags=["framework"])
        await call("memory_store", content="Never commit to main", kind="instruction", scope="global")
        assert own["scope"] == "project"
        found = await call("memory_retrieve", query="Which framework do we use?")
        assert found["hits"][0]["content"] == "This project uses Hono"
        assert (await call("memory_retrieve", query="zebra quantum"))["fallback"] is True
        assert await call("memory_stats") == {"project:acme": 1, "global": 1}
        return str(own["id"])

    uid = session(vault, "memstack-harness", first)

    async def elsewhere(call: Talk) -> None:
        assert await call("memory_get", id=uid) is None
        assert (await call("memory_delete", id=uid))["deleted"] is False
        assert await call("memory_stats") == {"global": 1}

    session(vault, "memstack-harness", elsewhere, project="other")

    async def again(call: Talk) -> None:
        assert (await call("memory_get", id=uid))["memoryType"] == "decision"
        assert (await call("memory_delete", id=uid))["deleted"] is True

    session(vault, "memstack-harness", again)


def test_the_actor_keeps_one_user_from_another(vault: Path) -> None:
    async def first(call: Talk) -> str:
        stored = await call(
            "store_memory", userId="alice", content="Prefers TypeScript over JavaScript", category="preference",
            tags=["language"], importance=0.85,
        )  # fmt: skip
        memory = stored["memory"]
        assert (memory["memoryType"], memory["confidence"], memory["category"]) == ("general", 0.8, "preference")
        assert len(memory["contentHash"]) == 16
        results = (await call("search_memories", userId="alice", query="typescript code style"))["results"]
        assert results[0]["memory"]["id"] == memory["id"]
        assert 0 < results[0]["score"] <= 1
        assert (await call("recall_memories", userId="bob"))["count"] == 0
        problem = await call.refused("update_memory", userId="bob", memoryId=memory["id"], content="Mine now")
        assert problem["code"] == "memory_not_found"
        changed = await call("update_memory", userId="alice", memoryId=memory["id"], importance=0.9)
        assert changed["memory"]["importance"] == 0.9
        return str(memory["id"])

    uid = session(vault, "actor", first)

    async def second(call: Talk) -> None:
        recalled = await call("recall_memories", userId="alice", category="preference", limit=500)
        assert [memory["id"] for memory in recalled["memories"]] == [uid]
        assert "limit was set to 100" in recalled["warnings"][0]
        assert (await call("get_memory_stats", userId="alice"))["stats"]["totalMemories"] == 1
        pruned = await call("prune_memories", userId="alice", halfLifeDays=30, pruneThreshold=0.05)
        assert (pruned["pruned"], pruned["remaining"]) == (0, 1)
        assert (await call("delete_memory", userId="alice", memoryId=uid))["success"]
        assert (await call("recall_memories", userId="alice"))["count"] == 0

    session(vault, "actor", second)


def test_the_contract_is_deterministic_and_counts_only_what_it_returns(vault: Path) -> None:
    async def first(call: Talk) -> list[str]:
        made = [await call("create_memory", content=f"Fact 100%_{n}", tags=["a", f"t{n}"]) for n in range(3)]
        assert list(made[0]) == [
            "id", "content", "tags", "created_at", "updated_at", "last_accessed_at", "memory_type", "status", "version",
        ]  # fmt: skip
        assert (made[0]["memory_type"], made[0]["version"], made[0]["last_accessed_at"]) == ("fact", 1, None)
        return [one["id"] for one in made]

    ids = session(vault, "contract", first)

    async def second(call: Talk) -> None:
        page = await call("prime_memory_context", sort="id", limit=2)
        assert ([one["id"] for one in page["items"]], page["total"], page["has_more"]) == (ids[:2], 3, True)
        third = await call("search_memories", q="100%_2", limit=1000)
        assert [one["id"] for one in third["items"]] == [ids[2]]
        assert third["limit"] == 100
        assert third["items"][0]["last_accessed_at"] is None
        assert (await call("get_memory", id=ids[0]))["last_accessed_at"] is not None
        same = await call("update_memory", id=ids[0], content="Fact 100%_0")
        assert same["version"] == 1
        assert (await call("update_memory", id=ids[0], content="Another fact"))["version"] == 2
        stale = await call.refused("update_memory", id=ids[0], content="Lost update", version=1)
        assert stale["code"] == "revision_conflict"
        await call("delete_memory", id=ids[1])
        assert (await call.refused("get_memory", id=ids[1]))["code"] == "memory_not_found"
        assert (await call("search_memories"))["total"] == 2
        assert (await call("search_memories", status="deleted"))["total"] == 1
        assert (await call.refused("search_memories", sort="score"))["errors"][0]["allowed"]

    session(vault, "contract", second)


def test_the_curated_server_refuses_noise_and_shows_anchors_first(vault: Path) -> None:
    async def first(call: Talk) -> str:
        saved = await call("save_memory", content="The staging database is on host fern and restarts at 04:00 UTC")
        assert saved["outcome"] == "stored"
        assert (await call.refused("save_memory", content="ok thanks"))["gate"] == "low_signal"
        again = await call("save_memory", content="The staging database is on host fern and restarts at 04:00 UTC")
        assert again["outcome"] == "duplicate"
        changed = await call("save_memory", content="The staging database is on host fern and restarts at 05:00 UTC")
        assert changed["outcome"] == "needs_review"
        await call("anchor_add", text="Never restart staging by hand.", scope="project")
        found = await call("search_memory", query="when does staging restart")
        assert [anchor["text"] for anchor in found["anchors"]] == ["Never restart staging by hand."]
        assert found["observations"][0]["content"].startswith("The staging database")
        return str(saved["memory"]["ref"])

    ref = session(vault, "curated", first)

    async def second(call: Talk) -> None:
        assert (await call("get_memory", id=ref))["ref"] == ref
        assert (await call("memory_timeline"))["items"][0]["ref"] == ref
        assert (await call("related_memories", id=ref))["neighbours"]
        assert (await call("memory_feedback", id=ref, feedback="useful"))["outcome"] == "updated"
        assert (await call("update_memory", id=ref, tags=["db"]))["memory"]["tags"] == ["db"]
        anchors = (await call("anchor_list"))["anchors"]
        assert (await call("anchor_remove", id=anchors[0]["ref"]))["outcome"] == "archived"
        assert (await call("delete_memory", id=ref, reason="gone"))["memory"]["status"] == "archived"
        assert (await call("project_bind", name="acme"))["bound"] == "acme"
        assert (await call.refused("project_bind", name="other"))["code"] == "not_allowed"
        assert {one["project"] for one in (await call("project_list"))["projects"]} <= {"acme", "global"}
        assert (await call.refused("project_create", name="other"))["code"] == "not_allowed"

    session(vault, "curated", second)


def test_full_answers_every_operation_and_offers_prompts_and_resources(vault: Path) -> None:
    async def play(call: Talk) -> None:
        stored = await call("remember", content="Deploys go through fly.io", domain="Ops", as_json=True)
        ref = stored["memory"]["ref"]
        assert (await call("domains", as_json=True))["items"][0]["name"] == "Ops"
        plan = await call("domains", rename="Ops", to="ops", as_json=True)
        assert ([one["ref"] for one in plan["plan"]], plan["executed"]) == ([ref], False)
        assert (await call("domains", rename="Ops", to="ops", execute=True, as_json=True))["executed"]
        assert (await call("get", refs=[ref], as_json=True))["memories"][0]["domain"] == "ops"
        exported = await call("export", as_json=True)
        assert exported["data"]["format"] == "vault-memory"
        assert (await call.refused("export", to="/tmp/stolen.json"))["code"] == "not_allowed"
        assert (await call.refused("import", source="/etc/passwd"))["code"] == "not_allowed"
        await call.client.call_tool("checkpoint", {"intent": "Ship it"})
        assert "Ship it" in await call.text("memory://pulse/acme")
        assert "no anchors" in await call.text("memory://anchors/acme")
        assert "fly.io" in await call.text(f"memory://{ref}")
        names = [prompt.name for prompt in (await call.client.list_prompts()).prompts]
        assert names == ["recall", "checkpoint", "handoff", "review"]
        prompt = await call.client.get_prompt("recall", {"topic": "deploy"})
        assert "fly.io" in prompt.messages[0].content.text

    session(vault, "full", play)
