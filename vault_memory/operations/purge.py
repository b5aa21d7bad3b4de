"""purge: a memory and every copy of its text, gone for good. Owns the order in which the copies go.

The only operation that cannot be undone, so it wants its phrase. What git has already recorded stays there until a
person rewrites history; the answer holds the exact command.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace
from pydantic import Field

from vault_memory.batch import Batch
from vault_memory.errors import ConfirmationNeeded, IndexUnavailable, MalformedNote, MemoryNotFound
from vault_memory.memory.links import LinkIndex
from vault_memory.memory.links import resolve as resolve_link
from vault_memory.memory.model import Memory
from vault_memory.memory.scope import UNBOUND
from vault_memory.memory.times import time_text
from vault_memory.operations.context import Context
from vault_memory.operations.refs import resolve, why
from vault_memory.operations.request import Request

if TYPE_CHECKING:
    from vault_memory.files.git import Repository


class Purge(Request):
    """Remove a memory and every copy of its text, for good."""

    ref: str = Field(description="Id, path or title.", json_schema_extra={"cli": {"positional": True}})
    confirm_phrase: str | None = Field(None, description="Must be exactly: DELETE <id>.")


class Purged(Struct, frozen=True):
    """What was removed. `command` is what a person runs so that git forgets it too; None when no commit holds it."""

    outcome: str
    ref: str
    removed: dict[str, int]
    in_git_history: bool
    command: str | None
    warnings: tuple[str, ...] = ()


def purge(ctx: Context, request: Purge) -> Purged:
    """Remove the note, inbound relations, usage, kept versions, queue, local rows, audit entries and index rows.

    Raises:
        MemoryNotFound: no such memory.
        ConfirmationNeeded: the phrase is missing or wrong; the error holds the plan and the phrase.
    """
    memory = resolve(ctx, request.ref, deleted=True, writing=True)
    inbound = _inbound(ctx, memory)
    phrase = f"DELETE {memory.ref}"
    if request.confirm_phrase != phrase:
        raise _unconfirmed(ctx, memory, inbound, phrase)
    paths = _paths(ctx, memory)
    with ctx.vault.write(replace(why(ctx, "purge"), reason=None), ctx.now) as batch:
        untied = sum(_untie(ctx, batch, path, links) for path, links in inbound.items())
        batch.remove(memory.path)
        committed = _leave_no_text(ctx, batch, memory.path)
    removed = {"relations": untied, **_clear(ctx, memory, paths)}
    warnings = [*batch.warnings, *_purged_indexes(ctx, memory)]
    if committed:
        ctx.vault.commits.flush()
    command = _command(ctx, memory, paths)
    if command is not None:
        warnings.append("git history still holds it; a person must run the command for that, and replace every clone")
    return Purged("purged", memory.ref, removed, command is not None, command, tuple(warnings))


def _unconfirmed(ctx: Context, memory: Memory, inbound: dict[str, list[str]], phrase: str) -> ConfirmationNeeded:
    repository = ctx.vault.git.repository
    plan = {
        "ref": memory.ref,
        "title": memory.title,
        "path": memory.path,
        "inbound_relations": sum(map(len, inbound.values())),
        "kept_versions": len(ctx.vault.versions.list(memory.path)),
        "in_git": repository is not None and _at_head(repository, memory.path) is not None,
    }
    hint = f"to go on, a person must type: {phrase}" if ctx.source != "human" else f"confirm with the phrase: {phrase}"
    return ConfirmationNeeded(f"'{memory.title}' would be gone for good", hint=hint, plan=plan, phrase=phrase)


def _inbound(ctx: Context, memory: Memory) -> dict[str, list[str]]:
    """The typed relations that lead to the note, by the path they stand in; nobody's scope hides a dangling one."""
    index = LinkIndex(ctx.vault.catalog.paths(UNBOUND))
    found: dict[str, list[str]] = {}
    for link in ctx.vault.catalog.backlinks(memory.path, UNBOUND):
        if link.relation is not None and resolve_link(link.target, link.path, index) == memory.path:
            found.setdefault(link.path, []).append(link.target)
    found.pop(memory.path, None)
    return found


