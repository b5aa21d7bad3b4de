"""Status sees what became of a connection, and the probe asks a server before anything is written."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from vault_memory.errors import InvalidRequest
from vault_memory.harness.base import Machine, Options
from vault_memory.harness.clients import client, clients
from vault_memory.harness.connect import plan_connect
from vault_memory.harness.probe import ask_server
from vault_memory.harness.receipts import Receipts
from vault_memory.harness.status import ClientStatus, client_statuses, moved

SERVER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        result = {"protocolVersion": "2025-06-18", "serverInfo": {"name": "vault-memory", "version": "1.2"}}
    elif message.get("method") == "tools/list":
        result = {"tools": [{"name": "remember"}, {"name": "search"}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "method": "notifications/message"}))
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


@pytest.fixture
def living(home: Path, options: Options) -> Options:
    """Options whose command and vault exist."""
    command = Path(options.command[0])
    command.parent.mkdir()
    command.write_text("#!/bin/sh\n")
    (options.vault / ".vault-memory").mkdir(parents=True)
    return options


def status(name: str, machine: Machine, receipts: Receipts) -> ClientStatus:
    return next(one for one in client_statuses(clients(), machine, receipts) if one.name == name)


def test_every_client_is_listed_connected_or_not(machine: Machine, living: Options, receipts: Receipts) -> None:
    plan_connect(client("gemini"), machine, living, receipts).execute(receipts)
    found = client_statuses(clients(), machine, receipts)

    assert [one.name for one in found] == [one.name for one in clients()]
    assert [one.name for one in found if one.connected] == ["gemini"]
    gemini = status("gemini", machine, receipts)
    assert [(part.kind, part.present) for part in gemini.parts] == [("server", True), ("hook", True)]
    assert gemini.problems == ()
    assert gemini.vault == str(living.vault)


def test_a_moved_command_a_lost_vault_and_lost_entries_are_problems_with_their_fix(
    home: Path, machine: Machine, living: Options, receipts: Receipts
) -> None:
    plan_connect(client("claude-code"), machine, living, receipts).execute(receipts)
    Path(living.command[0]).unlink()
    (living.vault / ".vault-memory").rename(living.vault / "gone")
    (home / ".claude.json").write_text("{}")
    (home / ".claude/settings.json").write_text("{ broken")

    problems = status("claude-code", machine, receipts).problems

    said = "\n".join(f"{problem.what} -> {problem.fix}" for problem in problems)
    assert "is gone (moved or uninstalled) -> vault-memory connect claude-code" in said
    assert "the registered vault" in said
    assert "the server entry in" in said
    assert "settings.json: cannot be parsed, line 1" in said


def test_hooks_that_codex_has_not_approved_are_named(
    home: Path, machine: Machine, living: Options, receipts: Receipts
) -> None:
    plan_connect(client("codex"), machine, living, receipts).execute(receipts)
    assert [problem.fix for problem in status("codex", machine, receipts).problems] == ["in Codex: /hooks"]
    config = home / ".codex/config.toml"
    key = json.dumps(f"{home / '.codex/hooks.json'}:session_start:0:0")
    config.write_text(config.read_text() + f'\n[hooks.state.{key}]\ntrusted_hash = "sha256:1"\n')
    assert status("codex", machine, receipts).problems == ()


def test_a_connection_to_another_command_or_vault_is_noticed(
    machine: Machine, living: Options, receipts: Receipts
) -> None:
    plan_connect(client("cursor"), machine, living, receipts).execute(receipts)
    cursor = status("cursor", machine, receipts)
    assert moved(cursor, living) is None
    assert "starts" in str(moved(cursor, replace(living, command=("/new/vault-memory",))))
    assert "uses the vault" in str(moved(cursor, replace(living, vault=Path("/other"))))


def test_a_server_is_asked_for_its_tools_and_ended() -> None:
    answer = ask_server([sys.executable, "-c", SERVER])
    assert (answer.name, answer.version, answer.tools) == ("vault-memory", "1.2", ("remember", "search"))


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise SystemExit('no vault here')", "ended.*no vault here"),
        ("print('Welcome!', flush=True); input(); input()", "no message: 'Welcome!"),
        ("import time; time.sleep(60)", "in time"),
        (SERVER.replace("result = {", "result = None and {").replace('"result": result', '"error": "no"'), "refused"),
    ],
)
def test_a_server_that_does_not_answer_is_a_clear_refusal(code: str, why: str) -> None:
    with pytest.raises(InvalidRequest, match=f"(?s){why}"):
        ask_server([sys.executable, "-c", code], timeout=2)


def test_a_command_that_is_not_there_is_a_clear_refusal() -> None:
    with pytest.raises(InvalidRequest, match="cannot be started"):
        ask_server(["/no/such/vault-memory"])
