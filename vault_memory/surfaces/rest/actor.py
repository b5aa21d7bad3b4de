"""`/api`: the nine endpoints of the memory actor, with its bodies and statuses, over our operations.

A userId is an actor: a request sees that user's memories and no others. Failures are `{error}`; what was ignored in a
request is named in `Vault-Warning`, because the bodies are the actor's.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from starlette.routing import Route

from vault_memory import __version__
from vault_memory.errors import InvalidRequest, Rejected, VaultError
from vault_memory.memory.model import Memory
from vault_memory.operations.request import MAX_PAGE
from vault_memory.operations.table import OPERATIONS
from vault_memory.surfaces.rest.access import asker
from vault_memory.surfaces.rest.actor_shape import fields_of, memory_object
from vault_memory.surfaces.rest.messages import HttpProblem, answer, read_json

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from vault_memory.surfaces.rest.service import Asker, Service

_DETAILS: Final = {
    "content": "content", "category": "domain", "tags": "tags", "importance": "importance", "metadata": "metadata",
    "title": "title", "memoryType": "memory_type", "confidence": "confidence", "url": "url", "source": "source",
    "relatedUrls": "related_urls", "projectId": "project",
}  # fmt: skip
_EDITS: Final = {name: _DETAILS[name] for name in _DETAILS if name not in ("source", "projectId")}
_SEARCH: Final = {"category": "domain", "limit": "limit", "minScore": "min_score", "query": "query"}
_DECAY: Final = {
    "halfLifeDays": "half_life_days", "pruneThreshold": "prune_threshold", "minImportance": "min_importance",
}  # fmt: skip
DEFAULT_LIMIT: Final = 20
ENDPOINTS: Final = (
    ("GET", "/api/health", "Whether the server is up; needs no token."),
    ("POST", "/api/memories", "{ userId, content, category?, tags?, importance?, metadata? }"),
    ("GET", "/api/memories/{userId}", "?category=&limit="),
    ("POST", "/api/memories/search", "{ userId, query, category?, limit?, minScore? }"),
    ("PUT", "/api/memories/{userId}/{memoryId}", "{ content?, category?, tags?, importance? }"),
    ("DELETE", "/api/memories/{userId}/{memoryId}", "Deletes the memory softly."),
    ("GET", "/api/memories/{userId}/stats", "Counts."),
    ("POST", "/api/memories/{userId}/prune", "{ decayConfig? }"),
    ("GET", "/api/docs", "This list."),
)
Handler = Callable[["Request"], Awaitable["Response"]]


class _Reply(Struct, frozen=True):
    """A body and the warnings that go beside it."""

    body: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
    status: int = 200


class ActorApi:
    """The actor's endpoints over one service."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def routes(self) -> list[Route]:
        """All nine; fixed words come before what takes any."""
        user = "/api/memories/{user}"
        return [
            Route("/api/health", _health, methods=["GET"]),
            Route("/api/docs", _docs, methods=["GET"]),
            Route("/api/memories", _shaped(self._store), methods=["POST"]),
            Route("/api/memories/search", _shaped(self._search), methods=["POST"]),
            Route(user, _shaped(self._recall), methods=["GET"]),
            Route(f"{user}/stats", _shaped(self._stats), methods=["GET"]),
            Route(f"{user}/prune", _shaped(self._prune), methods=["POST"]),
            Route(f"{user}/{{memory:path}}", _shaped(self._update), methods=["PUT"]),
            Route(f"{user}/{{memory:path}}", _shaped(self._delete), methods=["DELETE"]),
        ]

    async def _store(self, request: Request) -> _Reply:
        given = await read_json(request)
        user = given.pop("userId", None)
        if not user or not given.get("content"):
            raise InvalidRequest("userId and content are required")
        arguments, warnings = fields_of(given, _DETAILS)
        arguments = {"memory_type": "general", "on_duplicate": "keep_both", "force": True, **arguments}
        who = _asker(request, user)
        found = await self._run(who, "remember", arguments)
        return _Reply({"success": True, "memory": self._shown(found.memory)}, (*warnings, *found.warnings), 201)

    async def _recall(self, request: Request) -> _Reply:
        query = dict(request.query_params)
        arguments, warnings = fields_of(query, {"category": "domain", "limit": "limit"})
        capped, more = _capped(arguments, _whole_number)
        wanted = {"sort": "updated_at", "status": "active", **capped}
        page = await self._run(_asker(request, request.path_params["user"]), "list", wanted)
        shown = [self._shown(view.memory, view.last_accessed_at) for view in page.items if not self._faded(view)]
        return _Reply({"success": True, "count": len(shown), "memories": shown}, (*warnings, *more, *page.warnings))

    async def _search(self, request: Request) -> _Reply:
        given = await read_json(request)
        user = given.pop("userId", None)
        if not user or not given.get("query"):
            raise InvalidRequest("userId and query are required")
        arguments, warnings = fields_of(given, _SEARCH)
        capped, more = _capped(arguments)
        found = await self._run(_asker(request, user), "search", capped)
        results = [
            {
                "memory": self._shown(hit.memory),
                "score": round(hit.relevance, 6),
                "matchedTerms": list(hit.matched_terms),
            }
            for hit in found.hits
        ]
        body = {"success": True, "count": len(results), "results": results}
        return _Reply(body, (*warnings, *more, *found.warnings))

    async def _update(self, request: Request) -> _Reply:
        arguments, warnings = fields_of(await read_json(request), _EDITS)
        arguments["ref"] = request.path_params["memory"]
        found = await self._run(_asker(request, request.path_params["user"]), "update", arguments)
        return _Reply({"success": True, "memory": self._shown(found.memory)}, (*warnings, *found.warnings))

    async def _delete(self, request: Request) -> _Reply:
        ref = request.path_params["memory"]
        found = await self._run(_asker(request, request.path_params["user"]), "delete", {"ref": ref})
        return _Reply({"success": True, "memoryId": ref, "message": "Memory deleted"}, found.warnings)

    async def _stats(self, request: Request) -> _Reply:
        found = await self._run(_asker(request, request.path_params["user"]), "stats", {})
        from vault_memory.operations.result import to_json

        active = dict(found.by_status).get("active", 0)
        stats = {"totalMemories": active, "byType": dict(found.by_type), "lastUpdated": to_json(found.last_updated)}
        return _Reply({"success": True, "stats": stats})

    async def _prune(self, request: Request) -> _Reply:
        given = await read_json(request, optional=True)
        config = given.get("decayConfig") or {}
        if not isinstance(config, dict):
            raise InvalidRequest("decayConfig must be an object")
        arguments, warnings = fields_of(config, {**_DECAY, "enabled": "", "maxMemoriesPerUser": ""})
        arguments.pop("", None)
        who = _asker(request, request.path_params["user"])
        enabled = config.get("enabled", True) is not False
        plan = await self._run(who, "prune", {"strategy": "by_decay", **arguments}) if enabled else None
        if plan is not None and plan.count:
            confirmed = {"execute": True, "confirm_count": plan.count}
            plan = await self._run(who, "prune", {"strategy": "by_decay", **arguments, **confirmed})
        gone = [{"id": item.ref, "title": item.title} for item in plan.would_prune] if plan is not None else []
        left = dict((await self._run(who, "stats", {})).by_status).get("active", 0)
        body = {"success": True, "pruned": len(gone), "remaining": left, "archived": gone, "decayEnabled": enabled}
        return _Reply(body, (*warnings, *(plan.warnings if plan is not None else ())))

    async def _run(self, who: Asker, name: str, arguments: Mapping[str, Any]) -> Any:
        return (await self._service.run(who, OPERATIONS[name], arguments)).result

    def _shown(self, memory: Memory, last_accessed_at: Any = None) -> dict[str, Any]:
        vault = self._service.vault
        return memory_object(memory, last_accessed_at, vault.clock(), vault.config.decay)

    def _faded(self, view: Any) -> bool:
        from vault_memory.memory.decay import hides

        return hides(view.memory, view.decayed_confidence or 0.0, self._service.vault.config.decay)


