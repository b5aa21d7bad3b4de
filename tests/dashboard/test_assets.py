"""The dashboard's files and sessions, without a browser."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

import vault_memory.surfaces.dashboard as dashboard
from tests.surfaces.rest_server import Server, serving
from vault_memory.surfaces.auth.tokens import TokenStore
from vault_memory.surfaces.dashboard.sessions import MAX_SESSIONS, QUIET_SECONDS, Sessions

STATIC = Path(dashboard.__file__).parent / "static"
MAX_BYTES = 250_000
OURS = sorted(
    path for path in STATIC.rglob("*") if path.suffix in (".js", ".css", ".html") and path.parent.name != "vendor"
)
MODULES = [path for path in OURS if path.suffix == ".js"]


def name(path: Path) -> str:
    return str(path.relative_to(STATIC))


def test_all_assets_fit_into_the_budget() -> None:
    served = [path for path in STATIC.rglob("*") if path.suffix in (".js", ".css", ".html", ".svg")]
    assert sum(len(gzip.compress(path.read_bytes(), 9)) for path in served) < MAX_BYTES


@pytest.mark.parametrize("path", OURS, ids=name)
def test_a_module_is_small_and_says_what_it_owns(path: Path) -> None:
    lines = path.read_text().splitlines()
    assert len(lines) < 400
    assert lines[0].startswith(("//", "/*", "<!doctype"))


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_every_import_leads_to_a_file_of_ours(path: Path) -> None:
    for target in re.findall(r"^(?:import|export)(?:[^'\n]* from)? '([^']+)'", path.read_text(), re.MULTILINE):
        assert (path.parent / target).is_file(), target


def test_every_vendored_library_has_its_licence_beside_it() -> None:
    named = (STATIC / "vendor" / "README.md").read_text()
    for file in (STATIC / "vendor").glob("*.js"):
        assert file.name in named
    for library in ("htm", "preact", "marked", "dompurify", "d3-force", "d3-quadtree", "d3-dispatch", "d3-timer"):
        assert (STATIC / "vendor" / f"LICENSE-{library}.txt").stat().st_size > 500


def test_no_colour_is_named_outside_of_the_tokens() -> None:
    for path in STATIC.glob("css/*.css"):
        if path.name != "tokens.css":
            assert not re.search(r"#[0-9a-f]{3,8}\b(?![^{]*\{)|rgb\(", path.read_text()), path.name


@pytest.fixture
def tokens(tmp_path: Path) -> TokenStore:
    numbers = count()
    return TokenStore(tmp_path, lambda: f"secret-{next(numbers)}")


def sessions(tokens: TokenStore, clock: list[float]) -> Sessions:
    numbers = count()
    return Sessions(tokens, lambda: f"name-{next(numbers)}", lambda: clock[0])


def test_a_session_stands_for_its_token_until_it_ends(tokens: TokenStore) -> None:
    known = sessions(tokens, [0.0])
    session = known.start(tokens.owner())
    assert session is not None
    assert known.caller(session) is not None
    known.end(session)
    assert known.caller(session) is None
    assert known.start("wrong") is None


def test_a_session_ends_with_its_token(tokens: TokenStore) -> None:
    known = sessions(tokens, [0.0])
    session = known.start(tokens.owner()) or ""
    tokens.rotate()
    assert known.caller(session) is None


def test_a_session_ends_after_a_quiet_time_and_not_while_it_is_used(tokens: TokenStore) -> None:
    clock = [0.0]
    known = sessions(tokens, clock)
    session = known.start(tokens.owner()) or ""
    clock[0] = QUIET_SECONDS - 1
    assert known.caller(session) is not None
    clock[0] += QUIET_SECONDS - 1
    assert known.caller(session) is not None
    clock[0] += QUIET_SECONDS + 1
    assert known.caller(session) is None


def test_there_are_never_more_sessions_than_allowed(tokens: TokenStore) -> None:
    clock = [0.0]
    known = sessions(tokens, clock)
    names = []
    for _ in range(MAX_SESSIONS + 5):
        clock[0] += 1
        names.append(known.start(tokens.owner()) or "")
    assert [known.caller(one) is not None for one in names[:6]] == [False] * 5 + [True]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("assets") / "vault") as running:
        yield running


def signed_in(server: Server) -> str:
    body = json.dumps({"token": server.token}).encode()
    reply = server.raw("POST", "/session", {"Content-Type": "application/json"}, body)
    assert reply.status == 200
    return reply.headers["set-cookie"].partition(";")[0]


def test_a_cookie_opens_the_operations_to_our_own_pages_only(server: Server) -> None:
    cookie = signed_in(server)
    mine = {"Cookie": cookie, "Content-Type": "application/json"}
    assert server.raw("POST", "/v1/stats", mine, b"{}").status == 200
    assert server.raw("POST", "/v1/stats", {**mine, "Sec-Fetch-Site": "same-site"}, b"{}").status == 401
    assert server.raw("POST", "/v1/stats", {**mine, "Origin": "http://localhost:1"}, b"{}").status == 403
    assert server.raw("POST", "/v1/stats", {"Cookie": cookie, "Content-Type": "text/plain"}, b"{}").status == 415
    assert server.raw("POST", "/v1/stats", {"Content-Type": "application/json"}, b"{}").status == 401


def test_assets_come_with_a_strict_policy_and_are_fetched_once(server: Server) -> None:
    first = server.raw("GET", "/", {})
    assert first.status == 200
    assert "unsafe" not in first.headers["content-security-policy"]
    assert server.raw("GET", "/", {"If-None-Match": first.headers["etag"]}).status == 304


@pytest.mark.parametrize(
    "path", ["/assets/", "/assets/../routes.py", "/assets/%2e%2e/routes.py", "/assets/vendor", "/assets//etc/passwd"]
)
def test_nothing_but_the_dashboards_own_files_is_served(server: Server, path: str) -> None:
    assert server.raw("GET", path, {}).status in (401, 404)
