"""Signing in through a browser: who gets a token, what it opens, and what ends it."""

from __future__ import annotations

import json
import stat
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.surfaces.browser import BACK, PASSPHRASE, Form, Program, public_serving, returned
from tests.surfaces.rest_server import Reply, Server, serving
from vault_memory.surfaces.auth.oauth.documents import UnfitDocument, fetch

INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with public_serving(tmp_path_factory.mktemp("sign-in") / "vault") as running:
        yield running


def initialize(server: Server, token: str, path: str = "/mcp") -> Reply:
    return server.ask("POST", path, INITIALIZE, token=token, Accept="application/json, text/event-stream")


def write(server: Server, token: str, text: str) -> Reply:
    return server.post("remember", {"content": text, "on_duplicate": "keep_both"}, token=token)


def state(server: Server, name: str) -> Path:
    return server.root / ".vault-memory" / "state" / name


def run(server: Server, *arguments: str, text: str = "") -> Any:
    import subprocess
    import sys

    command = [sys.executable, "-m", "vault_memory", "token", *arguments, "--vault", str(server.root), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=server.environ, input=text, check=False)
    return json.loads(done.stdout or done.stderr)


@pytest.mark.parametrize("path", ["/mcp", "/mcp/core", "/mcp/full"])
def test_a_refusal_says_where_to_sign_in(server: Server, path: str) -> None:
    challenge = server.raw("POST", path, {"Content-Type": "application/json"}, b"{}").headers["www-authenticate"]
    assert f'resource_metadata="{server.url}/.well-known/oauth-protected-resource{path}"' in challenge
    assert 'scope="read write"' in challenge
    assert "error=" not in challenge
    described = server.raw("GET", f"/.well-known/oauth-protected-resource{path}", {}).json
    assert described["resource"] == f"{server.url}{path}"
    assert described["authorization_servers"] == [server.url]


def test_a_token_that_does_not_hold_is_named_as_such(server: Server) -> None:
    assert 'error="invalid_token"' in initialize(server, "wrong").headers["www-authenticate"]


@pytest.mark.parametrize("path", ["", "/mcp", "/mcp/core"])
def test_the_server_describes_how_to_sign_in(server: Server, path: str) -> None:
    found = server.raw("GET", f"/.well-known/oauth-authorization-server{path}", {}).json
    assert found["issuer"] == server.url
    assert found["code_challenge_methods_supported"] == ["S256"]
    assert found["token_endpoint_auth_methods_supported"] == ["none"]
    assert found["client_id_metadata_document_supported"] is False  # this machine may have no network
    for name in ("authorization", "token", "registration", "revocation"):
        assert found[f"{name}_endpoint"].startswith(f"{server.url}/")


@pytest.mark.parametrize("path", ["/.well-known/oauth-protected-resource/nowhere", "/.well-known/openid-configuration"])
def test_nothing_is_described_that_does_not_exist(server: Server, path: str) -> None:
    assert server.ask("GET", path).status == 404


def test_who_was_let_in_reads_and_writes_under_its_name(server: Server) -> None:
    tokens = Program(server).sign_in(resource=None)
    assert tokens["token_type"] == "Bearer"
    assert tokens["scope"] == "read write"
    assert initialize(server, tokens["access_token"]).status == 200
    reply = write(server, tokens["access_token"], "Signed-in programs are named.")
    assert reply.status == 200, reply.body
    audit = state(server, "audit.jsonl").read_text().splitlines()[-1]
    assert json.loads(audit)["agent"].startswith("test-program:")


def test_secrets_are_kept_as_hashes_that_only_the_owner_can_read(server: Server) -> None:
    program = Program(server)
    code = program.code()
    tokens = program.exchange(code).json
    for name in ("sign-ins.json", "clients.json", "passphrase"):
        assert stat.S_IMODE(state(server, name).stat().st_mode) == 0o600
    kept = "".join(path.read_text("latin-1") for path in state(server, "").iterdir() if path.is_file())
    for secret in (PASSPHRASE, code, tokens["access_token"], tokens["refresh_token"].partition(".")[2]):
        assert secret not in kept
    assert state(server, "passphrase").read_text().startswith("$argon2id$")


