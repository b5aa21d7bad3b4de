"""The page that lets a program in, in a real browser: its form is sent, and the answer reaches the program."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.surfaces.browser import PASSPHRASE, Program, public_serving

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


def test_the_owner_lets_a_program_in(browser: Any, tmp_path: Path) -> None:
    heard: list[str] = []

    class Listening(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"You may close this page.")

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Listening) as listening, public_serving(tmp_path / "vault") as server:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        program = Program(server, f"http://127.0.0.1:{listening.server_address[1]}/callback")
        context = browser.new_context(viewport={"width": 480, "height": 800})
        page = context.new_page()
        problems: list[str] = []
        page.on("console", lambda said: problems.append(said.text) if "Security" in said.text else None)
        page.goto(program.ask().headers["location"])
        page.get_by_label("Your passphrase").fill("not the passphrase")
        page.get_by_role("button", name="Allow").click()
        page.get_by_text("That is not the passphrase.").wait_for()
        page.screenshot(path=str(tmp_path / "consent.png"))
        page.get_by_label("Store and change memories").uncheck()
        page.get_by_label("Your passphrase").fill(PASSPHRASE)
        page.keyboard.press("Enter")
        page.get_by_text("You may close this page.").wait_for()
        context.close()
        listening.shutdown()
        answered = parse_qs(urlsplit(next(path for path in heard if path.startswith("/callback"))).query)
        assert answered["state"] == ["st"]
        assert program.exchange(answered["code"][0]).json["scope"] == "read"
    assert problems == []
