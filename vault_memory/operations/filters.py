"""From the filter fields of a request to a Filter: words are checked against the vocabulary, with the nearest named."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING

from vault_memory.errors import InvalidRequest
from vault_memory.memory.filter import Filter
from vault_memory.memory.model import MEMORY_TYPES, RELATION_TYPES, SOURCES, STATUSES

if TYPE_CHECKING:
    from vault_memory.config import Config
    from vault_memory.operations.context import Context
    from vault_memory.operations.request import FilterRequest


def memory_types(config: Config) -> tuple[str, ...]:
    """The memory types this vault knows: the built-in ones and its own."""
    return (*MEMORY_TYPES, *config.vocabulary.memory_types)


def relation_types(config: Config) -> tuple[str, ...]:
    """The relation types this vault knows: the built-in ones and its own."""
    return (*RELATION_TYPES, *config.vocabulary.relation_types)


def known(field: str, value: str, allowed: Collection[str]) -> str:
    """`value` when it is allowed.

    Raises:
        InvalidRequest: otherwise, with the list and the nearest name.
    """
    if value in allowed:
        return value
    near = get_close_matches(value, allowed, n=1)
    hint = f"did you mean '{near[0]}'?" if near else ""
    raise InvalidRequest.of(field, f"unknown value '{value}'", allowed=list(allowed), hint=hint)


def several(field: str, text: str | None, allowed: Collection[str]) -> tuple[str, ...]:
    """The comma-separated words of `text`, each checked."""
    parts: Iterable[str] = (part.strip() for part in (text or "").split(","))
    return tuple(known(field, part, allowed) for part in parts if part)


def build_filter(request: FilterRequest, ctx: Context, default: tuple[str, ...]) -> Filter:
    """The Filter that the request's fields describe; `default` are the statuses when none is asked for.

    Raises:
        InvalidRequest: an unknown status, type or source.
    """
    statuses = several("status", request.status, STATUSES)
    return Filter(
        statuses=statuses or default,
        memory_types=several("memory_type", request.memory_type, memory_types(ctx.config)),
        tag=request.tag or None,
        tags=tuple(request.tags or ()),
        project=request.project or None,
        domain=request.domain or None,
        actor=request.actor or None,
        session=request.session or None,
        source=known("source", request.source, SOURCES) if request.source else None,
        url=request.url or None,
        site=request.site or None,
        created_after=request.created_after,
        created_before=request.created_before,
        updated_after=request.updated_after,
        updated_before=request.updated_before,
    )
