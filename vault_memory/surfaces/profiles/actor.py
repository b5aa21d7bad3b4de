"""The memory actor's seven tools over our operations; its search is ranked, its prune archives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from vault_memory.surfaces.profiles.adapter import AdapterTool, Arguments, Param, as_actor, run
from vault_memory.surfaces.profiles.native import TEMPLATES
from vault_memory.surfaces.profiles.profile import Profile
from vault_memory.surfaces.rest.actor_shape import memory_object

if TYPE_CHECKING:
    from vault_memory.memory.model import Memory
    from vault_memory.operations.context import Context


def profile() -> Profile:
    """The seven tools."""
    return Profile(TOOLS, TEMPLATES)


def shown(ctx: Context, memory: Memory, last_accessed_at: Any = None) -> dict[str, Any]:
    """A memory as the actor's users know it."""
    return memory_object(memory, last_accessed_at, ctx.now, ctx.config.decay)


def _fields(given: Arguments) -> dict[str, Any]:
    return {
        "content": given.get("content"),
        "domain": given.get("category"),
        "tags": given.get("tags"),
        "importance": given.get("importance"),
        "metadata": given.get("metadata"),
    }


def _store(ctx: Context, given: Arguments) -> Any:
    acting = as_actor(ctx, given["userId"])
    result = run(acting, "remember", memory_type="general", **_fields(given))
    return {"success": True, "memory": shown(acting, result.memory), "warnings": list(result.warnings)}


def _recall(ctx: Context, given: Arguments) -> Any:
    from vault_memory.memory.decay import hides

    acting = as_actor(ctx, given["userId"])
    page = run(acting, "list", status="active", domain=given["category"], sort="updated_at", limit=given["limit"])
    faded = acting.config.decay
    views = [view for view in page.items if not hides(view.memory, view.decayed_confidence or 0.0, faded)]
    memories = [shown(acting, view.memory, view.last_accessed_at) for view in views]
    return {"success": True, "count": len(memories), "memories": memories}


def _search(ctx: Context, given: Arguments) -> Any:
    acting = as_actor(ctx, given["userId"])
    hits = run(acting, "search", query=given["query"], domain=given["category"], limit=given["limit"]).hits
    results = [
        {"memory": shown(acting, hit.memory), "score": round(hit.relevance, 6), "matchedTerms": hit.matched_terms}
        for hit in hits
    ]
    return {"success": True, "count": len(results), "results": results}


def _update(ctx: Context, given: Arguments) -> Any:
    acting = as_actor(ctx, given["userId"])
    result = run(acting, "update", ref=given["memoryId"], **_fields(given))
    return {"success": True, "memory": shown(acting, result.memory), "warnings": list(result.warnings)}


def _delete(ctx: Context, given: Arguments) -> Any:
    run(as_actor(ctx, given["userId"]), "delete", ref=given["memoryId"])
    return {"success": True, "memoryId": given["memoryId"], "message": "Memory deleted"}


def _stats(ctx: Context, given: Arguments) -> Any:
    return {"success": True, "stats": totals(as_actor(ctx, given["userId"]))}


def totals(ctx: Context) -> dict[str, Any]:
    """How many memories there are, by type, and when one last changed."""
    counts = run(ctx, "stats")
    active = dict(counts.by_status).get("active", 0)
    return {"totalMemories": active, "byType": dict(counts.by_type), "lastUpdated": counts.last_updated}


def _prune(ctx: Context, given: Arguments) -> Any:
    acting = as_actor(ctx, given["userId"])
    done = pruned(acting, half_life_days=given["halfLifeDays"], prune_threshold=given["pruneThreshold"])
    return {"success": True, **done}


def pruned(ctx: Context, **settings: Any) -> dict[str, Any]:
    """Archive what has faded, at once; what left and what stayed."""
    wanted = {"strategy": "by_decay", **settings}
    plan = run(ctx, "prune", **wanted)
    if plan.count:
        plan = run(ctx, "prune", **wanted, execute=True, confirm_count=plan.count)
    gone = [{"id": item.ref, "title": item.title} for item in plan.would_prune]
    left = totals(ctx)["totalMemories"]
    return {"pruned": len(gone), "remaining": left, "archived": gone, "decayEnabled": True}


_USER: Final = Param("userId", "text", "Whose memories.", required=True)
_ID: Final = Param("memoryId", "text", "The memory.", required=True)
_CATEGORY: Final = Param("category", "text", "Topic area.")
_TAGS: Final = Param("tags", "list", "Tags.")
_IMPORTANCE: Final = Param("importance", "number", "How much it matters; 0.5 when left out.", low=0, high=1)
_LIMIT: Final = Param("limit", "integer", "How many at most.", default=20, low=1, high=100)
_QUERY: Final = Param("query", "text", "What to look for.", required=True)
TOOLS: Final = (
    AdapterTool(
        "store_memory", "Store a memory of a user.",
        (_USER, Param("content", "text", "What to keep.", required=True), _CATEGORY, _TAGS, _IMPORTANCE,
         Param("metadata", "map", "Keys of your own.")),
        "write", _store,
    ),
    AdapterTool("recall_memories", "A user's memories, newest first.", (_USER, _CATEGORY, _LIMIT), "read", _recall),
    AdapterTool("search_memories", "A user's memories that fit a query, best first.",
                (_USER, _QUERY, _LIMIT, _CATEGORY), "read", _search),
    AdapterTool("update_memory", "Change named parts of a memory.",
                (_USER, _ID, Param("content", "text", "The new text."), _CATEGORY, _TAGS, _IMPORTANCE), "destructive",
                _update),
    AdapterTool("delete_memory", "Delete a memory (softly: the owner can restore it).", (_USER, _ID), "destructive",
                _delete),
    AdapterTool("get_memory_stats", "Counts of a user's memories.", (_USER,), "read", _stats),
    AdapterTool(
        "prune_memories", "Archive the memories of a user that faded with disuse.",
        (_USER, Param("halfLifeDays", "number", "Days in which unused confidence halves (30).", low=0.01, high=36_500),
         Param("pruneThreshold", "number", "Archive at or below this confidence (0.05).", low=0, high=1)),
        "destructive", _prune,
    ),
)  # fmt: skip
