"""Programs that others wrote sign in and talk to the server: coding agents from npm, and the protocol's own test suite.

Needs their `node_modules` (see tests/harness/agents.py), with @modelcontextprotocol/conformance 0.2.0-alpha.12 and Node
22 among them.
"""

from __future__ import annotations

import os
import pty
import re
import select
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.harness import agents
from tests.harness.agents import RUNNERS, Desk
from tests.harness.fake_model import fake_model
from tests.surfaces.browser import Program, public_serving
from tests.surfaces.passing_on import passing_on
from tests.surfaces.rest_server import Server, serving

pytestmark = [pytest.mark.clients, pytest.mark.slow, pytest.mark.timeout(600)]

EXPECTED = Path(__file__).with_name("conformance.yml")
ADD = {
    "codex": [["codex", "mcp", "add", "vault-memory", "--url"]],
    "claude-code": [
        ["claude", "mcp", "add", "-s", "user", "--transport", "http", "vault-memory"],
        ["claude", "mcp", "login", "vault-memory", "--no-browser"],
    ],
}
FACT = "Deploys of this project go through fly.io in the fra region."


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    return Desk(home, project)


def in_a_terminal(desk: Desk, argv: list[str], visit: Callable[[str], None]) -> str:
    """Run a program in a terminal; `visit` is the browser for the first address of ours that it shows."""
    terminal, end = pty.openpty()
    environ = desk.environment({"BROWSER": "/bin/false", "TERM": "dumb", "COLUMNS": "4000"})
    process = subprocess.Popen(
        argv, cwd=desk.project, env=environ, stdin=end, stdout=end, stderr=end, start_new_session=True
    )
    os.close(end)
    said, visited, until = "", False, time.monotonic() + 120
    try:
        while time.monotonic() < until:
            if not select.select([terminal], [], [], 1.0)[0]:
                continue
            try:
                part = os.read(terminal, 65536)
            except OSError:  # the program has ended
                break
            said += part.decode(errors="replace")
            found = re.search(r"(http\S+/authorize\?[^\s\x1b]+)\s", said)
            if found and not visited:
                visited = True
                visit(found.group(1))
    finally:
        if process.poll() is None and time.monotonic() >= until:
            process.kill()
        os.close(terminal)
    assert process.wait(30) == 0, said
    return said


def browser(server: Server) -> Callable[[str], None]:
    """The owner's browser: shows the page, allows it, and brings the code back to where the program listens."""

    def visit(address: str) -> None:
        target = urlsplit(address)
        program = Program(server)
        answered = program.consent(server.raw("GET", f"{target.path}?{target.query}", {}))
        back = urlsplit(answered.headers["location"])
        with socket.create_connection((str(back.hostname), int(back.port or 80)), 10) as connection:
            head = f"GET {back.path}?{back.query} HTTP/1.1\r\nHost: {back.netloc}\r\nConnection: close\r\n\r\n"
            connection.sendall(head.encode())
            assert b" 200 " in connection.recv(4096).partition(b"\r\n")[0]

    return visit


@pytest.mark.parametrize("agent", list(ADD))
def test_an_agent_signs_in_through_the_browser_and_remembers(agent: str, desk: Desk, tmp_path: Path) -> None:
    agents.need(ADD[agent][0][0])
    with public_serving(tmp_path / "vault") as server:
        for command in ADD[agent]:
            address = [f"{server.url}/mcp"] if command[2] == "add" else []
            in_a_terminal(desk, [*command, *address], browser(server))
        with fake_model() as model:
            model.tool, model.arguments = "remember", {"content": FACT, "memory_type": "decision"}
            said = RUNNERS[agent](desk, model, "Remember how we deploy.")
        assert said.returncode == 0, said.stderr
        found = server.ask("GET", "/v1/list", Vault_Project="*").json["items"]
    assert [(one["content"], one["agent"].partition(":")[0]) for one in found] == [
        (FACT, {"codex": "codex", "claude-code": "claude-code-vault-memory"}[agent])
    ]


@pytest.mark.parametrize("selected", [["--suite", "active"], ["--suite", "all", "--spec-version", "2026-07-28"]])
def test_the_protocols_server_suite_fails_only_where_it_must(selected: list[str], desk: Desk, tmp_path: Path) -> None:
    agents.need("conformance")
    with serving(tmp_path / "vault") as server, passing_on(server) as address:
        what = ("--url", f"{address}/mcp/full", *selected, "--expected-failures", str(EXPECTED))
        done = desk.run("conformance", "server", *what, "-o", str(desk.home / "results"))
    assert done.returncode == 0, done.stdout[-4000:]
    assert "Total: " in done.stdout


def test_the_protocols_authorization_suite_passes(desk: Desk, tmp_path: Path) -> None:
    agents.need("conformance")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with public_serving(tmp_path / "vault") as server:
        program = Program(server, f"http://127.0.0.1:{port}/callback")
        command = [
            "conformance", "authorization", "--url", server.url, "--client-id", program.client_id, "--port", str(port),
            "--resource", f"{server.url}/mcp",
        ]  # fmt: skip
        said = in_a_terminal(desk, command, browser(server))
    assert re.search(r"Total: \d+ passed, 0 failed", said) or "0 failed" in said, said
    assert "SKIPPED" not in said, said
