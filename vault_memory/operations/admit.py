"""What becomes of a new memory that repeats or changes a known one: stored, queued for review, merged, or not stored.

Owns the duplicate gate's decisions by `on_duplicate`; the verdicts are `rivals`', the writing is the batch's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from vault_memory.batch import Batch
from vault_memory.memory.markdown import append
from vault_memory.memory.model import Memory
from vault_memory.operations.gates import lenient
from vault_memory.operations.refs import answer, link_to
from vault_memory.operations.result import WriteResult
from vault_memory.operations.rivals import Beside, Rival, archived_match, find_rival

if TYPE_CHECKING:
    from vault_memory.operations.context import Context
    from vault_memory.operations.draft import Draft

OnDuplicate = Literal["review", "skip", "merge", "supersede", "keep_both"]
SEPARATOR = "\n\n---\n\n"
"""Stands between the texts of merged memories."""


class Admitted(Struct, frozen=True):
    """One memory that a batch took in, or why it did not; `result` makes the answer once the batch is recorded."""

    outcome: str
    memory: Memory
    warnings: tuple[str, ...] = ()
    rival: Rival | None = None
    reason: str | None = None
    next: Mapping[str, Any] | None = None


def admit(
    ctx: Context,
    batch: Batch,
    draft: Draft,
    on_duplicate: OnDuplicate,
    supersedes: Sequence[Memory] = (),
    beside: Beside | None = None,
) -> Admitted:
    """Write the draft as a new note, unless the duplicate gate says otherwise.

    Args:
        ctx: the caller; its vault's lock is held by `batch`.
        batch: what to write with.
        draft: passed the other gates, its relations are links.
        on_duplicate: what to do about a rival. A repetition is never stored (save keep_both), a changed fact always.
        supersedes: memories that the new one replaces; they are not compared with.
        beside: what else the batch has written.
    """
    if on_duplicate == "keep_both":
        return Admitted("stored", create(ctx, batch, draft, supersedes))
    project, actor = draft.fields.get("project"), draft.fields.get("actor")
    but = frozenset(memory.path for memory in supersedes)
    rival = find_rival(ctx, draft.content, project, actor, but=but, beside=beside)
    if rival is None:
        gone = None if supersedes else archived_match(ctx, draft.content, project, actor)
        warnings = (f"the same was {gone.status} before: '{gone.title}' ({gone.ref})",) if gone else ()
        return Admitted("stored", create(ctx, batch, draft, supersedes), warnings)
    if lenient(ctx, draft.memory_type):
        warnings = (_said(rival),) if rival.verdict.same else ()
        return Admitted("stored", create(ctx, batch, draft, supersedes), warnings, rival if warnings else None)
    if rival.verdict.same:
        return Admitted("duplicate", rival.memory, rival=rival, reason=_said(rival))
    return _settled(ctx, batch, draft, on_duplicate, supersedes, rival)


def _settled(
    ctx: Context, batch: Batch, draft: Draft, on_duplicate: OnDuplicate, supersedes: Sequence[Memory], rival: Rival
) -> Admitted:
    """A changed fact, or a text close to a known one: nothing of it may be lost, whatever was asked for."""
    if on_duplicate == "merge":
        text = f"---\n\n{draft.content.strip()}"
        edited = batch.patch(rival.memory.path, {}, body=lambda data: append(data, text, None))
        return Admitted("updated", edited.memory, rival=rival, reason=f"merged: {_said(rival)}")
    if on_duplicate == "supersede":
        memory = create(ctx, batch, draft, [*supersedes, rival.memory])
        return Admitted("stored", memory, rival=rival, reason=f"supersedes: {_said(rival)}")
    memory = create(ctx, batch, draft, supersedes)
    ctx.vault.local.wait(memory.ref, rival.memory.ref, rival.verdict.kind, ctx.now)
    return Admitted("needs_review", memory, rival=rival, reason=_said(rival), next=proposed(memory, rival))


def create(ctx: Context, batch: Batch, draft: Draft, supersedes: Sequence[Memory] = ()) -> Memory:
    """Write the draft as a new note and archive what it supersedes, linked both ways."""
    from vault_memory.operations.correct import retire

    relations = dict(draft.relations)
    if supersedes:
        links = (link_to(ctx, old) for old in supersedes)
        relations["supersedes"] = tuple(dict.fromkeys((*relations.get("supersedes", ()), *links)))
    memory = batch.create(draft.fields, draft.content, relations=relations, metadata=draft.metadata, path=draft.path)
    for old in supersedes:
        retire(ctx, batch, old, memory)
    return memory


def proposed(memory: Memory, rival: Rival) -> dict[str, Any]:
    """The call that would settle a review: a changed fact is a correction, a similar text a choice."""
    if rival.verdict.kind == "changed":
        return {"operation": "correct", "arguments": {"ref": rival.memory.ref, "content": memory.content}}
    return {
        "operation": "review_resolve",
        "arguments": {"ref": memory.ref, "action": "supersede"},
        "choices": ["supersede", "merge", "keep_both"],
    }


def result(ctx: Context, batch: Batch, admitted: Admitted, warnings: Sequence[str] = ()) -> WriteResult:
    """The answer, once the batch is recorded."""
    made = answer(ctx, batch, admitted.memory, admitted.outcome, (*warnings, *admitted.warnings))
    return WriteResult(
        made.outcome, made.memory, made.revision, admitted.reason, _named(admitted.rival), admitted.next, made.warnings
    )


def _named(rival: Rival | None) -> dict[str, Any] | None:
    if rival is None:
        return None
    memory, verdict = rival.memory, rival.verdict
    named: dict[str, Any] = {"ref": memory.ref, "title": memory.title, "path": memory.path, "kind": verdict.kind}
    if verdict.differs:
        named["differs"] = verdict.differs
    if rival.cosine is not None:
        named["cosine"] = round(rival.cosine, 4)
    return named | {"content": memory.content[:500]}


def _said(rival: Rival) -> str:
    name = f"'{rival.memory.title}' ({rival.memory.ref})"
    says = {
        "duplicate": f"repeats {name}",
        "adds_nothing": f"adds nothing to {name}",
        "changed": f"changes {name}: {rival.verdict.differs}",
    }
    return says.get(rival.verdict.kind, f"is close to {name}")
