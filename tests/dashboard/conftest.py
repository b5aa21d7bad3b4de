"""One server and one browser for all tests of the dashboard; each test gets a signed-in page of its own.

Without playwright or a Chromium the browser tests are skipped, with a message that says what to install.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.dashboard.sample import make_vault
from tests.surfaces.rest_server import Server, serving

HOW = "needs a browser: pip install playwright, and Debian's chromium (apt-get install chromium)"
LISTEN = """
window.violations = [];
addEventListener("securitypolicyviolation",
    (event) => violations.push(`${event.violatedDirective} ${event.blockedURI}`));
"""


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason=HOW)
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip(HOW)
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    root = tmp_path_factory.mktemp("dashboard") / "vault"
    make_vault(root)
    with serving(root) as running:
        yield running


@pytest.fixture(scope="session")
def state(browser: Any, server: Server) -> Any:
    """A browser's cookies after signing in."""
    context = browser.new_context()
    answer = context.request.post(f"{server.url}/session", data={"token": server.token})
    assert answer.ok, answer.text()
    return context.storage_state()


@pytest.fixture
def open_page(browser: Any, server: Server, state: Any) -> Iterator[Callable[..., Any]]:
    """Opens a place of the dashboard; at the end no page may have broken its policy or failed in a script."""
    pages: list[Any] = []
    errors: list[str] = []

    def opening(place: str, **options: Any) -> Any:
        usual = {"viewport": {"width": 1360, "height": 860}, "storage_state": state, "reduced_motion": "reduce"}
        context = browser.new_context(**{**usual, **options})
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.add_init_script(LISTEN)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda said: errors.append(said.text) if "Content Security Policy" in said.text else None)
        page.goto(f"{server.url}/#/{place}")
        page.wait_for_selector(".shell main h1")
        pages.append(page)
        return page

    yield opening
    broken = [violation for page in pages for violation in page.evaluate("violations")]
    for page in pages:
        page.context.close()
    assert broken == []
    assert errors == []
