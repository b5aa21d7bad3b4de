"""The actor's batch documents: one action, or a list of them, each answered in the shape its users know.

Owns the names, defaults and aliases of the actions and the store's name; what they do is our operations'.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from vault_memory.errors import InvalidRequest, NotAllowed
from vault_memory.memory.model import Memory
from vault_memory.memory.scope import ANY, Scope
from vault_memory.memory.tokens import estimate_tokens
from vault_memory.surfaces.profiles.actor import pruned, shown, totals
from vault_memory.surfaces.profiles.adapter import Arguments, Param, read, run

if TYPE_CHECKING:
    from vault_memory.operations.context import Context

DEFAULT_STORE: Final = "default-site-memory"
STORE_CHARACTERS: Final = 63
HEADING: Final = "## Site memory context pack"


def store_name(text: Any) -> str:
    """The name of a store for what a caller wrote: lower case, `a-z 0-9 ~ _ -`, at most 63 characters, never empty."""
    cleaned = re.sub(r"[^a-z0-9~_-]+", "-", str(text).strip().lower())
    cleaned = re.sub(r"-+", "-", cleaned)
    return re.sub(r"^[-~]+|[-~]+$", "", cleaned)[:STORE_CHARACTERS] or DEFAULT_STORE


def act(ctx: Context, document: Any) -> dict[str, Any]:
    """Carry out one action and answer it: `action`, `ok`, `memoryStoreId`, `storeName` and what the action gives.

    Raises:
        InvalidRequest: no object, no action or store, an unknown action, or a field that cannot be read.
        VaultError: whatever the operation calls for.
    """
    from vault_memory.operations.result import to_json

    if not isinstance(document, Mapping):
        raise InvalidRequest.of("input", "must be an object, or a list of objects")
    for name in ("action", "memoryStoreId"):
        if not isinstance(document.get(name), str) or not document[name]:
            raise InvalidRequest.of(name, "is required: Input must include action and memoryStoreId")
    action = str(document["action"])
    work = ACTIONS.get(ALIASES.get(action, action))
    if work is None:
        allowed = [*ACTIONS, *ALIASES]
        raise InvalidRequest.of("action", f"unknown action '{document['action']}'", allowed=allowed)
    given, warnings = read(FIELDS, _flat(document))
    store = store_name(document["memoryStoreId"])
    acting = _acting(ctx, store, given["projectId"])
    with _decay(acting, given["decayConfig"]):
        body = to_json(work(acting, given))
    answer = {"action": document["action"], "ok": True, **body}
    said = [*warnings, *answer.pop("warnings", ())]
    named = {"memoryStoreId": document["memoryStoreId"], "storeName": store}
    keeps = document["action"] == "context_pack"
    return {**answer, **named, **({"warnings": said} if said or keeps else {})}


def _flat(document: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of the document and of `memoryDetails` beside each other; the more particular place wins."""
    details = document.get("memoryDetails")
    inner = details if isinstance(details, Mapping) else {}
    options = document.get("searchOptions")
    search = {f"search.{key}": value for key, value in options.items()} if isinstance(options, Mapping) else {}
    outer = {
        k: v for k, v in document.items() if k not in ("action", "memoryStoreId", "memoryDetails", "searchOptions")
    }
    return {**outer, **inner, **search}


def _acting(ctx: Context, store: str, project: str | None) -> Context:
    bound, actor = ctx.scope.project, ctx.scope.actor
    if project and bound is not ANY and project != bound:
        raise NotAllowed(f"this session is bound to project '{bound}'")
    if isinstance(actor, str) and actor != store:
        raise NotAllowed("this session is bound to another actor")
    return replace(ctx, scope=Scope(project or bound, store), lenient=True, source="agent")


@contextmanager
def _decay(ctx: Context, config: Mapping[str, Any] | None) -> Iterator[None]:
    """Let the document's decay settings hold for its action alone."""
    names = {"halfLifeDays": "half_life_days", "minImportance": "min_importance", "pruneThreshold": "prune_threshold",
             "maxMemoriesPerUser": "max_memories_per_user"}  # fmt: skip
    given = config or {}
    changes: dict[str, Any] = {}
    for name, ours in names.items():
        value = given.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
            raise InvalidRequest.of(f"decayConfig.{name}", "must be a number, 0 or more")
        changes[ours] = value
    if isinstance(given.get("enabled"), bool):
        changes["enabled"] = "on" if given["enabled"] else "off"
    before = ctx.vault.config
    ctx.vault.config = replace(before, decay=replace(before.decay, **changes))
    try:
        yield
    finally:
        ctx.vault.config = before


def _details(given: Arguments) -> dict[str, Any]:
    return {
        "content": given["content"],
        "title": given["title"],
        "memory_type": given["memoryType"],
        "tags": given["tags"],
        "confidence": given["confidence"],
        "importance": given["importance"],
        "domain": given["category"],
        "url": given["url"],
        "related_urls": given["relatedUrls"],
        "metadata": given["metadata"],
    }


def _required(given: Arguments, name: str) -> Any:
    if not given[name]:
        raise InvalidRequest.of(name, "is required")
    return given[name]


def _remember(ctx: Context, given: Arguments) -> dict[str, Any]:
    _required(given, "content")
    fields = {**_details(given), "memory_type": given["memoryType"] or "general", "source": given["source"] or "agent"}
    result = run(ctx, "remember", project=given["projectId"], **fields)
    message = f"Stored memory: {result.memory.title}"
    return {"memory": shown(ctx, result.memory), "message": message, "warnings": list(result.warnings)}


