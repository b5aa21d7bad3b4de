"""Several servers on one vault, started as agents start them; crashes, damaged indexes and big vaults at the start."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.integration.product import PROGRAM, Product, until
from tests.integration.server import Server
from vault_memory import open_vault

WORDS = ("quartz basalt granite marble slate gneiss schist tuff chalk flint shale jade onyx opal topaz beryl agate "
         "garnet zircon pyrite").split()  # fmt: skip


@pytest.fixture
def product(make: Callable[..., Product]) -> Product:
    return make()


@pytest.fixture
def serve(product: Product) -> Iterator[Callable[[], Server]]:
    servers: list[Server] = []

    def one() -> Server:
        servers.append(Server(product.root))
        return servers[-1]

    yield one
    for server in servers:
        server.end()


@pytest.mark.parametrize("notes", [4, pytest.param(20, marks=pytest.mark.slow)])
def test_cc_01_three_servers_share_a_vault(product: Product, serve: Callable[[], Server], notes: int) -> None:
    servers = [serve() for _ in range(3)]
    starting = [threading.Thread(target=server.start) for server in servers]
    for thread in starting:
        thread.start()
    for thread in starting:
        thread.join()

    def write(number: int) -> None:
        for word in WORDS[:notes]:
            servers[number].call("remember", content=f"The {word}{number} quarry opens at {number}", force=True)

    writing = [threading.Thread(target=write, args=[number]) for number in range(3)]
    for thread in writing:
        thread.start()
    for thread in writing:
        thread.join()
    words = [f"{word}{number}" for word in WORDS[:notes] for number in range(3)]
    assert len(list(product.root.glob("memories/**/*.md"))) == len(words)
    for server in servers:
        assert all(len(server.paths(word)) == 1 for word in words)
    assert product.cli("reindex").returncode == 0
    for server in servers:
        assert all(len(server.paths(word)) == 1 for word in words[:6])
    ids = [item["id"] for item in product.ask("list", "--limit", "100")["items"]]
    assert len(set(ids)) == len(ids) == len(words)


@pytest.mark.parametrize("damage", ["none", "meta", "foreign"])
def test_cc_02_a_crash_in_the_middle_of_indexing_needs_no_help(
    product: Product, serve: Callable[[], Server], damage: str
) -> None:
    server = serve()
    server.start()
    for n in range(30):
        server.ask("remember", content=f"The {WORDS[n % 20]}{n} quarry opens at {n}", force=True)
    until(lambda: len(list(product.root.glob("memories/**/*.md"))) > 10)
    server.end()
    stored = [path.read_text() for path in product.root.glob("memories/**/*.md")]
    assert all(text.endswith(tuple("0123456789")) for text in stored)
    index = product.root / ".vault-memory/index"
    for folder in index.glob("text-*"):
        if damage == "meta":
            (folder / "meta.json").write_text("{")
        elif damage == "foreign":
            shutil.rmtree(folder)
            folder.mkdir()
            (folder / "something else").write_text("x")
    again = serve()
    again.start()
    for n in [n for n in range(30) if any(f"opens at {n}" in text[-len(f"opens at {n}") :] for text in stored)]:
        assert len(again.paths(f"{WORDS[n % 20]}{n}")) == 1, n
    assert product.cli("doctor", "--fix", "--thorough").returncode == 0


@pytest.mark.slow
def test_mc_03_a_big_vault_does_not_hold_the_first_answers_up(product: Product, serve: Callable[[], Server]) -> None:
    for n in range(6_000):
        folder = product.root / f"area{n % 60}"
        folder.mkdir(exist_ok=True)
        (folder / f"note {n}.md").write_text(
            f"# Note {n}\n\n{WORDS[n % 20]} and {WORDS[n % 7]}: " + "words " * 60 + "\n"
        )
    server = serve()
    assert server.start() < 15  # the goal is five seconds on a machine that does nothing else
    server.answer(server.send("tools/list"))
    longest = 0.0
    indexing = False
    for _ in range(200):
        started = time.monotonic()
        found = json.dumps(server.call("search", query="quartz", as_json=True))
        indexing = indexing or "indexing" in found
        longest = max(longest, time.monotonic() - started)
        if indexing and "indexing:" not in found:
            break
        time.sleep(0.2)
    started = time.monotonic()
    server.call("remember", content="Written while the index is made", force=True)
    assert indexing
    assert max(longest, time.monotonic() - started) < 10
    server.end()
    with open_vault(product.root) as vm:
        born = vm._vault.catalog.meta("born")
    second = serve()
    second.start()
    assert second.paths("quartz")
    with open_vault(product.root) as vm:
        assert vm._vault.catalog.meta("born") == born


def test_mc_03_a_missing_vault_is_a_tool_error(tmp_path: Path) -> None:
    server = Server(tmp_path / "nowhere")
    try:
        server.start()
        assert server.call("search", query="x")["code"] == "vault_not_found"
        assert server.process.poll() is None
    finally:
        server.end()


PARENT = """
import json, subprocess, sys, time
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
def send(**message):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
    server.stdin.flush()
send(id=1, method="initialize", params=hello)
server.stdout.readline()
send(method="notifications/initialized")
send(id=2, method="tools/call", params={"name": "list", "arguments": {}})
server.stdout.readline()
send(id=3, method="tools/call", params={"name": "remember", "arguments": {"content": "written as the client dies"}})
print(server.pid, flush=True)
time.sleep(100)
"""


@pytest.mark.parametrize("notes", [0, 1_500])
def test_mc_04_the_server_ends_when_its_client_is_killed(product: Product, notes: int) -> None:
    for n in range(notes):
        (product.root / f"n{n}.md").write_text(f"# Note {n}\n\nabout topic {n}\n")
    server = [*PROGRAM, "mcp", "--vault", str(product.root), "--project", "*"]
    parent = subprocess.Popen([sys.executable, "-c", PARENT, *server], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.communicate()

    def gone() -> bool:
        """Ended; who adopts it need not have asked for its end yet."""
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except FileNotFoundError:
            return True

    until(gone, 15)  # the goal is a second; this machine may be busy with other tests
    stored = [path.read_text() for path in product.root.rglob("memories/**/*.md")]
    assert all(text.endswith("written as the client dies") for text in stored)
    product.cli("remember", "Nobody holds a lock any more")
