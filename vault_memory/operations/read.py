"""get and list: exact reads, in a fixed order, each verified against the file."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct
from pydantic import Field

from vault_memory.memory.filter import VISIBLE, Filter
from vault_memory.memory.model import STATUSES
from vault_memory.operations.context import Context
from vault_memory.operations.refs import resolve
from vault_memory.operations.request import MAX_PAGE, FilterRequest, Request
from vault_memory.operations.result import Page, View
from vault_memory.operations.views import accessed, full_view, views


class Get(Request):
    """Read memories in full."""

    refs: list[str] = Field(
        description="Ids, paths, memory:// URIs or titles.",
        min_length=1,
        json_schema_extra={"cli": {"positional": True}},
    )
    touch: bool = Field(True, description="Count it as an access.")
    history: int = Field(0, ge=0, le=100, description="How many history entries to add (costs time).")
    deleted: bool = Field(False, description="Also memories that were deleted softly.")


class List(FilterRequest):
    """List memories in a fixed order."""

    q: str | None = Field(None, description="Only memories whose content or tags contain this text.")
    sort: Literal["id", "created_at", "updated_at", "last_accessed_at"] = Field("created_at", description="Sort key.")
    limit: int = Field(10, ge=1, le=MAX_PAGE, description="Page size.")
    offset: int = Field(0, ge=0, description="How many to skip.")
    touch: bool = Field(True, description="Count the rows as accessed.")


class Got(Struct, frozen=True):
    """The memories asked for, in the order of the references."""

    memories: tuple[View, ...]
    history: tuple[tuple[Any, ...], ...] = ()
    warnings: tuple[str, ...] = ()


def get(ctx: Context, request: Get) -> Got:
    """Read memories in full, with relations in both directions and links.

    Raises:
        MemoryNotFound: a reference leads nowhere; the error names the nearest.
        InvalidRequest: a title that several memories carry; the error lists them.
    """
    memories = [resolve(ctx, ref, deleted=request.deleted) for ref in request.refs]
    found = Got(
        tuple(full_view(ctx, memory) for memory in memories),
        tuple(ctx.vault.history(m.path, request.history) for m in memories) if request.history else (),
    )
    accessed(ctx, memories, request.touch)
    return found


def list_(ctx: Context, request: List) -> Page:
    """One page in the order of `sort`, newest first (ids rising), ties by ref; the contract's envelope.

    Raises:
        InvalidRequest: an unknown status, type or source.
    """
    freshness = ctx.vault.refresh()
    condition = request.filter(ctx, default=VISIBLE)
    if request.q:
        from msgspec.structs import replace

        condition = replace(condition, q=request.q)
    page = ctx.vault.catalog.page(
        condition, ctx.scope, sort=request.sort, limit=request.limit, offset=request.offset, now=ctx.now
    )
    answer = Page(views(ctx, page.items), page.total, page.limit, page.offset, page.has_more, freshness.warnings)
    accessed(ctx, (row.memory for row in page.items), request.touch)
    return answer


def all_statuses() -> Filter:
    """The filter that leaves nothing out but other scopes."""
    return Filter(statuses=STATUSES, expired=None)
