"""What the authorization server of the `mcp` package asks for: programs, codes and tokens. Decides; speaks no HTTP.

Requests that wait for the owner and codes that wait for their program live in memory: a restart costs one more click.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import anyio.to_thread
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    AuthorizeError,
    IdentityAssertionParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    RegistrationError,
    TokenError,
    construct_redirect_uri,
)
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import ValidationError

from vault_memory.surfaces.auth.oauth.clients import Client, Registered, as_public
from vault_memory.surfaces.auth.oauth.documents import UnfitDocument, fetch, is_document
from vault_memory.surfaces.auth.oauth.sign_ins import ACCESS_SECONDS, Grant, Issued, SignIns
from vault_memory.surfaces.auth.private_file import Secrets, hashed
from vault_memory.surfaces.rest.limits import Rates

REQUEST_SECONDS: Final = 600.0
"""How long the owner may think about a request."""
CODE_SECONDS: Final = 60.0
DOCUMENT_SECONDS: Final = 600.0
"""How long a program's description on the web is believed without looking again."""
MOST_WAITING: Final = 1_000
"""Requests, codes and descriptions, each; the oldest go first."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A program's request that the owner has not answered. `proof` is in the cookie of the browser that shows it."""

    client: Client
    params: AuthorizationParams
    resource: str
    proof: str
    until: float


class Code(AuthorizationCode):
    """A code that a program may exchange once, with what the owner granted. `used`: the sign-in it became."""

    grant: Grant
    used: str = ""


