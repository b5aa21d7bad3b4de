"""What users of other systems bring along: real files of theirs, read whole and taken in."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from vault_memory import init_vault, open_vault
from vault_memory.errors import InvalidRequest
from vault_memory.surfaces.python import VaultMemory

ENVIRON = {"VAULT_MEMORY_CONFIG": "/nonexistent/config.toml"}


@pytest.fixture
def vm(tmp_path: Path) -> Iterator[VaultMemory]:
    root = tmp_path / "vault"
    init_vault(root, git=False)
    with open_vault(root, environ=ENVIRON, actor="*") as opened:
        yield opened


@pytest.fixture
def memai(tmp_path: Path) -> Path:
    """A file with MemAI's tables: an edited memory, a superseded one, edges of known and unknown types."""
    place = tmp_path / "memai.db"
    with sqlite3.connect(place) as sql:
        sql.executescript(
            """
            CREATE TABLE memories (uid TEXT PRIMARY KEY, type TEXT, domain TEXT, session TEXT, tags TEXT, content TEXT,
                                   status TEXT, confidence TEXT, superseded_by TEXT, created_at TEXT, updated_at TEXT);
            CREATE TABLE edits (memory_uid TEXT, edited_at TEXT, prev_content TEXT, new_content TEXT, note TEXT);
            CREATE TABLE relations (from_uid TEXT, to_uid TEXT, relation_type TEXT, note TEXT, created_at TEXT);
            CREATE TABLE meta (key TEXT, value TEXT);
            INSERT INTO meta VALUES ('domain_case', 'lower');
            INSERT INTO memories VALUES
              ('u1', 'note', 'infra', 's1', 'deploy, ops', 'We deploy with fly.io', 'active', 'confirmed', NULL,
               '2024-01-01T10:00:00+00:00', '2024-03-01T10:00:00+00:00'),
              ('u2', 'anti_pattern', '', '', '', 'TEMPTATION: x', 'archived', 'unverified', 'u1',
               '2024-01-02T10:00:00', NULL),
              ('u3', 'odd_type', 'infra', '', NULL, 'Something else', 'active', 'unverified', NULL,
               '2024-01-03', '2024-01-03'),
              ('u4', 'note', '', '', '', '', 'active', 'unverified', NULL, '2024-01-04', '2024-01-04');
            INSERT INTO edits VALUES
              ('u1', '2024-02-01T10:00:00+00:00', 'We deploy with Heroku', 'We deploy with Render', 'moved'),
              ('u1', '2024-03-01T10:00:00+00:00', 'We deploy with Render', 'We deploy with fly.io', '');
            INSERT INTO relations VALUES
              ('u3', 'u1', 'depends_on', 'needs it', '2024-02-02'), ('u3', 'u2', 'blocks', '', '2024-02-03'),
              ('u3', 'gone', 'relates_to', '', '2024-02-04');
            """
        )
    sql.close()
    return place


def test_a_memai_file_comes_with_its_relations_and_dated_versions(vm: VaultMemory, memai: Path) -> None:
    report = vm.import_(source=str(memai), execute=True)
    assert (report.format, report.counts) == ("memai", {"new": 3, "refused": 1})
    assert "domain_case" in report.warnings[0]
    first = vm.get(refs=["u1"]).memories[0].memory
    assert (first.domain, first.session, first.tags, first.verification) == (
        "infra",
        "s1",
        ("deploy", "ops"),
        "confirmed",
    )
    assert (first.version, first.updated_at) == (3, datetime(2024, 3, 1, 10, tzinfo=UTC))
    versions = vm.history(ref="u1").versions
    kept = [(v.when, v.revision) for v in versions if v.when.year == 2024]
    assert [at.month for at, _ in kept] == [3, 2]
    assert vm.restore(ref="u1", revision=kept[1][1]).memory.content == "We deploy with Heroku"


