"""What waits for a person besides the review queue: memories that contradict, were contradicted, or have expired."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from vault_memory.memory.filter import Filter
from vault_memory.memory.model import Memory
from vault_memory.operations.context import Context

MOST: Final = 100
"""So many of each kind are named."""


class Named(Struct, frozen=True):
    """A memory by the name that a person knows it by."""

    ref: str
    title: str
    path: str
    reason: str = ""

    @classmethod
    def of(cls, memory: Memory, reason: str = "") -> Named:
        """The memory's name, and why it is named."""
        return cls(memory.ref, memory.title, memory.path, reason)


class Attention(Struct, frozen=True):
    """The first hundred of each kind, all of them active.

    Attributes:
        contradictions: pairs of which the first says that it contradicts the second.
        contradicted: memories marked so by a person or an agent.
        expired: memories past their `expires_at`, which no search shows.
    """

    contradictions: tuple[tuple[Named, Named], ...]
    contradicted: tuple[Named, ...]
    expired: tuple[Named, ...]


def attention(ctx: Context) -> Attention:
    """Look through what the caller sees; changes nothing."""
    ctx.vault.refresh()
    expired = _active(ctx, Filter(statuses=("active",), expired=True))
    contradicted = _active(ctx, Filter(statuses=("active",), verification="contradicted", expired=None))
    return Attention(
        contradictions=tuple(_contradictions(ctx)),
        contradicted=tuple(map(Named.of, contradicted)),
        expired=tuple(Named.of(memory, f"expired {memory.expires_at:%Y-%m-%d}") for memory in expired),
    )


def _active(ctx: Context, wanted: Filter) -> list[Memory]:
    page = ctx.vault.catalog.page(wanted, ctx.scope, now=ctx.now, limit=MOST)
    return [row.memory for row in page.items]


def _contradictions(ctx: Context) -> list[tuple[Named, Named]]:
    catalog, found = ctx.vault.catalog, []
    for link in catalog.links_of("contradicts", ctx.scope, limit=MOST):
        rows = [catalog.get(path, ctx.scope) for path in (link.path, link.to or "")]
        memories = [row.memory for row in rows if row is not None and row.memory.status == "active"]
        if len(memories) == 2:
            found.append((Named.of(memories[0]), Named.of(memories[1])))
    return found
