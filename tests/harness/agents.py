"""Starts the real coding agents from npm against the fake model, in a home folder of the test's own.

`VAULT_MEMORY_TEST_AGENTS` names the folder (or several, as in PATH) with their `node_modules`; without it the programs
on the PATH are taken.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.harness.fake_model import FakeModel

FOLDER = os.environ.get("VAULT_MEMORY_TEST_AGENTS", "")
TIMEOUT_SECONDS = 200


def search_path() -> str:
    """The PATH with the agents' own folder first."""
    here = [str(Path(folder, "node_modules", ".bin")) for folder in FOLDER.split(os.pathsep) if folder]
    return os.pathsep.join([*here, os.environ["PATH"]])


def need(*programs: str) -> None:
    """Skip, saying what is missing, where a program is not installed."""
    missing = [name for name in programs if shutil.which(name, path=search_path()) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (npm install them and set VAULT_MEMORY_TEST_AGENTS)")


@dataclass(frozen=True)
class Desk:
    """Where an agent works: its home and the project folder it is started in."""

    home: Path
    project: Path

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """A bare environment: nothing of the person who runs the tests reaches the agents."""
        kept = {key: os.environ[key] for key in ("LANG", "TERM", "TMPDIR") if key in os.environ}
        return kept | {"HOME": str(self.home), "PATH": search_path(), "CI": "1", "NO_COLOR": "1"} | dict(extra or {})

    def run(self, *argv: str, extra: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run one command of an agent to its end; it gets no terminal and no input."""
        process = subprocess.Popen(
            argv,
            cwd=self.project,
            env=self.environment(extra),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            pytest.fail(f"{argv[0]} did not end in {TIMEOUT_SECONDS} s\n{out[-2000:]}\n{err[-2000:]}")
        return subprocess.CompletedProcess(argv, process.returncode, out, err)


def claude_code(desk: Desk, model: FakeModel, prompt: str) -> subprocess.CompletedProcess[str]:
    """One headless turn of Claude Code; it is told to wait for the server, which a loaded machine starts slowly."""
    extra = {
        "MCP_CONNECTION_NONBLOCKING": "false",
        "MCP_CONNECT_TIMEOUT_MS": "60000",
        "MCP_TIMEOUT": "60000",
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": "sk-ant-none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    return desk.run("claude", "-p", prompt, "--allowedTools", "mcp__vault-memory", extra=extra)


def codex(desk: Desk, model: FakeModel, prompt: str) -> subprocess.CompletedProcess[str]:
    """One headless turn of Codex; hooks are approved for this run as a person would in /hooks.

    `required` makes it wait for the server: by default its first turn begins without a server that is still starting.
    """
    provider = f'{{name="fake",base_url="{model.url}/v1",wire_api="responses"}}'
    settings = [
        f"model_providers.fake={provider}",
        'model_provider="fake"',
        'model="gpt-5"',
        "mcp_servers.vault-memory.required=true",
    ]
    flags = [part for setting in settings for part in ("-c", setting)]
    trust = ("--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox")
    return desk.run("codex", "exec", "--skip-git-repo-check", *trust, *flags, prompt)


def gemini(desk: Desk, model: FakeModel, prompt: str) -> subprocess.CompletedProcess[str]:
    """One headless turn of Gemini CLI."""
    extra = {"GOOGLE_GEMINI_BASE_URL": model.url, "GEMINI_API_KEY": "none", "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    return desk.run("gemini", "-m", "gemini-2.5-flash", "--yolo", "-p", prompt, extra=extra)


def opencode(desk: Desk, model: FakeModel, prompt: str) -> subprocess.CompletedProcess[str]:
    """One headless turn of opencode; the model provider comes from the environment, not from the home."""
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{model.url}/v1", "apiKey": "none"},
        "models": {"fake": {"name": "fake", "tool_call": True}},
    }
    config = {"provider": {"fake": provider}, "model": "fake/fake", "small_model": "fake/fake", "autoupdate": False}
    extra = {"OPENCODE_CONFIG_CONTENT": json.dumps(config), "OPENCODE_DISABLE_MODELS_FETCH": "1"}
    return desk.run("opencode", "run", "-m", "fake/fake", prompt, extra=extra)


RUNNERS = {"claude-code": claude_code, "codex": codex, "gemini": gemini, "opencode": opencode}
