"""The real coding agents from npm against a scripted model: one memory for all of them, and a clean leave."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness import agents
from tests.harness.agents import RUNNERS, Desk
from tests.harness.fake_model import fake_model

pytestmark = [pytest.mark.clients, pytest.mark.slow, pytest.mark.timeout(900)]

PROGRAMS = {"claude-code": "claude", "codex": "codex", "gemini": "gemini", "opencode": "opencode"}
OTHERS = {"claude-code": "codex", "codex": "claude-code", "gemini": "opencode", "opencode": "gemini"}
COMMAND = str(Path(sys.executable).with_name("vault-memory"))
FACT = "Deploys of this project go through fly.io in the fra region."


@pytest.fixture
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A home with settings of all four agents, and a project that is a repository with one commit."""
    root = tmp_path_factory.mktemp("desk")
    home, project = root / "home", root / "proj é"
    for folder in (home / ".codex", home / ".gemini", home / ".claude", home / ".config" / "opencode", project):
        folder.mkdir(parents=True)
    (home / ".codex" / "config.toml").write_text("# mine\n[tui] # t\nanimations = false\n")
    (home / ".gemini" / "settings.json").write_text(
        '{\n  // mine\n  "security": {"auth": {"selectedType": "gemini-api-key"}}\n}\n'
    )
    (home / ".claude" / "settings.json").write_text('{"includeCoAuthoredBy": false}')
    (home / ".config" / "opencode" / "opencode.json").write_text('{"$schema": "https://opencode.ai/config.json"}\n')
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    subprocess.run(["git", *identity, "commit", "-q", "--allow-empty", "-m", "first"], cwd=project, check=True)
    return Desk(home, project)


@pytest.fixture
def vault(desk: Desk) -> Path:
    folder = desk.home.parent / "my vault"
    ours(desk, "init", str(folder))
    return folder


def ours(desk: Desk, *arguments: str) -> str:
    """Run the command line in the desk's home and project; its stdout."""
    done = desk.run(COMMAND, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def settings(desk: Desk) -> dict[str, str]:
    """Hashes of the files that connecting may touch, and of our own state."""
    names = (
        ".claude.json", ".claude/settings.json", ".codex/config.toml", ".codex/hooks.json", ".codex/AGENTS.md",
        ".gemini/settings.json", ".config/opencode/opencode.json", ".config/opencode/plugins/vault-memory.js",
    )  # fmt: skip
    paths = [desk.home / name for name in names]
    paths += sorted(path for path in (desk.home / ".local" / "state").rglob("*vault-memory*/**/*"))
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths if path.is_file()}


@pytest.mark.parametrize("first", list(PROGRAMS))
def test_what_one_agent_saves_another_knows_and_leaving_restores_the_settings(
    first: str, desk: Desk, vault: Path
) -> None:
    second = OTHERS[first]
    agents.need(PROGRAMS[first], PROGRAMS[second])
    before = settings(desk)
    for name in (first, second):
        ours(desk, "connect", name, "--vault", str(vault), "--yes")
    with fake_model() as model:
        model.tool, model.arguments = "remember", {"content": FACT, "memory_type": "decision"}
        said = RUNNERS[first](desk, model, "Remember how we deploy.")
        assert "remember" in model.text(), said
    stored = json.loads(ours(desk, "memories", "--json"))
    assert [item["content"].strip() for item in stored["items"]] == [FACT]
    assert stored["items"][0]["agent"] == first

    with fake_model() as model:
        model.tool, model.arguments = "search", {"query": "how do we deploy?"}
        RUNNERS[second](desk, model, "How do we deploy?")
        start, *later = model.conversations
        assert FACT in json.dumps(start, ensure_ascii=False)
        assert any(FACT in json.dumps(request, ensure_ascii=False) for request in later)

    for name in (second, first):
        ours(desk, "disconnect", name)
    after = settings(desk)
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert {Path(path).name for path in changed} <= {".claude.json"}, "Claude Code keeps its own state in .claude.json"
    state = desk.home / ".claude.json"
    assert not state.exists() or "vault-memory" not in json.loads(state.read_text()).get("mcpServers", {})


@pytest.mark.parametrize("client", list(PROGRAMS))
def test_leaving_at_once_leaves_every_file_of_the_home_as_it_was(client: str, desk: Desk, vault: Path) -> None:
    def everything() -> dict[str, str]:
        return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(desk.home.rglob("*")) if p.is_file()}

    before = everything()
    ours(desk, "connect", client, "--vault", str(vault), "--hooks", "full", "--force")
    assert everything() != before
    ours(desk, "disconnect", client)
    assert everything() == before


