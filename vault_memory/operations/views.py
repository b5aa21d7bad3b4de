"""Memories as answered: usage and decay beside the note's own fields, relations and links from both sides."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from vault_memory.index.usage import Access
from vault_memory.memory.decay import decayed_confidence
from vault_memory.operations.result import View

if TYPE_CHECKING:
    from vault_memory.index.rows import Row
    from vault_memory.memory.model import Memory
    from vault_memory.operations.context import Context


def views(ctx: Context, rows: Iterable[Row]) -> tuple[View, ...]:
    """The rows as answers, in their order."""
    return tuple(
        View(
            row.memory,
            row.last_accessed_at,
            row.access_count,
            decayed_confidence(row.memory, row.last_accessed_at, ctx.now, ctx.config.decay),
        )
        for row in rows
    )


def full_view(ctx: Context, memory: Memory) -> View:
    """One memory with everything a reader may want to follow: links out, backlinks and relations pointing at it."""
    access = ctx.vault.usage.get([memory.ref]).get(memory.ref, Access())
    backlinks = ctx.vault.catalog.backlinks(memory.path, ctx.scope)
    incoming: dict[str, tuple[str, ...]] = {}
    for link in backlinks:
        if link.relation is not None:
            incoming[link.relation] = (*incoming.get(link.relation, ()), link.ref)
    return View(
        memory,
        access.last_accessed_at,
        access.access_count,
        decayed_confidence(memory, access.last_accessed_at, ctx.now, ctx.config.decay),
        relations_in=incoming,
        links=tuple(link.target for link in ctx.vault.catalog.links(memory.path, ctx.scope) if link.relation is None),
        backlinks=tuple(dict.fromkeys(link.ref for link in backlinks)),
    )


def accessed(ctx: Context, memories: Iterable[Memory], touch: bool = True) -> None:
    """Count memories as accessed, once the answer is made."""
    refs = [memory.ref for memory in memories] if touch and ctx.touch else []
    if refs:
        ctx.vault.usage.record(refs, ctx.now)