def test_a_token_opens_only_what_it_was_issued_for(server: Server) -> None:
    token = Program(server).sign_in(resource=f"{server.url}/mcp/core")["access_token"]
    assert initialize(server, token, "/mcp/core").status == 200
    for path in ("/mcp", "/mcp/full"):
        assert initialize(server, token, path).status == 401
    assert server.ask("GET", "/v1/list", token=token).status == 401
    assert server.ask("GET", "/memories", token=token).status == 401


def test_tokens_for_another_server_are_not_given(server: Server) -> None:
    program = Program(server)
    for resource in ("https://evil.example/mcp", f"{server.url}/other", f"{server.url}@evil.example/mcp"):
        assert returned(program.ask(resource=resource))["error"] == "invalid_target"
    reply = program.exchange(program.code(), resource="https://evil.example/mcp")
    assert (reply.status, reply.json["error"]) == (400, "invalid_target")


def test_the_owner_may_allow_less_than_is_asked(server: Server) -> None:
    tokens = Program(server).sign_in({"write": "", "project": "shop"}, resource=None)
    assert tokens["scope"] == "read"
    assert write(server, tokens["access_token"], "This may not be.").status == 403
    assert server.ask("GET", "/v1/list", token=tokens["access_token"]).status == 200
    assert server.ask("GET", "/v1/list", token=tokens["access_token"], Vault_Project="other").status == 403


def test_a_program_that_asks_to_read_cannot_write(server: Server) -> None:
    program = Program(server)
    asked = program.ask(scope="read", resource=None)
    tokens = program.exchange(returned(program.consent(asked, write="1"))["code"]).json
    assert tokens["scope"] == "read"
    assert write(server, tokens["access_token"], "Nor may this.").status == 403


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"scope": "admin"}, "invalid_scope"),
    ],
)
def test_what_is_wrong_with_a_request_goes_back_to_the_program(
    server: Server, change: dict[str, str | None], error: str
) -> None:
    found = returned(Program(server).ask(**change))
    assert (found["error"], found["state"], found["iss"]) == (error, "st", server.url)


@pytest.mark.parametrize("change", [{"client_id": "unknown"}, {"redirect_uri": "https://evil.example/callback"}])
def test_a_browser_is_never_sent_to_an_unknown_place(server: Server, change: dict[str, str | None]) -> None:
    reply = Program(server).ask(**change)
    assert reply.status == 400
    assert "location" not in reply.headers


@pytest.mark.parametrize(
    ("registered", "asked", "fits"),
    [
        ("http://127.0.0.1/callback", "http://127.0.0.1:50123/callback", True),
        ("http://localhost:1/callback", "http://localhost:2/callback", True),
        ("http://[::1]/callback", "http://[::1]:9/callback", True),
        ("http://127.0.0.1/callback", "http://127.0.0.1:50123/other", False),
        ("http://127.0.0.1/callback", "http://localhost:50123/callback", False),
        ("http://127.0.0.1/callback", "http://127.0.0.1/callback?x=1", False),
        ("https://app.example/cb", "https://app.example:8443/cb", False),
        ("https://app.example/cb", "https://app.example/cb/", False),
        ("https://app.example/cb", "https://app.example/cb", True),
        ("cursor://anysphere.cursor/cb", "cursor://anysphere.cursor/cb", True),
    ],
)
def test_the_way_back_is_exact_but_for_the_port_on_this_machine(
    server: Server, registered: str, asked: str, fits: bool
) -> None:
    reply = Program(server, registered).ask(redirect_uri=asked)
    assert (reply.status == 302) is fits
    if fits:
        assert urlsplit(reply.headers["location"]).path == "/consent"


