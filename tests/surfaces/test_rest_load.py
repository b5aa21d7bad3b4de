"""Many clients at once, and a server that is killed while they write: nothing that was answered is lost."""

from __future__ import annotations

import http.client
import json
import random
import signal
import statistics
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.rest_server import Server, serving
from vault_memory.operations.init import init_vault

WORDS = "harbour otter violet cedar ledger comet tunnel maple orbit saddle walnut prism glacier lantern meadow".split()


def thought(client: int, n: int) -> str:
    words = random.Random(client * 1000 + n).sample(WORDS, 6)
    return f"Client {client}, thought {n}: {' '.join(words)}."


class Client(threading.Thread):
    """One client with one connection; notes what was acknowledged, how long it took, and what went wrong."""

    def __init__(self, server: Server, number: int, until: Callable[[], bool]) -> None:
        super().__init__(daemon=True)
        self._server, self._number, self._until = server, number, until
        self.stored: dict[str, str] = {}
        self.seconds: list[float] = []
        self.errors: list[str] = []

    def run(self) -> None:
        connection = self._server.connect(timeout=120)
        try:
            while not self._until():
                self._once(connection, len(self.seconds))
        except (OSError, http.client.HTTPException) as error:
            self.errors.append(repr(error))
        finally:
            connection.close()

    def _once(self, connection: http.client.HTTPConnection, n: int) -> None:
        started = time.perf_counter()
        content = thought(self._number, n)
        if n % 3 == 0:
            found = self._ask(connection, "remember", {"content": content, "on_duplicate": "keep_both"})
            if found is not None:
                self.stored[found["memory"]["path"]] = content
        elif n % 3 == 1:
            self._ask(connection, "search", {"query": content, "limit": 5})
        else:
            self._ask(connection, "list", {"limit": 20})
        self.seconds.append(time.perf_counter() - started)

    def _ask(self, connection: http.client.HTTPConnection, operation: str, document: Any) -> Any:
        headers = {"Authorization": f"Bearer {self._server.token}", "Content-Type": "application/json"}
        connection.request("POST", f"/v1/{operation}", json.dumps(document), headers)
        reply = connection.getresponse()
        body = reply.read()
        if reply.status != 200:
            self.errors.append(f"{operation}: {reply.status} {body[:200]!r}")
            return None
        return json.loads(body)


def crowd(server: Server, count: int, until: Callable[[], bool]) -> list[Client]:
    clients = [Client(server, number, until) for number in range(count)]
    for client in clients:
        client.start()
    return clients


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("clients", "seconds"), [(50, 8), (200, 20)])
def test_many_clients_get_no_error_and_lose_no_write(tmp_path: Path, clients: int, seconds: float) -> None:
    with serving(tmp_path / "vault") as server:
        end = time.monotonic() + seconds
        running = crowd(server, clients, lambda: time.monotonic() > end)
        for client in running:
            client.join(150)
        assert [error for client in running for error in client.errors] == []
        stored = {path: content for client in running for path, content in client.stored.items()}
        took = sorted(second for client in running for second in client.seconds)
        assert stored
        assert len(stored) == sum(len(client.stored) for client in running)
        for path, content in stored.items():
            assert (server.root / path).read_text("utf-8").endswith(content)
        total = server.ask("GET", "/v1/list?limit=1").json["total"]
        assert total == len(stored)
    p95 = took[int(len(took) * 0.95)]
    print(f"{clients} clients: {len(took)} requests, p50 {statistics.median(took):.3f} s, p95 {p95:.3f} s")


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_server_killed_under_load_keeps_every_write_it_acknowledged(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    init_vault(root, git=True)
    acknowledged: dict[str, str] = {}
    for kill in range(10):
        server = Server(root)
        stopped = threading.Event()
        running = crowd(server, 8, stopped.is_set)
        time.sleep(1.0 + 0.13 * kill)
        server.process.send_signal(signal.SIGKILL)
        stopped.set()
        for client in running:
            client.join(60)
            acknowledged |= {f"{kill} {path}": content for path, content in client.stored.items()}
        server.process.communicate(timeout=30)
    assert acknowledged
    with serving(root) as server:
        for key, content in acknowledged.items():
            path = key.partition(" ")[2]
            assert (root / path).read_text("utf-8").endswith(content)
            assert server.post("get", {"refs": [path]}).status == 200
    assert list(root.rglob("*.tmp")) == []
