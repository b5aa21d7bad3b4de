"""`/dashboard/…`: what the pages need besides the operations. Tokens, settings and backups are for the owner alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import asdict
from starlette.background import BackgroundTask
from starlette.responses import FileResponse
from starlette.routing import Route

from vault_memory.errors import InvalidRequest, NotAllowed
from vault_memory.operations.result import to_json
from vault_memory.surfaces.rest.access import asker
from vault_memory.surfaces.rest.messages import HttpProblem, answer, read_json

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from vault_memory.operations.context import Context
    from vault_memory.surfaces.auth.callers import Caller
    from vault_memory.surfaces.auth.tokens import TokenStore
    from vault_memory.surfaces.rest.service import Service

MOST: Final = 200
"""Entries of the audit log in one answer."""
_SECRET: Final = frozenset({"api_key", "api_key_env", "api_key_file"})
"""Settings that are not shown, not even to the owner: a screen is seen by others."""


class OwnerRoutes:
    """The endpoints.

    Args:
        service: runs what reads and writes the vault.
        tokens: the vault's tokens.
    """

    def __init__(self, service: Service, tokens: TokenStore) -> None:
        self._service = service
        self._tokens = tokens
        self._step: tuple[str, int, int | None] | None = None

    def routes(self) -> list[Route]:
        """All of them."""
        return [
            Route("/dashboard/tokens", self.tokens, methods=["GET"]),
            Route("/dashboard/tokens", self.issue, methods=["POST"]),
            Route("/dashboard/tokens/{name}", self.revoke, methods=["DELETE"]),
            Route("/dashboard/settings", self.settings, methods=["GET"]),
            Route("/dashboard/clients", self.clients, methods=["GET"]),
            Route("/dashboard/attention", self.attention, methods=["GET"]),
            Route("/dashboard/trail", self.trail, methods=["GET"]),
            Route("/dashboard/operation", self.operation, methods=["GET"]),
            Route("/dashboard/repository", self.repository, methods=["GET"]),
            Route("/dashboard/backup", self.backup, methods=["GET"]),
            Route("/dashboard/reindex", self.progress, methods=["GET"]),
            Route("/dashboard/reindex", self.reindex, methods=["POST"]),
        ]

    async def tokens(self, request: Request) -> Response:
        """Who has a token, and what each may."""
        _owner(request)
        shown = ("name", "project", "actor", "readonly", "created_at")
        return answer({"items": [{name: getattr(one, name) for name in shown} for one in self._tokens.named()]})

    async def issue(self, request: Request) -> Response:
        """A new named token; the answer is the only one that ever holds it."""
        self._service.allow(_owner(request), writes=True)
        given = await read_json(request)
        texts = {name: _text(given, name) for name in ("name", "project", "actor")}
        readonly = given.get("readonly", False)
        if not isinstance(readonly, bool):
            raise InvalidRequest.of("readonly", "must be true or false")
        now, name = self._service.vault.clock(), texts.pop("name") or ""
        make = partial(self._tokens.issue, name, now, **texts, readonly=readonly)
        return answer({"name": name, "token": await self._service.work(make, writes=True)})

    async def revoke(self, request: Request) -> Response:
        """Refuse a named token from now on."""
        self._service.allow(_owner(request), writes=True)
        name = request.path_params["name"]
        await self._service.work(lambda: self._tokens.revoke(name), writes=True)
        return answer({"name": name, "revoked": True})

    async def settings(self, request: Request) -> Response:
        """Every setting that is in force, its default, and whether they differ; no keys."""
        _owner(request)
        return answer({"items": list(_settings(self._service.vault.config))})

    async def clients(self, request: Request) -> Response:
        """The coding agents of this machine, and how each is connected to this vault."""
        _owner(request)
        return answer({"items": await self._service.work(partial(_clients, str(self._service.vault.root)))})

    async def attention(self, request: Request) -> Response:
        """What waits for a person besides the review queue."""
        from vault_memory.operations.attention import attention

        return await self._read(request, attention)

    async def trail(self, request: Request) -> Response:
        """A page of the audit log."""
        from vault_memory.operations.audit import trail

        page = {name: _number(request, name, default) for name, default in (("limit", 20), ("offset", 0))}
        return await self._read(request, lambda ctx: trail(ctx, **page))

    async def operation(self, request: Request) -> Response:
        """The operation that gave the memory `ref` its `revision`, or the last one `named` so: what `undo` takes."""
        from vault_memory.operations.audit import operation_of

        asked = request.query_params
        ref, by = asked.get("ref", ""), {name: asked.get(name) for name in ("revision", "named")}
        return await self._read(request, lambda ctx: {"operation": operation_of(ctx, ref, **by)})

    async def repository(self, request: Request) -> Response:
        """What git says of the vault."""
        from vault_memory.operations.audit import repository_state

        return await self._read(request, repository_state)

    async def backup(self, request: Request) -> Response:
        """The whole vault as one zip file."""
        from tempfile import TemporaryDirectory

        _owner(request)
        folder = TemporaryDirectory(prefix="vault-memory-backup-")
        try:
            place = await self._service.work(partial(_backup, self._service, folder.name))
        except BaseException:
            folder.cleanup()
            raise
        name = place.rpartition("/")[2]
        return FileResponse(place, filename=name, background=BackgroundTask(folder.cleanup))

    async def progress(self, request: Request) -> Response:
        """How far the reindexing is that runs now; null when none does."""
        _owner(request)
        if self._step is None:
            return answer({"running": None})
        return answer({"running": dict(zip(("step", "done", "total"), self._step, strict=True))})

    async def reindex(self, request: Request) -> Response:
        """Reindex; `progress` tells of it meanwhile."""
        from vault_memory.operations.reindex import Reindex, reindexed
        from vault_memory.surfaces.arguments import parse

        self._service.allow(_owner(request), writes=True)
        wanted, _ = parse(Reindex, await read_json(request, optional=True), lenient=False)
        if self._step is not None:
            raise HttpProblem(409, "already_running", "Already running", "the indexes are being made just now")
        ctx = self._service.context(asker(request))
        self._step = ("starting", 0, None)
        try:
            found = await self._service.work(lambda: reindexed(ctx, wanted, self._tell), writes=True)
        finally:
            self._step = None
        return answer(to_json(found))

    def _tell(self, step: str, done: int, total: int | None) -> None:
        self._step = (step, done, total)

    async def _read(self, request: Request, look: Callable[[Context], Any]) -> Response:
        ctx = self._service.context(asker(request))
        return answer(to_json(await self._service.work(lambda: look(ctx))))


def _owner(request: Request) -> Caller:
    """The caller, who must be the owner.

    Raises:
        NotAllowed: it is a program with a token of its own.
    """
    caller: Caller = request.state.caller
    if caller.name is not None:
        raise NotAllowed("this is for the vault's owner", hint="sign in with the token that `vault-memory token` shows")
    return caller


def _text(given: Mapping[str, Any], name: str) -> str | None:
    value = given.get(name)
    if value is not None and not isinstance(value, str):
        raise InvalidRequest.of(name, "must be text")
    return value or None


def _number(request: Request, name: str, default: int) -> int:
    text = request.query_params.get(name, str(default))
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise InvalidRequest.of(name, "must be a number")
    return min(int(text), MOST) if name == "limit" else int(text)


def _settings(config: Any) -> Any:
    defaults = type(config)()
    for section, value in asdict(config).items():
        usual = getattr(defaults, section)
        if not isinstance(value, Struct):
            yield _setting("general", section, value, usual)
            continue
        for key, setting in asdict(value).items():
            if key not in _SECRET:
                yield _setting(section, key, setting, getattr(usual, key))


def _setting(section: str, name: str, value: Any, usual: Any) -> dict[str, Any]:
    found = {"section": section, "name": name, "value": to_json(value), "default": to_json(usual)}
    return {**found, "changed": value != usual}


def _clients(root: str) -> list[dict[str, Any]]:
    from vault_memory.harness.clients import clients
    from vault_memory.harness.status import client_statuses
    from vault_memory.surfaces.cli.connect import machine_here, receipts_here

    return [
        {
            "name": found.name, "title": found.title, "installed": found.installed,
            "connected": found.connected and found.vault == root, "project": found.project,
            "problems": to_json(found.problems) if found.vault == root else [],
        }
        for found in client_statuses(clients(), machine_here(), receipts_here())
    ]  # fmt: skip


def _backup(service: Service, folder: str) -> str:
    from vault_memory.memory.scope import UNBOUND
    from vault_memory.operations.context import Context
    from vault_memory.operations.transfer import Backup, backup

    ctx = Context(service.vault, UNBOUND, service.vault.clock(), files=True)
    return str(backup(ctx, Backup(to=folder, zip=True)).path)