def test_memai_edges_lead_to_the_same_memories_here(vm: VaultMemory, memai: Path) -> None:
    vm.import_(source=str(memai), execute=True)
    edges = {(e.relation_type, e.target_ref, e.note) for e in vm.relations(ref="u3").outgoing}
    named = {(kind, ref) for kind, ref, _ in edges}
    assert named == {("depends_on", "u1"), ("relates_to", "u2")}
    assert any(note and note.endswith(": blocks") for _, ref, note in edges if ref == "u2")
    old = vm.get(refs=["u2"]).memories[0].memory
    assert old.status == "archived"
    assert [e.target_ref for e in vm.relations(ref="u2").outgoing] == ["u1"]
    odd = vm.get(refs=["u3"]).memories[0].memory
    assert (odd.memory_type, dict(odd.metadata)) == (
        "note", {"original_type": "odd_type", "lost_relations": ["relates_to gone"]},
    )  # fmt: skip
    assert vm.import_(source=str(memai), execute=True).counts == {"refused": 1, "unchanged": 3}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store as the actor's local emulation lays it out."""
    folder = tmp_path / "key_value_stores" / "team~stripe"
    folder.mkdir(parents=True)
    record = {
        "id": "16db455b-f7e5-42a9-804b-e19a8b6afaa2",
        "url": "https://docs.stripe.com/webhooks/",
        "site": "docs.stripe.com",
        "title": "Webhook retries",
        "content": "Stripe retries failed webhooks three times.",
        "memoryType": "api_quirk",
        "tags": ["stripe"],
        "confidence": 0.9,
        "source": "crawl",
        "projectId": "billing",
        "relatedUrls": ["https://stripe.com"],
        "createdAt": "2026-08-06T14:08:12.760Z",
        "updatedAt": "2026-08-07T14:08:12.760Z",
        "contentHash": "d8466d0f16dd9566",
    }
    old = {**record, "id": "old-1", "content": "An archived one.", "title": "Old"}
    stray = {**record, "id": "stray", "content": "Not in the manifest.", "title": "Stray", "projectId": None}
    (folder / "__manifest.json").write_text(json.dumps({"version": 1, "memoryIds": [record["id"], "missing"]}))
    (folder / f"memory-{record['id']}.json").write_text(json.dumps(record))
    (folder / "memory-stray.json").write_text(json.dumps(stray))
    (folder / "archived_memories.json").write_text(json.dumps([old]))
    return folder


def test_an_actor_store_comes_with_its_archive(vm: VaultMemory, store: Path) -> None:
    report = vm.import_(source=str(store), execute=True)
    assert (report.format, report.counts) == ("actor", {"new": 3, "refused": 1})
    assert report.items[0].name == "missing"
    memory = vm.get(refs=["16db455b-f7e5-42a9-804b-e19a8b6afaa2"]).memories[0].memory
    assert (memory.actor, memory.project, memory.source) == ("team~stripe", "billing", "crawl")
    assert (memory.url, memory.confidence) == ("https://docs.stripe.com/webhooks", 0.9)
    assert memory.created_at == datetime(2026, 8, 6, 14, 8, 12, 760000, tzinfo=UTC)
    assert vm.get(refs=["old-1"]).memories[0].status == "archived"
    assert vm.import_(source=str(store), execute=True).counts == {"refused": 1, "unchanged": 3}


def test_a_store_that_was_written_is_read_back(vm: VaultMemory, store: Path, tmp_path: Path) -> None:
    vm.import_(source=str(store), execute=True)
    written = tmp_path / "out" / "team~stripe"
    vm.export(to=str(written), format="actor")
    manifest = json.loads((written / "__manifest.json").read_text())
    assert sorted(manifest["memoryIds"]) == ["16db455b-f7e5-42a9-804b-e19a8b6afaa2", "stray"]
    assert json.loads((written / "archived_memories.json").read_text())[0]["id"] == "old-1"
    report = vm.import_(source=str(written), on_clash="replace")
    assert report.counts == {"unchanged": 3}


GRAPH = """\
{"type":"entity","name":"Alice","entityType":"person","observations":["Works at Acme","Likes tea"]}
{"type":"entity","name":"Acme","entityType":"company","observations":["Builds rockets"]}
{"type":"relation","from":"Alice","to":"Acme","relationType":"works_at"}
{"type":"relation","from":"Alice","to":"Nobody","relationType":"knows"}
broken line
"""


def test_a_knowledge_graph_becomes_linked_memories(vm: VaultMemory) -> None:
    report = vm.import_(data=GRAPH, execute=True)
    assert (report.format, report.counts) == ("server-memory", {"new": 2, "refused": 2})
    alice = vm.get(refs=["Alice"]).memories[0].memory
    assert alice.content == "- Works at Acme\n- Likes tea"
    edge = vm.relations(ref="Alice").outgoing[0]
    assert edge.relation_type == "relates_to"
    assert edge.target_ref == vm.get(refs=["Acme"]).memories[0].memory.ref
    assert vm.import_(data=GRAPH, execute=True).counts == {"refused": 2, "unchanged": 2}
    lines = [json.loads(line) for line in vm.export(format="server-memory").data.splitlines()]
    assert {"type": "relation", "from": "Alice", "to": "Acme", "relationType": "relates_to"} in lines


@pytest.mark.parametrize("data", ["nonsense", "[1, 2", '{"version": 2, "memories": []}', "{}", "3"])
def test_what_is_no_known_format_is_refused_whole(vm: VaultMemory, data: str) -> None:
    with pytest.raises(InvalidRequest):
        vm.import_(data=data, execute=True)
