"""The actor's words for ours: its memory object and what its fields are called here. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from vault_memory.config import Decay
from vault_memory.memory.decay import decayed_importance
from vault_memory.memory.model import Memory
from vault_memory.operations.result import to_json


def memory_object(memory: Memory, last_accessed_at: datetime | None, now: datetime, decay: Decay) -> dict[str, Any]:
    """A memory as the actor's clients know it.

    `updatedAt` is the later of update and access, since the actor resets it on every access.
    """
    times = [time for time in (memory.updated_at, last_accessed_at) if time is not None]
    document = {
        "id": memory.ref,
        "userId": memory.actor,
        "url": memory.url,
        "site": _site(memory),
        "title": memory.title,
        "content": memory.content,
        "memoryType": memory.memory_type,
        "category": memory.domain,
        "tags": memory.tags,
        "confidence": memory.confidence,
        "importance": memory.importance,
        "decayedImportance": round(decayed_importance(memory, last_accessed_at, now, decay), 6),
        "source": memory.source,
        "projectId": memory.project,
        "relatedUrls": memory.related_urls,
        "createdAt": memory.created_at,
        "updatedAt": max(times, default=None),
        "contentHash": memory.content_hash[:16],
        "archived": memory.status == "archived",
        "metadata": memory.metadata,
    }
    found = to_json(document)
    assert isinstance(found, dict)
    return found


def fields_of(given: Mapping[str, Any], known: Mapping[str, str]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Our arguments for the actor's fields, and warnings about what is not among them; null means not given."""
    arguments = {known[name]: value for name, value in given.items() if name in known and value is not None}
    return arguments, tuple(f"unknown field '{name}' was ignored" for name in given if name not in known)


def _site(memory: Memory) -> str | None:
    from vault_memory.memory.urls import site_of

    return site_of(memory.url)
