"""MemStack's five tools for coding agents: memories of the project or of all, nothing in bulk, nothing irreversible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from vault_memory.errors import MemoryNotFound
from vault_memory.surfaces.profiles.adapter import AdapterTool, Arguments, Param, found, run
from vault_memory.surfaces.profiles.memstack import TYPES, shown
from vault_memory.surfaces.profiles.native import TEMPLATES
from vault_memory.surfaces.profiles.profile import Profile

if TYPE_CHECKING:
    from vault_memory.operations.context import Context


def profile() -> Profile:
    """The five tools."""
    return Profile(TOOLS, TEMPLATES)


def _store(ctx: Context, given: Arguments) -> Any:
    bound = isinstance(ctx.scope.project, str)
    result = run(
        ctx, "remember", content=given["content"], memory_type=given["kind"], tags=given["tags"] or None,
        scope="global" if given["scope"] == "global" or not bound else "project",
    )  # fmt: skip
    body = {
        "id": result.memory.ref,
        "scope": (result.memory.project and "project") or "global",
        "outcome": result.outcome,
    }
    return body | ({"warnings": list(result.warnings)} if result.warnings else {})


def _retrieve(ctx: Context, given: Arguments) -> Any:
    recalled = run(ctx, "recall", query=given["query"], limit=given["limit"], max_chars=8000)
    hits = [shown(item.memory) | {"score": item.score, "why": item.why} for item in recalled.items]
    anchors = [memory.content for memory in run(ctx, "anchor_list").anchors]
    return {"hits": hits, "fallback": recalled.fallback} | ({"anchors": anchors} if anchors else {})


def _get(ctx: Context, given: Arguments) -> Any:
    view = found(ctx, given["id"])
    return None if view is None else shown(view.memory)


def _delete(ctx: Context, given: Arguments) -> Any:
    try:
        run(ctx, "delete", ref=given["id"])
    except MemoryNotFound:
        return {"deleted": False, "id": given["id"]}
    return {"deleted": True, "id": given["id"]}


def _stats(ctx: Context, given: Arguments) -> Any:
    counts = run(ctx, "projects").items
    return {"global" if word.name == "global" else f"project:{word.name}": word.count for word in counts}


_ID: Final = Param("id", "text", "The memory.", required=True)
TOOLS: Final = (
    AdapterTool(
        "memory_store", "Save a durable fact, preference, decision or rule. Never secrets.",
        (Param("content", "text", "One idea in plain words.", required=True),
         Param("kind", "text", f"{', '.join(TYPES)}.", default="fact"),
         Param("scope", "text", "project, or global for what holds everywhere.", default="project",
               choices=("project", "global")),
         Param("tags", "list", "Topics, so that it is found by other words.")),
        "write", _store,
    ),
    AdapterTool(
        "memory_retrieve", "Ask what is known about this project; plain questions.",
        (Param("query", "text", "The question.", required=True),
         Param("limit", "integer", "How many at most.", default=10, low=1, high=100)),
        "read", _retrieve,
    ),
    AdapterTool("memory_get", "A memory by its id; null when there is none here.", (_ID,), "read", _get),
    AdapterTool("memory_delete", "Delete one memory of this project (softly).", (_ID,), "destructive", _delete),
    AdapterTool("memory_stats", "How many memories this project and all projects have.", (), "read", _stats),
)  # fmt: skip