def _untie(ctx: Context, batch: Batch, path: str, targets: list[str]) -> int:
    """Take the relations to the purged note, and what was noted about them, out of another note."""
    try:
        memory = ctx.vault.parse(batch.read(path), path)
        changes: dict[str, Any] = {}
        for relation, links in memory.relations.items():
            if kept := [link for link in links if link not in targets]:
                changes |= {} if len(kept) == len(links) else {relation: kept}
            else:
                changes[relation] = None
        notes = [note for note in memory.relation_notes if not any(f"[[{target}]]" in note for target in targets)]
        if len(notes) != len(memory.relation_notes):
            changes["relation_notes"] = notes or None
        batch.patch(path, changes)
    except (MalformedNote, MemoryNotFound) as error:
        batch.warnings.append(f"a relation in {path} was left as it is: {error.detail}")
        return 0
    return len(targets)


def _leave_no_text(ctx: Context, batch: Batch, path: str) -> bool:
    """Let the removal be committed without what no commit holds yet: its `before` is what HEAD has, or nothing.

    Returns:
        Whether there is anything to commit.
    """
    ctx.vault.commits.queue.forget(path)
    repository = ctx.vault.git.repository
    head = _at_head(repository, path) if repository is not None else None
    batch.written[-1] = replace(batch.written[-1], before=head)
    return head is not None


def _at_head(repository: Repository, path: str) -> bytes | None:
    from vault_memory.files.git_objects import blob_at

    return blob_at(repository, "HEAD", path) if repository.head().commit else None


def _paths(ctx: Context, memory: Memory) -> tuple[str, ...]:
    """Every path the note had: from commits, and from the changes that wait (a move that was not committed yet)."""
    from vault_memory.files.history_purge import paths_in_history

    paths = {memory.path: None}
    for queued in ctx.vault.commits.queue.oldest():
        change = queued.change
        if memory.id and any(_is(ctx, memory, data, change.path) for data in (change.before, change.after)):
            paths[change.path] = None
    repository = ctx.vault.git.repository
    if repository is not None and repository.head().commit:
        paths |= dict.fromkeys(paths_in_history(repository, memory.path))
    return tuple(paths)


def _is(ctx: Context, memory: Memory, data: bytes | None, path: str) -> bool:
    named = data is not None and f"id: {memory.id}".encode() in data
    return named and ctx.vault.parse(data or b"", path).id == memory.id


def _clear(ctx: Context, memory: Memory, paths: tuple[str, ...]) -> dict[str, int]:
    """Forget it in everything beside the note: usage, versions, queue, review and keys, audit."""
    vault = ctx.vault
    versions = queued = 0
    for path in paths:
        versions += vault.versions.drop(path)
        if path != memory.path:
            queued += vault.commits.queue.forget(path)
        vault.audit.forget(path, memory.ref)
    vault.usage.purge([memory.ref])
    rows = vault.local.purge([memory.ref, memory.path])
    vault.audit.append(
        [{"time": time_text(ctx.now), "operation": "purge", "ref": memory.id or "", "agent": ctx.agent,
          "session": ctx.session}]
    )  # fmt: skip
    return {"versions": versions, "queued": queued, "local_rows": rows}


def _purged_indexes(ctx: Context, memory: Memory) -> list[str]:
    """Catalog, Tantivy segments, vectors and LanceDB; what another process holds up is said, and can be repeated."""
    from vault_memory.errors import VaultLocked

    warnings = []
    try:
        ctx.vault.catalog.purge(memory.path)
    except IndexUnavailable as error:
        warnings.append(f"{error.detail}; a reindex finishes the work")
    try:
        ctx.vault.indexes.applier.apply(wait=True, purge=True)
        ctx.vault.catalog.purge(memory.path)
    except (VaultLocked, IndexUnavailable) as error:
        warnings.append(f"the indexes are still to be cleared: {error.detail}")
    return warnings


def _command(ctx: Context, memory: Memory, paths: tuple[str, ...]) -> str | None:
    from vault_memory.files.history_purge import paths_in_history, purge_command

    repository = ctx.vault.git.repository
    if repository is None or not repository.head().commit:
        return None
    held = dict.fromkeys(path for known in paths for path in paths_in_history(repository, known))
    return purge_command(repository, held) if held else None
