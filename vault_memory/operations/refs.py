"""References: from what a caller names to the one memory that is meant, within its scope, read fresh from the disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote

from vault_memory.errors import InvalidRequest, MemoryNotFound
from vault_memory.memory.scope import UNBOUND
from vault_memory.memory.slug import fold
from vault_memory.operations.result import WriteResult
from vault_memory.vault import REFRESH_MS

if TYPE_CHECKING:
    from vault_memory.batch import Batch, Expectation, Why
    from vault_memory.index.rows import Row
    from vault_memory.memory.model import Memory
    from vault_memory.operations.context import Context
    from vault_memory.operations.request import WriteRequest

_SCHEME = "memory://"


def resolve(ctx: Context, ref: str, *, deleted: bool = False, writing: bool = False) -> Memory:
    """The memory that `ref` means: tried as URI, id, path, exact title or alias; the first kind that matches decides.

    Args:
        ctx: whose scope decides what exists.
        ref: what the caller named.
        deleted: also find memories that were deleted softly.
        writing: refuse an id that several notes hold (reads take the first that is no conflict copy).

    Raises:
        MemoryNotFound: nothing matches; the error names the nearest.
        InvalidRequest: several memories match; the error lists them with their paths.
    """
    memory = _current(ctx, ref, writing)
    if memory is None:  # moved by hand, or newer than what is known: the whole disk tells
        ctx.vault.look(None, budget_ms=REFRESH_MS)
        memory = _current(ctx, ref, writing)
    if memory is None or (memory.status == "deleted" and not deleted):
        raise _missing(ctx, ref, memory)
    return memory


def _current(ctx: Context, ref: str, writing: bool) -> Memory | None:
    """What is known by the name, as its file has it now; None when nothing is, or when the file is gone."""
    row = _looked_up(ctx, ref, writing)
    return ctx.vault.current(row.memory, ctx.scope) if row else None


def _looked_up(ctx: Context, ref: str, writing: bool) -> Row | None:
    for rows in _candidates(ctx, ref):
        if len(rows) > 1 and (writing or rows[0].memory.id != rows[1].memory.id or rows[0].memory.id is None):
            raise _ambiguous(ref, rows)
        if rows:
            return rows[0]
    return None


def _candidates(ctx: Context, ref: str) -> tuple[Sequence[Row], ...]:
    catalog = ctx.vault.catalog
    if ref.startswith(_SCHEME):
        rest = ref.removeprefix(_SCHEME)
        if rest.startswith("path/"):
            return (_at(ctx, unquote(rest.removeprefix("path/"))),)
        return (catalog.by_id(unquote(rest), ctx.scope),)
    return (catalog.by_id(ref, ctx.scope), _at(ctx, ref), catalog.by_name(ref, ctx.scope))


def _at(ctx: Context, path: str) -> list[Row]:
    """The note at a path, if the text can be one; a path that leads outside is refused by the file layer."""
    if "/" in path or "\\" in path or "%" in path or path.endswith(".md") or path.startswith(("~", ".")):
        ctx.vault.store.locate(path if path.endswith(".md") else f"{path}.md")
    rows = (ctx.vault.catalog.get(candidate, ctx.scope) for candidate in (path, f"{path}.md"))
    return [row for row in rows if row is not None][:1]


def _ambiguous(ref: str, rows: Sequence[Row]) -> InvalidRequest:
    candidates = [{"ref": row.memory.ref, "path": row.memory.path, "title": row.memory.title} for row in rows]
    named = "; ".join(f"{c['path']} ({c['ref']})" for c in candidates)
    return InvalidRequest(
        f"'{ref}' could be any of {len(candidates)} memories: {named}",
        hint="name it by its path",
        errors=[{"field": "ref", "message": "ambiguous"}],
        candidates=candidates,
    )


def _missing(ctx: Context, ref: str, found: Memory | None) -> MemoryNotFound:
    if found is not None:
        return MemoryNotFound(f"'{ref}' was deleted", hint=f"bring it back with: restore {found.ref}")
    hints = ctx.vault.catalog.nearest(ref, ctx.scope)
    nearest = [{"ref": hint.ref, "path": hint.path, "title": hint.title} for hint in hints]
    hint = f"did you mean {nearest[0]['title']} ({nearest[0]['ref']})?" if nearest else "search for it"
    return MemoryNotFound(f"there is no memory '{ref}'", hint=hint, nearest=nearest)


def link_to(ctx: Context, memory: Memory) -> str:
    """What a wikilink to the memory says: its file name, or its vault path where the name alone is not unique."""
    from vault_memory.memory.links import LinkIndex
    from vault_memory.memory.links import resolve as resolve_link

    name = memory.path.rpartition("/")[2].removesuffix(".md")
    index = LinkIndex(ctx.vault.catalog.paths(UNBOUND))
    alone = len(index.named(fold(f"{name}.md"))) == 1 and resolve_link(name, "", index) == memory.path
    return name if alone else memory.path.removesuffix(".md")


def why(ctx: Context, operation: str, reason: str | None = None) -> Why:
    """Who acts and what for."""
    from vault_memory.batch import Why

    return Why(operation, ctx.agent, ctx.session, reason)


def expectation(request: WriteRequest) -> Expectation:
    """What the caller says it saw."""
    from vault_memory.batch import Expectation

    return Expectation(request.if_revision, request.if_version)


def answer(ctx: Context, batch: Batch, memory: Memory, outcome: str, warnings: Sequence[str] = ()) -> WriteResult:
    """The answer of a finished write: the memory as it is recorded now."""
    row = ctx.vault.catalog.get(memory.path, ctx.scope)
    recorded = row.memory if row else memory
    return WriteResult(outcome, recorded, memory.revision, warnings=(*warnings, *batch.warnings))
