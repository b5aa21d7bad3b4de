"""URLs of memories: the form that is stored, the form that is compared, and the site. Pure text, no network."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import SplitResult, urlsplit, urlunsplit

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_DEFAULT_PORTS: Final = {"http": ":80", "https": ":443"}
_TRACKING: Final = re.compile(
    r"utm_\w+|gclid|gbraid|wbraid|dclid|fbclid|msclkid|yclid|twclid|igshid|mc_[ce]id|_hs(?:enc|mi)|ref_src|_ga|_gl"
)
"""Query parameters that say where a reader came from, not what the page is."""


def stored_url(text: str) -> str:
    """The form in which a URL is kept: with a scheme, without fragment and trailing slash; `text` if it is no URL.

    The path of a bare host is `/`, as in the seed's rule.
    """
    parts = _parts(text)
    if parts is None:
        return text.strip()
    path = parts.path.rstrip("/") or "/"
    return urlunsplit((parts.scheme.lower(), _host(parts), path, parts.query, ""))


def url_key(text: str) -> str:
    """What two URLs of one page share: no scheme, `www.`, port by default, tracking parameters, fragment or end slash.

    Text that is no URL is its own key.
    """
    parts = _parts(text)
    if parts is None:
        return text.strip()
    query = "&".join(pair for pair in parts.query.split("&") if pair and not _TRACKING.fullmatch(pair.split("=")[0]))
    return _host(parts).removeprefix("www.") + parts.path.rstrip("/") + (f"?{query}" if query else "")


def site_of(text: str | None) -> str | None:
    """The host without `www.` and port, lower case; None when `text` is no URL."""
    parts = _parts(text) if text else None
    return (parts.hostname or "").lower().removeprefix("www.") or None if parts else None


def _parts(text: str) -> SplitResult | None:
    text = text.strip()
    try:
        parts = urlsplit(text if _SCHEME.match(text) else f"https://{text}")
        _ = parts.port  # raises on a port that is no number
    except ValueError:
        return None
    return parts if parts.hostname and " " not in parts.netloc else None


def _host(parts: SplitResult) -> str:
    """Host and port in lower case, user information kept as written (it is part of what was stored)."""
    user, at, host = parts.netloc.rpartition("@")
    return user + at + host.lower().removesuffix(_DEFAULT_PORTS.get(parts.scheme.lower(), "\0"))
