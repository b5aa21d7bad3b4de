"""MemAI's 22 tools over our operations: its names, parameters and results, without its weak points."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from vault_memory.errors import InvalidRequest, MemoryNotFound
from vault_memory.memory.model import Memory
from vault_memory.surfaces.profiles.adapter import AdapterTool, Arguments, Param, found, run
from vault_memory.surfaces.profiles.native import TEMPLATES, Help
from vault_memory.surfaces.profiles.profile import Profile

if TYPE_CHECKING:
    from vault_memory.operations.context import Context

CUT: Final = 400
"""How much of a memory a list shows."""
MOST: Final = 100
EDITS: Final = 50
_TAGS: Final = {"checkpoint": "checkpoint", "anti_pattern": "anti_pattern"}


def profile() -> Profile:
    """The tools, help among them."""
    return Profile((*TOOLS, Help(TOOLS)), TEMPLATES)


def row(memory: Memory, *, cut: bool = True) -> dict[str, Any]:
    """A memory as MemAI names its parts; in lists the content is cut and says so."""
    text = memory.content
    if cut and len(text) > CUT:
        text = f"{text[:CUT]}... [+{len(text) - CUT} chars, see get_memory({memory.ref})]"
    replaced = memory.relations.get("superseded_by", ())
    return {
        "uid": memory.ref,
        "type": memory.memory_type,
        "domain": memory.domain or "",
        "session": memory.session or "",
        "tags": ", ".join(memory.tags),
        "content": text,
        "status": memory.status,
        "confidence": memory.verification,
        "superseded_by": replaced[-1] if replaced else None,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
    }


def _stored(ctx: Context, result: Any, domain: str | None) -> dict[str, Any]:
    """The new uid, and how the domain's spelling was changed, if it was."""
    answer: dict[str, Any] = {"uid": result.memory.ref if result.memory else None}
    kept = result.memory.domain if result.memory else None
    if domain and kept and kept != domain:
        answer["domain_adjusted"] = {"from": domain, "to": kept, "policy": ctx.config.domain_case}
    return answer | ({"warnings": list(result.warnings)} if result.warnings else {})


def _writer(operation: str, *names: str) -> Callable[[Context, Arguments], Any]:
    def work(ctx: Context, given: Arguments) -> Any:
        values = {name: given[name] for name in names}
        where = {"domain": given["domain"] or None, "session": given["session"] or None}
        tags = [_TAGS[operation]] if operation in _TAGS else None
        return _stored(ctx, run(ctx, operation, tags=tags, **values, **where), given["domain"])

    return work


def _note(ctx: Context, given: Arguments) -> Any:
    result = run(
        ctx,
        "remember",
        content=given["content"],
        memory_type="note",
        tags=given["tags"] or None,
        domain=given["domain"] or None,
        session=given["session"] or None,
    )
    return _stored(ctx, result, given["domain"])


def _search(ctx: Context, given: Arguments, memory_type: str | None = None) -> Any:
    hits = run(
        ctx,
        "search",
        query=given["query"],
        domain=given["domain"] or None,
        memory_type=memory_type or given.get("type") or None,
        limit=given["limit"],
    ).hits
    return [
        row(hit.memory) | {"match_source": hit.match_source, "fts_rank": hit.fts_rank, "vec_distance": hit.vec_distance}
        for hit in hits
    ]


def _recall(ctx: Context, given: Arguments) -> Any:
    return _search(ctx, given, "note")


def _recent(ctx: Context, given: Arguments) -> Any:
    page = run(ctx, "recent", domain=given["domain"] or None, memory_type=given["type"] or None, limit=given["limit"])
    return [row(view.memory) for view in page.items]


def _domains(ctx: Context, given: Arguments) -> Any:
    words = run(ctx, "domains").items
    return [{"domain": word.name, "count": word.count, "last_activity": word.last_updated} for word in words]


def _pulse(ctx: Context, given: Arguments) -> Any:
    report = run(ctx, "pulse", domain=given["domain"] or None)
    checkpoint = report.checkpoint
    full = None if checkpoint is None else row(checkpoint, cut=False) | {"relations": _edges(report.relations)}
    return {
        "checkpoint": full,
        "handoffs": _rows(report.handoffs),
        "anti_patterns": _rows(report.anti_patterns),
        "recent_notes": _rows(report.notes),
        "anchors": [memory.content for memory in report.anchors],
    }


def _rows(memories: Iterable[Memory]) -> list[dict[str, Any]]:
    return [row(memory) for memory in memories]


def _edges(related: Any) -> list[dict[str, Any]]:
    edges = [(edge, "out") for edge in related.outgoing] + [(edge, "in") for edge in related.incoming]
    return [
        {
            "from_uid": edge.source_ref,
            "to_uid": edge.target_ref or edge.target,
            "relation_type": edge.relation_type,
            "note": (edge.note or "").partition("]]: ")[2],
            "direction": direction,
        }
        for edge, direction in edges
    ]


