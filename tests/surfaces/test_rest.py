"""The native routes and the contract's on a real server: what is sent, answered, and on the disk afterwards."""

from __future__ import annotations

import json
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.surfaces.rest_server import Server, serving
from vault_memory.operations.init import init_vault
from vault_memory.operations.table import OPERATIONS

DATED = {
    "n1.md": "---\ntitle: Kiln log\ncreated: 2026-04-05\n---\nfired at cone six\n",
    "n2.md": "---\ntitle: Kiln log two\ncreated: 2026-04-05 09:30:00\n---\nfired at cone six\n",
    "n3.md": "---\ntitle: Kiln log three\ncreated: 2026-04-05T09:30:00+02:00\nreview: .nan\n---\nfired at cone six\n",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("rest") / "vault") as running:
        yield running


def stored(server: Server, content: str, **fields: Any) -> Any:
    reply = server.post("remember", {"content": content, "on_duplicate": "keep_both", **fields})
    assert reply.status == 200, reply.body
    return reply.json["memory"]


def test_a_memory_is_stored_found_changed_and_deleted(server: Server) -> None:
    memory = stored(server, "Deploys of the otter service go through fly.io.", tags=["ops"])
    assert (server.root / memory["path"]).read_text().endswith("fly.io.")
    hits = server.ask("GET", "/v1/search?query=otter%20deploys&limit=3").json["hits"]
    assert hits[0]["memory"]["id"] == memory["id"]
    got = server.post("get", {"refs": [memory["id"]]})
    assert got.headers["etag"] == f'"{memory["revision"]}"'
    changed = server.post("update", {"ref": memory["id"], "importance": 0.9}, If_Match=got.headers["etag"])
    assert changed.json["memory"]["version"] == 2
    assert server.post("delete", {"ref": memory["id"]}).json["outcome"] == "deleted"
    assert server.post("get", {"refs": [memory["id"]]}).status == 404


def test_an_unknown_field_is_refused_naming_those_there_are(server: Server) -> None:
    refused = server.post("remember", {"content": "A fact about boats.", "tgas": ["x"]})
    assert refused.status == 422
    assert refused.headers["content-type"] == "application/problem+json"
    (error,) = refused.json["errors"]
    assert error["field"] == "tgas"
    assert "tags" in error["message"]
    assert "content" in error["allowed"]
    query = server.ask("GET", "/v1/list?staus=active")
    assert query.status == 422
    assert query.json["errors"][0]["allowed"] == sorted(OPERATIONS["list"].load()[0].model_fields)


@pytest.mark.parametrize(
    ("operation", "document", "status", "code"),
    [
        ("get", {"refs": ["no such"]}, 404, "memory_not_found"),
        ("list", {"limit": 101}, 422, "invalid_request"),
        ("list", {"sort": "title"}, 422, "invalid_request"),
        ("remember", {"content": "  "}, 409, "rejected"),
        ("remember", {}, 422, "invalid_request"),
        ("diff", {"ref": "no such"}, 404, "memory_not_found"),
    ],
)
def test_a_refusal_is_a_problem_object(server: Server, operation: str, document: Any, status: int, code: str) -> None:
    reply = server.post(operation, document)
    assert (reply.status, reply.json["status"], reply.json["code"]) == (status, status, code)
    assert reply.headers["content-type"] == "application/problem+json"


def test_a_stale_revision_is_412_in_a_header_and_409_in_the_body(server: Server) -> None:
    memory = stored(server, "The harbour opens at six.")
    server.post("update", {"ref": memory["id"], "content": "The harbour opens at seven."})
    change = {"ref": memory["id"], "content": "The harbour opens at eight."}
    header = server.post("update", change, If_Match=f'"{memory["revision"]}"')
    assert (header.status, header.json["status"]) == (412, 412)
    assert header.json["current"]
    assert server.post("update", {**change, "if_revision": memory["revision"]}).status == 409
    assert server.post("update", change, If_Match='W/"x"').status == 412
    assert server.post("update", change, If_Match="*").status == 200


def test_purge_asks_for_its_phrase_first(server: Server) -> None:
    memory = stored(server, "A line that must go for good.")
    asked = server.post("purge", {"ref": memory["id"]})
    assert asked.status == 428
    assert asked.json["phrase"] == f"DELETE {memory['id']}"
    assert server.post("purge", {"ref": memory["id"], "confirm_phrase": asked.json["phrase"]}).status == 200
    assert not (server.root / memory["path"]).exists()


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{", b"\xff", b'{"content": NaN}', b'{"a": 1, "a": 2}', b'"x"', b'{"content": "\\ud800"}',
     b"[" * 100_000],
)  # fmt: skip
def test_what_is_no_json_object_is_refused(server: Server, body: bytes) -> None:
    sent = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
    for path in ("/memories", "/v1/remember"):
        reply = server.raw("POST", path, sent, body)
        assert reply.status == (422 if (body, path) == (b"", "/v1/remember") else 400), reply.body