@pytest.mark.parametrize(
    "back",
    [
        "http://evil.example/cb", "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd",
        "https://app.example/cb#x", "https://user@app.example/cb",
    ],
)  # fmt: skip
def test_a_program_cannot_register_a_dangerous_way_back(server: Server, back: str) -> None:
    reply = Program(server, back).registration
    assert (reply.status, reply.json["error"]) == (400, "invalid_redirect_uri")


def test_a_program_that_asks_for_a_secret_is_told_that_there_is_none(server: Server) -> None:
    found = Program(server, token_endpoint_auth_method="client_secret_post").registration
    assert found.status == 201
    assert found.json["token_endpoint_auth_method"] == "none"
    assert "client_secret" not in found.json


def test_a_code_is_good_once_and_a_second_use_ends_what_it_became(server: Server) -> None:
    program = Program(server)
    code = program.code()
    tokens = program.exchange(code).json
    assert initialize(server, tokens["access_token"]).status == 200
    assert program.exchange(code).json["error"] == "invalid_grant"
    assert initialize(server, tokens["access_token"]).status == 401
    assert program.refresh(tokens["refresh_token"]).status == 400


def test_a_code_needs_its_verifier_its_program_and_its_way_back(server: Server) -> None:
    program, other = Program(server), Program(server)
    code = program.code()
    assert program.exchange(code, code_verifier="x" * 43).json["error"] == "invalid_grant"
    assert other.exchange(code, code_verifier=program.verifier).json["error"] == "invalid_grant"
    assert program.exchange(code, redirect_uri=f"{BACK}/x").status == 400
    assert program.exchange(code, grant_type="password").json["error"] == "unsupported_grant_type"
    assert program.exchange(code).status == 200


def test_each_refresh_token_is_good_once_and_an_old_one_ends_the_sign_in(server: Server) -> None:
    program = Program(server)
    first = program.sign_in()
    second = program.refresh(first["refresh_token"]).json
    assert second["refresh_token"] != first["refresh_token"]
    assert initialize(server, second["access_token"]).status == 200
    assert program.refresh(first["refresh_token"]).json["error"] == "invalid_grant"
    assert initialize(server, second["access_token"]).status == 401
    assert program.refresh(second["refresh_token"]).json["error"] == "invalid_grant"


def test_another_program_cannot_use_a_refresh_token(server: Server) -> None:
    program = Program(server)
    tokens = program.sign_in()
    assert Program(server).refresh(tokens["refresh_token"]).json["error"] == "invalid_grant"
    assert program.refresh(tokens["refresh_token"]).status == 200


def test_of_two_uses_at_once_one_wins_at_most(server: Server) -> None:
    program = Program(server)
    token = program.sign_in()["refresh_token"]
    with ThreadPoolExecutor(4) as pool:
        statuses = sorted(reply.status for reply in pool.map(program.refresh, [token] * 4))
    assert statuses.count(200) <= 1
    assert program.refresh(token).status == 400


def test_a_refresh_may_ask_for_less_but_not_for_more(server: Server) -> None:
    program = Program(server)
    tokens = program.sign_in({"write": ""}, resource=None)
    assert program.refresh(tokens["refresh_token"], scope="read write").json["error"] == "invalid_scope"
    wide = program.sign_in(resource=None)
    narrow = program.refresh(wide["refresh_token"], scope="read").json
    assert write(server, narrow["access_token"], "Less is less.").status == 403
    again = program.refresh(narrow["refresh_token"]).json
    assert write(server, again["access_token"], "The grant is what it was.").status == 200


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_a_revoked_token_ends_its_sign_in(server: Server, kind: str) -> None:
    program = Program(server)
    tokens = program.sign_in()
    assert program.form("/revoke", {"token": tokens[kind], "client_id": program.client_id}).status == 200
    assert initialize(server, tokens["access_token"]).status == 401
    assert program.refresh(tokens["refresh_token"]).status == 400
    assert program.form("/revoke", {"token": "unknown"}).status == 200


