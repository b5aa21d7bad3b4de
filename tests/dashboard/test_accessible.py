"""No page has an accessibility finding that axe-core calls serious or critical, in light and dark, narrow and wide."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dashboard.test_pages import Open

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]
PLACES = {
    "overview": "text=written or last changed",
    "memories": ".row-link",
    "memories?q=deploy&explain=1": ".explained tr",
    "memories?ref=Deploy with fly.io, not Heroku": ".note table",
    "memories?tab=relations&ref=Deploy with fly.io, not Heroku": ".edges li",
    "memories?tab=history&ref=Deploy with fly.io, not Heroku": ".diff",
    "graph": "canvas",
    "timeline": ".days h2",
    "review": "h2 >> text=Look for secrets",
    "anchors": "textarea",
    "projects": ".bars li",
    "maintenance": ".trail tbody td:not(:empty)",
    "settings": ".values td",
}
LOOKS = {
    "light": {},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 800}, "color_scheme": "dark"},
}
GRAVE = ("serious", "critical")


def findings(page: Any) -> list[str]:
    """Rule and place of everything grave."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="needs: pip install axe-playwright-python"
    )
    found = axe.Axe().run(page).response["violations"]
    return [
        f"{rule['id']}: {node['html'][:160]}" for rule in found if rule["impact"] in GRAVE for node in rule["nodes"]
    ]


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("place", PLACES)
def test_a_page_has_no_grave_accessibility_finding(open_page: Open, place: str, look: str) -> None:
    page = open_page(place, **LOOKS[look])
    page.wait_for_selector(PLACES[place])
    assert findings(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page scrolls sideways"


@pytest.mark.parametrize(
    ("place", "clicks"),
    [
        ("memories?ref=No Redis for sessions", ["button:text-is('Archive')"]),
        ("memories?ref=No Redis for sessions", ["text=Purge…"]),
        ("memories?ref=No Redis for sessions", ["button:text-is('Edit')"]),
        ("memories", [".rows input >> nth=0", ".bulk >> text=Add a tag"]),
        ("maintenance", ["text=Check everything"]),
    ],
)
def test_what_opens_on_a_click_has_none_either(open_page: Open, place: str, clicks: list[str]) -> None:
    page = open_page(place)
    for target in clicks:
        page.click(target)
    page.wait_for_selector("dialog[open], form.edit, main table.list td")
    assert findings(page) == []


def test_the_pages_are_walked_by_keys_alone(open_page: Open) -> None:
    page = open_page("overview")
    for key, title in zip("mgtrapxs", ("Memories", "Graph", "Timeline", "Review", "Anchors", "Projects", "Maintenance",
                                       "Settings"), strict=True):  # fmt: skip
        page.keyboard.press(key)
        page.wait_for_selector(f"main h1:has-text('{title}')")
    page.keyboard.press("?")
    page.wait_for_selector("dialog .keys")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
