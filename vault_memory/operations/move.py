"""move: a note gets another path or title; links to it, and its own relative links, follow in the same batch."""

from __future__ import annotations

from pydantic import Field

from vault_memory.batch import Batch
from vault_memory.errors import InvalidRequest, MalformedNote, MemoryNotFound
from vault_memory.memory.links import LinkIndex, retarget_note
from vault_memory.memory.model import Memory
from vault_memory.memory.scope import UNBOUND
from vault_memory.memory.slug import slug
from vault_memory.operations.context import Context
from vault_memory.operations.refs import answer, expectation, resolve, why
from vault_memory.operations.request import WriteRequest
from vault_memory.operations.result import WriteResult


class Move(WriteRequest):
    """Rename or move a note; links to it follow."""

    ref: str = Field(description="Id, path or title.", json_schema_extra={"cli": {"positional": True}})
    path: str | None = Field(None, description="The new path in the vault; ending in / keeps the file name.")
    title: str | None = Field(None, description="The new title; without a path the file is renamed after it.")


def move(ctx: Context, request: Move) -> WriteResult:
    """Give a note another place or name; its id and history stay.

    Raises:
        InvalidRequest: neither path nor title, or the place is taken.
        NotAllowed: the path leads outside the vault.
        RevisionConflict: the note changed since `if_revision`.
    """
    if not request.path and not request.title:
        raise InvalidRequest.of("path", "name the new path or title")
    memory = resolve(ctx, request.ref, writing=True)
    target = _target(ctx, memory, request)
    with ctx.vault.write(why(ctx, "move", request.reason), ctx.now) as batch:
        changes = {"title": request.title} if request.title else {}
        edited = batch.patch(memory.path, changes, expect=expectation(request), whole=True)
        moved = edited.memory if target == memory.path else _moved(ctx, batch, memory.path, target)
    return answer(ctx, batch, moved, "moved" if edited.changed or target != memory.path else "unchanged")


def _target(ctx: Context, memory: Memory, request: Move) -> str:
    folder, _, name = memory.path.rpartition("/")
    if request.path is None:
        name = f"{slug(request.title or '')}.md"
        return f"{folder}/{name}" if folder else name
    path = request.path + name if request.path.endswith("/") else request.path
    path = path if path.lower().endswith(".md") else f"{path}.md"
    ctx.vault.store.locate(path, new=True)
    return path


def _moved(ctx: Context, batch: Batch, source: str, target: str) -> Memory:
    """Move the file, then rewrite the links that would otherwise mean something else."""
    index = LinkIndex(ctx.vault.catalog.paths(UNBOUND))
    moves = {source: target}
    linking = dict.fromkeys(link.path for link in ctx.vault.catalog.backlinks(source, UNBOUND))
    try:
        moved = batch.move(source, target)
    except FileExistsError:
        raise InvalidRequest.of("path", f"'{target}' is another note", hint="choose another path") from None
    own = batch.patch(target, {}, body=lambda data: retarget_note(data, moves, source, index), stamp=False)
    for path in linking:
        _relink(batch, path, moves, index)
    return own.memory if own.changed else moved


def _relink(batch: Batch, path: str, moves: dict[str, str], index: LinkIndex) -> None:
    try:
        batch.patch(path, {}, body=lambda data: retarget_note(data, moves, path, index), stamp=False)
    except (MalformedNote, MemoryNotFound) as error:
        batch.warnings.append(f"links in {path} were left as they are: {error.detail}")
