"""What operations answer, and the one JSON form of it that every surface sends."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, datetime
from pathlib import PurePath
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from vault_memory.memory.model import Finding, Memory


class View(Struct, frozen=True):
    """A memory as answered: the note's fields (readable as attributes) and what is kept outside the note."""

    memory: Memory
    last_accessed_at: datetime | None = None
    access_count: int = 0
    decayed_confidence: float | None = None
    relations_in: Mapping[str, tuple[str, ...]] | None = None
    links: tuple[str, ...] | None = None
    backlinks: tuple[str, ...] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.memory, name)


class WriteResult(Struct, frozen=True):
    """The answer of every operation that changes a memory.

    `outcome` is one of stored, needs_review, duplicate, rejected, updated, unchanged, archived, deleted, restored,
    moved, purged. `next` is the call that would settle a `needs_review`.
    """

    outcome: str
    memory: Memory | None = None
    revision: str | None = None
    reason: str | None = None
    rival: Mapping[str, Any] | None = None
    next: Mapping[str, Any] | None = None
    warnings: tuple[str, ...] = ()
    problem: Mapping[str, Any] | None = None
    """The problem object of an item that a batch refused."""


class Page(Struct, frozen=True):
    """The contract's envelope."""

    items: tuple[View, ...]
    total: int
    limit: int
    offset: int
    has_more: bool
    warnings: tuple[str, ...] = ()


def to_json(value: Any) -> Any:
    """`value` as strict JSON data: structs become objects, times ISO 8601 in UTC with `Z`, NaN null."""
    if value is None or isinstance(value, (str, int)):  # most values by far
        return value
    if isinstance(value, View):
        return _view(value)
    if isinstance(value, Memory):
        return _memory(value)
    if isinstance(value, Struct):
        return {name: to_json(item) for name, item in asdict(value).items()}
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, (date, PurePath)):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return [to_json(item) for item in sorted(value, key=str)]
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _memory(memory: Memory) -> dict[str, Any]:
    body: dict[str, Any] = {"ref": memory.ref}
    for name, value in asdict(memory).items():
        if name not in ("stated", "inline_tags", "findings", "relations"):
            body[name] = to_json(value)
    body["relations"] = to_json(memory.relations)
    body["inline_tags"] = list(memory.inline_tags)
    body["findings"] = [_finding(finding) for finding in memory.findings]
    body["content_hash"] = memory.content_hash
    return body


def _finding(finding: Finding) -> dict[str, Any]:
    return {"code": finding.code, "line": finding.line, "reason": finding.reason}


def _view(view: View) -> dict[str, Any]:
    body = _memory(view.memory)
    body["last_accessed_at"] = to_json(view.last_accessed_at)
    body["access_count"] = view.access_count
    body["decayed_confidence"] = view.decayed_confidence
    for name in ("relations_in", "links", "backlinks"):
        if (value := getattr(view, name)) is not None:
            body[name] = to_json(value)
    return body