def test_a_body_beyond_the_limit_is_refused(server: Server) -> None:
    sent = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
    assert server.raw("POST", "/v1/remember", sent, b" " * (8 * 1024 * 1024 + 1)).status == 413


def test_fm_01_dates_and_nan_in_front_matter_leave_as_strict_json(server: Server) -> None:
    for name, text in DATED.items():
        (server.root / name).write_text(text, "utf-8")
    waited = time.monotonic() + 20
    while (found := server.ask("GET", "/v1/list?q=cone&sort=created_at").json)["total"] != 3:
        assert time.monotonic() < waited, found
        time.sleep(0.1)
    for name in DATED:
        (memory,) = server.post("get", {"refs": [name]}).json["memories"]
        assert memory["content"] == "fired at cone six\n"
        assert memory["created_at"].startswith("2026-04-05")
    hits = server.ask("GET", "/v1/search?query=cone").json["hits"]
    assert {hit["memory"]["path"] for hit in hits} >= set(DATED)
    assert server.ask("GET", f"/memories/{quote('n3.md', safe='')}").json["metadata"]["review"] == ".nan"


def test_a_path_in_a_folder_is_a_reference_when_encoded(server: Server) -> None:
    memory = stored(server, "Otters sleep holding hands.", path="animals/otters.md")
    assert server.ask("GET", f"/memories/{quote(memory['path'], safe='')}").json["id"] == memory["id"]


def test_the_contract_answers_in_its_envelope_and_order(server: Server) -> None:
    made = []
    for n in range(3):
        body = {"content": f"Contract fact number {n}, 100%_sure", "tags": ["contract", f"n{n}"]}
        reply = server.ask("POST", "/memories", body)
        assert reply.status == 201, reply.body
        memory = reply.json
        assert reply.headers["location"] == f"/memories/{memory['id']}"
        assert (memory["memory_type"], memory["status"], memory["version"]) == ("fact", "active", 1)
        made.append(memory["id"])
    page = server.ask("GET", "/memories?tag=contract&limit=2&q=0%25_SURE").json
    assert list(page) == ["items", "total", "limit", "offset", "has_more"]
    assert (page["total"], page["limit"], page["offset"], page["has_more"]) == (3, 2, 0, True)
    assert [item["id"] for item in page["items"]] == made[:0:-1]
    rising = server.ask("GET", "/memories?tag=contract&sort=id").json["items"]
    assert [item["id"] for item in rising] == sorted(made)
    assert server.ask("GET", "/memories?q=0_%25sure").json["total"] == 0


def test_the_contract_names_what_it_does_not_know(server: Server) -> None:
    for query, field in (("sort=title", "sort"), ("colour=red", "colour"), ("status=gone", "status")):
        reply = server.ask("GET", f"/memories?{query}")
        assert reply.status == 422
        assert reply.json["errors"][0]["field"] == field
        assert reply.json["errors"][0]["allowed"]
    capped = server.ask("GET", "/memories?limit=1000")
    assert capped.json["limit"] == 100
    assert "100" in capped.headers["vault-warning"]


def test_the_contract_updates_with_versions_and_deletes_softly(server: Server) -> None:
    made = server.ask("POST", "/memories", {"content": "User lives in Albany."})
    address = made.headers["location"]
    first = server.ask("GET", address)
    assert first.headers["etag"] == made.headers["etag"]
    assert server.ask("GET", address, If_None_Match=first.headers["etag"]).status == 304
    same = server.ask("PATCH", address, {"content": "User lives in Albany."})
    assert (same.json["version"], same.json["updated_at"]) == (1, made.json["updated_at"])
    moved = server.ask("PATCH", address, {"content": "User lives in Troy."}, If_Match=first.headers["etag"])
    assert moved.json["version"] == 2
    assert moved.headers["etag"] != first.headers["etag"]
    assert server.ask("PATCH", address, {"content": "Nowhere."}, If_Match=first.headers["etag"]).status == 412
    assert server.ask("PATCH", address, {"id": "x"}).status == 422
    assert server.ask("DELETE", address, If_Match=first.headers["etag"]).status == 412
    assert server.ask("DELETE", address, If_Match=moved.headers["etag"]).status == 204
    assert server.ask("GET", address).status == 404
    assert server.ask("DELETE", address).status == 404
    gone = server.ask("GET", "/memories?status=deleted").json["items"]
    assert moved.json["id"] in [item["id"] for item in gone]
    assert (server.root / moved.json["path"]).exists()


