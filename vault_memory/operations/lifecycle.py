"""forget, delete and restore: lifecycle changes touch three lines of a note (status, updated_at, version), no more."""

from __future__ import annotations

from typing import Any

from pydantic import Field
from pydantic.config import JsonDict

from vault_memory.errors import InvalidRequest, MemoryNotFound
from vault_memory.memory.model import Memory
from vault_memory.operations.context import Context
from vault_memory.operations.refs import answer, expectation, link_to, resolve, why
from vault_memory.operations.request import WriteRequest
from vault_memory.operations.result import WriteResult

_REF: JsonDict = {"cli": {"positional": True}}


class Forget(WriteRequest):
    """Archive a memory: kept, out of search and packs, reversible with restore."""

    ref: str = Field(description="Id, path or title.", json_schema_extra=_REF)
    superseded_by: str | None = Field(None, description="The memory that replaces it; must exist.")


class Delete(WriteRequest):
    """Delete a memory softly: hidden everywhere unless deleted ones are asked for, reversible with restore."""

    ref: str = Field(description="Id, path or title.", json_schema_extra=_REF)


class Restore(WriteRequest):
    """Bring back a forgotten or deleted memory, or an earlier version of its text."""

    ref: str = Field(description="Id, path or title.", json_schema_extra=_REF)
    revision: str | None = Field(None, description="A revision or commit from history, to bring back that text.")


def forget(ctx: Context, request: Forget) -> WriteResult:
    """Archive a memory.

    Raises:
        MemoryNotFound: no such memory, or no such successor.
        RevisionConflict: the note changed since `if_revision`.
    """
    memory = resolve(ctx, request.ref, writing=True)
    changes: dict[str, Any] = {"status": "archived"}
    if request.superseded_by is not None:
        successor = resolve(ctx, request.superseded_by)
        if successor.path == memory.path:
            raise InvalidRequest.of("superseded_by", "a memory cannot supersede itself")
        link = link_to(ctx, successor)
        changes["superseded_by"] = [*dict.fromkeys((*memory.relations.get("superseded_by", ()), link))]
    return _set(ctx, memory, changes, request, "forget", "archived")


def delete(ctx: Context, request: Delete) -> WriteResult:
    """Delete a memory softly; its file stays where it is.

    Raises:
        MemoryNotFound: no such memory.
        RevisionConflict: the note changed since `if_revision`.
    """
    memory = resolve(ctx, request.ref, writing=True)
    return _set(ctx, memory, {"status": "deleted"}, request, "delete", "deleted")


def restore(ctx: Context, request: Restore) -> WriteResult:
    """Make a memory active again, or give it back an earlier text.

    Raises:
        MemoryNotFound: no such memory, or no such version.
        RevisionConflict: the note changed since `if_revision`.
    """
    memory = resolve(ctx, request.ref, deleted=True, writing=True)
    if request.revision is None:
        return _set(ctx, memory, {"status": "active"}, request, "restore", "restored")
    earlier = ctx.vault.version(memory.path, request.revision)
    if earlier is None:
        raise MemoryNotFound(f"'{memory.title}' has no version '{request.revision}'", hint="history lists them")
    with ctx.vault.write(why(ctx, "restore", request.reason), ctx.now) as batch:
        edited = batch.replace(memory.path, earlier, expect=expectation(request))
    return answer(ctx, batch, edited.memory, "restored")


def _set(
    ctx: Context, memory: Memory, changes: dict[str, Any], request: WriteRequest, operation: str, outcome: str
) -> WriteResult:
    with ctx.vault.write(why(ctx, operation, request.reason), ctx.now) as batch:
        edited = batch.patch(memory.path, changes, expect=expectation(request), whole=True)
    return answer(ctx, batch, edited.memory, outcome if edited.changed else "unchanged")
