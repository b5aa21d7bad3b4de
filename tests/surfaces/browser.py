"""A program that signs in, and the browser it sends its owner to: what goes over the wire, step by step."""

from __future__ import annotations

import base64
import hashlib
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.surfaces.rest_server import Reply, Server, serving
from vault_memory.operations.init import init_vault
from vault_memory.surfaces.auth.oauth.passphrase import Passphrase

PASSPHRASE = "lantern otter cedar violet"
BACK = "http://127.0.0.1:7777/callback"


@contextmanager
def public_serving(root: Path, *options: str) -> Iterator[Server]:
    """A server that programs can sign in to, reached at its loopback address."""
    if not root.exists():
        init_vault(root, git=False)
    Passphrase(root / ".vault-memory" / "state").set(PASSPHRASE)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    with serving(root, "--port", str(port), "--public-url", url, *options) as server:
        yield server


class Form(HTMLParser):
    """The fields of a page's form with what they would send as they stand."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self.text = page.decode()
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "input" and found.get("name") and (found.get("type") != "checkbox" or "checked" in found):
            self.fields[str(found["name"])] = found.get("value") or ""


class Program:
    """A program without a secret that keeps to the rules unless it is told not to."""

    def __init__(self, server: Server, back: str = BACK, **metadata: Any) -> None:
        self.server = server
        self.back = back
        self.verifier = secrets.token_urlsafe(32)
        asked = {"redirect_uris": [back], "client_name": "Test Program", "token_endpoint_auth_method": "none"}
        self.registration = server.raw(
            "POST", "/register", {"Content-Type": "application/json"}, _json({**asked, **metadata})
        )
        self.client_id = self.registration.json.get("client_id", "")

    def ask(self, **changes: str | None) -> Reply:
        """The first step: where the browser is sent."""
        challenge = base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()
        asked: dict[str, str | None] = {
            "client_id": self.client_id, "redirect_uri": self.back, "response_type": "code", "state": "st",
            "code_challenge": challenge, "code_challenge_method": "S256", "resource": f"{self.server.url}/mcp",
        }  # fmt: skip
        asked |= changes
        query = urlencode({key: value for key, value in asked.items() if value is not None})
        return self.server.raw("GET", f"/authorize?{query}", {})

    def consent(self, asked: Reply, **changes: str) -> Reply:
        """The owner's answer on the page that the browser was sent to."""
        assert asked.status == 302, asked.body
        target = urlsplit(asked.headers["location"])
        page = self.server.raw("GET", f"{target.path}?{target.query}", {})
        assert page.status == 200, page.body
        cookie = page.headers["set-cookie"].partition(";")[0]
        fields = {**Form(page.body).fields, "passphrase": PASSPHRASE, "answer": "allow", **changes}
        return self.form("/consent", fields, Cookie=cookie, Origin=self.server.url)

    def form(self, path: str, fields: dict[str, str], **headers: str) -> Reply:
        sent = {"Content-Type": "application/x-www-form-urlencoded", **headers}
        return self.server.raw("POST", path, sent, urlencode(fields).encode())

    def exchange(self, code: str, **changes: str) -> Reply:
        """The code for tokens."""
        fields = {
            "grant_type": "authorization_code", "code": code, "redirect_uri": self.back, "client_id": self.client_id,
            "code_verifier": self.verifier,
        }  # fmt: skip
        return self.form("/token", {**fields, **changes})

    def refresh(self, token: str, **changes: str) -> Reply:
        fields = {"grant_type": "refresh_token", "refresh_token": token, "client_id": self.client_id}
        return self.form("/token", {**fields, **changes})

    def code(self, consent: dict[str, str] | None = None, **changes: str | None) -> str:
        """A code, by the whole way."""
        return returned(self.consent(self.ask(**changes), **(consent or {})))["code"]

    def sign_in(self, consent: dict[str, str] | None = None, **changes: str | None) -> dict[str, Any]:
        """Tokens, by the whole way."""
        reply = self.exchange(self.code(consent, **changes))
        assert reply.status == 200, reply.body
        return dict(reply.json)


def returned(reply: Reply) -> dict[str, str]:
    """What the browser brings back to the program."""
    assert reply.status in (302, 303), reply.body
    return {key: values[0] for key, values in parse_qs(urlsplit(reply.headers["location"]).query).items()}


def _json(document: Any) -> bytes:
    import json

    return json.dumps(document).encode()
