"""The memories that a session's start text is chosen from: a bounded number of rows, however big the vault is.

Owns which lists of the catalog are asked for; what may be shown is session.py's business. Reads the catalog only, so it
neither touches a note nor counts as an access.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec.structs import replace

from vault_memory.memory.filter import Filter
from vault_memory.memory.model import MEMORY_TYPES, Memory
from vault_memory.memory.scope import Scope

if TYPE_CHECKING:
    from vault_memory.index.catalog import Catalog

_ACTIVE = Filter(statuses=("active",))
_LASTING = tuple(
    kind
    for kind in MEMORY_TYPES
    if kind not in ("interaction", "summary", "observation", "reflection", "checkpoint", "handoff", "anchor")
)


def gather(catalog: Catalog, scope: Scope, *, now: datetime) -> list[Memory]:
    """At most a few hundred candidates: anchors, pinned, the newest of each kind that is told, and the important."""
    found: dict[str, Memory] = {}
    for wanted, limit in _lists():
        for row in catalog.page(wanted, scope, now=now, limit=limit).items:
            found.setdefault(row.memory.path, row.memory)
    return list(found.values())


def _lists() -> Iterator[tuple[Filter, int]]:
    yield _of("anchor"), 50
    yield replace(_ACTIVE, pinned=True), 50
    yield _of("checkpoint"), 5
    yield _of("handoff"), 10
    yield _of("anti_pattern"), 30
    yield replace(_of("decision", "preference", "instruction", "identity"), min_importance=0.7), 50
    yield _of("decision", "preference", "instruction", "identity"), 50
    yield replace(_of(*_LASTING), min_importance=0.7), 30
    yield _of(*_LASTING), 30


def _of(*memory_types: str) -> Filter:
    return replace(_ACTIVE, memory_types=memory_types)