def test_only_rows_that_are_returned_count_as_accessed(server: Server) -> None:
    made = [server.ask("POST", "/memories", {"content": f"Access row {n}", "tags": ["access"]}).json for n in (1, 2)]
    assert server.ask("GET", "/memories?tag=access&limit=1").json["items"][0]["last_accessed_at"] is None
    items = {item["id"]: item for item in server.ask("GET", "/memories?tag=access").json["items"]}
    assert items[made[1]["id"]]["last_accessed_at"]
    assert items[made[0]["id"]]["last_accessed_at"] is None


def test_the_description_names_every_operation_and_its_fields(server: Server) -> None:
    document = server.ask("GET", "/v1/openapi.json").json
    assert document["openapi"] == "3.1.0"
    for name, operation in OPERATIONS.items():
        path = document["paths"][f"/v1/{name}"]
        model = operation.load()[0]
        assert set(document["components"]["schemas"][model.__name__].get("properties", {})) == set(model.model_fields)
        assert ("get" in path) == (operation.kind == "read")
    page = server.ask("GET", "/docs").body.decode()
    assert all(f"/v1/{name}" in page for name in OPERATIONS)
    assert "<script" not in page
    references = {text for text in json.dumps(document).split('"') if text.startswith("#/")}
    for reference in references:
        found: Any = document
        for part in reference.removeprefix("#/").split("/"):
            found = found[part]


def test_health_and_metrics_tell_how_the_server_does(server: Server) -> None:
    assert server.raw("GET", "/health", {}).json["status"] == "ok"
    server.ask("GET", "/v1/no-such-operation-of-mine")
    text = server.ask("GET", "/metrics").body.decode()
    assert 'vault_memory_http_requests_total{route="/health",method="GET",status="200"}' in text
    assert "no-such-operation-of-mine" not in text
    assert "\nvault_memory_notes " in text


def test_a_change_by_hand_is_told_to_who_listens(server: Server) -> None:
    connection = server.connect(timeout=20)
    connection.request("GET", "/v1/events", headers={"Authorization": f"Bearer {server.token}"})
    stream = connection.getresponse()
    assert stream.headers["content-type"].startswith("text/event-stream")
    lines = iter(lambda: stream.readline().decode().strip(), None)
    first = json.loads(next(line for line in lines if line.startswith("data:")).removeprefix("data:"))
    (server.root / "by hand.md").write_text("Seen without a reload.\n", "utf-8")
    assert next(line for line in lines if line.startswith("event:")) == "event: change"
    second = json.loads(next(line for line in lines if line.startswith("data:")).removeprefix("data:"))
    assert second["generation"] > first["generation"]
    stream.close()
    connection.close()


def test_a_server_goes_down_in_good_order_though_someone_listens(tmp_path: Path) -> None:
    with serving(tmp_path / "vault") as server:
        connection = server.connect()
        connection.request("GET", "/v1/events", headers={"Authorization": f"Bearer {server.token}"})
        stream = connection.getresponse()
        memory = stored(server, "Said before the end.")
        started = time.monotonic()
        code, errors = server.stop(signal.SIGINT)
        assert (code, errors) == (0, "")
        assert time.monotonic() - started < 8
        assert (server.root / memory["path"]).exists()
        stream.close()
        connection.close()


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        with pytest.raises(AssertionError, match="cannot listen"), serving(tmp_path / "vault", "--port", port):
            pass


def test_a_readonly_server_writes_nothing(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    init_vault(root, git=False)
    (root / "hand.md").write_text("By hand.\n", "utf-8")
    with serving(root, "--readonly") as server:
        assert server.post("get", {"refs": ["hand.md"]}).status == 200
        assert server.post("remember", {"content": "A fact about geese."}).status == 403
        assert server.ask("POST", "/memories", {"content": "A fact about geese."}).status == 403
        assert server.ask("DELETE", "/memories/hand.md").status == 403
        actor = server.ask("POST", "/api/memories", {"userId": "ann", "content": "A fact about geese."})
        assert (actor.status, list(actor.json)) == (403, ["error"])


def test_too_many_requests_are_slowed_down(tmp_path: Path) -> None:
    with serving(tmp_path / "vault", "--rate", "2") as server:
        replies = [server.ask("GET", "/memories") for _ in range(30)]
        assert {reply.status for reply in replies} == {200, 429}
        assert int(next(reply for reply in replies if reply.status == 429).headers["retry-after"]) >= 1