@pytest.mark.parametrize(
    ("client", "command", "expected"),
    [
        ("claude-code", ("claude", "mcp", "get", "vault-memory"), "Connected"),
        ("codex", ("codex", "mcp", "list", "--json"), '"name": "vault-memory"'),
        ("opencode", ("opencode", "mcp", "list"), "connected"),
    ],
)
def test_the_client_itself_sees_the_server(
    client: str, command: tuple[str, ...], expected: str, desk: Desk, vault: Path
) -> None:
    agents.need(command[0])
    ours(desk, "connect", client, "--vault", str(vault))
    assert expected in desk.run(*command).stdout


@pytest.mark.parametrize(
    "command",
    [
        ("claude", "plugin", "validate", "--strict", "plugins/vault-memory"),
        ("claude", "plugin", "validate", "--strict", "plugins"),
        ("gemini", "extensions", "validate", "plugins/gemini"),
    ],
)
def test_the_plugin_folders_pass_the_clients_own_checks(command: tuple[str, ...], desk: Desk) -> None:
    agents.need(command[0])
    *words, folder = command
    done = desk.run(*words, str(Path(__file__).parents[2] / folder))
    assert done.returncode == 0, done.stdout + done.stderr


def test_codex_installs_the_plugin_and_sees_its_server(desk: Desk) -> None:
    agents.need("codex")
    plugins = str(Path(__file__).parents[2] / "plugins")
    assert desk.run("codex", "plugin", "marketplace", "add", plugins).returncode == 0
    assert desk.run("codex", "plugin", "add", "vault-memory@vault-memory").returncode == 0
    assert "vault-memory" in desk.run("codex", "mcp", "list").stdout


def test_claude_code_and_gemini_install_what_the_plugin_folders_hold(desk: Desk) -> None:
    agents.need("claude", "gemini")
    plugins = Path(__file__).parents[2] / "plugins"
    assert desk.run("claude", "plugin", "marketplace", "add", str(plugins)).returncode == 0
    assert desk.run("claude", "plugin", "install", "vault-memory@vault-memory").returncode == 0
    assert "vault-memory@vault-memory" in desk.run("claude", "plugin", "list").stdout
    trusting = {"GEMINI_CLI_TRUST_WORKSPACE": "true"}
    done = desk.run("gemini", "extensions", "install", str(plugins / "gemini"), "--consent", extra=trusting)
    assert done.returncode == 0, done.stdout + done.stderr
    listed = desk.run("gemini", "extensions", "list")
    assert "vault-memory" in listed.stdout + listed.stderr


def test_the_inspector_lists_the_core_tools_and_calls_every_one(desk: Desk, vault: Path) -> None:
    agents.need("mcp-inspector")
    base = ("mcp-inspector", "--cli", COMMAND, "mcp", "--vault", str(vault), "--method")

    def call(tool: str, **arguments: str) -> str:
        pairs = [part for key, value in arguments.items() for part in ("--tool-arg", f"{key}={value}")]
        done = desk.run(*base, "tools/call", "--tool-name", tool, *pairs)
        answer = json.loads(done.stdout)
        assert not answer.get("isError"), answer
        return str(answer["content"][0]["text"])

    names = {tool["name"] for tool in json.loads(desk.run(*base, "tools/list").stdout)["tools"]}
    assert "stored" in call("remember", content=FACT, memory_type="decision")
    assert "stored" in call("remember", content="The health check of the service answers on /up.")
    by_content = {item["content"].strip(): item["id"] for item in json.loads(ours(desk, "memories", "--json"))["items"]}
    deploys, health = by_content[FACT], next(id for text, id in by_content.items() if text != FACT)
    calls = {
        "search": ({"query": "deploys"}, "fly.io"),
        "context_pack": ({"query": "deploys"}, "fly.io"),
        "get": ({"refs": deploys}, "fra region"),
        "list": ({}, "/up"),
        "update": ({"ref": deploys, "tags": "deploy"}, "updated"),
        "relate": ({"from_ref": deploys, "to_ref": health, "relation_type": "relates_to"}, ""),
        "checkpoint": ({"intent": "ship", "established": "fly works", "pursuing": "fra", "open_questions": "cost"}, ""),
        "pulse": ({}, "ship"),
        "history": ({"ref": deploys}, ""),
        "correct": ({"ref": health, "content": "The health check of the service answers on /healthz."}, ""),
        "forget": ({"ref": deploys, "reason": "moved away"}, ""),
    }
    assert names == {"remember", *calls}
    for tool, (arguments, expected) in calls.items():
        assert expected in call(tool, **arguments), tool
