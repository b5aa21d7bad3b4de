"""Counts of what was answered and how fast, in the text form that Prometheus reads. Owns the counting; no I/O."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from vault_memory.operations.table import OPERATIONS

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_GROUPS: Final = ("memories", "api", "mcp", "docs")
_ALONE: Final = frozenset({"/health", "/metrics", "/v1/events", "/v1/openapi.json"})
BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
"""Upper bounds of the classes of durations, seconds."""


class Metrics:
    """Answers by route, method and status, and their durations. For one event loop."""

    def __init__(self) -> None:
        self._answers: Counter[tuple[str, str, int]] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._classes: defaultdict[str, list[int]] = defaultdict(lambda: [0] * (len(BOUNDS) + 1))
        self.running = 0

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        """Note one answer."""
        self._answers[route, method, status] += 1
        self._seconds[route] += seconds
        place = next((n for n, bound in enumerate(BOUNDS) if seconds <= bound), len(BOUNDS))
        self._classes[route][place] += 1

    def text(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """Everything counted, and `gauges`: name to explanation and value."""
        return "\n".join([*self._counters(), *self._durations(), *_gauges(gauges)]) + "\n"

    def _counters(self) -> Iterator[str]:
        yield "# HELP vault_memory_http_requests_total Requests answered."
        yield "# TYPE vault_memory_http_requests_total counter"
        for (route, method, status), n in sorted(self._answers.items()):
            labels = f'route="{route}",method="{method}",status="{status}"'
            yield f"vault_memory_http_requests_total{{{labels}}} {n}"

    def _durations(self) -> Iterator[str]:
        name = "vault_memory_http_request_seconds"
        yield f"# HELP {name} Time until a request was answered."
        yield f"# TYPE {name} histogram"
        for route, classes in sorted(self._classes.items()):
            total = 0
            for bound, n in zip((*map(str, BOUNDS), "+Inf"), classes, strict=True):
                total += n
                yield f'{name}_bucket{{route="{route}",le="{bound}"}} {total}'
            yield f'{name}_sum{{route="{route}"}} {self._seconds[route]:.6f}'
            yield f'{name}_count{{route="{route}"}} {total}'


class Counted:
    """ASGI middleware that tells `metrics` of every answer."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and count what was answered when it is over."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, started = 500, time.perf_counter()

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        self._metrics.running += 1
        try:
            await self._app(scope, receive, sending)
        finally:
            self._metrics.running -= 1
            seconds = time.perf_counter() - started
            self._metrics.count(route_name(scope["path"]), _method(scope["method"]), status, seconds)


def route_name(path: str) -> str:
    """A path as one of few names, so that no caller can make up new ones."""
    if path in _ALONE:
        return path
    head, _, rest = path.lstrip("/").partition("/")
    if head == "v1" and rest in OPERATIONS:
        return f"/v1/{rest}"
    return f"/{head}" if head in _GROUPS else "other"


def _method(method: str) -> str:
    return method if method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS") else "other"


def _gauges(gauges: Mapping[str, tuple[str, float]]) -> Iterable[str]:
    for name, (text, value) in sorted(gauges.items()):
        yield f"# HELP vault_memory_{name} {text}"
        yield f"# TYPE vault_memory_{name} gauge"
        yield f"vault_memory_{name} {value:g}"
