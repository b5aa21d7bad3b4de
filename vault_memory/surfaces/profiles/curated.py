"""The curated server's 14 tools: chatter is refused, anchors head every search, projects stay apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from vault_memory.errors import NotAllowed
from vault_memory.surfaces.profiles.adapter import AdapterTool, Arguments, Param, run
from vault_memory.surfaces.profiles.native import TEMPLATES
from vault_memory.surfaces.profiles.profile import Profile

if TYPE_CHECKING:
    from vault_memory.operations.context import Context


def profile() -> Profile:
    """The 14 tools."""
    return Profile(TOOLS, TEMPLATES)


def _save(ctx: Context, given: Arguments) -> Any:
    """Through every gate: small talk is refused, repetitions are not stored, a changed fact waits for review."""
    return run(replace(ctx, lenient=False), "remember", **given)


def _search(ctx: Context, given: Arguments) -> Any:
    hits = run(ctx, "search", **given)
    return {
        "anchors": [{"id": memory.ref, "text": memory.content} for memory in hits.anchors],
        "observations": [
            {
                "id": hit.memory.ref,
                "content": hit.memory.content,
                "memory_type": hit.memory.memory_type,
                "tags": hit.memory.tags,
                "project": hit.memory.project,
                "score": hit.score,
                "relevance": hit.relevance,
                "updated_at": hit.memory.updated_at,
            }
            for hit in hits.hits
            if hit.memory.memory_type != "anchor"
        ],
        "total": hits.total,
        **({"warnings": list(hits.warnings)} if hits.warnings else {}),
    }


def _get(ctx: Context, given: Arguments) -> Any:
    return run(ctx, "get", refs=[given["id"]]).memories[0]


def _update(ctx: Context, given: Arguments) -> Any:
    changes = {name: value for name, value in given.items() if name != "id"}
    return run(ctx, "update", ref=given["id"], **changes)


def _delete(ctx: Context, given: Arguments) -> Any:
    return run(ctx, "forget", ref=given["id"], reason=given["reason"])


def _timeline(ctx: Context, given: Arguments) -> Any:
    times = {"created_after": given["after"], "created_before": given["before"]}
    return run(ctx, "timeline", limit=given["limit"], memory_type=given["memory_type"], **times)


def _related(ctx: Context, given: Arguments) -> Any:
    return run(ctx, "related", ref=given["id"], limit=given["limit"])


def _feedback(ctx: Context, given: Arguments) -> Any:
    return run(ctx, "feedback", ref=given["id"], feedback=given["feedback"], note=given["note"])


def _anchor_add(ctx: Context, given: Arguments) -> Any:
    return run(ctx, "anchor_add", **given)


def _anchor_list(ctx: Context, given: Arguments) -> Any:
    return run(ctx, "anchor_list", **given)


def _anchor_remove(ctx: Context, given: Arguments) -> Any:
    return run(ctx, "anchor_remove", ref=given["id"])


def _project_create(ctx: Context, given: Arguments) -> Any:
    """List a project in the vault; a session that is bound to one makes no others."""
    from vault_memory.harness.edits import execute
    from vault_memory.harness.project_edits import plan_create

    if isinstance(ctx.scope.project, str) and ctx.scope.project != given["name"]:
        raise NotAllowed(_BOUND.format(ctx.scope.project), hint=f"vault-memory project create {given['name']}")
    change = plan_create(ctx.vault.root, given["name"], title=given["title"] or "")
    execute([change])
    return {"project": given["name"], "created": change.verb != "keep"}


def _project_list(ctx: Context, given: Arguments) -> Any:
    """Listed projects and those with memories, as far as this session may see them."""
    from vault_memory.harness.projects import load_registry

    counts = {word.name: word.count for word in run(ctx, "projects").items}
    bound = ctx.scope.project
    listed = load_registry(ctx.vault.root).projects
    names = [slug for slug in listed if not isinstance(bound, str) or slug == bound] if bound is not None else []
    every = dict.fromkeys([*names, *counts])
    titles = {slug: project.title for slug, project in listed.items()}
    projects = [{"project": name, "title": titles.get(name, ""), "memories": counts.get(name, 0)} for name in every]
    return {"projects": projects, "bound": bound if isinstance(bound, str) else None}


def _project_bind(ctx: Context, given: Arguments) -> Any:
    """Which project a session is bound to is decided where it starts; nothing that is said in it can widen its view."""
    bound = ctx.scope.project
    if bound != given["name"]:
        named = bound if isinstance(bound, str) else "no project"
        raise NotAllowed(_BOUND.format(named), hint=f"a person runs: vault-memory project bind {given['name']}")
    return {"bound": bound}


_BOUND: Final = "this session is bound to {}; the person decides that, with --project or in the repository"
_ID: Final = Param("id", "text", "The memory.", required=True)
_STACKS: Final = Param("stacks", "list", "Technologies whose anchors apply.")
_LIMIT: Final = Param("limit", "integer", "How many at most.", default=10, low=1, high=100)
_NAME: Final = Param("name", "text", "The project.", required=True)
_TYPE: Final = Param("memory_type", "text", "Only this type.")
_TAGS: Final = Param("tags", "list", "Tags.")
TOOLS: Final = (
    AdapterTool(
        "save_memory", "Save an observation worth keeping; small talk and repetitions are refused with the reason.",
        (Param("content", "text", "One observation in plain words.", required=True), _TAGS,
         Param("memory_type", "text", "What kind of memory.", default="observation"),
         Param("scope", "text", "project or global; by default the session's project.", choices=("project", "global"))),
        "write", _save,
    ),
    AdapterTool("search_memory", "Anchors first, then observations that fit, best first.",
                (Param("query", "text", "What to look for.", required=True), _LIMIT, _TAGS, _TYPE, _STACKS), "read",
                _search),
    AdapterTool("get_memory", "A memory in full.", (_ID,), "read", _get),
    AdapterTool(
        "update_memory", "Change named parts of a memory.",
        (_ID, Param("content", "text", "The new text."), _TAGS,
         Param("importance", "number", "How much it matters.", low=0, high=1)),
        "destructive", _update,
    ),
    AdapterTool("delete_memory", "Archive a memory: out of search, kept, reversible.",
                (_ID, Param("reason", "text", "Why.")), "destructive", _delete),
    AdapterTool(
        "memory_timeline", "Memories in the order of time.",
        (Param("after", "text", "Created at or after this time."), Param("before", "text", "Created before this time."),
         _TYPE, Param("limit", "integer", "How many at most.", default=50, low=1, high=100)),
        "read", _timeline,
    ),
    AdapterTool("related_memories", "Memories near one: linked first, then similar.", (_ID, _LIMIT), "read", _related),
    AdapterTool(
        "memory_feedback", "Say how a memory served.",
        (_ID, Param("feedback", "text", "useful, wrong or outdated.", required=True,
                    choices=("useful", "wrong", "outdated")), Param("note", "text", "What was right or wrong.")),
        "write", _feedback,
    ),
    AdapterTool(
        "anchor_add", "Add a standing instruction of one to five short sentences; it heads every search.",
        (Param("text", "text", "The instruction.", required=True),
         Param("scope", "text", "global, project or stack.", choices=("global", "project", "stack")), _STACKS),
        "write", _anchor_add,
    ),
    AdapterTool("anchor_list", "The standing instructions that hold here.", (_STACKS,), "read", _anchor_list),
    AdapterTool("anchor_remove", "Archive a standing instruction.", (_ID,), "destructive", _anchor_remove),
    AdapterTool("project_create", "List a project in the vault.", (_NAME, Param("title", "text", "Its title.")),
                "write", _project_create),
    AdapterTool("project_list", "The projects this session may see, with counts.", (), "read", _project_list),
    AdapterTool("project_bind", "Make sure that this session is bound to a project.", (_NAME,), "read", _project_bind),
)  # fmt: skip
