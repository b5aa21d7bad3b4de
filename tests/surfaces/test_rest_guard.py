"""What a foreign page, a foreign name or a caller without a token gets from each route: nothing."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.surfaces.rest_server import Server, serving
from vault_memory.operations.table import OPERATIONS

OPEN = ["/", "/docs", "/docs.css", "/v1/openapi.json", "/health", "/api/health", "/api/docs"]
READS = ["/memories", "/memories/x", "/api/memories/ann", "/api/memories/ann/stats", "/metrics", "/v1/events"]
WRITES = [
    ("POST", "/memories"), ("PATCH", "/memories/x"), ("DELETE", "/memories/x"), ("POST", "/api/memories"),
    ("POST", "/api/memories/search"), ("PUT", "/api/memories/ann/x"), ("DELETE", "/api/memories/ann/x"),
    ("POST", "/api/memories/ann/prune"), ("POST", "/mcp"), ("POST", "/mcp/core"),
    *(("POST", f"/v1/{name}") for name in OPERATIONS),
]  # fmt: skip
ROUTES = [*(("GET", path) for path in [*OPEN, *READS, "/nowhere"]), *WRITES]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("guard") / "vault") as running:
        yield running


def foreign(server: Server) -> list[dict[str, str]]:
    own = f"127.0.0.1:{server.port}"
    return [
        {"Host": "evil.example"},
        {"Host": f"127.0.0.1.evil.example:{server.port}"},
        {"Host": f"localhost.evil.example:{server.port}"},
        {"Host": ""},
        {"Host": own, "Origin": "http://evil.example"},
        {"Host": own, "Origin": "null"},
        {"Host": own, "Origin": f"http://127.0.0.1:{server.port + 1}"},
        {"Host": own, "Origin": f"http://127.0.0.1:{server.port}@evil.example"},
        {"Host": own, "Origin": f"file://{own}"},
    ]


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_se_03_a_foreign_host_or_origin_is_refused_on_every_route(server: Server, method: str, path: str) -> None:
    for headers in foreign(server):
        sent = {**headers, "Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
        reply = server.raw(method, path, sent, b"{}" if method != "GET" else None)
        assert reply.status == 403, (headers, reply.body)
        assert reply.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "LOCALHOST"])
def test_se_03_the_proper_local_names_work_with_and_without_an_origin(server: Server, host: str) -> None:
    named = {"Host": f"{host}:{server.port}", "Authorization": f"Bearer {server.token}"}
    assert server.raw("GET", "/memories", named).status == 200
    assert server.raw("GET", "/memories", {**named, "Origin": f"http://{host}:{server.port}"}).status == 200


@pytest.mark.parametrize(("method", "path"), [*(("GET", path) for path in READS), *WRITES])
def test_nothing_of_the_vault_is_said_without_a_token(server: Server, method: str, path: str) -> None:
    body = b"{}" if method != "GET" else None
    for sent in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {server.token}"}):
        reply = server.raw(method, path, {"Content-Type": "application/json", **sent}, body)
        assert reply.status == 401, reply.body
        assert reply.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("path", OPEN)
def test_what_holds_nothing_of_the_vault_needs_no_token(server: Server, path: str) -> None:
    assert server.raw("GET", path, {}).status in (200, 307)


@pytest.mark.parametrize(("method", "path"), [route for route in WRITES if route[0] != "DELETE"])
@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_se_03_a_form_cannot_write(server: Server, method: str, path: str, kind: str) -> None:
    sent = {"Authorization": f"Bearer {server.token}"} | ({"Content-Type": kind} if kind else {})
    assert server.raw(method, path, sent, b'{"content": "x"}').status == 415


@pytest.mark.parametrize("name", [name for name, operation in OPERATIONS.items() if operation.kind != "read"])
def test_se_03_no_get_changes_anything(server: Server, name: str) -> None:
    assert server.ask("GET", f"/v1/{name}?content=x&ref=x").status == 405


def test_answers_forbid_scripts_frames_and_caches(server: Server) -> None:
    for path in ("/docs", "/memories", "/nowhere", "/v1/openapi.json"):
        headers = server.ask("GET", path).headers
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "script-src" not in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]


def test_no_answer_lets_another_site_read_it(server: Server) -> None:
    sent = {"Origin": f"http://127.0.0.1:{server.port}", "Access-Control-Request-Method": "POST"}
    for reply in (server.raw("OPTIONS", "/v1/remember", sent), server.ask("GET", "/memories")):
        assert not [name for name in reply.headers if name.startswith("access-control-")]


def test_the_owners_token_is_for_its_user_alone(server: Server) -> None:
    file = server.root / ".vault-memory" / "state" / "token"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(server.token) >= 43


def test_there_are_no_folders_to_look_into(server: Server) -> None:
    for path in ("/memories/", "/docs/", "/.vault-memory/state/token", "/static/", "/../../etc/passwd", "//etc/passwd"):
        assert server.ask("GET", path).status in (307, 404)


def test_an_address_that_others_reach_needs_to_be_asked_for(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="--allow-remote"), serving(tmp_path / "vault", "--host", "0.0.0.0"):
        pass


def test_a_public_name_is_known_when_it_was_named(tmp_path: Path) -> None:
    options = ("--host", "0.0.0.0", "--allow-remote", "--allow-host", "memory.example")
    with serving(tmp_path / "vault", *options) as server:
        named = {"Authorization": f"Bearer {server.token}", "Host": "memory.example"}
        assert server.raw("GET", "/memories", named).status == 200
        assert server.raw("GET", "/memories", {**named, "Origin": "https://memory.example"}).status == 200
        assert server.raw("GET", "/memories", {**named, "Origin": "https://other.example"}).status == 403
        assert server.raw("GET", "/memories", {**named, "Host": "other.example"}).status == 403
        assert server.raw("GET", "/memories", {"Host": "memory.example"}).status == 401
