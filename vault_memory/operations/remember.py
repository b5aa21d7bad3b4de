"""remember and remember_many: new memories through the write gates into notes."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace
from pydantic import Field, ValidationError

from vault_memory.batch import Batch
from vault_memory.errors import VaultError
from vault_memory.memory.model import Memory
from vault_memory.operations.admit import Admitted, OnDuplicate, admit, result
from vault_memory.operations.context import Context
from vault_memory.operations.draft import Draft, draft_of
from vault_memory.operations.gates import check_new, flags_of
from vault_memory.operations.refs import link_to, resolve, why
from vault_memory.operations.request import Request, Time, Unit, refused
from vault_memory.operations.result import WriteResult
from vault_memory.operations.rivals import Beside
from vault_memory.operations.views import accessed


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
    supersedes: list[str] = Field([], description="What it replaces (ids, paths, titles): archived, linked both ways.")
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


class Batched(Struct, frozen=True):
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
    checked = _checked(ctx, request)
    with ctx.vault.write(why(ctx, "remember", request.reason), ctx.now) as batch:
        admitted = known_key(ctx, request) or admitted_now(ctx, batch, request, checked)
    return _answered(ctx, batch, admitted, checked.warnings)


def remember_many(ctx: Context, request: RememberMany) -> Batched:
    """Store several memories under one lock, in one catalog transaction and one commit.

    A bad item does not stop the others: its outcome is `rejected`, with the reason. Items are compared among themselves
    too.
    """
    made: list[tuple[Admitted, tuple[str, ...]] | VaultError] = []
    beside = Beside()
    with ctx.vault.write(why(ctx, "remember_many"), ctx.now) as batch:
        for values in request.memories:
            try:
                item = _item(request, values)
                checked = _checked(ctx, item)
                admitted = known_key(ctx, item) or admitted_now(ctx, batch, item, checked, beside)
                made.append((admitted, checked.warnings))
            except VaultError as error:
                made.append(error)
    results = tuple(
        WriteResult("rejected", reason=one.detail, problem=one.problem())
        if isinstance(one, VaultError)
        else _answered(ctx, batch, *one)
        for one in made
    )
    failed = sum(isinstance(one, VaultError) for one in made)
    stored = sum(one.outcome in ("stored", "needs_review") for one in results)
    return Batched(results, stored, failed)


class Checked(Struct, frozen=True):
    """A request that passed the gates that look at it alone."""

    draft: Draft
    supersedes: tuple[Memory, ...] = ()
    warnings: tuple[str, ...] = ()


def known_key(ctx: Context, request: Remember) -> Admitted | None:
    """What was stored under the request's idempotency key before, if it is still there."""
    if request.idempotency_key is None:
        return None
    ref = ctx.vault.local.stored_under(_owner(ctx, request), request.idempotency_key)
    rows = ctx.vault.catalog.by_id(ref, ctx.scope) if ref else []
    if not rows:
        return None
    return Admitted("duplicate", rows[0].memory, reason="this idempotency key was used before")


def admitted_now(
    ctx: Context, batch: Batch, request: Remember, checked: Checked, beside: Beside | None = None
) -> Admitted:
    """Let the request through the duplicate gate into the batch, and remember its idempotency key."""
    admitted = admit(ctx, batch, checked.draft, request.on_duplicate, checked.supersedes, beside)
    if beside is not None and admitted.outcome in ("stored", "needs_review") and request.on_duplicate != "keep_both":
        beside.add(admitted.memory)
    if request.idempotency_key is not None:
        ctx.vault.local.use_key(_owner(ctx, request), request.idempotency_key, admitted.memory.ref, ctx.now)
    return admitted


def _answered(ctx: Context, batch: Batch, admitted: Admitted, warnings: tuple[str, ...]) -> WriteResult:
    if admitted.outcome == "duplicate":
        accessed(ctx, [admitted.memory])
    return result(ctx, batch, admitted, warnings)


def _owner(ctx: Context, request: Remember) -> str:
    """Whose idempotency key it is: keys of one project or actor mean nothing to another."""
    project = ctx.scope.project if isinstance(ctx.scope.project, str) else request.project
    actor = ctx.scope.actor if isinstance(ctx.scope.actor, str) else request.actor
    return f"{project or ''}\n{actor or ''}"


def _item(request: RememberMany, item: dict[str, Any]) -> Remember:
    defaults: dict[str, Any] = {"on_duplicate": request.on_duplicate, "force": request.force}
    try:
        return Remember.model_validate(defaults | item)
    except ValidationError as error:
        raise refused(error) from None


def _checked(ctx: Context, request: Remember) -> Checked:
    """The draft that passed the gates, its relations resolved to links."""
    draft = draft_of(ctx, request)
    warnings = check_new(ctx, draft, force=request.force, reason=request.reason)
    relations = {
        name: tuple(link_to(ctx, resolve(ctx, target)) for target in targets)
        for name, targets in draft.relations.items()
    }
    old = tuple(resolve(ctx, ref, writing=True) for ref in dict.fromkeys(request.supersedes))
    fields = dict(draft.fields)
    if flags := flags_of(fields["source"], draft.content, fields.get("flags", ())):
        fields["flags"] = list(flags)
    return Checked(replace(draft, relations=relations, fields=fields), old, warnings)
