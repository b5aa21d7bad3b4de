"""The pictures in the documentation, made anew with VAULT_MEMORY_PICTURES=1; they show the sample and nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.dashboard.sample import make_vault
from tests.surfaces.rest_server import serving

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
WIDE = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 780}}
DARK = {"color_scheme": "dark"}
PICTURES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "overview": ("overview", "text=written or last changed", WIDE),
    "overview-phone-dark": ("overview", "text=written or last changed", {**PHONE, **DARK}),
    "search": ("memories?q=who reviews a migration&explain=1", ".explained tr", WIDE),
    "record-dark": ("memories?q=deploy&ref=Deploy with fly.io, not Heroku", ".note table", {**WIDE, **DARK}),
    "history": ("memories?q=deploy&tab=history&ref=Deploy with fly.io, not Heroku", ".diff", WIDE),
    "graph": ("graph", "canvas[data-settled=yes]", WIDE),
    "review": ("review", ".card .diff", WIDE),
}
pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(240),
    pytest.mark.skipif("VAULT_MEMORY_PICTURES" not in os.environ, reason="only on request: VAULT_MEMORY_PICTURES=1"),
]


@pytest.fixture(scope="module")
def signed_in(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Any]]:
    root = tmp_path_factory.mktemp("pictures") / "team-notes"
    make_vault(root)
    with serving(root) as server:
        context = browser.new_context()
        context.request.post(f"{server.url}/session", data={"token": server.token})
        yield server.url, context.storage_state()


@pytest.mark.parametrize("name", PICTURES)
def test_picture(name: str, browser: Any, signed_in: tuple[str, Any]) -> None:
    place, shown, options = PICTURES[name]
    url, state = signed_in
    context = browser.new_context(storage_state=state, reduced_motion="reduce", **options)
    page = context.new_page()
    page.goto(f"{url}/#/{place}")
    page.wait_for_selector(shown, timeout=60_000)
    page.wait_for_timeout(1500)
    page.screenshot(path=IMAGES / f"{name}.png", animations="disabled", caret="hide")
    assert (IMAGES / f"{name}.png").stat().st_size < 300_000
    context.close()
