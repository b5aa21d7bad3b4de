"""The serving process: opens the vault, listens, and goes down in good order. Owns signals and the socket."""

from __future__ import annotations

import secrets
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final

import uvicorn
from msgspec import Struct
from msgspec.structs import replace

from vault_memory.errors import InvalidRequest
from vault_memory.surfaces.auth.guard import is_loopback
from vault_memory.surfaces.auth.oauth.clients import Registered
from vault_memory.surfaces.auth.oauth.entrance import Entrance, public_origin
from vault_memory.surfaces.auth.oauth.passphrase import Passphrase
from vault_memory.surfaces.auth.oauth.sign_ins import SignIns
from vault_memory.surfaces.auth.tokens import TokenStore
from vault_memory.surfaces.profiles.profile import PROFILES
from vault_memory.surfaces.rest.app import Options, make_app
from vault_memory.upkeep import Upkeep

if TYPE_CHECKING:
    from vault_memory.vault import Vault

STOP_SECONDS: Final = 5
"""How long requests under way may take when the server goes down."""
KEEP_ALIVE_SECONDS: Final = 75
"""How long a connection may be idle: longer than most clients and proxies keep one."""
_BACKLOG: Final = 512
_EVERYWHERE: Final = ("0.0.0.0", "::")


class Address(Struct, frozen=True):
    """Where to listen. Other machines are let in only when `remote` says so."""

    host: str = "127.0.0.1"
    port: int = 8765
    remote: bool = False


def serve(vault: Vault, address: Address, options: Options, ready: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; then finish what is under way, commit and return.

    Args:
        vault: closed by the caller, afterwards.
        address: where to listen.
        options: how the server behaves.
        ready: told the server's URL once it can be asked.

    Raises:
        InvalidRequest: the address cannot be listened on, or is open to other machines without being asked for; or
            the public one is unfit, or there is no passphrase.
    """
    entrance = _entrance(vault.folders.state, options.public_url) if options.public_url else None
    listening = listen(address)
    tokens = TokenStore(vault.folders.state, _secret)
    tokens.owner()
    upkeep = Upkeep(vault, fill_lancedb=True)
    names = [*options.names, *_own_names(address.host), *([entrance.host] if entrance is not None else ())]
    stop = _Stop()
    app = make_app(vault, upkeep, tokens, replace(options, names=names), stopping=stop.asked, entrance=entrance)
    config = uvicorn.Config(
        app, access_log=False, log_config=None, server_header=False, proxy_headers=False, ws="none",
        timeout_graceful_shutdown=STOP_SECONDS,
        timeout_keep_alive=KEEP_ALIVE_SECONDS, backlog=_BACKLOG,
    )  # fmt: skip
    stop.server = _Server(config, lambda: ready(_url(listening)))
    upkeep.start()
    try:
        with _signals_kept(), listening:
            stop.server.run(sockets=[listening])
    finally:
        upkeep.stop()


def _entrance(state: Path, public_url: str) -> Entrance:
    passphrase = Passphrase(state)
    if not passphrase.is_set():
        raise InvalidRequest.of(
            "public_url", "programs cannot sign in before there is a passphrase", hint="vault-memory token passphrase"
        )
    return Entrance(
        public_origin(public_url), PROFILES, SignIns(state, _secret, time.time), Registered(state), passphrase, _secret
    )


def _secret() -> str:
    return secrets.token_urlsafe(32)


def listen(address: Address) -> socket.socket:
    """A listening socket.

    Raises:
        InvalidRequest: as for `serve`.
    """
    if not is_loopback(address.host) and not address.remote:
        raise InvalidRequest.of(
            "host", f"{address.host} would let other machines in",
            hint="add --allow-remote if that is meant, and put a proxy with TLS before it (docs/server.md)",
        )  # fmt: skip
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, where = found[0]
        made = socket.socket(family, kind, protocol)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(where)
            made.listen(_BACKLOG)
        except OSError:
            made.close()
            raise
    except (OSError, OverflowError) as error:
        raise InvalidRequest.of("port", f"cannot listen on {address.host}:{address.port}: {error}") from error
    return made


class _Server(uvicorn.Server):
    """Tells when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()


class _Stop:
    """Whether the server was asked to stop; endless answers look here."""

    def __init__(self) -> None:
        self.server: uvicorn.Server | None = None

    def asked(self) -> bool:
        return self.server is not None and self.server.should_exit


@contextmanager
def _signals_kept() -> Iterator[None]:
    """The server repeats the signal that ended it, for the program round it; here the program ends by itself."""
    kinds = (signal.SIGINT, signal.SIGTERM)
    before = {kind: signal.signal(kind, _heard) for kind in kinds}
    try:
        yield
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)


def _heard(signum: int, frame: FrameType | None) -> None:
    """Nothing is left to do."""


def _own_names(host: str) -> tuple[str, ...]:
    """The name in a request that comes to the address itself."""
    if host in _EVERYWHERE:
        return ()
    return (f"[{host}]" if ":" in host else host,)


def _url(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    if host in _EVERYWHERE:
        host = "localhost"
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