def _get(ctx: Context, given: Arguments) -> Any:
    view = found(ctx, given["uid"])
    if view is None:
        return {}
    full = row(view.memory, cut=False)
    full["edit_history"] = _edits(ctx, view.memory)
    return full | {"relations": _edges(run(ctx, "relations", ref=view.memory.ref))}


def _edits(ctx: Context, memory: Memory) -> list[dict[str, Any]]:
    """What the content was before each change, oldest first, from the versions that git or the vault keeps."""
    if memory.version < 2:
        return []
    texts: list[tuple[Any, str, str]] = []
    for version in reversed(ctx.vault.history(memory.path, EDITS)):
        name = version.commit or version.revision
        data = ctx.vault.version(version.path, name) if name else None
        if data is not None:
            texts.append((version.when, ctx.vault.parse(data, version.path).content, version.summary))
    texts.append((memory.updated_at, memory.content, ""))
    pairs = pairwise(texts)
    return [
        {"edited_at": when, "prev_content": before, "new_content": after, "note": note}
        for (_, before, _), (when, after, note) in pairs
        if before != after
    ]


def _edit(ctx: Context, given: Arguments) -> Any:
    try:
        result = run(ctx, "update", ref=given["uid"], content=given["new_content"], reason=given["note"] or None)
    except MemoryNotFound as error:
        return {"ok": False, "uid": given["uid"], "error": error.detail}
    return {"ok": True, "uid": result.memory.ref, "warnings": list(result.warnings)}


def _link(ctx: Context, given: Arguments) -> Any:
    run(
        ctx, "relate", from_ref=given["from_uid"], to_ref=given["to_uid"], relation_type=given["relation_type"],
        note=given["note"] or None,
    )  # fmt: skip
    return {"ok": True} | {name: given[name] for name in ("from_uid", "to_uid", "relation_type")}


def _relations(ctx: Context, given: Arguments) -> Any:
    return _edges(run(ctx, "relations", ref=given["uid"]))


def _confidence(ctx: Context, given: Arguments) -> Any:
    result = run(ctx, "verify", ref=given["uid"], verification=given["confidence"])
    return {"ok": True, "uid": result.memory.ref, "confidence": result.memory.verification}


def _scan(ctx: Context, given: Arguments) -> Any:
    pairs = run(
        ctx, "find_duplicates", domain=given["domain"] or None, memory_type=given["type"] or None,
        threshold=given["threshold"], limit=given["limit"],
    ).items  # fmt: skip
    return [
        {
            "a": row(pair.older),
            "b": row(pair.newer),
            "score": pair.cosine if pair.cosine is not None else pair.overlap,
            "method": "cosine" if pair.cosine is not None else "lexical",
            "kind": pair.kind,
            "differs": pair.differs,
        }
        for pair in pairs
    ]


def _forget(ctx: Context, given: Arguments) -> Any:
    result = run(
        ctx, "forget", ref=given["uid"], reason=given["reason"] or None, superseded_by=given["superseded_by"] or None
    )
    return {"ok": True, "uid": result.memory.ref, "status": result.memory.status}


def _purge(ctx: Context, given: Arguments) -> Any:
    done = run(ctx, "purge", ref=given["uid"], confirm_phrase=given["confirm_phrase"])
    return {"ok": True, "uid": done.ref, "removed": done.removed, "command": done.command, "warnings": done.warnings}


def _get_case(ctx: Context, given: Arguments) -> Any:
    return {"policy": ctx.config.domain_case}


def _set_case(ctx: Context, given: Arguments) -> Any:
    from vault_memory.surfaces.profiles.settings import set_domain_case

    if given["policy"] not in POLICIES:
        raise InvalidRequest.of("policy", f"unknown policy '{given['policy']}'", allowed=list(POLICIES))
    before = ctx.config.domain_case
    set_domain_case(ctx.vault, given["policy"])
    return {"ok": True, "policy": given["policy"], "before": before}


POLICIES: Final = ("preserve", "lower", "upper")
_STATES: Final = ("unverified", "confirmed", "contradicted")
_UID: Final = Param("uid", "text", "The memory.", required=True)
_DOMAIN: Final = Param("domain", "text", "Topic area, exactly.", default="")
_SESSION: Final = Param("session", "text", "The session it comes from.", default="")
_TYPE: Final = Param("type", "text", "Only this type: note, checkpoint, anti_pattern, reasoning, handoff.", default="")
_CONTENT: Final = Param("content", "text", "What to keep.", required=True)
_QUERY: Final = Param("query", "text", "What to look for; several wordings may stand in one query.", required=True)
_NOTE: Final = Param("note", "text", "Why.", default="")


