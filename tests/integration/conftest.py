"""A machine of its own for each integration test: no settings of this one, and no process left behind."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.files.git_vault import isolate
from tests.integration.product import Product


@pytest.fixture(autouse=True)
def _machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("GIT_", "VAULT_MEMORY_"))]:
        monkeypatch.delenv(name)
    for name, value in isolate(tmp_path / "home", dict(os.environ)).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("VAULT_MEMORY_CONFIG", str(tmp_path / "settings.toml"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home" / "state"))


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Product]]:
    """Makes vaults; their watchers end with the test."""
    made: list[Product] = []

    def one(root: Path | None = None, **more: Any) -> Product:
        made.append(Product(root or tmp_path / "vault", **more))
        return made[-1]

    yield one
    for product in made:
        product.stop()
