"""Whatever is sent to any operation is answered or refused in strict JSON; nothing is answered with a bug."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.surfaces.rest_server import Reply, Server, serving
from vault_memory.operations.table import OPERATIONS, Operation

ODD: list[Any] = [
    None, True, 0, -1, 1, 1.5, 1e308, 10**30, "", "x", "a note", "\0", "../../etc/passwd", "/etc/passwd", "2026-04-06",
    "9999-12-31T23:59:59Z", "0001-01-01", "*", "global", "é" * 50, "a,b", [], ["x"], [None], [[1]], {}, {"x": 1},
    {"a": ["b"]}, 'status:active -x "', "memory://x", "%00", "id", "active", "note", "markdown", "hybrid", "by_age",
    "by_decay", 0.5, 100, 101, "\U0001f600", "x" * 400,
]  # fmt: skip
PATHS = [
    *(f"/memories?{query}" for query in (
        "limit=-1", "limit=x", "offset=99999999999999999999", "sort=", "q=%00", "tag=%FF", "status=deleted,active",
    )),
    *(f"/memories/{ref}" for ref in ("%00", "%2e%2e%2f", "%FF", "x" * 3000, "a%0Ab", ".vault-memory%2Fconfig.toml")),
    "/api/memories/%00", "/api/memories/a%2Fb", "/api/memories/*", "/api/memories/x?limit=abc",
]  # fmt: skip
NOT_SENT = frozenset({"execute", "confirm_phrase"})


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("fuzz") / "vault", "--rate", "0") as running:
        for n in range(5):
            running.post(
                "remember", {"content": f"Seed number {n} about port {5000 + n}.", "on_duplicate": "keep_both"}
            )
        yield running


def check(reply: Reply, sent: Any) -> None:
    assert reply.status < 500, (sent, reply.body)
    if reply.status not in (204, 304):
        assert reply.json is not None
    if reply.status != 200:
        assert reply.headers["content-type"] == "application/problem+json", (sent, reply.body)


def document(operation: Operation, chance: random.Random) -> dict[str, Any]:
    fields = operation.load()[0].model_fields.items()
    return {
        name: chance.choice(ODD)
        for name, info in fields
        if name not in NOT_SENT and (info.is_required() or chance.random() < 0.3)
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_survives_what_it_does_not_expect(server: Server, name: str) -> None:
    operation, chance = OPERATIONS[name], random.Random(name)
    for _ in range(15):
        sent = document(operation, chance)
        check(server.post(name, sent), sent)
        if operation.kind == "read":
            query = urlencode({key: value for key, value in sent.items() if isinstance(value, (str, int, float))})
            check(server.ask("GET", f"/v1/{name}?{query}"), query)


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS)
def test_a_path_survives_what_it_does_not_expect(server: Server, path: str) -> None:
    for method in ("GET", "DELETE", "PATCH", "PUT"):
        reply = server.ask(method, path, {"content": "Some text."} if method in ("PATCH", "PUT") else None)
        assert reply.status < 500, reply.body
