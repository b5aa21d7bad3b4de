"""What a memory is: the Memory value, its fields and their vocabulary. Pure: no I/O, no clock, no parsing."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Literal

from msgspec import Struct, field

FieldKind = Literal["text", "list", "links", "number", "integer", "bool", "datetime", "choice"]

MEMORY_TYPES: Final = (
    "note", "fact", "preference", "identity", "event", "decision", "instruction", "checkpoint", "anti_pattern",
    "reasoning", "handoff", "interaction", "summary", "observation", "reflection", "anchor", "general",
    "integration_note", "api_quirk", "auth_flow", "selector", "breaking_change", "project_binding",
)  # fmt: skip
STATUSES: Final = ("active", "archived", "invalid", "deleted")
SOURCES: Final = ("human", "agent", "crawl", "import")
VERIFICATIONS: Final = ("unverified", "confirmed", "contradicted")
ANCHOR_SCOPES: Final = ("global", "project", "stack")
FLAGS: Final = ("instruction_like", "draft")
RELATION_TYPES: Final = (
    "supersedes", "superseded_by", "relates_to", "contradicts", "depends_on", "derived_from", "merged_from",
)  # fmt: skip
INVERSE_RELATIONS: Final[Mapping[str, str]] = MappingProxyType(
    {"supersedes": "superseded_by", "superseded_by": "supersedes"}
)
RESERVED_PROJECT: Final = "global"
CONFLICT_CODES: Final = frozenset({"conflict_markers", "duplicate_key", "impossible_date", "alias_limit"})
"""Findings that make every write to a note unsafe: it stays findable, is not edited and not committed."""

EMPTY: Final[Mapping[str, Any]] = MappingProxyType({})


class Field(Struct, frozen=True):
    """One front-matter field: its kind, default, bounds and whether changing it counts as an edit (`version` + 1)."""

    name: str
    kind: FieldKind
    default: Any = None
    editable: bool = True
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()


_FIELDS = (
    Field("id", "text", editable=False),
    Field("title", "text", ""),
    Field("memory_type", "text", "note"),
    Field("status", "choice", "active", choices=STATUSES),
    Field("tags", "list", ()),
    Field("aliases", "list", ()),
    Field("project", "text"),
    Field("domain", "text"),
    Field("actor", "text", editable=False),
    Field("session", "text", editable=False),
    Field("agent", "text", editable=False),
    Field("source", "choice", "human", editable=False, choices=SOURCES),
    Field("source_id", "text", editable=False),
    Field("importance", "number", 0.5, low=0, high=1),
    Field("confidence", "number", 0.8, low=0, high=1),
    Field("verification", "choice", "unverified", choices=VERIFICATIONS),
    Field("pinned", "bool", False),
    Field("emotional_valence", "number", 0.0, editable=False, low=-1, high=1),
    Field("url", "text"),
    Field("related_urls", "list", ()),
    Field("stacks", "list", ()),
    Field("anchor_scope", "choice", choices=ANCHOR_SCOPES),
    Field("expires_at", "datetime"),
    Field("valid_from", "datetime"),
    Field("valid_to", "datetime"),
    Field("outcome", "text", editable=False),
    Field("flags", "list", (), editable=False),
    Field("created_at", "datetime", editable=False),
    Field("updated_at", "datetime", editable=False),
    Field("version", "integer", 1, editable=False, low=1),
    Field("relation_notes", "list", ()),
)
FIELDS: Final[Mapping[str, Field]] = MappingProxyType({f.name: f for f in _FIELDS})
"""Every field that vault-memory gives a meaning to, in the order in which new notes write them (relations follow)."""


class Finding(Struct, frozen=True):
    """Something odd about a note: where and why. Never a failure of reading."""

    code: str
    reason: str
    line: int | None = None
    blocks_edit: bool = False
    """True when the front matter cannot be edited safely, so that tool edits of it are refused."""


class Memory(Struct, frozen=True):
    """A parsed note.

    `path` is the vault path (POSIX separators, NFC). `content` is the body: every character after the front matter,
    or the whole text when there is none. `metadata` holds a person's own keys. Times are UTC-aware; on a memory that
    was parsed but not yet recorded in a catalog they are what the front matter states, or None.
    """

    path: str
    content: str = ""
    id: str | None = None
    title: str = ""
    memory_type: str = "note"
    status: str = "active"
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    project: str | None = None
    domain: str | None = None
    actor: str | None = None
    session: str | None = None
    agent: str | None = None
    source: str = "human"
    source_id: str | None = None
    importance: float = 0.5
    confidence: float = 0.8
    verification: str = "unverified"
    pinned: bool = False
    emotional_valence: float = 0.0
    url: str | None = None
    related_urls: tuple[str, ...] = ()
    stacks: tuple[str, ...] = ()
    anchor_scope: str | None = None
    expires_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    outcome: str | None = None
    flags: tuple[str, ...] = ()
    created_at: datetime | None = None
    updated_at: datetime | None = None
    version: int = 1
    relations: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: EMPTY)
    """Relation type to link targets as written (without brackets), in file order."""
    relation_notes: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    inline_tags: tuple[str, ...] = ()
    """`#tags` of the body: they count for search and filters, not as the `tags` field."""
    findings: tuple[Finding, ...] = ()
    stated: frozenset[str] = frozenset()
    """Names of the fields that the front matter itself states (with a usable value)."""
    revision: str = ""
    """Hash of the file's bytes: the token for safe updates."""

    @property
    def ref(self) -> str:
        """The identity to show and to sort ties by: the id, or the path of a note without one."""
        return self.id or self.path

    @property
    def content_hash(self) -> str:
        """SHA-256 of the content, hexadecimal."""
        return hashlib.sha256(self.content.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def conflicted(self) -> bool:
        """True when git conflict markers or the like make every write to the note unsafe."""
        return any(f.code in CONFLICT_CODES for f in self.findings)

    @property
    def written_by_tool(self) -> bool:
        """True when the note carries a valid id, version and created_at: only such notes may be pruned."""
        return self.id is not None and {"version", "created_at"} <= self.stated


def revision_of(data: bytes) -> str:
    """The revision of a file's bytes: BLAKE2b with a 16-byte digest, hexadecimal."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()
