"""A home folder as people have it: an accent and a space in the path, settings of several clients, a linked dotfile."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from vault_memory.harness.base import Machine, Options
from vault_memory.harness.receipts import Receipts

HOME_FILES = {
    ".claude.json": '{"numStartups": 3, "mcpServers": {"other": {"command": "/bin/true"}}, "projects": {}}',
    ".claude/settings.json": '{\r\n    "model": "opus",\r\n    "hooks": {\r\n        "Stop": []\r\n    }\r\n}\r\n',
    ".codex/config.toml": '# mine\nmodel = "x" # why\n\n[mcp_servers.other]\ncommand = "true" # keep\n# trailing\n',
    ".codex/AGENTS.md": "# House rules\n\nBe brief.",
    ".gemini/settings.json": '\ufeff{\n  // looks\n  "ui": {"theme": "x"}, "zz": 1,\n}\n',
    ".config/opencode/opencode.jsonc": '{\n\t"$schema": "https://opencode.ai/config.json", // s\n}\n',
    ".cursor/mcp.json": "{}",
    ".config/Code/User/mcp.json": '{\n  "servers": {},\n  "inputs": []\n}\n',
    ".codeium/windsurf/mcp_config.json": "",
    ".config/zed/settings.json": '// Zed\n{\n  "theme": "One"\n}\n',
    ".config/Claude/claude_desktop_config.json": '{"mcpServers": {}}',
}


def tree(folder: Path) -> dict[str, str]:
    """Every file, link and folder below `folder` with a hash of its bytes and its permissions."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        elif path.is_dir():
            found[name] = "folder"
        else:
            found[name] = f"{hashlib.sha256(path.read_bytes()).hexdigest()} {path.stat().st_mode:o}"
    return found


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "Zoë's home"
    for name, text in HOME_FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    dotfiles = folder / "dotfiles"
    dotfiles.mkdir()
    (folder / ".claude" / "settings.json").rename(dotfiles / "claude settings.json")
    (folder / ".claude" / "settings.json").symlink_to(Path("..", "dotfiles", "claude settings.json"))
    (folder / ".claude.json").chmod(0o600)
    return folder


@pytest.fixture
def machine(home: Path) -> Machine:
    return Machine(home, {"PATH": os.environ["PATH"]})


@pytest.fixture
def options(home: Path) -> Options:
    return Options((str(home / "bin" / "vault-memory"),), home / "my notes")


@pytest.fixture
def receipts(home: Path) -> Receipts:
    return Receipts(home / ".local" / "state" / "vault-memory" / "connections")
