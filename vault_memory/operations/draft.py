"""From a remember request to the fields of a new note: defaults, scope, automatic title. Writes nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

from vault_memory.errors import InvalidRequest, NotAllowed
from vault_memory.memory.model import EMPTY, FIELDS, RESERVED_PROJECT
from vault_memory.memory.scope import ANY
from vault_memory.memory.urls import stored_url
from vault_memory.operations.filters import known, memory_types, relation_types

if TYPE_CHECKING:
    from vault_memory.operations.context import Context
    from vault_memory.operations.remember import Remember

TITLE_CHARACTERS: Final = 80
_SENTENCE_END: Final = re.compile(r"(?<=[.!?。！？])\s|\n")
_MARKS: Final = re.compile(r"^[\s>#*+-]*(?:\d+\.\s+)?")


class Draft(Struct, frozen=True):
    """A note about to be written: `fields` by name, the body, and what it is related to."""

    content: str
    fields: Mapping[str, Any]
    relations: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: EMPTY)
    metadata: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    path: str | None = None

    @property
    def memory_type(self) -> str:
        """Its memory type."""
        return str(self.fields.get("memory_type", "note"))


def draft_of(ctx: Context, request: Remember) -> Draft:
    """The note that a request describes, within the caller's scope.

    Raises:
        InvalidRequest: an unknown memory or relation type, or a reserved project name.
        NotAllowed: a project or actor that the caller is not bound to.
    """
    given = request.model_dump(exclude_unset=True, exclude_none=True)
    fields = {name: given[name] for name in FIELDS if name in given}
    fields["memory_type"] = known("memory_type", request.memory_type, memory_types(ctx.config))
    fields["title"] = request.title or automatic_title(request.content, request.url)
    fields["project"] = _project(ctx, request)
    fields["actor"] = _actor(ctx, request.actor)
    fields["source"] = request.source or ctx.source
    fields["agent"] = request.agent or ctx.agent
    fields["session"] = request.session or ctx.session
    if request.domain:
        fields["domain"] = cased(request.domain, ctx.config.domain_case)
    if request.url:
        fields["url"] = stored_url(request.url)
    for relation in request.relations or {}:
        known("relations", relation, relation_types(ctx.config))
    relations = {name: tuple(targets) for name, targets in (request.relations or {}).items() if targets}
    present = {name: value for name, value in fields.items() if value is not None}
    return Draft(request.content, present, relations, request.metadata or {}, request.path)


def automatic_title(content: str, url: str | None = None) -> str:
    """The title of a memory that was given none: after its page, else its first sentence, cut at 80 characters."""
    if url:
        return f"Notes for {url}"[:300]
    text = content.strip()
    first = next((part for line in text.splitlines() if (part := _MARKS.sub("", line).strip())), "")
    sentence = _SENTENCE_END.split(first, maxsplit=1)[0].strip().rstrip(".。")
    if len(sentence) <= TITLE_CHARACTERS:
        return sentence or "Untitled"
    cut = sentence[:TITLE_CHARACTERS]
    return (cut[: cut.rfind(" ")] if " " in cut[40:] else cut).rstrip(" ,;:") + "…"


def cased(domain: str, policy: str) -> str:
    """A domain's spelling under the vault's `domain_case`."""
    return {"lower": domain.lower(), "upper": domain.upper()}.get(policy, domain)


def _project(ctx: Context, request: Remember) -> str | None:
    bound = ctx.scope.project
    if request.project == RESERVED_PROJECT or request.scope == "global":
        return None
    if request.project is not None:
        if bound is not ANY and request.project != bound:
            raise NotAllowed(f"this session is bound to project '{bound or RESERVED_PROJECT}'")
        return request.project
    if request.scope == "project" and not isinstance(bound, str):
        raise InvalidRequest.of("scope", "no project is bound; name one with project=", allowed=["global"])
    return bound if isinstance(bound, str) else None


def _actor(ctx: Context, asked: str | None) -> str | None:
    bound = ctx.scope.actor
    if bound is ANY:
        return asked
    if asked is not None and asked != bound:
        raise NotAllowed("this session is bound to another actor" if bound else "name the actor when opening the vault")
    return bound