class Provider(OAuthAuthorizationServerProvider[Code, RefreshToken, AccessToken]):
    """Programs, codes and tokens of one server. For one event loop.

    Args:
        public_url: the address that the server is reached by, without a path.
        registered: programs that registered.
        sign_ins: programs that were let in.
        secrets: makes unguessable texts.
        loopback: whether the server is reached from this machine only, which may then describe programs too.
        resource: the address that tokens for a named one are bound to; None when it is not ours.
    """

    def __init__(
        self,
        public_url: str,
        registered: Registered,
        sign_ins: SignIns,
        secrets: Secrets,
        *,
        loopback: bool,
        resource: Callable[[str | None], str | None],
    ) -> None:
        self._public_url = public_url
        self._registered = registered
        self._sign_ins = sign_ins
        self._secrets = secrets
        self._loopback = loopback
        self._resource = resource
        self._waiting: dict[str, Waiting] = {}
        self._codes: dict[str, Code] = {}
        self._documents: dict[str, tuple[float, Client]] = {}
        self._registering = Rates(1.0, 100.0, time.monotonic)
        self._fetching = Rates(1.0, 10.0, time.monotonic)

    async def get_client(self, client_id: str) -> Client | None:
        """The program of that id: registered here, or described at that address."""
        if not is_document(client_id):
            return self._registered.get(client_id)
        until, client = self._documents.get(client_id, (0.0, None))
        if client is not None and until > time.monotonic():
            return client
        if self._fetching.wait_seconds(""):
            return client
        try:
            found = await anyio.to_thread.run_sync(lambda: fetch(client_id, loopback=self._loopback))
            client = described(found)
        except (UnfitDocument, ValidationError, RegistrationError):
            return None
        _keep(self._documents, client_id, (time.monotonic() + DOCUMENT_SECONDS, client))
        return client

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        """Keep a program that registers itself.

        Raises:
            RegistrationError: it wants the browser sent to where it should not go, or too many register.
        """
        if self._registering.wait_seconds(""):
            raise RegistrationError("invalid_client_metadata", "too many programs register at once; try again later")
        as_public(client_info)
        in_use = {one.grant.client_id for one in self._sign_ins.all()}
        self._registered.add(client_info, in_use)

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        """Where the browser asks the owner.

        Raises:
            AuthorizeError: the program wants tokens for another server.
        """
        resource = self._resource(params.resource)
        if resource is None:
            raise AuthorizeError("invalid_target", "resource is no address of this server")
        name, until = self._secrets(), time.monotonic() + REQUEST_SECONDS
        known = Client.model_validate(client.model_dump())
        _keep(self._waiting, name, Waiting(known, params, resource, self._secrets(), until))
        return f"{self._public_url}/consent?request={name}"

    def waiting(self, name: str) -> Waiting | None:
        """The request of that name, as long as it waits."""
        found = self._waiting.get(name)
        return found if found is not None and found.until > time.monotonic() else None

    def refuse(self, name: str) -> str:
        """The owner says no; where to send the browser."""
        params = self._waiting.pop(name).params
        return self._back(params, error="access_denied", error_description="the owner refused")

    def allow(self, name: str, grant: Grant) -> str:
        """The owner says yes; where to send the browser, with the code."""
        params, code = self._waiting.pop(name).params, self._secrets()
        kept = Code(
            code=hashed(code), scopes=list(grant.scopes), expires_at=time.time() + CODE_SECONDS,
            client_id=grant.client_id, code_challenge=params.code_challenge, redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly, resource=grant.resource,
            grant=grant,
        )  # fmt: skip
        _keep(self._codes, kept.code, kept)
        return self._back(params, code=code)

    def _back(self, params: AuthorizationParams, **answer: str) -> str:
        return construct_redirect_uri(str(params.redirect_uri), **answer, state=params.state, iss=self._public_url)

    async def load_authorization_code(self, client: OAuthClientInformationFull, authorization_code: str) -> Code | None:
        """The code, once; shown again it was stolen, and what it became ends."""
        code = self._codes.get(hashed(authorization_code))
        if code is not None and code.used and code.client_id == client.client_id:
            await anyio.to_thread.run_sync(self._sign_ins.end, code.used)
            return None
        return code

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: Code
    ) -> OAuthToken:
        """The first tokens of a sign-in."""
        self._codes[authorization_code.code] = authorization_code.model_copy(update={"used": "?"})
        issued = await anyio.to_thread.run_sync(self._sign_ins.open, authorization_code.grant)
        used = authorization_code.model_copy(update={"used": issued.sign_in.name})
        self._codes[authorization_code.code] = used
        return _answer(issued)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        """The refresh token, if it is the current one of its sign-in; an older one ends the sign-in."""
        one = await anyio.to_thread.run_sync(self._sign_ins.of_refresh, refresh_token)
        if one is None or one.grant.client_id != client.client_id:
            return None
        return RefreshToken(
            token=refresh_token, client_id=one.grant.client_id, scopes=list(one.grant.scopes),
            expires_at=one.expires_at, resource=one.grant.resource, subject=one.name,
        )  # fmt: skip

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        """New tokens in place of the old refresh token.

        Raises:
            TokenError: somebody else has used it meanwhile.
        """
        issued = await anyio.to_thread.run_sync(self._sign_ins.renew, refresh_token.token, scopes)
        if issued is None:
            raise TokenError("invalid_grant", "the refresh token was used before; sign in again")
        return _answer(issued)

    async def load_access_token(self, token: str) -> AccessToken | None:
        """The access token, while it holds."""
        found = self._sign_ins.of_access(token)
        if found is None:
            return None
        one, access = found
        return AccessToken(
            token=token, client_id=one.grant.client_id, scopes=list(access.scopes), expires_at=access.expires_at,
            resource=one.grant.resource, subject=one.name,
        )  # fmt: skip

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        """End the sign-in that the token belongs to."""
        await anyio.to_thread.run_sync(self._sign_ins.end, token.subject or "")

    async def exchange_identity_assertion(
        self, client: OAuthClientInformationFull, params: IdentityAssertionParams
    ) -> OAuthToken:
        """Not offered.

        Raises:
            TokenError: always.
        """
        raise TokenError("unsupported_grant_type", "only codes and refresh tokens are exchanged here")


def described(document: dict[str, Any]) -> Client:
    """The program that a document on the web describes.

    Raises:
        ValidationError: it is no such description.
        RegistrationError: it wants the browser sent to where it should not go.
    """
    asked = OAuthClientMetadata.model_validate(document)
    if "code" not in asked.response_types or "authorization_code" not in asked.grant_types:
        raise RegistrationError("invalid_client_metadata", "the description does not ask for codes")
    if asked.token_endpoint_auth_method not in (None, "none"):
        raise RegistrationError("invalid_client_metadata", "programs have no secret here")
    client = Client.model_validate({**asked.model_dump(), "client_id": document["client_id"]})
    as_public(client)
    return client


def _answer(issued: Issued) -> OAuthToken:
    return OAuthToken(
        access_token=issued.access, expires_in=ACCESS_SECONDS, scope=" ".join(issued.scopes),
        refresh_token=issued.refresh,
    )  # fmt: skip


def _keep(kept: dict[str, Any], name: str, value: Any) -> None:
    """Add to what waits; the oldest makes room."""
    if len(kept) >= MOST_WAITING:
        del kept[next(iter(kept))]
    kept[name] = value
