"""The examples for running the server name options that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from vault_memory.surfaces.cli.serve import serve

ROOT = Path(__file__).parent.parent.parent
OPTIONS = {flag for param in serve.params for flag in param.opts}


@pytest.mark.parametrize(
    "name", ["docs/server.md", "docs/examples/vault-memory.service", "docs/examples/Containerfile"]
)
def test_every_option_of_serve_that_is_shown_exists(name: str) -> None:
    text = (ROOT / name).read_text("utf-8").replace('", "', " ")
    lines = [line for line in text.splitlines() if re.search(r"vault-memory serve\b", line)]
    shown = {flag for line in lines for flag in re.findall(r"(?<![\w-])--[a-z-]+", line)}
    assert lines
    assert shown <= OPTIONS


def test_every_option_of_serve_is_explained() -> None:
    page = (ROOT / "docs" / "server.md").read_text("utf-8")
    own = {flag for param in serve.params if param.expose_value for flag in param.opts if flag.startswith("--")}
    assert {flag for flag in own if f"`{flag}" not in page} == set()


def test_the_examples_that_are_named_are_there() -> None:
    page = (ROOT / "docs" / "server.md").read_text("utf-8")
    linked = re.findall(r"\]\((examples/[^)]+)\)", page)
    assert len(linked) == 4
    assert all((ROOT / "docs" / name).is_file() for name in linked)
