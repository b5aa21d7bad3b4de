"""URLs: what is stored, what is compared, what is the site."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.memory.urls import site_of, stored_url, url_key


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("docs.example.com/mcp/", "https://docs.example.com/mcp"),
        (" https://Docs.Example.com/Mcp#tools ", "https://docs.example.com/Mcp"),
        ("http://example.com", "http://example.com/"),
        ("HTTPS://example.com:443/a?b=1&utm_source=x", "https://example.com/a?b=1&utm_source=x"),
        ("http://example.com:8080/", "http://example.com:8080/"),
        ("not a url", "not a url"),
        ("https://[broken", "https://[broken"),
    ],
)
def test_a_url_is_stored_with_scheme_and_without_fragment_and_end_slash(written: str, stored: str) -> None:
    assert stored_url(written) == stored
    assert stored_url(stored) == stored


@pytest.mark.parametrize(
    "written",
    [
        "http://example.com/a?b=1", "https://www.example.com/a/?b=1", "EXAMPLE.com/a?b=1#part",
        "https://example.com:443/a?utm_source=x&b=1&fbclid=y&gclid=z", "http://www.example.com:80/a?b=1&",
    ],
)  # fmt: skip
def test_one_page_has_one_key(written: str) -> None:
    assert url_key(written) == "example.com/a?b=1"


@pytest.mark.parametrize("other", ["example.com/A?b=1", "example.com/a?b=2", "example.com/a", "a.example.com/a?b=1"])
def test_another_page_has_another_key(other: str) -> None:
    assert url_key(other) != "example.com/a?b=1"


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://www.Example.com:8080/a", "example.com"),
        ("docs.example.com", "docs.example.com"),
        (None, None),
        ("", None),
        ("not a url", None),
    ],
)
def test_the_site_is_the_host_without_www(url: str | None, site: str | None) -> None:
    assert site_of(url) == site


@given(st.text(max_size=30) | st.from_regex(r"https?://\S{0,20}", fullmatch=True))
def test_no_text_breaks_them_and_storing_is_stable(text: str) -> None:
    assert stored_url(stored_url(text)) == stored_url(text)
    assert url_key(stored_url(text)) == url_key(text)
    assert site_of(stored_url(text)) == site_of(text)
