"""graph: memories as nodes, typed relations and wikilinks as edges, around one memory or of a whole scope."""

from __future__ import annotations

from msgspec import Struct
from pydantic import Field

from vault_memory.memory.filter import Filter
from vault_memory.memory.links import LinkIndex
from vault_memory.memory.links import resolve as resolve_link
from vault_memory.memory.model import Memory
from vault_memory.memory.scope import UNBOUND
from vault_memory.operations.context import Context
from vault_memory.operations.refs import resolve
from vault_memory.operations.request import Request


class Graph(Request):
    """Nodes and edges, of everything or around one memory."""

    ref: str | None = Field(
        None, description="Only what is near this memory.", json_schema_extra={"cli": {"positional": True}}
    )
    depth: int = Field(2, ge=1, le=5, description="How many steps from it.")
    project: str | None = Field(None, description="Only this project.")
    domain: str | None = Field(None, description="Only this domain.")
    limit: int = Field(1000, ge=1, le=5000, description="At most so many nodes.")


class Node(Struct, frozen=True):
    """A memory in the graph."""

    ref: str
    title: str
    memory_type: str
    status: str
    project: str | None


class GraphEdge(Struct, frozen=True):
    """A typed relation, or a wikilink (`relation_type` None)."""

    source: str
    target: str
    relation_type: str | None


class GraphResult(Struct, frozen=True):
    """Nodes by ref and edges by source, target and type; `truncated` when the limit cut it."""

    nodes: tuple[Node, ...]
    edges: tuple[GraphEdge, ...]
    truncated: bool = False


def graph(ctx: Context, request: Graph) -> GraphResult:
    """The graph of what the caller sees; deleted memories are not in it.

    Raises:
        MemoryNotFound: no memory `ref`.
    """
    ctx.vault.refresh()
    wanted = Filter(project=request.project, domain=request.domain, expired=None)
    memories = {row.memory.path: row.memory for row in ctx.vault.catalog.select(wanted, ctx.scope, now=ctx.now)}
    edges = _edges(ctx, memories)
    if request.ref is not None:
        near = _near(resolve(ctx, request.ref).path, edges, request.depth)
        memories = {path: memory for path, memory in memories.items() if path in near}
    kept = dict(sorted(memories.items(), key=lambda item: item[1].ref)[: request.limit])
    nodes = tuple(Node(m.ref, m.title, m.memory_type, m.status, m.project) for m in kept.values())
    shown = sorted(
        {(kept[a].ref, kept[b].ref, relation) for a, b, relation in edges if a in kept and b in kept},
        key=lambda edge: (edge[0], edge[1], edge[2] or ""),
    )
    return GraphResult(nodes, tuple(GraphEdge(*edge) for edge in shown), len(kept) < len(memories))


def _edges(ctx: Context, memories: dict[str, Memory]) -> list[tuple[str, str, str | None]]:
    index = LinkIndex(ctx.vault.catalog.paths(UNBOUND))
    edges = []
    for path in memories:
        for link in ctx.vault.catalog.links(path, ctx.scope):
            target = resolve_link(link.target, path, index)
            if target is not None and target in memories and target != path:
                edges.append((path, target, link.relation))
    return edges


def _near(start: str, edges: list[tuple[str, str, str | None]], depth: int) -> set[str]:
    around: dict[str, set[str]] = {}
    for a, b, _ in edges:
        around.setdefault(a, set()).add(b)
        around.setdefault(b, set()).add(a)
    near, edge = {start}, {start}
    for _ in range(depth):
        edge = {path for known in edge for path in around.get(known, ())} - near
        near |= edge
    return near