def _limit(default: int) -> Param:
    return Param("limit", "integer", "How many at most.", default=default, low=1, high=MOST)


TOOLS: Final = (
    AdapterTool(
        "note", "Save a fact, decision or finding.",
        (_CONTENT, _DOMAIN, Param("tags", "list", "Tags, as comma text or a list."), _SESSION), "write", _note,
    ),
    AdapterTool(
        "checkpoint", "Save where the work stands; every part is of free length.",
        (Param("intent", "text", "What is to be achieved.", required=True),
         Param("established", "text", "What is known or done.", required=True),
         Param("pursuing", "text", "What is being tried.", required=True),
         Param("open_questions", "text", "What is unknown.", required=True), _SESSION, _DOMAIN),
        "write", _writer("checkpoint", "intent", "established", "pursuing", "open_questions"),
    ),
    AdapterTool(
        "anti_pattern", "Save a pitfall, so that it is not repeated.",
        (Param("pattern", "text", "What is tempting.", required=True),
         Param("why_wrong", "text", "Why it goes wrong.", required=True),
         Param("instead", "text", "What to do instead.", required=True), _DOMAIN, _SESSION),
        "write", _writer("anti_pattern", "pattern", "why_wrong", "instead"),
    ),
    AdapterTool("reasoning", "Save why something was decided.", (_CONTENT, _DOMAIN, _SESSION), "write",
                _writer("reasoning", "content")),
    AdapterTool("handoff", "Leave a note for the next agent or session.", (_CONTENT, _DOMAIN, _SESSION), "write",
                _writer("handoff", "content")),
    AdapterTool("search", "Search by words and meaning; each hit says which side matched.",
                (_QUERY, _DOMAIN, _TYPE, _limit(30)), "read", _search),
    AdapterTool("recall", "Search what was saved with note.", (_QUERY, _DOMAIN, _limit(20)), "read", _recall),
    AdapterTool("list_by_domain", "The newest of a domain, newest first.",
                (Param("domain", "text", "Topic area, exactly.", required=True), _TYPE, _limit(50)), "read", _recent),
    AdapterTool("list_recent", "The newest of all, newest first.", (_TYPE, _DOMAIN, _limit(20)), "read", _recent),
    AdapterTool("list_domains", "The domains in use with counts and latest activity.", (), "read", _domains),
    AdapterTool("pulse", "Warm up a session: newest checkpoint, open handoffs, pitfalls, newest notes.", (_DOMAIN,),
                "read", _pulse),
    AdapterTool("get_memory", "A memory in full, with its edits and relations; {} when there is none.", (_UID,), "read",
                _get),
    AdapterTool("edit_memory", "Correct a memory; what it said before is kept.",
                (_UID, Param("new_content", "text", "The new text.", required=True), _NOTE), "destructive", _edit),
    AdapterTool(
        "link_memories", "Link two memories with a type.",
        (Param("from_uid", "text", "The memory that gets the link.", required=True),
         Param("to_uid", "text", "The one it leads to.", required=True),
         Param("relation_type", "text", "supersedes, relates_to, contradicts, depends_on, …", required=True), _NOTE),
        "write", _link,
    ),
    AdapterTool("get_relations", "A memory's relations in both directions.", (_UID,), "read", _relations),
    AdapterTool("set_confidence", "Say whether a memory was checked.",
                (_UID, Param("confidence", "text", "unverified, confirmed or contradicted.", required=True,
                             choices=_STATES)), "write", _confidence),
    AdapterTool(
        "dedup_scan", "Pairs that may say the same, for you to judge; changes nothing.",
        (_DOMAIN, _TYPE, Param("threshold", "number", "Least likeness.", default=0.6, low=0, high=1), _limit(20)),
        "read", _scan,
    ),
    AdapterTool(
        "forget", "Archive a memory: kept, out of lists and search, reversible.",
        (_UID, Param("reason", "text", "Why.", default=""),
         Param("superseded_by", "text", "The memory that replaces it; must exist.", default="")),
        "destructive", _forget,
    ),
    AdapterTool(
        "purge_memory", "Remove a memory for good; only when the person typed exactly DELETE and the uid.",
        (_UID, Param("confirm_phrase", "text", "What the person typed: DELETE <uid>.", required=True)),
        "destructive", _purge,
    ),
    AdapterTool("get_domain_case", "How the spelling of domains is kept.", (), "read", _get_case),
    AdapterTool("set_domain_case", "Keep domains as written, or all in lower or upper case, from now on.",
                (Param("policy", "text", "preserve, lower or upper.", required=True),), "write", _set_case),
)  # fmt: skip
