"""MCP over HTTP with the SDK's own client: both eras, several clients and tokens at once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import anyio
import pytest

from tests.surfaces.rest_server import Server, serving
from tests.surfaces.test_serve import token

Era = Literal["auto", "legacy"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("mcp") / "vault") as running:
        yield running


@asynccontextmanager
async def client(server: Server, path: str = "/mcp", *, mode: Era = "auto", secret: str = "") -> AsyncIterator[Any]:
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    headers = {"Authorization": f"Bearer {secret or server.token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        transport = streamable_http_client(server.url + path, http_client=http)
        async with Client(transport, mode=mode) as session:
            yield session


def said(result: Any) -> str:
    return "\n".join(part.text for part in result.content)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("path", ["/mcp", "/mcp/core"])
def test_a_client_of_each_era_remembers_and_finds(server: Server, mode: Era, path: str) -> None:
    async def run() -> None:
        async with client(server, path, mode=mode) as session:
            assert "remember" in [tool.name for tool in (await session.list_tools()).tools]
            content = f"The {mode} client of {path} keeps bees in Graz."
            stored = await session.call_tool("remember", {"content": content, "tags": "bees, graz"})
            assert not stored.is_error, said(stored)
            found = await session.call_tool("search", {"query": f"{mode} bees", "limit": "3"})
            assert content in said(found)
            refused = await session.call_tool("get", {"refs": ["no such memory"]})
            assert refused.is_error

    anyio.run(run)


def test_mc_02_every_form_of_a_list_stores_the_same(server: Server) -> None:
    async def run() -> None:
        async with client(server) as session:
            for n, tags in enumerate((["a", "b"], '["a","b"]', "a, b")):
                arguments = {"content": f"List form number {n} of the harbour.", "tags": tags, "title": 2024 + n}
                await session.call_tool("remember", arguments)
                stored = server.ask("GET", f"/v1/list?q=List%20form%20number%20{n}").json["items"][0]
                assert (stored["tags"], stored["title"]) == (["a", "b"], str(2024 + n))

    anyio.run(run)


def test_tokens_are_told_apart_in_sessions_that_run_at_once(server: Server) -> None:
    names = ("robin", "wren")
    secrets = {name: token(server, "issue", name, "--project", name) for name in names}

    async def use(name: str, mode: Era) -> None:
        async with client(server, mode=mode, secret=secrets[name]) as session:
            for n in range(4):
                content = f"Said by {name}, {mode}, thought {n}: a bird about trees."
                stored = await session.call_tool("remember", {"content": content})
                assert not stored.is_error, said(stored)
            seen = said(await session.call_tool("list", {"q": "a bird about trees", "as_json": True, "limit": 50}))
            assert all(f'"project": "{other}"' not in seen for other in names if other != name)

    async def run() -> None:
        async with anyio.create_task_group() as tasks:
            for name in names:
                tasks.start_soon(use, name, "auto")
                tasks.start_soon(use, name, "legacy")

    anyio.run(run)
    rows = server.ask("GET", "/v1/list?q=a%20bird%20about%20trees&limit=50").json["items"]
    assert len(rows) == 16
    for row in rows:
        assert row["agent"] == row["project"] == row["content"].split()[2].strip(",")
        assert row["source"] == "agent"


def test_a_session_stays_with_the_token_that_opened_it(server: Server) -> None:
    secret = token(server, "issue", "magpie")
    opening = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }  # fmt: skip
    accept = "application/json, text/event-stream"
    opened = server.ask("POST", "/mcp", opening, Accept=accept)
    assert opened.status == 200, opened.body
    session = opened.headers["mcp-session-id"]
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    asked = {"Accept": accept, "Mcp_Session_Id": session}
    assert server.ask("POST", "/mcp", listing, token=secret, **asked).status == 404
    assert server.ask("POST", "/mcp", listing, **asked).status == 200


def test_an_agent_that_names_no_project_sees_what_is_global(server: Server) -> None:
    server.post("remember", {"content": "The heron project has a secret garden.", "project": "heron"})

    async def run() -> None:
        async with client(server) as session:
            assert "secret garden" not in said(await session.call_tool("list", {"q": "secret garden"}))
        async with client(server, "/mcp?project=heron") as session:
            assert "secret garden" in said(await session.call_tool("list", {"q": "secret garden"}))

    anyio.run(run)


def test_a_readonly_token_reads_only(server: Server) -> None:
    secret = token(server, "issue", "reader", "--readonly")

    async def run() -> None:
        async with client(server, secret=secret) as session:
            assert not (await session.call_tool("list", {})).is_error
            refused = await session.call_tool("remember", {"content": "A fact that a reader wants kept."})
            assert refused.is_error
            assert "read-only" in said(refused)

    anyio.run(run)


def test_an_unknown_profile_is_not_there(server: Server) -> None:
    reply = server.ask("POST", "/mcp/nonsense", {})
    assert reply.status == 404
    assert "core" in reply.json["detail"]
