"""The generated pages are current, and complete."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from vault_memory import errors
from vault_memory.surfaces.cli.catalogue import catalogue

ROOT = Path(__file__).parent.parent.parent


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_docs", ROOT / "scripts" / "generate_docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGES = generator().PAGES


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_current(name: str) -> None:
    assert (ROOT / name).read_text("utf-8") == PAGES[name](), "run: just docs"


def test_every_command_has_its_section() -> None:
    page = (ROOT / "docs" / "cli.md").read_text("utf-8")
    assert [name for name in catalogue() if f"\n### {name}\n" not in page] == []


def test_every_failure_is_explained() -> None:
    page = (ROOT / "docs" / "errors.md").read_text("utf-8")
    for kind in errors.VaultError.__subclasses__():
        assert f"| {kind.exit_code} | {kind.http_status} | `{kind.code}` | {kind.__name__} |" in page


def test_every_setting_is_explained() -> None:
    told = dict(generator().explanations())
    assert all(text and text.endswith(".") for text in told.values()), told
