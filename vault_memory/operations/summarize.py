"""summarize: many old memories become one; and delete_many, which takes several out at once. Originals are kept."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from pydantic import Field

from vault_memory.errors import InvalidRequest, VaultError
from vault_memory.memory.model import Memory
from vault_memory.operations.admit import create
from vault_memory.operations.context import Context
from vault_memory.operations.correct import new_link
from vault_memory.operations.draft import Draft, automatic_title
from vault_memory.operations.gates import check_text, flags_of
from vault_memory.operations.refs import link_to, resolve, why
from vault_memory.operations.request import FilterRequest, Request, Time

EXTRACT_CHARACTERS = 200


class Summarize(FilterRequest):
    """Put many memories into one summary; the caller gives the text, else the first sentences stand in."""

    text: str | None = Field(None, description="The summary; by default made of the memories' first sentences.")
    older_than: Time | None = Field(None, description="Only memories created before this time.")
    skip_most_recent: int = Field(10, ge=0, le=10_000, description="Leave out so many of the newest.")
    target_count: int = Field(50, ge=1, le=1000, description="At most so many, oldest first.")
    keep_originals: bool = Field(True, description="Leave the originals active; otherwise they are archived.")


class DeleteMany(Request):
    """Delete several memories softly, in one batch; what does not exist is named."""

    refs: list[str] = Field(description="Ids, paths or titles.", min_length=1)
    reason: str | None = Field(None, max_length=2000, description="Why; goes to the history.")


class Summary(Struct, frozen=True):
    """The new memory, and what it sums up; `archived_count` originals left the active ones."""

    summary: Memory
    sources: tuple[str, ...]
    archived_count: int
    extractive: bool
    warnings: tuple[str, ...] = ()


class Deleted(Struct, frozen=True):
    """What was deleted, and what was not there."""

    refs: tuple[str, ...]
    count: int
    missing: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def summarize(ctx: Context, request: Summarize) -> Summary:
    """Store a summary that is derived from its originals; those keep a link to it when they are archived.

    Raises:
        InvalidRequest: nothing matches.
        Rejected: a write gate refused the text.
    """
    freshness = ctx.vault.refresh()
    sources = _sources(ctx, request)
    if not sources:
        raise InvalidRequest("nothing to summarise: no memory matches", hint="lower skip_most_recent or older_than")
    text = request.text or _extract(sources)
    fields = _fields(ctx, request, sources, text)
    check_text(ctx, text, fields)
    links = tuple(link_to(ctx, memory) for memory in sources)
    with ctx.vault.write(why(ctx, "summarize"), ctx.now) as batch:
        made = create(ctx, batch, Draft(text, fields, {"derived_from": links}))
        archived = 0
        for memory in sources if not request.keep_originals else ():
            changes = {
                "status": "archived",
                "superseded_by": [*memory.relations.get("superseded_by", ()), new_link(made)],
            }
            try:
                archived += batch.patch(memory.path, changes).changed
            except VaultError as error:
                batch.warnings.append(f"{memory.path}: {error.detail}")
    row = ctx.vault.catalog.get(made.path, ctx.scope)
    refs = tuple(memory.ref for memory in sources)
    warnings = (*batch.warnings, *freshness.warnings)
    return Summary(row.memory if row else made, refs, archived, request.text is None, warnings)


def delete_many(ctx: Context, request: DeleteMany) -> Deleted:
    """Delete what exists and name what does not."""
    found, missing = dict[str, Memory](), []
    for ref in request.refs:
        try:
            memory = resolve(ctx, ref, writing=True)
        except VaultError:
            missing.append(ref)
        else:
            found[memory.path] = memory
    with ctx.vault.write(why(ctx, "delete_many", request.reason), ctx.now) as batch:
        done = [memory.ref for memory in found.values() if batch.patch(memory.path, {"status": "deleted"}).changed]
    return Deleted(tuple(done), len(done), tuple(missing), tuple(batch.warnings))


def _sources(ctx: Context, request: Summarize) -> list[Memory]:
    """The oldest of those that match, without the newest, never an anchor, a pinned one or another summary."""
    wanted = request.filter(ctx, default=("active",))
    rows = [row.memory for row in ctx.vault.catalog.select(wanted, ctx.scope, now=ctx.now)]
    plain = [m for m in rows if not m.pinned and m.memory_type not in ("anchor", "summary")]
    plain.sort(key=lambda m: (m.created_at.timestamp() if m.created_at else 0.0, m.ref))
    older = plain[: max(0, len(plain) - request.skip_most_recent)]
    if request.older_than is not None:
        limit = request.older_than
        older = [memory for memory in older if memory.created_at is not None and memory.created_at < limit]
    return older[: request.target_count]


def _fields(ctx: Context, request: Summarize, sources: Sequence[Memory], text: str) -> dict[str, object]:
    """What all originals share; they are one owner's, so that no memory crosses projects or actors."""
    owners = {(memory.project, memory.actor) for memory in sources}
    if len(owners) > 1:
        raise InvalidRequest.of("project", "these belong to several projects or actors; name one", allowed=["actor"])
    project, actor = next(iter(owners))
    dates = [memory.created_at for memory in sources if memory.created_at is not None]
    span = f"{min(dates):%Y-%m-%d} to {max(dates):%Y-%m-%d}" if dates else ""
    domains = {memory.domain for memory in sources}
    fields: dict[str, object | None] = {
        "title": automatic_title(f"Summary of {len(sources)} memories, {span}"),
        "memory_type": "summary",
        "project": project,
        "actor": actor,
        "domain": domains.pop() if len(domains) == 1 else None,
        "importance": max(memory.importance for memory in sources),
        "source": ctx.source,
        "agent": ctx.agent,
        "session": ctx.session,
        "flags": list(flags_of(ctx.source, text)) or None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _extract(sources: Sequence[Memory]) -> str:
    """The first sentence of each, once, oldest first, with its date."""
    lines: dict[str, None] = {}
    for memory in sources:
        first = " ".join(automatic_title(memory.content).split())[:EXTRACT_CHARACTERS]
        date = f"{memory.created_at:%Y-%m-%d}: " if memory.created_at else ""
        lines.setdefault(f"- {date}{first}")
    return "\n".join(lines) + "\n"
