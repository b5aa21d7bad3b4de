"""Tokens as people handle them on the command line, and what each lets its bearer do on a running server."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.rest_server import Server, serving
from vault_memory.errors import InvalidRequest, StorageError
from vault_memory.surfaces.auth.callers import Caller
from vault_memory.surfaces.auth.tokens import TokenStore

NOW = datetime(2026, 4, 6, 14, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("serve") / "vault") as running:
        yield running


def command(server: Server, *arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "vault_memory", "token", *arguments, "--vault", str(server.root)]
    return subprocess.run(line, capture_output=True, text=True, env=server.environ, stdin=subprocess.DEVNULL)


def token(server: Server, *arguments: str) -> str:
    """What `vault-memory token …` prints."""
    done = command(server, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def audit(server: Server) -> list[dict[str, Any]]:
    lines = (server.root / ".vault-memory" / "state" / "audit.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_the_owners_token_can_be_shown_and_changed_while_the_server_runs(server: Server) -> None:
    old = token(server)
    assert old == token(server, "show") == server.token
    new = token(server, "rotate")
    assert new != old
    assert server.ask("GET", "/memories", token=old).status == 401
    assert server.ask("GET", "/memories", token=new).status == 200
    server.token = new


def test_a_named_token_writes_under_its_name_until_it_is_revoked(server: Server) -> None:
    secret = token(server, "issue", "claude-laptop")
    reply = server.post("remember", {"content": "A named token said so.", "agent": "somebody"}, token=secret)
    assert reply.status == 200
    assert audit(server)[-1]["agent"] == "claude-laptop"
    assert reply.json["memory"]["source"] == "agent"
    assert "claude-laptop" in token(server, "list")
    token(server, "revoke", "claude-laptop")
    assert server.ask("GET", "/memories", token=secret).status == 401
    assert token(server, "list") == ""


def test_a_token_bound_to_a_project_sees_it_and_what_is_global(server: Server) -> None:
    for project in ("red", "blue", None):
        fields = {"project": project} if project else {}
        server.post("remember", {"content": f"Paint of the {project} team dries fast.", **fields})
    secret = token(server, "issue", "painter", "--project", "red")

    def seen(**headers: str) -> Any:
        return server.ask("GET", "/memories?q=dries%20fast&limit=50", token=secret, **headers)

    assert {item["project"] for item in seen().json["items"]} == {"red", None}
    assert seen(Vault_Project="blue").status == 403
    blue = server.ask("GET", "/v1/list?project=blue", token=secret).json["items"]
    assert [item for item in blue if item["project"] == "blue"] == []
    made = server.post("remember", {"content": "Varnish of ours needs a day."}, token=secret).json["memory"]
    assert made["project"] == "red"
    refused = server.post("remember", {"content": "Varnish of theirs needs two.", "project": "blue"}, token=secret)
    assert refused.status == 403


def test_a_token_bound_to_an_actor_acts_for_no_other(server: Server) -> None:
    secret = token(server, "issue", "bot", "--actor", "ann")
    mine = {"userId": "ann", "content": "Ann likes oat milk."}
    assert server.ask("POST", "/api/memories", mine, token=secret).status == 201
    assert server.ask("POST", "/api/memories", {**mine, "userId": "ben"}, token=secret).status == 403
    assert server.ask("GET", "/api/memories/ben", token=secret).status == 403
    items = server.ask("GET", "/memories", token=secret).json["items"]
    assert {item["actor"] for item in items} == {"ann"}
    everything = server.ask("GET", "/v1/list?actor=*", token=secret)
    assert everything.status == 403


def test_the_owner_sees_an_actors_memories_by_naming_it(server: Server) -> None:
    server.ask("POST", "/api/memories", {"userId": "zoe", "content": "Zoe collects stamps."})
    query = "/v1/list?q=collects%20stamps"
    assert server.ask("GET", query).json["total"] == 0
    assert server.ask("GET", f"{query}&actor=zoe").json["total"] == 1
    assert server.ask("GET", f"{query}&actor=*").json["total"] == 1
    assert server.ask("GET", query, Vault_Actor="zoe").json["total"] == 1


def test_a_readonly_token_writes_nothing(server: Server) -> None:
    secret = token(server, "issue", "viewer", "--readonly")
    assert server.ask("GET", "/memories", token=secret).status == 200
    for method, path in (("POST", "/v1/remember"), ("POST", "/memories"), ("PATCH", "/memories/x")):
        reply = server.ask(method, path, {"content": "No."}, token=secret)
        assert (reply.status, reply.json["code"]) == (403, "not_allowed")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("issue",), "needs a name"), (("issue", "a b"), "letters"), (("revoke", "nobody"), "no token 'nobody'"),
    ],
)  # fmt: skip
def test_a_mistake_is_explained(server: Server, arguments: tuple[str, ...], said: str) -> None:
    done = command(server, *arguments)
    assert done.returncode == 2
    assert said in done.stderr


def store(folder: Path) -> TokenStore:
    made = iter(f"secret-{n}" for n in range(100))
    return TokenStore(folder, lambda: next(made))


def test_only_hashes_of_named_tokens_are_kept_and_nobody_else_reads_them(tmp_path: Path) -> None:
    tokens = store(tmp_path)
    secret = tokens.issue("bot", NOW, project="p", actor=None, readonly=True)
    assert tokens.caller(secret) == Caller("bot", "p", None, True)
    assert tokens.caller(tokens.owner()) == Caller()
    text = (tmp_path / "tokens.json").read_text()
    assert secret not in text
    for name in ("token", "tokens.json"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.glob("*.tmp")] == []
    with pytest.raises(InvalidRequest, match="already"):
        tokens.issue("bot", NOW, project=None, actor=None, readonly=False)


def test_a_damaged_list_lets_nobody_in(tmp_path: Path) -> None:
    tokens = store(tmp_path)
    secret = tokens.issue("bot", NOW, project=None, actor=None, readonly=False)
    (tmp_path / "tokens.json").write_text("{")
    with pytest.raises(StorageError):
        tokens.caller(secret)
