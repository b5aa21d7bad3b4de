"""Programs that describe themselves in a document on the web: their id is its address. Fetches it, and nothing else.

Anybody can name an address, so the request must not reach into this network: only https, only public addresses, the
one that was checked is the one connected to, no redirects, a small answer, and not for long.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import socket
import ssl
import threading
from contextlib import suppress
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

MOST_BYTES: Final = 16 * 1024
SECONDS: Final = 5.0
_NOWHERE: Final = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/48"))
"""Addresses that a gateway turns into others."""


class UnfitDocument(Exception):
    """The address cannot be fetched from here, or what it holds is no description of a program."""


def is_document(client_id: str) -> bool:
    """Whether the id is an address."""
    return client_id.startswith(("https://", "http://"))


def fetch(client_id: str, *, loopback: bool) -> dict[str, Any]:
    """The description at `client_id`. Blocks for at most a few seconds.

    Args:
        client_id: the address.
        loopback: allow plain http on this machine, for a server that is reached only there.

    Raises:
        UnfitDocument: see the class.
    """
    parts = _checked(client_id, loopback)
    try:
        kind, data = _get(parts, _address(parts, loopback))
        found = json.loads(data)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise UnfitDocument(f"{client_id} cannot be fetched: {error}") from error
    if not isinstance(found, dict) or found.get("client_id") != client_id or "json" not in kind:
        raise UnfitDocument(f"{client_id} is no description of itself")
    return found


def _checked(client_id: str, loopback: bool) -> SplitResult:
    try:
        parts = urlsplit(client_id)
        local = loopback and parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1")
        plain = parts.username is None and not parts.fragment and parts.hostname and (parts.port or 443)
    except ValueError as error:
        raise UnfitDocument("the address is malformed") from error
    if not plain or parts.path in ("", "/") or ".." in parts.path or not (parts.scheme == "https" or local):
        raise UnfitDocument("the address of a description is https, with a path, without a user name or fragment")
    return parts


def _address(parts: SplitResult, loopback: bool) -> tuple[str, int]:
    """Where to connect: the first address of the host, if all of them are public."""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    found = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    addresses = [str(entry[4][0]).partition("%")[0] for entry in found]
    if not addresses or not all(_allowed(address, loopback) for address in addresses):
        raise UnfitDocument(f"{parts.hostname} is no public address")
    return addresses[0], port


def _allowed(text: str, loopback: bool) -> bool:
    address = ipaddress.ip_address(text)
    if isinstance(address, ipaddress.IPv6Address):
        if address.sixtofour or address.teredo or any(address in network for network in _NOWHERE):
            return False
        address = address.ipv4_mapped or address
    return (address.is_global and not address.is_multicast) or (loopback and address.is_loopback)


def _get(parts: SplitResult, where: tuple[str, int]) -> tuple[str, bytes]:
    """Content type and body."""
    with socket.create_connection(where, SECONDS) as plain:
        if parts.scheme == "http":
            return _ask(parts, plain)
        context = ssl.create_default_context()
        with context.wrap_socket(plain, server_hostname=parts.hostname, do_handshake_on_connect=False) as secured:
            return _ask(parts, secured)


def _ask(parts: SplitResult, connected: socket.socket) -> tuple[str, bytes]:
    """One request over this connection; it is cut when its time is over, however slowly bytes drip in."""
    connection = http.client.HTTPConnection(parts.hostname or "")
    connection.sock = connected
    timer = threading.Timer(SECONDS, _cut, [connected])
    timer.daemon = True
    timer.start()
    try:
        if isinstance(connected, ssl.SSLSocket):
            connected.do_handshake()
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        connection.request("GET", target, headers={"Host": parts.netloc, "Accept": "application/json"})
        answer = connection.getresponse()
        data = answer.read(MOST_BYTES + 1)
    finally:
        timer.cancel()
        connection.close()
    if answer.status != 200 or len(data) > MOST_BYTES:
        raise UnfitDocument(f"{parts.geturl()} answered {answer.status} with {len(data)} bytes")
    return answer.getheader("Content-Type", ""), data


def _cut(connected: socket.socket) -> None:
    with suppress(OSError):
        connected.shutdown(socket.SHUT_RDWR)
