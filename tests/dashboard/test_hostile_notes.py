"""SE-04: text that wants to be a program stays text. Notes from anywhere are shown by a browser that is signed in."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dashboard.test_pages import Open, store
from tests.surfaces.rest_server import Server

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]
HOSTILE = """Press <kbd>Ctrl</kbd> and <b onclick="window.hacked=16">not this</b>.

# A heading <script>window.hacked = 1</script>

<script>window.hacked = 2</script>
<img src=x onerror="window.hacked = 3">
<svg onload="window.hacked = 4"><a xlink:href="javascript:window.hacked=5"><text>click</text></a></svg>
<a href="javascript:window.hacked = 6">one</a> [two](javascript:window.hacked=7)
[three](data:text/html,<script>x</script>)
<a href="JaVa&#x09;Script:window.hacked=8">four</a> [[x|<img src=x onerror=window.hacked=9>]]
<iframe srcdoc="<script>parent.hacked = 10</script>"></iframe><object data="javascript:1"></object><embed src="x">
<form action="https://evil.example"><input name="getElementById">
<button formaction="javascript:window.hacked=11">go</button></form>
<style>body { display: none }</style>
<div style="position:fixed;inset:0;background:red" id="app" class="toast">cover</div>
<math><mtext><table><mglyph><style><img src=x onerror="window.hacked=12"></style></mglyph></table></mtext></math>
<base href="https://evil.example/"><meta http-equiv="refresh" content="0;url=https://evil.example">
![track](https://evil.example/pixel.png)

{{constructor.constructor('window.hacked = 13')()}} ${window.hacked = 14} <%= hacked %> [ordinary](https://example.org)

| <b onmouseover="window.hacked=15">cell</b> | `<script>code</script>` |
|---|---|
| a | b |
"""


@pytest.mark.parametrize("tab", ["note", "history", "relations"])
def test_se_04_a_hostile_note_is_inert_in_its_record(open_page: Open, server: Server, tab: str) -> None:
    title = f"Hostile <img src=x onerror=window.hacked=20> {tab}"
    ref = store(server, title, HOSTILE, tags=["<b>tag"])
    page = open_page(f"memories?tab={tab}&ref={ref}")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_selector({"note": ".note p", "history": ".diff", "relations": ".add-relation"}[tab])
    page.wait_for_timeout(500)
    assert page.evaluate("window.hacked") is None
    assert page.inner_text(".record-title") == title
    assert not [url for url in asked if not url.startswith(server.url)]
    if tab == "note":
        _only_harmless(page)


def _only_harmless(page: Any) -> None:
    forbidden = "script, style, svg, math, img, iframe, object, embed, form, input, button, base, meta"
    assert page.locator(".note").locator(forbidden).count() == 0
    attributes = page.evaluate("[...document.querySelectorAll('.note *')].flatMap(e => e.getAttributeNames())")
    assert set(attributes) <= {"href", "title", "align", "rel", "target", "colspan", "rowspan", "start"}
    links = page.evaluate("[...document.querySelectorAll('.note a[href]')].map(e => e.getAttribute('href'))")
    assert links
    assert all(link.startswith(("https:", "#/")) for link in links)
    outside = page.locator(".note a[href^='https:']").first
    assert outside.get_attribute("rel") == "noopener noreferrer"
    shown = page.inner_text(".note")
    assert "{{constructor" in shown
    assert "<script>window.hacked = 2</script>" in shown
    assert page.inner_text(".note kbd") == "Ctrl"


def test_se_04_hostile_text_is_inert_in_lists_search_preview_and_graph(open_page: Open, server: Server) -> None:
    ref = store(server, "Marsupial <svg onload=window.hacked=21>", HOSTILE.replace("A heading", "marsupial"))
    for place in ("memories?q=marsupial&explain=1", "timeline", "overview", "graph", "review"):
        page = open_page(place)
        page.wait_for_timeout(700)
        assert page.evaluate("window.hacked") is None, place
    page = open_page(f"memories?ref={ref}")
    page.click("button:has-text('Edit')")
    page.click("text=Preview")
    page.wait_for_selector(".preview .note p")
    page.wait_for_timeout(300)
    assert page.evaluate("window.hacked") is None
