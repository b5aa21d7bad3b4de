"""A vault of one's own for each test, opened as a program of a person would."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from vault_memory import init_vault, open_vault
from vault_memory.surfaces.python import VaultMemory


class Clock:
    """A clock that a test moves; it starts now, because file times do."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **parts: float) -> None:
        self.now += timedelta(**parts)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A vault without git: most tests are not about history."""
    folder = tmp_path / "vault"
    init_vault(folder, git=False)
    return folder


ENVIRON = {"VAULT_MEMORY_CONFIG": "/nonexistent/config.toml"}
"""Nobody's own settings."""


@pytest.fixture
def vm(root: Path, clock: Clock) -> Iterator[VaultMemory]:
    with open_vault(root, environ=ENVIRON, clock=clock) as opened:
        yield opened
