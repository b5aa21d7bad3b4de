"""The paths of signing in through a browser, and what a token from there opens. Puts the parts together.

Protocol (PKCE, metadata, registration, exchange) is the `mcp` package's; round it stands what it leaves to a server:
which audience a token has, that programs need no secret, and the issuer in what the browser brings back (RFC 9207).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

import anyio.to_thread
from mcp.server.auth.handlers.authorize import AuthorizationHandler
from mcp.server.auth.handlers.register import RegistrationHandler
from mcp.server.auth.handlers.token import TokenHandler
from mcp.server.auth.middleware.client_auth import ClientAuthenticator
from mcp.server.auth.routes import build_metadata
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from mcp.server.transport_security import RequestBodyLimitMiddleware
from mcp.shared.auth import ProtectedResourceMetadata
from pydantic import AnyHttpUrl, TypeAdapter
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route, request_response

from vault_memory.errors import InvalidRequest
from vault_memory.surfaces.auth.callers import Caller
from vault_memory.surfaces.auth.guard import is_loopback
from vault_memory.surfaces.auth.oauth.clients import OFFLINE, SCOPES, Registered
from vault_memory.surfaces.auth.oauth.consent import Consent
from vault_memory.surfaces.auth.oauth.provider import Provider
from vault_memory.surfaces.auth.oauth.sign_ins import WRITE, SignIns
from vault_memory.surfaces.rest.messages import answer

if TYPE_CHECKING:
    from starlette.requests import Request

    from vault_memory.surfaces.auth.oauth.passphrase import Passphrase
    from vault_memory.surfaces.auth.private_file import Secrets

RESOURCE: Final = "/.well-known/oauth-protected-resource"
SERVER: Final = "/.well-known/oauth-authorization-server"
MOST_BYTES: Final = 64 * 1024
_FORMS: Final = frozenset({"/authorize", "/token", "/register", "/revoke", "/consent"})
_GRANTS: Final = ("authorization_code", "refresh_token")


class Entrance:
    """Signing in through a browser, for one server.

    Args:
        public_url: as `public_origin` gives it.
        profiles: the names of the MCP profiles, each an audience of its own.
        sign_ins: programs that were let in.
        registered: programs that may ask.
        passphrase: the owner's.
        secrets: makes unguessable texts.
    """

    def __init__(
        self,
        public_url: str,
        profiles: Collection[str],
        sign_ins: SignIns,
        registered: Registered,
        passphrase: Passphrase,
        secrets: Secrets,
    ) -> None:
        self._url = public_url
        self._paths = ("", "/mcp", *(f"/mcp/{profile}" for profile in sorted(profiles)))
        self._sign_ins = sign_ins
        parts = urlsplit(public_url)
        self._loopback = is_loopback(parts.hostname or "")
        self._provider = Provider(
            public_url, registered, sign_ins, secrets, loopback=self._loopback, resource=self._resource
        )
        self._consent = Consent(self._provider, passphrase, secure=parts.scheme == "https")
        self._authorize = AuthorizationHandler(self._provider)
        self._token = TokenHandler(self._provider, ClientAuthenticator(self._provider))

    @property
    def host(self) -> str:
        """The name in requests that come to the public address."""
        return re.sub(r":\d+$", "", urlsplit(self._url).netloc)

    def routes(self) -> list[Route]:
        """Everything that a program and a browser ask before there is a token."""
        registration = RegistrationHandler(self._provider, ClientRegistrationOptions(enabled=True))
        return [
            *(_route(RESOURCE + path, self._described_resource, "GET") for path in self._paths),
            *(_route(SERVER + path, self._described_server, "GET") for path in self._paths),
            _route("/authorize", self._authorized, "GET", "POST"),
            _route("/token", self._exchanged, "POST"),
            _route("/register", registration.handle, "POST"),
            _route("/revoke", self._revoked, "POST"),
            _route("/consent", self._consent.show, "GET"),
            _route("/consent", self._consent.answer, "POST"),
        ]

    def opens(self, path: str) -> bool:
        """Whether the path is asked without a token, and takes forms."""
        return path in _FORMS or path.startswith((RESOURCE, SERVER))

    def caller(self, token: str, path: str) -> Caller | None:
        """Whom an access token stands for at this path; None for one that is not known, or is for another address."""
        found = self._sign_ins.of_access(token)
        if found is None:
            return None
        one, access = found
        audience = urlsplit(one.grant.resource).path
        if not f"{path}/".startswith(f"{audience}/"):
            return None
        return Caller(one.name, one.grant.project, one.grant.actor, WRITE not in access.scopes)

    def challenge(self, path: str, *, presented: bool) -> str:
        """What tells a program without a token, or with one that does not hold, where to get one."""
        known = path.rstrip("/") if path.rstrip("/") in self._paths else ""
        wrong = 'error="invalid_token", error_description="the token is not known or has ended", ' * presented
        return (
            f'Bearer realm="vault-memory", {wrong}scope="{" ".join(SCOPES)}", '
            f'resource_metadata="{self._url}{RESOURCE}{known}"'
        )

    def _resource(self, named: str | None) -> str | None:
        """The audience for a resource that a program names: this server without one, None for a foreign one."""
        parts = urlsplit(named or self._url)
        origin, path = f"{parts.scheme}://{parts.netloc}".lower(), parts.path.rstrip("/")
        if origin != self._url or path not in self._paths or parts.fragment:
            return None
        return self._url + path

    async def _described_resource(self, request: Request) -> Response:
        resource = TypeAdapter(AnyHttpUrl).validate_python(self._url)
        described = ProtectedResourceMetadata(
            resource=resource, authorization_servers=[resource], scopes_supported=list(SCOPES),
            resource_name="vault-memory",
        )  # fmt: skip
        path = request.url.path.removeprefix(RESOURCE)
        found = described.model_dump(mode="json", exclude_none=True)
        return answer({**found, "resource": self._url + path, "authorization_servers": [self._url]})

    async def _described_server(self, request: Request) -> Response:
        """RFC 8414, the same below every path: older programs look under the address of what they connect to."""
        options = ClientRegistrationOptions(enabled=True, valid_scopes=[*SCOPES, OFFLINE])
        url = TypeAdapter(AnyHttpUrl).validate_python(self._url)
        found = build_metadata(url, None, options, RevocationOptions(enabled=True))
        return answer(
            {
                **found.model_dump(mode="json", exclude_none=True),
                "issuer": self._url,
                "token_endpoint_auth_methods_supported": ["none"],
                "revocation_endpoint_auth_methods_supported": ["none"],
                # a server for this machine alone may have no network to fetch descriptions by
                "client_id_metadata_document_supported": not self._loopback,
                "authorization_response_iss_parameter_supported": True,
            }
        )

    async def _authorized(self, request: Request) -> Response:
        """The package's answer; a refusal that goes back to the program names the issuer, too."""
        response = await self._authorize.handle(request)
        target = urlsplit(response.headers.get("location", ""))
        asked = parse_qs(target.query)
        if "error" not in asked or "iss" in asked:
            return response
        query = "&".join(part for part in (target.query, urlencode({"iss": self._url})) if part)
        return RedirectResponse(target._replace(query=query).geturl(), 302)

    async def _exchanged(self, request: Request) -> Response:
        form = await request.form()
        kind, resource = form.get("grant_type"), form.get("resource")
        if kind is not None and kind not in _GRANTS:
            return _refused("unsupported_grant_type", f"there are {' and '.join(_GRANTS)}")
        if resource is not None and (not isinstance(resource, str) or self._resource(resource) is None):
            return _refused("invalid_target", "resource is no address of this server")
        found: Response = await self._token.handle(request)
        return found

    async def _revoked(self, request: Request) -> Response:
        """RFC 7009. A program without a secret proves itself by the token; any known one ends its sign-in."""
        token = (await request.form()).get("token")
        if not isinstance(token, str):
            return _refused("invalid_request", "token is missing")
        found = self._sign_ins.of_access(token)
        one = found[0] if found else await anyio.to_thread.run_sync(self._sign_ins.of_refresh, token)
        if one is not None:
            await anyio.to_thread.run_sync(self._sign_ins.end, one.name)
        return Response(status_code=200)


def public_origin(text: str) -> str:
    """The address that a server is reached by, in its one spelling: https (http on this machine), no path.

    Raises:
        InvalidRequest: it is something else.
    """
    try:
        parts = urlsplit(text.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port, parts = "", None, urlsplit("")
    local = is_loopback(host) or host == "localhost"
    if not host or parts.scheme not in (("http", "https") if local else ("https",)):
        raise InvalidRequest.of("public_url", "must be https://NAME, or http on this machine")
    if parts.path.strip("/") or parts.query or parts.fragment or parts.username is not None:
        raise InvalidRequest.of("public_url", "must be a host name with no path; give the server a name of its own")
    shown = f"[{host}]" if ":" in host else host
    default = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{shown}" + (f":{port}" if port not in (None, default) else "")


def _route(path: str, endpoint: Callable[..., Any], *methods: str) -> Route:
    limited = RequestBodyLimitMiddleware(request_response(endpoint), MOST_BYTES)
    return Route(path, limited, methods=list(methods))


def _refused(error: str, description: str) -> Response:
    return answer({"error": error, "error_description": description}, 400)
