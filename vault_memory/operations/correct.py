"""correct, verify and feedback: what turned out wrong is superseded, never overwritten."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field
from pydantic.config import JsonDict

from vault_memory.batch import Batch, Expectation
from vault_memory.memory.model import Memory
from vault_memory.memory.scope import Scope
from vault_memory.operations.context import Context
from vault_memory.operations.draft import automatic_title
from vault_memory.operations.gates import check_edit, flags_of
from vault_memory.operations.refs import answer, expectation, link_to, resolve, why
from vault_memory.operations.request import Unit, WriteRequest
from vault_memory.operations.result import WriteResult

_REF: JsonDict = {"cli": {"positional": True}}
_INHERITED = (
    "memory_type", "tags", "project", "domain", "actor", "importance", "pinned", "url", "related_urls", "stacks",
    "anchor_scope",
)  # fmt: skip


class Correct(WriteRequest):
    """Replace a memory that turned out wrong; the old one stays, archived and linked."""

    ref: str = Field(description="The memory that is wrong.", json_schema_extra=_REF)
    content: str = Field(description="What is right.", json_schema_extra=_REF)
    title: str | None = Field(None, description="A title; by default the first sentence.")
    evidence: str | None = Field(None, max_length=2000, description="How it is known.")


class Verify(WriteRequest):
    """Say whether a memory was checked, and how sure it is."""

    ref: str = Field(description="Id, path or title.", json_schema_extra=_REF)
    verification: Literal["unverified", "confirmed", "contradicted"] | None = Field(None, description="Review state.")
    confidence: Unit | None = Field(None, description="How sure it is, 0 to 1.")


class Feedback(WriteRequest):
    """Say how a memory served: useful, wrong or outdated."""

    ref: str = Field(description="Id, path or title.", json_schema_extra=_REF)
    feedback: Literal["useful", "wrong", "outdated"] = Field(description="How it served.")
    note: str | None = Field(None, max_length=2000, description="What was wrong or useful.")


def correct(ctx: Context, request: Correct) -> WriteResult:
    """Store the right statement and archive the wrong one, linked both ways, in one batch.

    Raises:
        MemoryNotFound: no such memory.
        RevisionConflict: the old note changed since `if_revision`.
        Rejected: a write gate refused the new text.
    """
    old = resolve(ctx, request.ref, writing=True)
    told = {"title": request.title, "evidence": request.evidence}
    ready = _stored_already(ctx, old, request.content)
    warnings = () if ready else check_edit(ctx, old, request.content, told, reason=request.reason)
    link = link_to(ctx, old)
    with ctx.vault.write(why(ctx, "correct", request.reason), ctx.now) as batch:
        fields = _successor(ctx, old, request, link)
        if ready is not None:
            new = _made_successor(batch, ready, link, fields)
        else:
            new = batch.create(fields, request.content, relations={"supersedes": (link,)})
        retire(ctx, batch, old, new, expect_from=request)
    settle(ctx, new.ref, old.ref)
    return answer(ctx, batch, new, "stored", warnings)


def settle(ctx: Context, one: str, other: str) -> None:
    """Take a pair out of the review queue, whichever of the two is newer."""
    pair = {one, other}
    ctx.vault.local.settled([w.number for w in ctx.vault.local.waiting() if {w.ref, w.rival} == pair])


def _stored_already(ctx: Context, old: Memory, content: str) -> Memory | None:
    """The active memory that says exactly this: a changed fact is stored before anyone calls it a correction."""
    rows = ctx.vault.catalog.by_content(Memory("", content).content_hash, Scope(old.project, old.actor))
    for row in rows:
        memory = ctx.vault.current(row.memory, ctx.scope) if row.memory.status == "active" else None
        if memory is not None and memory.path != old.path and memory.content == content and memory.id is not None:
            return memory
    return None


def _made_successor(batch: Batch, memory: Memory, link: str, fields: dict[str, Any]) -> Memory:
    links = [*dict.fromkeys((*memory.relations.get("supersedes", ()), link))]
    changes: dict[str, Any] = {"supersedes": links}
    if fields.get("relation_notes"):
        changes["relation_notes"] = [*memory.relation_notes, *fields["relation_notes"]]
    return batch.patch(memory.path, changes).memory


def retire(ctx: Context, batch: Batch, old: Memory, new: Memory, *, expect_from: WriteRequest | None = None) -> None:
    """Archive `old` with a link to `new`; a hand-made note gets the id and version it will be known by."""
    links = [*dict.fromkeys((*old.relations.get("superseded_by", ()), new_link(new)))]
    changes: dict[str, Any] = {"status": "archived", "superseded_by": links}
    if old.id is None:
        changes |= {"id": ctx.vault.ids.next(ctx.now), "version": old.version}
    expect = expectation(expect_from) if expect_from is not None else Expectation()
    batch.patch(old.path, changes, whole=True, expect=expect)


def new_link(memory: Memory) -> str:
    """The link to a note of this batch: by its path, for no catalog can tell yet whether its name is unique."""
    return memory.path.removesuffix(".md")


def verify(ctx: Context, request: Verify) -> WriteResult:
    """Set the review state, the confidence, or both. What a person confirms may enter start texts of any project.

    Raises:
        MemoryNotFound: no such memory.
    """
    memory = resolve(ctx, request.ref, writing=True)
    changes = request.model_dump(include={"verification", "confidence"}, exclude_none=True)
    result = _patched(ctx, memory, changes or {"verification": "confirmed"}, request, "verify")
    if ctx.source == "human" and result.memory is not None:
        if result.memory.verification == "confirmed":
            ctx.vault.local.confirm(result.memory.ref, result.memory.content_hash, ctx.now)
        else:
            ctx.vault.local.doubt(result.memory.ref)
    return result


def feedback(ctx: Context, request: Feedback) -> WriteResult:
    """Let experience count: useful raises importance and counts as an access, wrong contradicts, outdated archives.

    Raises:
        MemoryNotFound: no such memory.
    """
    memory = resolve(ctx, request.ref, writing=True)
    if request.feedback == "useful":
        ctx.vault.usage.record([memory.ref], ctx.now)
        changes: dict[str, Any] = {"importance": round(min(1.0, memory.importance + 0.1), 2)}
    elif request.feedback == "wrong":
        changes = {"verification": "contradicted"}
    else:
        changes = {"status": "archived"}
    return _patched(ctx, memory, changes, request, "feedback", request.note)


def _patched(
    ctx: Context,
    memory: Memory,
    changes: dict[str, Any],
    request: WriteRequest,
    operation: str,
    note: str | None = None,
) -> WriteResult:
    with ctx.vault.write(why(ctx, operation, request.reason or note), ctx.now) as batch:
        edited = batch.patch(memory.path, changes, expect=expectation(request))
    return answer(ctx, batch, edited.memory, "updated" if edited.changed else "unchanged")


def _successor(ctx: Context, old: Memory, request: Correct, link: str) -> dict[str, Any]:
    """The fields of the memory that takes the old one's place: what it is about stays, who says so is new."""
    fields = {name: getattr(old, name) for name in _INHERITED if name in old.stated}
    fields["title"] = request.title or automatic_title(request.content)
    fields |= {"source": ctx.source, "agent": ctx.agent, "session": ctx.session, "memory_type": old.memory_type}
    if flags := flags_of(ctx.source, request.content):
        fields["flags"] = list(flags)
    if request.evidence:
        fields["relation_notes"] = [f"supersedes [[{link}]]: {request.evidence}"]
    return {name: value for name, value in fields.items() if value not in (None, ())}
