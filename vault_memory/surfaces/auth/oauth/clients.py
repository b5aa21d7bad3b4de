"""Programs that ask to be let in: what they say of themselves, and where the browser may be sent back to.

Anybody may register, so a program here has no rights and no secret: the owner's consent and the proof of possession
(PKCE) are what counts. Addresses to go back to must be registered exactly; on this machine the port is free (RFC 8252).
"""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, urlsplit

from mcp.server.auth.provider import RegistrationError
from mcp.shared.auth import InvalidRedirectUriError, InvalidScopeError, OAuthClientInformationFull
from pydantic import AnyUrl, ValidationError

from vault_memory.surfaces.auth.oauth.sign_ins import READ, WRITE
from vault_memory.surfaces.auth.private_file import write_private

FILE: Final = "clients.json"
MOST: Final = 500
"""Registered programs; beyond it the ones that nobody signed in with go first, the oldest before."""
OFFLINE: Final = "offline_access"
"""Some programs ask for a refresh token by this scope; here each gets one."""
SCOPES: Final[tuple[str, ...]] = (READ, WRITE)
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_NEVER: Final = frozenset(
    {"javascript", "data", "vbscript", "file", "blob", "about", "view-source", "ws", "wss", "ftp"}
)
_LONGEST: Final = 2_000
_MOST_URIS: Final = 20


class Client(OAuthClientInformationFull):
    """A registered program."""

    def validate_redirect_uri(self, redirect_uri: AnyUrl | None) -> AnyUrl:
        """The address to send the browser back to.

        Raises:
            InvalidRedirectUriError: it is none of those that were registered, or none was named and there are several.
        """
        known = self.redirect_uris or []
        if redirect_uri is None and len(known) == 1:
            return known[0]
        if redirect_uri is None or not any(_same_place(str(redirect_uri), str(one)) for one in known):
            raise InvalidRedirectUriError("redirect_uri is none of those that the client registered")
        return redirect_uri

    def validate_scope(self, requested_scope: str | None) -> list[str]:
        """What is asked for among what there is; everything when nothing is named.

        Raises:
            InvalidScopeError: nothing of it exists here.
        """
        if requested_scope is None:
            return list(SCOPES)
        asked = requested_scope.split()
        known = [scope for scope in SCOPES if scope in asked] or ([READ] if OFFLINE in asked else [])
        if not known:
            raise InvalidScopeError(f"there are the scopes {', '.join(SCOPES)}")
        return known


def as_public(client: OAuthClientInformationFull) -> None:
    """Make a registration one without a secret, which OAuth lets the server decide, and check where it leads back to.

    Raises:
        RegistrationError: an address to go back to that no browser should be sent to.
    """
    for uri in client.redirect_uris or ():
        if problem := _unfit(str(uri)):
            raise RegistrationError("invalid_redirect_uri", problem)
    if len(client.redirect_uris or ()) > _MOST_URIS:
        raise RegistrationError("invalid_redirect_uri", f"at most {_MOST_URIS} addresses")
    client.token_endpoint_auth_method = "none"
    client.client_secret = client.client_secret_expires_at = None
    client.scope = " ".join(SCOPES)
    client.client_name = (client.client_name or "")[:100] or None


class Registered:
    """The programs that registered themselves with this server. For one event loop.

    Args:
        state: the vault's folder for local state.
    """

    def __init__(self, state: Path) -> None:
        self._path = state / FILE
        self._known: dict[str, Client] | None = None

    def get(self, client_id: str) -> Client | None:
        """The program of that id."""
        return self._loaded().get(client_id)

    def add(self, client: OAuthClientInformationFull, in_use: Collection[str]) -> None:
        """Keep a program.

        Args:
            client: as it registered, public already.
            in_use: ids of programs that somebody signed in with.
        """
        known = self._loaded()
        for name in [name for name in known if name not in in_use][: max(0, len(known) + 1 - MOST)]:
            del known[name]
        known[client.client_id] = Client.model_validate(client.model_dump())
        document = {"clients": [one.model_dump(mode="json", exclude_none=True) for one in known.values()]}
        write_private(self._path, json.dumps(document, ensure_ascii=False, indent=1) + "\n")

    def _loaded(self) -> dict[str, Client]:
        """Read once. A damaged file costs its programs a new registration, and nobody a memory."""
        if self._known is None:
            try:
                found = json.loads(self._path.read_bytes())["clients"]
                clients = [Client.model_validate(item) for item in found]
            except (OSError, ValueError, TypeError, KeyError, ValidationError):
                clients = []
            self._known = {client.client_id: client for client in clients}
        return self._known


def _same_place(asked: str, registered: str) -> bool:
    one, other = urlsplit(asked), urlsplit(registered)
    if one.hostname != other.hostname or not (_local(one) and _local(other)):
        return asked == registered
    return (one.path or "/", one.query, one.fragment) == (other.path or "/", other.query, other.fragment)


def _local(parts: SplitResult) -> bool:
    return parts.scheme == "http" and parts.hostname in _LOOPBACK and parts.username is None


def _unfit(uri: str) -> str:
    """Why a browser should not be sent to this address; empty when it may be."""
    parts = urlsplit(uri)
    if len(uri) > _LONGEST or parts.fragment or parts.username is not None:
        return "an address to go back to has no fragment, no user name and at most 2,000 characters"
    if parts.scheme in _NEVER or (parts.scheme == "http" and not _local(parts)):
        return "an address to go back to uses https, a program's own scheme, or http on this machine"
    return ""
