"""remember and remember_many: new memories through the write gates into notes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import Field, ValidationError

from vault_memory.batch import Batch
from vault_memory.errors import VaultError
from vault_memory.memory.model import Memory
from vault_memory.operations.context import Context
from vault_memory.operations.draft import Draft, draft_of
from vault_memory.operations.gates import check_new
from vault_memory.operations.refs import answer, link_to, resolve, why
from vault_memory.operations.request import Request, Time, Unit, refused
from vault_memory.operations.result import WriteResult

OnDuplicate = Literal["review", "skip", "merge", "supersede", "keep_both"]


class Remember(Request):
    """Store a memory: one note, one fact or idea."""

    content: str = Field(description="What to remember, as Markdown.", json_schema_extra={"cli": {"positional": True}})
    title: str | None = Field(None, description="A short title; by default the first sentence.")
    memory_type: str = Field("note", description="What kind of memory: note, fact, decision, preference, …")
    tags: list[str] = Field([], description="Tags.", json_schema_extra={"cli": {"flags": ["-t", "--tag"]}})
    aliases: list[str] = Field([], description="Other names of the note.")
    scope: Literal["project", "global"] | None = Field(None, description="Whether it belongs to the project or to all.")
    project: str | None = Field(None, description="The project it belongs to.")
    domain: str | None = Field(None, description="Topic area.")
    actor: str | None = Field(None, description="Whose memory it is.")
    session: str | None = Field(None, description="The session it comes from.")
    agent: str | None = Field(None, description="The agent that writes it.")
    source: Literal["human", "agent", "crawl", "import"] | None = Field(None, description="Who stated it.")
    source_id: str | None = Field(None, description="The event it comes from.")
    importance: Unit | None = Field(None, description="How much it matters, 0 to 1 (default 0.5).")
    confidence: Unit | None = Field(None, description="How sure it is, 0 to 1 (default 0.8).")
    verification: Literal["unverified", "confirmed", "contradicted"] | None = Field(None, description="Review state.")
    emotional_valence: float | None = Field(None, ge=-1, le=1, allow_inf_nan=False, description="Tone, -1 to 1.")
    pinned: bool | None = Field(None, description="Always in context packs; never decays.")
    url: str | None = Field(None, description="The page it is about.")
    related_urls: list[str] | None = Field(None, description="Further pages.")
    stacks: list[str] | None = Field(None, description="Technologies it applies to.")
    anchor_scope: Literal["global", "project", "stack"] | None = Field(None, description="Where an anchor holds.")
    expires_at: Time | None = Field(None, description="After this time it leaves results.")
    valid_from: Time | None = Field(None, description="From when the fact was true.")
    valid_to: Time | None = Field(None, description="Until when the fact was true (exclusive).")
    created_at: Time | None = Field(None, description="When it was first known, if not now.")
    relations: dict[str, list[str]] | None = Field(None, description="Relation type to targets (ids, paths, titles).")
    metadata: dict[str, Any] | None = Field(None, description="Your own keys, kept in the front matter.")
    path: str | None = Field(None, description="Where to put the note; by default by project and type.")
    status: Literal["active", "archived", "invalid"] | None = Field(None, description="Lifecycle state.")
    on_duplicate: OnDuplicate = Field("review", description="What to do when it repeats or changes a known memory.")
    force: bool = Field(False, description="Store it even when it looks like small talk.")
    idempotency_key: str | None = Field(None, max_length=200, description="The same key stores only once.")
    reason: str | None = Field(None, max_length=2000, description="Why; goes to the history.")


class RememberMany(Request):
    """Store several memories in one batch and one commit."""

    memories: list[dict[str, Any]] = Field(description="Each with the fields of remember.", min_length=1)
    on_duplicate: OnDuplicate = Field("review", description="For all that do not say otherwise.")
    force: bool = Field(False, description="For all that do not say otherwise.")


@dataclass(frozen=True, slots=True)
class Batched:
    """Outcomes in the order of the request; `failed` counts those that were refused."""

    results: tuple[WriteResult, ...]
    stored: int
    failed: int


def remember(ctx: Context, request: Remember) -> WriteResult:
    """Store a memory as a new note.

    Raises:
        InvalidRequest: a field out of bounds or vocabulary, an unknown relation target.
        Rejected: a write gate refused it; nothing was written.
        NotAllowed: another project, another actor, or a path outside the vault.
    """
    draft, warnings = _checked(ctx, request)
    with ctx.vault.write(why(ctx, "remember", request.reason), ctx.now) as batch:
        memory = _create(batch, draft)
    return answer(ctx, batch, memory, "stored", warnings)


def remember_many(ctx: Context, request: RememberMany) -> Batched:
    """Store several memories under one lock, in one catalog transaction and one commit.

    A bad item does not stop the others: its outcome is `rejected`, with the reason.
    """
    made: list[tuple[Memory, tuple[str, ...]] | VaultError] = []
    with ctx.vault.write(why(ctx, "remember_many"), ctx.now) as batch:
        for item in request.memories:
            try:
                draft, warnings = _checked(ctx, _item(request, item))
                made.append((_create(batch, draft), warnings))
            except VaultError as error:
                made.append(error)
    results = tuple(
        WriteResult("rejected", reason=one.detail, problem=one.problem())
        if isinstance(one, VaultError)
        else answer(ctx, batch, one[0], "stored", one[1])
        for one in made
    )
    failed = sum(isinstance(one, VaultError) for one in made)
    return Batched(results, len(made) - failed, failed)


def _item(request: RememberMany, item: dict[str, Any]) -> Remember:
    defaults: dict[str, Any] = {"on_duplicate": request.on_duplicate, "force": request.force}
    try:
        return Remember.model_validate(defaults | item)
    except ValidationError as error:
        raise refused(error) from None


def _checked(ctx: Context, request: Remember) -> tuple[Draft, tuple[str, ...]]:
    """The draft that passed the gates, its relations resolved to links."""
    draft = draft_of(ctx, request)
    warnings = check_new(ctx, draft)
    relations = {
        name: tuple(link_to(ctx, resolve(ctx, target)) for target in targets)
        for name, targets in draft.relations.items()
    }
    return replace(draft, relations=relations), warnings


def _create(batch: Batch, draft: Draft) -> Memory:
    return batch.create(
        draft.fields, draft.content, relations=draft.relations, metadata=draft.metadata, path=draft.path
    )
