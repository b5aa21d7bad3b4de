"""recent, timeline, related and touch: the plain orders, and counting an access without reading."""

from __future__ import annotations

from msgspec import Struct
from pydantic import Field
from pydantic.config import JsonDict

from vault_memory.memory.model import Memory
from vault_memory.operations.context import Context
from vault_memory.operations.refs import resolve
from vault_memory.operations.relations import Relations, relations
from vault_memory.operations.request import MAX_PAGE, FilterRequest, Request
from vault_memory.operations.result import Page
from vault_memory.operations.views import views

_REF: JsonDict = {"cli": {"positional": True}}


class Recent(FilterRequest):
    """The newest memories; never by similarity."""

    limit: int = Field(20, ge=1, le=MAX_PAGE, description="How many.")
    offset: int = Field(0, ge=0, description="How many to skip.")


class Timeline(FilterRequest):
    """Memories by the time they were created, oldest of the page first."""

    limit: int = Field(50, ge=1, le=MAX_PAGE, description="How many.")
    offset: int = Field(0, ge=0, description="How many of the newest to skip.")


class Related(Request):
    """Memories near one: linked ones first, then similar ones."""

    ref: str = Field(description="Id, path or title.", json_schema_extra=_REF)
    limit: int = Field(10, ge=1, le=MAX_PAGE, description="How many.")


class Touch(Request):
    """Count an access without reading."""

    ref: str = Field(description="Id, path or title.", json_schema_extra=_REF)


class Neighbour(Struct, frozen=True):
    """A memory near another: by a link (its relation named) or by likeness."""

    memory: Memory
    how: str
    score: float


class Neighbours(Struct, frozen=True):
    """The neighbours of a memory, linked ones first."""

    ref: str
    neighbours: tuple[Neighbour, ...]


class Touched(Struct, frozen=True):
    """The access that was counted."""

    ref: str
    access_count: int


def recent(ctx: Context, request: Recent) -> Page:
    """The newest memories, active ones unless asked otherwise; reading them so is no access."""
    return _page(ctx, request, reverse=False)


def timeline(ctx: Context, request: Timeline) -> Page:
    """The same, in the order of time."""
    return _page(ctx, request, reverse=True)


def related(ctx: Context, request: Related) -> Neighbours:
    """Linked memories in both directions, then those that a search for the memory's text finds.

    Raises:
        MemoryNotFound: no such memory.
    """
    from vault_memory.memory.filter import Filter
    from vault_memory.operations.searching import find

    ctx.vault.refresh(searchable=True)
    memory = resolve(ctx, request.ref)
    found: dict[str, Neighbour] = {}
    linked = relations(ctx, Relations(ref=memory.ref))
    for edge in (*linked.outgoing, *linked.incoming):
        ref = edge.target_ref if edge.source_ref == memory.ref else edge.source_ref
        if ref is not None and ref != memory.ref:
            other = resolve(ctx, ref, deleted=True)
            if other.status == "active":
                found.setdefault(other.path, Neighbour(other, edge.relation_type or "link", 1.0))
    similar = find(ctx, f"{memory.title} {memory.content[:500]}", Filter(statuses=("active",)))
    for place in similar.places[: request.limit + 1]:
        near = ctx.vault.current(similar.memory(place), ctx.scope)
        if near is not None and near.path != memory.path:
            found.setdefault(near.path, Neighbour(near, "similar", similar.relevance(place)))
    return Neighbours(memory.ref, tuple(found.values())[: request.limit])


def touch(ctx: Context, request: Touch) -> Touched:
    """Count an access.

    Raises:
        MemoryNotFound: no such memory.
    """
    memory = resolve(ctx, request.ref)
    ctx.vault.usage.record([memory.ref], ctx.now)
    return Touched(memory.ref, ctx.vault.usage.get([memory.ref])[memory.ref].access_count)


def _page(ctx: Context, request: Recent | Timeline, *, reverse: bool) -> Page:
    freshness = ctx.vault.refresh()
    wanted = request.filter(ctx, default=("active",))
    page = ctx.vault.catalog.page(
        wanted, ctx.scope, now=ctx.now, sort="created_at", limit=request.limit, offset=request.offset
    )
    items = views(ctx, reversed(page.items) if reverse else page.items)
    return Page(items, page.total, page.limit, page.offset, page.has_more, freshness.warnings)
