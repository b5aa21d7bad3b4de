"""Builds the plugin folders from `source/` and `hooks/agents/`: one for Claude Code and Codex, one for Gemini CLI.

Run `python plugins/build.py` after a change; a test fails when the folders are not what it builds.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
NAME = "vault-memory"
ABOUT = "Long-term memory for coding agents, kept as plain Markdown notes that you own and every agent shares."
AUTHOR = "vault-memory contributors"
CLAUDE_EVENTS = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "prompt",
    "PreCompact": "pre-compact",
    "PostCompact": "post-compact",
}
GEMINI_EVENTS = {"SessionStart": "session-start", "BeforeAgent": "prompt", "PreCompress": "pre-compact"}


def version() -> str:
    """The package's version."""
    found = re.search(r'__version__ = "([^"]+)"', (ROOT / "vault_memory" / "__init__.py").read_text("utf-8"))
    assert found is not None
    return found[1]


def files() -> dict[str, str]:
    """Every built file below `plugins/`, by its path, in order."""
    return dict(sorted([*_marketplaces(), *_plugin(), *_gemini()]))


def _marketplaces() -> Iterator[tuple[str, str]]:
    entry = {"name": NAME, "description": ABOUT, "source": f"./{NAME}", "category": "productivity"}
    claude = {
        "name": NAME,
        "owner": {"name": AUTHOR},
        "metadata": {"description": ABOUT, "version": version()},
        "plugins": [entry],
    }
    yield ".claude-plugin/marketplace.json", _json(claude)


def _plugin() -> Iterator[tuple[str, str]]:
    about = {"name": NAME, "version": version(), "description": ABOUT, "author": {"name": AUTHOR}, "license": "MIT"}
    keywords = {"keywords": ["memory", "mcp", "markdown", "obsidian"]}
    yield f"{NAME}/.claude-plugin/plugin.json", _json(about | keywords)
    codex = {"skills": "./skills/", "mcpServers": "./codex.mcp.json", "hooks": "./hooks/hooks.json"}
    yield f"{NAME}/.codex-plugin/plugin.json", _json(about | keywords | codex)
    server = {"command": "sh", "args": ["${CLAUDE_PLUGIN_ROOT}/hooks/vault-memory-mcp.sh"]}
    yield f"{NAME}/.mcp.json", _json({"mcpServers": {NAME: server}})
    # Codex does not fill in the plugin's folder here (tried), so there the command must be on the PATH.
    plain = {"command": NAME, "args": ["mcp"], "startup_timeout_sec": 30}
    yield f"{NAME}/codex.mcp.json", _json({"mcpServers": {NAME: plain}})
    yield f"{NAME}/hooks/hooks.json", _json({"hooks": _hooks(CLAUDE_EVENTS, "${CLAUDE_PLUGIN_ROOT}", "plugin", 10)})
    yield from _scripts(NAME)
    yield f"{NAME}/skills/memory/SKILL.md", _source("skill.md")
    for path in _commands():
        yield f"{NAME}/commands/{path.name}", path.read_text("utf-8")


def _gemini() -> Iterator[tuple[str, str]]:
    server = {"command": "sh", "args": ["${extensionPath}/hooks/vault-memory-mcp.sh"]}
    about = {"name": NAME, "version": version(), "description": ABOUT, "mcpServers": {NAME: server}}
    yield "gemini/gemini-extension.json", _json(about)
    yield "gemini/hooks/hooks.json", _json({"hooks": _hooks(GEMINI_EVENTS, "${extensionPath}", "gemini", 10_000)})
    yield from _scripts("gemini")
    yield "gemini/skills/memory/SKILL.md", _source("skill.md")
    for path in _commands():
        yield f"gemini/commands/memory/{path.stem}.toml", _gemini_command(path.read_text("utf-8"))


def _hooks(events: Mapping[str, str], root: str, client: str, timeout: int) -> dict[str, Any]:
    def command(event: str) -> dict[str, Any]:
        line = f'sh "{root}/hooks/vault-memory-hook.sh" {event} {client}'
        return {"type": "command", "command": line, "timeout": timeout}

    return {theirs: [{"hooks": [command(ours)]}] for theirs, ours in events.items()}


def _scripts(folder: str) -> Iterator[tuple[str, str]]:
    for name in ("vault-memory-hook.sh", "vault-memory-mcp.sh"):
        yield f"{folder}/hooks/{name}", (ROOT / "hooks" / "agents" / name).read_text("utf-8")


def _commands() -> list[Path]:
    return sorted((HERE / "source" / "commands").glob("*.md"))


def _gemini_command(text: str) -> str:
    """A command of Claude Code as one of Gemini CLI: the same words, TOML around them."""
    head, body = text.removeprefix("---\n").split("\n---\n", 1)
    description = re.search(r"^description: (.*)$", head, re.MULTILINE)
    assert description is not None
    prompt = body.replace("$ARGUMENTS", "{{args}}")
    assert "'''" not in prompt
    return f"description = {json.dumps(description[1])}\nprompt = '''\n{prompt}'''\n"


def _source(name: str) -> str:
    return (HERE / "source" / name).read_text("utf-8")


def _json(data: Mapping[str, Any]) -> str:
    return json.dumps(data, indent=2) + "\n"


def main() -> int:
    """Write every file that differs; the number of files written is the message."""
    written = 0
    for name, text in files().items():
        path = HERE / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8", newline="\n")
            written += 1
    sys.stdout.write(f"{written} files written\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