def _asker(request: Request, user: Any) -> Asker:
    if not isinstance(user, str) or user == "*":
        raise InvalidRequest("userId must be text")
    return asker(request, actor=user, lenient=True)


def _whole_number(text: Any) -> Any:
    return int(text) if isinstance(text, str) and text.isascii() and text.isdigit() and len(text) < 9 else text


def _capped(
    arguments: Mapping[str, Any], read: Callable[[Any], Any] = lambda value: value
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The arguments with a limit that is in bounds."""
    limit = read(arguments.get("limit", DEFAULT_LIMIT))
    if isinstance(limit, bool) or not isinstance(limit, (int, float)):
        raise InvalidRequest("limit must be a whole number")
    kept = min(max(int(limit), 1), MAX_PAGE)
    warnings = () if kept == limit else (f"limit was set to {kept}",)
    return {**arguments, "limit": kept}, warnings


def _shaped(work: Callable[[Request], Awaitable[_Reply]]) -> Handler:
    """The endpoint that says it in the actor's way: `{error}` for what is refused, 400 for what is wrong."""

    async def endpoint(request: Request) -> Response:
        try:
            reply = await work(request)
        except HttpProblem as refusal:
            return answer({"error": str(refusal)}, refusal.status)
        except VaultError as error:
            status = 400 if isinstance(error, (InvalidRequest, Rejected)) else error.http_status
            return answer({"error": error.detail}, status)
        text = "; ".join(reply.warnings).encode("ascii", "replace").decode("ascii").replace("\n", " ")
        return answer(reply.body, reply.status, {"Vault-Warning": text} if text else None)

    return endpoint


async def _health(request: Request) -> Response:
    return answer({"status": "ok", "version": __version__})


async def _docs(request: Request) -> Response:
    listed = [{"method": method, "path": path, "description": text} for method, path, text in ENDPOINTS]
    return answer({"name": "vault-memory", "version": __version__, "endpoints": listed})
