"""relate, unrelate, relations and graph: typed links between memories, each a line in a note's front matter."""

from __future__ import annotations

from msgspec import Struct
from pydantic import Field
from pydantic.config import JsonDict

from vault_memory.errors import InvalidRequest
from vault_memory.memory.links import LinkIndex
from vault_memory.memory.links import resolve as resolve_link
from vault_memory.memory.model import Memory
from vault_memory.memory.scope import UNBOUND
from vault_memory.operations.context import Context
from vault_memory.operations.filters import known, relation_types
from vault_memory.operations.refs import answer, expectation, link_to, resolve, why
from vault_memory.operations.request import Request, WriteRequest
from vault_memory.operations.result import WriteResult

_REF: JsonDict = {"cli": {"positional": True}}


class Relate(WriteRequest):
    """Link two memories with a type."""

    from_ref: str = Field(description="The memory that gets the link.", json_schema_extra=_REF)
    to_ref: str = Field(description="The memory it leads to.", json_schema_extra=_REF)
    relation_type: str = Field("relates_to", description="supersedes, relates_to, contradicts, depends_on, …")
    note: str | None = Field(None, max_length=500, description="What the link is about.")


class Unrelate(WriteRequest):
    """Remove a typed link between two memories."""

    from_ref: str = Field(description="The memory that has the link.", json_schema_extra=_REF)
    to_ref: str = Field(description="The memory it leads to.", json_schema_extra=_REF)
    relation_type: str | None = Field(None, description="Only this type; by default every type.")


class Relations(Request):
    """A memory's typed relations, in both directions."""

    ref: str = Field(description="Id, path or title.", json_schema_extra=_REF)


class Edge(Struct, frozen=True):
    """A typed relation, or a wikilink (`relation_type` None). `target_ref` is None when it leads nowhere."""

    source_ref: str
    target_ref: str | None
    target: str
    relation_type: str | None
    note: str | None = None


class Related(Struct, frozen=True):
    """The relations of one memory: those it states, and those that others state about it."""

    outgoing: tuple[Edge, ...]
    incoming: tuple[Edge, ...]


def relate(ctx: Context, request: Relate) -> WriteResult:
    """Add a typed relation.

    Raises:
        MemoryNotFound: one of the two does not exist.
        InvalidRequest: an unknown type, a memory related to itself, or a relation that is there already.
    """
    relation = known("relation_type", request.relation_type, relation_types(ctx.config))
    source, target = _both(ctx, request.from_ref, request.to_ref)
    if source.path == target.path:
        raise InvalidRequest.of("to_ref", "a memory cannot be related to itself")
    if any(edge.relation_type == relation and edge.target_ref == target.ref for edge in _outgoing(ctx, source)):
        raise InvalidRequest.of("to_ref", f"'{source.title}' already {relation} '{target.title}'")
    link = link_to(ctx, target)
    changes: dict[str, list[str]] = {relation: [*source.relations.get(relation, ()), link]}
    if request.note:
        changes["relation_notes"] = [*source.relation_notes, f"{relation} [[{link}]]: {request.note}"]
    return _patched(ctx, source, changes, request, "relate")


def unrelate(ctx: Context, request: Unrelate) -> WriteResult:
    """Remove the typed relations from one memory to another, and what was noted about them.

    Raises:
        MemoryNotFound: one of the two does not exist.
        InvalidRequest: there is no such relation.
    """
    source, target = _both(ctx, request.from_ref, request.to_ref)
    gone = [
        edge
        for edge in _outgoing(ctx, source)
        if edge.target_ref == target.ref and edge.relation_type and request.relation_type in (None, edge.relation_type)
    ]
    if not gone:
        raise InvalidRequest.of("to_ref", f"'{source.title}' has no such relation to '{target.title}'")
    changes: dict[str, list[str] | None] = {}
    for relation in dict.fromkeys(edge.relation_type for edge in gone if edge.relation_type):
        lost = {edge.target for edge in gone if edge.relation_type == relation}
        kept = [link for link in source.relations[relation] if link not in lost]
        changes[relation] = kept or None
    notes = {edge.note for edge in gone if edge.note}
    if notes:
        changes["relation_notes"] = [note for note in source.relation_notes if note not in notes] or None
    return _patched(ctx, source, changes, request, "unrelate")


def relations(ctx: Context, request: Relations) -> Related:
    """The typed relations of a memory in both directions.

    Raises:
        MemoryNotFound: no such memory.
    """
    memory = resolve(ctx, request.ref)
    index = LinkIndex(ctx.vault.catalog.paths(UNBOUND))
    incoming = [
        Edge(link.ref, memory.ref, link.target, link.relation)
        for link in ctx.vault.catalog.backlinks(memory.path, ctx.scope)
        if link.relation is not None and resolve_link(link.target, link.path, index) == memory.path
    ]
    return Related(tuple(edge for edge in _outgoing(ctx, memory, index) if edge.relation_type), tuple(incoming))


def _outgoing(ctx: Context, memory: Memory, index: LinkIndex | None = None) -> list[Edge]:
    index = index or LinkIndex(ctx.vault.catalog.paths(UNBOUND))
    edges = []
    for relation, targets in memory.relations.items():
        for target in targets:
            path = resolve_link(target, memory.path, index)
            row = ctx.vault.catalog.get(path, ctx.scope) if path else None
            note = next((n for n in memory.relation_notes if n.startswith(f"{relation} [[{target}]]")), None)
            edges.append(Edge(memory.ref, row.memory.ref if row else None, target, relation, note))
    return edges


def _both(ctx: Context, source: str, target: str) -> tuple[Memory, Memory]:
    return resolve(ctx, source, writing=True), resolve(ctx, target)


def _patched(
    ctx: Context, memory: Memory, changes: dict[str, list[str]] | dict[str, list[str] | None], request: WriteRequest,
    operation: str,
) -> WriteResult:  # fmt: skip
    with ctx.vault.write(why(ctx, operation, request.reason), ctx.now) as batch:
        edited = batch.patch(memory.path, changes, expect=expectation(request))
    return answer(ctx, batch, edited.memory, "updated" if edited.changed else "unchanged")
