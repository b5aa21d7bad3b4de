"""A vault for every transcript."""

from __future__ import annotations

from pathlib import Path

import pytest

from vault_memory import init_vault


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    init_vault(root)
    return root
