"""update and append: change what is named and nothing else."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from vault_memory.errors import InvalidRequest
from vault_memory.memory.model import Memory
from vault_memory.memory.urls import stored_url
from vault_memory.operations.context import Context
from vault_memory.operations.draft import cased
from vault_memory.operations.filters import known, memory_types, relation_types
from vault_memory.operations.gates import check_edit, flags_of
from vault_memory.operations.refs import answer, expectation, resolve, why
from vault_memory.operations.request import Time, Unit, WriteRequest
from vault_memory.operations.result import WriteResult

_NOT_FIELDS = frozenset({"ref", "content", "section", "if_revision", "if_version", "reason", "metadata"})


class Update(WriteRequest):
    """Change named fields or the content; what is not named stays as it is, byte for byte."""

    ref: str = Field(description="Id, path or title.", json_schema_extra={"cli": {"positional": True}})
    content: str | None = Field(None, description="The new text (of the section, if one is named).")
    section: str | None = Field(None, description="Replace only the text under this heading.")
    title: str | None = Field(None, description="The new title.")
    memory_type: str | None = Field(None, description="The new type.")
    status: Literal["active", "archived", "invalid", "deleted"] | None = Field(None, description="Lifecycle state.")
    tags: list[str] | None = Field(None, description="All tags.", json_schema_extra={"cli": {"flags": ["-t", "--tag"]}})
    aliases: list[str] | None = Field(None, description="All other names.")
    project: str | None = Field(None, description="The project it belongs to; 'global' for none.")
    domain: str | None = Field(None, description="Topic area.")
    importance: Unit | None = Field(None, description="How much it matters, 0 to 1.")
    confidence: Unit | None = Field(None, description="How sure it is, 0 to 1.")
    verification: Literal["unverified", "confirmed", "contradicted"] | None = Field(None, description="Review state.")
    pinned: bool | None = Field(None, description="Always in context packs; never decays.")
    url: str | None = Field(None, description="The page it is about.")
    related_urls: list[str] | None = Field(None, description="Further pages.")
    stacks: list[str] | None = Field(None, description="Technologies it applies to.")
    expires_at: Time | None = Field(None, description="After this time it leaves results.")
    valid_from: Time | None = Field(None, description="From when the fact was true.")
    valid_to: Time | None = Field(None, description="Until when the fact was true (exclusive).")
    metadata: dict[str, Any] | None = Field(None, description="Own keys to set; null removes one.")


class Append(WriteRequest):
    """Add text to the end of a memory or under a heading."""

    ref: str = Field(description="Id, path or title.", json_schema_extra={"cli": {"positional": True}})
    text: str = Field(min_length=1, description="What to add.", json_schema_extra={"cli": {"positional": True}})
    heading: str | None = Field(None, description="Add under this heading.")


def update(ctx: Context, request: Update) -> WriteResult:
    """Change a memory; `version` rises only when something changed.

    Raises:
        InvalidRequest: nothing to change, or a value outside the vocabulary.
        RevisionConflict: the note changed since `if_revision`, in what is to be written.
        MalformedNote: the front matter cannot be edited safely.
        Rejected: a write gate refused the new text.
    """
    from vault_memory.memory.markdown import metadata_changes, replace_content, replace_section

    changes = _changes(ctx, request)
    own = request.metadata or {}
    if request.section is not None and request.content is None:
        raise InvalidRequest.of("section", "needs content: the new text of the section")
    if not changes and not own and request.content is None:
        raise InvalidRequest.of("ref", "nothing to change; name at least one field or content")
    memory = resolve(ctx, request.ref, deleted=True, writing=True)
    warnings = check_edit(ctx, memory, request.content, changes | own, reason=request.reason)
    changes |= metadata_changes(memory, own, relation_types=relation_types(ctx.config))
    changes |= _flags(ctx, memory, request.content)
    content, section = request.content, request.section

    def body(data: bytes) -> bytes:
        if content is None:
            return data
        return replace_section(data, section, content) if section is not None else replace_content(data, content)

    with ctx.vault.write(why(ctx, "update", request.reason), ctx.now) as batch:
        edited = batch.patch(memory.path, changes, body=body, expect=expectation(request), whole=content is not None)
    return answer(ctx, batch, edited.memory, "updated" if edited.changed else "unchanged", warnings)


def append(ctx: Context, request: Append) -> WriteResult:
    """Add text at the end of a memory or under a heading; a stale `if_revision` does no harm, nothing is replaced.

    Raises:
        InvalidRequest: there is no such heading.
        Rejected: a write gate refused the text.
    """
    from vault_memory.memory.markdown import append as appended

    memory = resolve(ctx, request.ref, writing=True)
    warnings = check_edit(ctx, memory, request.text, {"heading": request.heading}, reason=request.reason)
    with ctx.vault.write(why(ctx, "append", request.reason), ctx.now) as batch:
        edited = batch.patch(
            memory.path,
            _flags(ctx, memory, request.text),
            body=lambda data: appended(data, request.text, request.heading),
            expect=expectation(request),
        )
    return answer(ctx, batch, edited.memory, "updated", warnings)


def _changes(ctx: Context, request: Update) -> dict[str, Any]:
    """The fields to set; one given as null is removed."""
    changes = request.model_dump(exclude_unset=True, exclude=set(_NOT_FIELDS))
    if changes.get("memory_type"):
        known("memory_type", changes["memory_type"], memory_types(ctx.config))
    if changes.get("project") == "global":
        changes["project"] = None
    if changes.get("project") and not ctx.scope.sees_fields(changes["project"], None) and ctx.scope.actor is None:
        raise InvalidRequest.of("project", f"this session is bound to project '{ctx.scope.project}'")
    if changes.get("url"):
        changes["url"] = stored_url(changes["url"])
    if changes.get("domain"):
        changes["domain"] = cased(changes["domain"], ctx.config.domain_case)
    return changes


def _flags(ctx: Context, memory: Memory, text: str | None) -> dict[str, list[str]]:
    flags = flags_of(ctx.source, text or "", memory.flags)
    return {} if flags == memory.flags else {"flags": list(flags)}