def test_the_owner_sees_who_is_signed_in_and_ends_it(server: Server) -> None:
    tokens = Program(server, client_name="Laptop <b>Agent</b>").sign_in({"actor": "ann"})
    listed = [one for one in run(server, "list")["tokens"] if one.get("client") == "Laptop <b>Agent</b>"]
    assert [one["actor"] for one in listed] == ["ann"]
    run(server, "revoke", listed[0]["name"])
    assert initialize(server, tokens["access_token"]).status == 401
    assert run(server, "revoke", listed[0]["name"])["status"] == 422


def test_sign_ins_outlive_the_server(tmp_path: Path) -> None:
    with public_serving(tmp_path / "vault") as first:
        program = Program(first)
        tokens = program.sign_in(resource=None)
    with public_serving(tmp_path / "vault") as second:
        program.server = second
        renewed = program.refresh(tokens["refresh_token"])
        assert renewed.status == 200, renewed.body


def test_the_page_tells_who_asks_and_trusts_nothing_of_it(server: Server) -> None:
    program = Program(server, "https://app.example/cb", client_name="<script>alert(1)</script>")
    target = urlsplit(program.ask().headers["location"])
    page = server.raw("GET", f"{target.path}?{target.query}", {})
    assert b"&lt;script&gt;" in page.body
    assert b"<script" not in page.body
    assert b"https://app.example" in page.body
    policy = page.headers["content-security-policy"]
    assert "form-action 'self' https://app.example" in policy
    assert "frame-ancestors 'none'" in policy
    assert "script-src" not in policy
    assert "HttpOnly" in page.headers["set-cookie"]
    assert "SameSite=strict" in page.headers["set-cookie"]


def test_only_the_browser_that_shows_the_question_may_answer_it(server: Server) -> None:
    program = Program(server)
    target = urlsplit(program.ask().headers["location"])
    page = server.raw("GET", f"{target.path}?{target.query}", {})
    fields = {**Form(page.body).fields, "passphrase": PASSPHRASE, "answer": "allow"}
    own = page.headers["set-cookie"].partition(";")[0]
    assert program.form("/consent", fields).status == 400
    assert program.form("/consent", fields, Cookie=own, Origin="https://evil.example").status == 403
    assert program.form("/consent", fields, Cookie=own, Origin="null").status == 403
    assert program.form("/consent", fields, Cookie=own).status == 303
    assert program.form("/consent", fields, Cookie=own).status == 400


def test_a_refusal_of_the_owner_reaches_the_program(server: Server) -> None:
    program = Program(server)
    found = returned(program.consent(program.ask(), answer="refuse", passphrase=""))
    assert (found["error"], found["state"], found["iss"]) == ("access_denied", "st", server.url)


def test_guessing_the_passphrase_is_slow_and_success_starts_anew(tmp_path: Path) -> None:
    with public_serving(tmp_path / "vault") as server:
        program = Program(server)
        assert program.consent(program.ask(), passphrase="wrong").status == 403
        assert program.consent(program.ask()).status == 303
        statuses = [program.consent(program.ask(), passphrase=f"wrong {n}").status for n in range(7)]
        assert statuses == [403] * 5 + [429] * 2
        assert program.consent(program.ask()).status == 429


def test_there_is_no_signing_in_without_a_public_address_or_a_passphrase(tmp_path: Path) -> None:
    with serving(tmp_path / "vault") as server:
        assert server.ask("GET", "/.well-known/oauth-authorization-server").status == 404
        assert server.raw("GET", "/authorize", {}).status == 401
    with (
        pytest.raises(AssertionError, match="token passphrase"),
        serving(tmp_path / "vault", "--public-url", "https://memory.example"),
    ):
        pass
    assert run(server, "passphrase", text="short\n")["status"] == 422
    assert run(server, "passphrase", text=f"{PASSPHRASE}\n")["tokens"] == [{"name": "passphrase", "set": True}]


