"""The contract's six tools: one deterministic list under two names, and the four steps of a memory's life."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from vault_memory.surfaces.profiles.adapter import AdapterTool, Arguments, Param, run
from vault_memory.surfaces.profiles.native import TEMPLATES
from vault_memory.surfaces.profiles.profile import Profile

if TYPE_CHECKING:
    from vault_memory.operations.context import Context
    from vault_memory.operations.result import View

_ENVELOPE: Final = ("items", "total", "limit", "offset", "has_more")


def profile() -> Profile:
    """The six tools."""
    return Profile(TOOLS, TEMPLATES)


def shown(view: View) -> dict[str, Any]:
    """The contract's nine fields, in its order."""
    memory = view.memory
    return {
        "id": memory.ref,
        "content": memory.content,
        "tags": memory.tags,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "last_accessed_at": view.last_accessed_at,
        "memory_type": memory.memory_type,
        "status": memory.status,
        "version": memory.version,
    }


def _list(ctx: Context, given: Arguments) -> Any:
    page = run(ctx, "list", **given)
    return {
        "items": [shown(view) for view in page.items],
        **{name: getattr(page, name) for name in _ENVELOPE[1:]},
        **({"warnings": list(page.warnings)} if page.warnings else {}),
    }


def _create(ctx: Context, given: Arguments) -> Any:
    result = run(ctx, "remember", **given)
    return _one(ctx, result.memory.ref, result.warnings)


def _get(ctx: Context, given: Arguments) -> Any:
    return shown(run(ctx, "get", refs=[given["id"]]).memories[0])


def _update(ctx: Context, given: Arguments) -> Any:
    changes = {name: value for name, value in given.items() if name not in ("id", "version")}
    result = run(ctx, "update", ref=given["id"], if_version=given["version"], **changes)
    return _one(ctx, result.memory.ref, result.warnings)


def _delete(ctx: Context, given: Arguments) -> Any:
    memory = run(ctx, "delete", ref=given["id"]).memory
    return {"id": memory.ref, "status": memory.status}


def _one(ctx: Context, ref: str, warnings: Any) -> dict[str, Any]:
    """The memory as it is now; making and changing it is no access."""
    view = run(ctx, "get", refs=[ref], touch=False, deleted=True).memories[0]
    return shown(view) | ({"warnings": list(warnings)} if warnings else {})


_ID: Final = Param("id", "text", "The memory.", required=True)
_TAGS: Final = Param("tags", "list", "Tags.")
_STATUSES: Final = ("active", "invalid", "deleted", "archived")
_RETRIEVAL: Final = (
    Param("status", "text", "active, invalid, archived or deleted; by default all but deleted."),
    Param("memory_type", "text", "preference, fact, identity, event or another type; exactly."),
    Param("tag", "text", "Only memories with exactly this tag."),
    Param("q", "text", "Only memories whose content or tags contain this text, whatever its case."),
    Param("sort", "text", "id (rising), created_at, updated_at or last_accessed_at (newest first).",
          default="created_at", choices=("id", "created_at", "updated_at", "last_accessed_at")),
    Param("limit", "integer", "Page size.", default=10, low=1, high=100),
    Param("offset", "integer", "How many to skip.", default=0, low=0, high=1_000_000_000),
)  # fmt: skip
TOOLS: Final = (
    AdapterTool("prime_memory_context", "What is stored, page by page in a fixed order, to start from.", _RETRIEVAL,
                "read", _list),
    AdapterTool("search_memories", "Memories that match exact filters, page by page in a fixed order.", _RETRIEVAL,
                "read", _list),
    AdapterTool(
        "create_memory", "Store one fact, preference, identity or event.",
        (Param("content", "text", "One idea in plain words.", required=True), _TAGS,
         Param("memory_type", "text", "preference, fact, identity or event.", default="fact")),
        "write", _create,
    ),
    AdapterTool("get_memory", "One memory; counts as an access.", (_ID,), "read", _get),
    AdapterTool(
        "update_memory", "Change named fields; the version rises only when something changed.",
        (_ID, Param("content", "text", "The new text."), _TAGS, Param("memory_type", "text", "The new type."),
         Param("status", "text", "The new state.", choices=_STATUSES),
         Param("version", "integer", "Write only if the memory still has this version.", low=1, high=1_000_000_000)),
        "destructive", _update,
    ),
    AdapterTool("delete_memory", "Delete a memory softly: it leaves every read but status=deleted.", (_ID,),
                "destructive", _delete),
)  # fmt: skip