def _recall(ctx: Context, given: Arguments) -> dict[str, Any]:
    memories = _applying(ctx, given, given["maxResults"], touch=True)
    return {"count": len(memories), "memories": [shown(ctx, memory) for memory in memories]}


def _applying(ctx: Context, given: Arguments, limit: int, *, touch: bool) -> list[Memory]:
    """What applies here and has not faded, best first."""
    from vault_memory.memory.decay import decayed_confidence, hides

    found = run(
        ctx, "recall", query=given["query"], url=given["url"], limit=min(100, limit * 2), max_chars=100_000,
        memory_type=given["memoryType"], tags=given["tags"], touch=False,
    ).items  # fmt: skip
    memories = [item.memory for item in found]
    usage = ctx.vault.usage.get([memory.ref for memory in memories])
    settings = ctx.vault.config.decay
    kept = []
    for memory in memories:
        at = usage[memory.ref].last_accessed_at if memory.ref in usage else None
        if not hides(memory, decayed_confidence(memory, at, ctx.now, settings), settings):
            kept.append(memory)
    if touch:
        ctx.vault.usage.record([memory.ref for memory in kept[:limit]], ctx.now)
    return kept[:limit]


def _search(ctx: Context, given: Arguments) -> dict[str, Any]:
    query = _required(given, "query")
    hits = run(
        ctx, "search", query=query, limit=given["search.limit"], include_archived=given["search.includeArchived"],
        memory_type=given["memoryType"], tags=given["tags"],
    ).hits  # fmt: skip
    scores = [
        {"id": hit.memory.ref, "score": round(hit.relevance, 6), "matchedTerms": hit.matched_terms} for hit in hits
    ]
    memories = [shown(ctx, hit.memory) for hit in hits]
    return {"query": query, "count": len(hits), "memories": memories, "scores": scores}


def _forget(ctx: Context, given: Arguments) -> dict[str, Any]:
    memory = run(ctx, "delete", ref=_required(given, "memoryId")).memory
    return {"memoryId": given["memoryId"], "message": f"Deleted memory: {memory.title}"}


def _update(ctx: Context, given: Arguments) -> dict[str, Any]:
    result = run(ctx, "update", ref=_required(given, "memoryId"), **_details(given))
    message = f"Updated memory: {result.memory.title}" if result.outcome == "updated" else "Nothing changed"
    return {"memory": shown(ctx, result.memory), "message": message, "warnings": list(result.warnings)}


def _context_pack(ctx: Context, given: Arguments) -> dict[str, Any]:
    """Whole memories, best first, as long as the text stays within the budget."""
    named = (("Target URL", given["url"]), ("Query", given["query"]))
    head = [HEADING, *(f"**{name}:** {value}" for name, value in named if value)]
    text, used, left = "\n".join(head) + "\n", [], 0
    for memory in _applying(ctx, given, 50, touch=False):
        grown = f"{text}\n{_block(memory)}"
        if estimate_tokens(grown) > given["maxTokens"]:
            left += 1
            continue
        text = grown
        used.append(memory)
    ctx.vault.usage.record([memory.ref for memory in used], ctx.now)
    warnings = [f"{left} memories did not fit into {given['maxTokens']} tokens"] if left else []
    listed = [{"id": memory.ref, "title": memory.title} for memory in used]
    return {
        "contextMarkdown": text, "memoriesUsed": listed, "tokenEstimate": estimate_tokens(text), "warnings": warnings,
    }  # fmt: skip


def _block(memory: Memory) -> str:
    when = memory.updated_at.isoformat().replace("+00:00", "Z") if memory.updated_at else "unknown"
    lines = [f"### {' '.join(memory.title.split())}", f"- **Type:** {memory.memory_type}"]
    lines += [f"- **URL:** {memory.url}"] if memory.url else []
    lines.append(f"- **Updated:** {when}")
    lines += [f"- **Tags:** {', '.join(memory.tags)}"] if memory.tags else []
    return "\n".join([*lines, "", memory.content.strip(), ""])


def _stats(ctx: Context, given: Arguments) -> dict[str, Any]:
    return totals(ctx)


def _prune(ctx: Context, given: Arguments) -> dict[str, Any]:
    if ctx.vault.config.decay.enabled == "off":
        return {"pruned": 0, "remaining": totals(ctx)["totalMemories"], "archived": [], "decayEnabled": False}
    return pruned(ctx)


ACTIONS: Final[Mapping[str, Callable[[Context, Arguments], dict[str, Any]]]] = {
    "remember": _remember, "recall": _recall, "search": _search, "forget": _forget, "context_pack": _context_pack,
    "update": _update, "stats": _stats, "prune": _prune,
}  # fmt: skip
ALIASES: Final = {"store": "remember", "delete": "forget"}
FIELDS: Final = (
    *(Param(name, "text", "") for name in (
        "content", "title", "memoryType", "category", "source", "url", "query", "projectId", "memoryId")),
    Param("tags", "list", ""),
    Param("relatedUrls", "list", ""),
    Param("confidence", "number", "", low=0, high=1),
    Param("importance", "number", "", low=0, high=1),
    Param("metadata", "map", ""),
    Param("maxResults", "integer", "", default=20, low=1, high=100),
    Param("maxTokens", "integer", "", default=2500, low=20, high=100_000),
    Param("search.limit", "integer", "", default=20, low=1, high=100),
    Param("search.includeArchived", "bool", "", default=False),
    Param("decayConfig", "map", ""),
)  # fmt: skip