@pytest.mark.parametrize(
    "url", ["http://memory.example", "https://memory.example/x", "ftp://x", "https://", "nonsense"]
)
def test_a_public_address_is_https_and_has_no_path(tmp_path: Path, url: str) -> None:
    from vault_memory.operations.init import init_vault
    from vault_memory.surfaces.auth.oauth.passphrase import Passphrase

    init_vault(tmp_path / "vault", git=False)
    Passphrase(tmp_path / "vault" / ".vault-memory" / "state").set(PASSPHRASE)
    with pytest.raises(AssertionError, match="public_url"), serving(tmp_path / "vault", "--public-url", url):
        pass


def test_behind_a_proxy_everything_bears_the_public_name(tmp_path: Path) -> None:
    with public_serving(tmp_path / "vault", "--public-url", "https://memory.example") as server:
        named = {"Host": "memory.example"}
        found = server.raw("GET", "/.well-known/oauth-authorization-server", named).json
        assert found["issuer"] == "https://memory.example"
        assert found["token_endpoint"] == "https://memory.example/token"
        assert found["client_id_metadata_document_supported"] is True
        challenge = server.raw("GET", "/mcp", named).headers["www-authenticate"]
        assert 'resource_metadata="https://memory.example/.well-known/oauth-protected-resource/mcp"' in challenge


class Described(BaseHTTPRequestHandler):
    """A site with descriptions of programs, good and bad."""

    def do_GET(self) -> None:
        own = f"http://127.0.0.1:{self.server.server_address[1]}{self.path}"
        document = {
            "client_id": own, "client_name": "Described", "redirect_uris": ["http://127.0.0.1/callback"],
            "token_endpoint_auth_method": "none", "grant_types": ["authorization_code", "refresh_token"],
        }  # fmt: skip
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/client.json")
            self.end_headers()
            return
        if self.path == "/other":
            document["client_id"] = "https://other.example/client.json"
        if self.path == "/secret":
            document["token_endpoint_auth_method"] = "client_secret_post"
        if self.path == "/large":
            document["client_name"] = "x" * 100_000
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(document).encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Described) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()


def test_a_program_described_on_the_web_signs_in_without_registering(server: Server, site: str) -> None:
    program = Program(server, "http://127.0.0.1:4444/callback")
    program.client_id = f"{site}/client.json"
    tokens = program.sign_in()
    assert initialize(server, tokens["access_token"]).status == 200
    assert program.refresh(tokens["refresh_token"]).status == 200


@pytest.mark.parametrize("path", ["/moved", "/other", "/secret", "/large", "/", "/a/../client.json"])
def test_a_description_that_is_not_what_it_should_be_is_refused(server: Server, site: str, path: str) -> None:
    program = Program(server, "http://127.0.0.1:4444/callback")
    assert program.ask(client_id=f"{site}{path}").status == 400


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1/client.json", "https://127.0.0.1/client.json", "https://localhost/client.json",
        "https://[::1]/c", "https://[::ffff:127.0.0.1]/c", "https://10.0.0.1/c", "https://192.168.1.1/c",
        "https://169.254.169.254/latest/meta-data", "https://[fe80::1]/c", "https://[64:ff9b::7f00:1]/c",
        "https://[2002:7f00:1::]/c", "https://0.0.0.0/c", "https://224.0.0.1/c", "https://2130706433/c",
        "https://user@example.com/c", "https://example.com/c#x", "https://example.com", "ftp://example.com/c",
        "https://example.com:99999/c",
    ],
)  # fmt: skip
def test_descriptions_are_not_fetched_from_inside_the_network(address: str) -> None:
    with pytest.raises(UnfitDocument):
        fetch(address, loopback=False)


def test_a_description_that_drips_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    import socket
    import time

    monkeypatch.setattr("vault_memory.surfaces.auth.oauth.documents.SECONDS", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def drip() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
                try:
                    for _ in range(100):
                        connection.sendall(b" ")
                        time.sleep(0.1)
                except OSError:
                    pass

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        started = time.monotonic()
        with pytest.raises(UnfitDocument):
            fetch(f"http://127.0.0.1:{listening.getsockname()[1]}/c", loopback=True)
        assert time.monotonic() - started < 5
        thread.join(10)
