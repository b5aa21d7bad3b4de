"""review and review_resolve: pairs of memories that the duplicate gate could not settle alone, and memories of agents
for every project that no person has confirmed. The queue is local."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from msgspec import Struct
from pydantic import Field

from vault_memory.errors import InvalidRequest, MemoryNotFound
from vault_memory.index.local import Waiting
from vault_memory.memory.duplicates import difference
from vault_memory.memory.filter import Filter
from vault_memory.memory.model import Memory
from vault_memory.memory.words import tokens
from vault_memory.operations.context import Context
from vault_memory.operations.correct import retire
from vault_memory.operations.merge import join
from vault_memory.operations.refs import answer, link_to, resolve, why
from vault_memory.operations.request import MAX_PAGE, Request, WriteRequest
from vault_memory.operations.result import WriteResult

Action = Literal["supersede", "merge", "keep_both", "discard"]


class Review(Request):
    """Pairs of memories that wait to be settled, oldest first."""

    limit: int = Field(10, ge=1, le=MAX_PAGE, description="How many.")
    offset: int = Field(0, ge=0, description="How many to skip.")


class ReviewResolve(WriteRequest):
    """Settle a pair that waits."""

    ref: str = Field(description="The newer memory of the pair.", json_schema_extra={"cli": {"positional": True}})
    action: Action = Field(
        description="supersede (the newer replaces the older), merge, keep_both, or discard (archive the newer).",
        json_schema_extra={"cli": {"positional": True}},
    )
    rival: str | None = Field(None, description="The older memory, when several pairs of the newer one wait.")


class Pair(Struct, frozen=True):
    """A pair that waits: the newer memory, the older one, and what differs."""

    memory: Memory
    rival: Memory
    kind: str
    differs: str
    at: datetime
    next: dict[str, Any]


class ReviewPage(Struct, frozen=True):
    """A page of the queue; `total` counts the pairs that the caller sees.

    `unconfirmed` are the newest memories that agents saved for every project: `verify` lets them into start texts.
    """

    items: tuple[Pair, ...]
    total: int
    limit: int
    offset: int
    has_more: bool
    unconfirmed: tuple[Memory, ...] = ()


def review(ctx: Context, request: Review) -> ReviewPage:
    """The pairs of which the caller sees both memories, while both are active; others are no longer a question."""
    ctx.vault.refresh()
    pairs = [pair for waiting in ctx.vault.local.waiting() if (pair := _pair(ctx, waiting)) is not None]
    page = tuple(pairs[request.offset : request.offset + request.limit])
    more = request.offset + len(page) < len(pairs)
    return ReviewPage(page, len(pairs), request.limit, request.offset, more, _unconfirmed(ctx, request.limit))


def _unconfirmed(ctx: Context, limit: int) -> tuple[Memory, ...]:
    everywhere = Filter(statuses=("active",), project="global", source="agent")
    found = ctx.vault.catalog.page(everywhere, ctx.scope, now=ctx.now, limit=MAX_PAGE).items
    confirmed = ctx.vault.local.confirmed()
    left = [row.memory for row in found if confirmed.get(row.memory.ref) != row.memory.content_hash]
    return tuple(left[:limit])


def review_resolve(ctx: Context, request: ReviewResolve) -> WriteResult:
    """Carry out what was decided about a pair, and take it out of the queue.

    Raises:
        MemoryNotFound: no such memory, or no pair of it waits.
        InvalidRequest: several pairs of it wait; the error names the rivals.
    """
    memory = resolve(ctx, request.ref, writing=True)
    waiting, rival = _waiting(ctx, memory, request.rival)
    if request.action == "keep_both":
        ctx.vault.local.settled([waiting.number])
        return WriteResult("unchanged", memory, memory.revision)
    with ctx.vault.write(why(ctx, "review_resolve", request.reason), ctx.now) as batch:
        if request.action == "merge":
            kept = join(ctx, batch, rival, [memory])
        elif request.action == "discard":
            kept = batch.patch(memory.path, {"status": "archived"}, whole=True).memory
        else:
            links = [*dict.fromkeys((*memory.relations.get("supersedes", ()), link_to(ctx, rival)))]
            kept = batch.patch(memory.path, {"supersedes": links}).memory
            retire(ctx, batch, rival, kept)
    ctx.vault.local.settled([waiting.number])
    return answer(ctx, batch, kept, "archived" if request.action == "discard" else "updated")


def _waiting(ctx: Context, memory: Memory, rival: str | None) -> tuple[Waiting, Memory]:
    older = resolve(ctx, rival).ref if rival is not None else None
    found = [
        (waiting, pair.rival)
        for waiting in ctx.vault.local.waiting()
        if waiting.ref == memory.ref and older in (None, waiting.rival) and (pair := _pair(ctx, waiting)) is not None
    ]
    if not found:
        raise MemoryNotFound(f"nothing about '{memory.title}' waits for review", hint="review lists what does")
    if len(found) > 1:
        raise InvalidRequest.of("rival", "several pairs wait; name one", allowed=[old.ref for _, old in found])
    return found[0]


def _pair(ctx: Context, waiting: Waiting) -> Pair | None:
    memory, rival = (_active(ctx, ref) for ref in (waiting.ref, waiting.rival))
    if memory is None or rival is None:
        return None
    differs = difference(tokens(rival.content), tokens(memory.content))
    call = {"operation": "review_resolve", "arguments": {"ref": memory.ref, "rival": rival.ref, "action": "supersede"}}
    return Pair(memory, rival, waiting.kind, differs, waiting.at, call)


def _active(ctx: Context, ref: str) -> Memory | None:
    rows = ctx.vault.catalog.by_id(ref, ctx.scope)
    row = rows[0] if rows else ctx.vault.catalog.get(ref, ctx.scope)
    return row.memory if row is not None and row.memory.status == "active" else None
