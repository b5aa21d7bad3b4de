"""What others watch the server by: `/health`, `/metrics`, and `/v1/events`, which tells of changes as they happen."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import anyio
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

from vault_memory import __version__
from vault_memory.errors import VaultError
from vault_memory.memory.scope import UNBOUND
from vault_memory.surfaces.rest.messages import HttpProblem, answer

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from vault_memory.surfaces.rest.metrics import Metrics
    from vault_memory.surfaces.rest.service import Service
    from vault_memory.upkeep import Upkeep

POLL_SECONDS: Final = 0.25
QUIET_SECONDS: Final = 15.0
"""After so long without a change a comment is sent, so that a lost connection is noticed."""
MAX_STREAMS: Final = 100


class Feed:
    """The catalog's generation, looked at by one task for however many listen."""

    def __init__(self, generation: Callable[[], int], stopping: Callable[[], bool]) -> None:
        self._look = generation
        self._stopping = stopping
        self._changed = anyio.Event()
        self.generation = 0
        self.listeners = 0

    @property
    def stopped(self) -> bool:
        """Whether the server is going down."""
        return self._stopping()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The catalog is looked at inside this."""
        self.generation = self._look()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._poll)
            yield
            tasks.cancel_scope.cancel()

    async def wait(self, seen: int) -> int:
        """The generation, as soon as it is another than `seen`, or after a quiet time."""
        with anyio.move_on_after(QUIET_SECONDS):
            while self.generation == seen and not self.stopped:
                await self._changed.wait()
        return self.generation

    async def _poll(self) -> None:
        while True:
            await anyio.sleep(POLL_SECONDS)
            now = await anyio.to_thread.run_sync(self._looked) if self.listeners else self.generation
            if now != self.generation or self.stopped:
                self.generation = now
                changed, self._changed = self._changed, anyio.Event()
                changed.set()

    def _looked(self) -> int:
        try:
            return self._look()
        except VaultError:  # a rebuild is under way; the next look sees its end
            return self.generation


class Watching:
    """The endpoints."""

    def __init__(self, service: Service, upkeep: Upkeep, metrics: Metrics, feed: Feed) -> None:
        self._service = service
        self._upkeep = upkeep
        self._metrics = metrics
        self._feed = feed

    def routes(self) -> list[Route]:
        """All three."""
        return [
            Route("/health", self.health, methods=["GET"]),
            Route("/metrics", self.metrics, methods=["GET"]),
            Route("/v1/events", self.events, methods=["GET"]),
        ]

    async def health(self, request: Request) -> Response:
        """200 while the catalog answers, else 503; says nothing of what is in the vault."""
        status = self._upkeep.status
        watcher = status.mode if status else "elsewhere"
        try:
            await self._service.work(lambda: self._service.vault.catalog.generation)
        except VaultError as error:
            return answer({"status": "degraded", "reason": error.code, "version": __version__}, 503)
        return answer({"status": "ok", "watcher": watcher, "version": __version__})

    async def metrics(self, request: Request) -> Response:
        """The counts, in Prometheus's text form."""
        gauges = await self._service.work(self._gauges)
        return PlainTextResponse(self._metrics.text(gauges), media_type="text/plain; version=0.0.4; charset=utf-8")

    async def events(self, request: Request) -> Response:
        """A stream of `change` events that carry the catalog's generation; asking again is the listener's job."""
        if self._feed.listeners >= MAX_STREAMS:
            raise HttpProblem(503, "too_many_streams", "Too many streams", "try again later", {"Retry-After": "10"})
        return StreamingResponse(self._stream(), media_type="text/event-stream")

    async def _stream(self) -> AsyncIterator[str]:
        self._feed.listeners += 1
        try:
            seen = await self._service.work(lambda: self._service.vault.catalog.generation)
            self._feed.generation = max(seen, self._feed.generation)
            yield f"retry: 2000\n\n{_event('hello', seen)}"
            while not self._feed.stopped:
                now = await self._feed.wait(seen)
                yield _event("change", now) if now != seen else ": still here\n\n"
                seen = now
        finally:
            self._feed.listeners -= 1

    def _gauges(self) -> dict[str, tuple[str, float]]:
        vault = self._service.vault
        catalog = vault.catalog
        counts = catalog.stats(UNBOUND, now=vault.clock())
        applied = min(int(catalog.meta(f"applied_{name}") or 0) for name in ("text", "vectors"))
        status = self._upkeep.status
        return {
            "notes": ("Notes in the vault.", counts.total),
            "notes_underived": ("Notes not searchable yet.", counts.underived),
            "generation": ("Number of the last change.", catalog.generation),
            "index_lag": ("Changes the slowest index has not applied.", max(0, catalog.generation - applied)),
            "commits_queued": ("Writes waiting for a commit.", len(vault.commits.queue)),
            "watching": ("1 while this process follows changes by hand.", float(status is not None)),
            "http_requests_running": ("Requests being answered.", self._metrics.running),
            "event_streams": ("Listeners to events.", self._feed.listeners),
        }


def _event(name: str, generation: int) -> str:
    return f'event: {name}\nid: {generation}\ndata: {{"generation": {generation}}}\n\n'
