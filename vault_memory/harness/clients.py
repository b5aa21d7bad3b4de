"""The table of coding agents, loaded one by one when named."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Final

from vault_memory.errors import InvalidRequest
from vault_memory.harness.base import Harness

CLIENTS: Final[Mapping[str, str]] = {
    "claude-code": "claude_code",
    "codex": "codex",
    "gemini": "gemini",
    "opencode": "opencode",
    "cursor": "cursor",
    "vscode": "vscode",
    "windsurf": "windsurf",
    "zed": "zed",
    "claude-desktop": "claude_desktop",
}
"""Client name, as in `connect NAME`, to its module; the order is the one in which they are shown."""


def client(name: str) -> Harness:
    """The agent of that name.

    Raises:
        InvalidRequest: unknown; names the known ones.
    """
    if name not in CLIENTS:
        raise InvalidRequest.of("client", f"unknown client {name!r}", allowed=list(CLIENTS))
    harness: Harness = import_module(f"vault_memory.harness.{CLIENTS[name]}").HARNESS
    return harness


def clients() -> list[Harness]:
    """All agents, in the order of the table."""
    return [client(name) for name in CLIENTS]
