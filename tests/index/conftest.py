"""Fixtures of the index tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.index.vaults import VaultOnDisk
from vault_memory.index.catalog import Catalog


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    catalog = Catalog.open(tmp_path / "index")
    yield catalog
    catalog.close()


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[VaultOnDisk]:
    vault = VaultOnDisk(tmp_path / "vault")
    yield vault
    vault.close()
