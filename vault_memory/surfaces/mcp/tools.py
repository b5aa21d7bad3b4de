"""Which tools a profile shows: name, the operation behind it, the parameters it lists, and what it says of itself.

Data only. A tool's parameters are fields of its operation's request model; the ones that are not listed are understood
all the same, so an agent that knows more may say more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Hint = Literal["read", "write", "destructive"]


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of a profile."""

    name: str
    description: str
    fields: tuple[str, ...]
    hint: Hint
    operation: str = ""
    """Empty: the operation has the tool's name."""

    @property
    def runs(self) -> str:
        """The operation behind it."""
        return self.operation or self.name


CORE: Final = (
    Tool(
        "remember",
        "Store one fact, decision, preference or lesson for future sessions. One idea per memory, in plain words."
        " Check `outcome`: needs_review or duplicate name the rival and the next call.",
        ("content", "title", "memory_type", "tags", "scope", "importance", "supersedes"),
        "write",
    ),
    Tool(
        "search",
        "Find memories by meaning and words, best first. Use it before answering from memory.",
        ("query", "memory_type", "tags", "limit", "cursor", "as_json"),
        "read",
    ),
    Tool(
        "context_pack",
        "What an agent should know now, within a token budget: anchors, pinned, and what fits the query.",
        ("query", "url", "max_tokens"),
        "read",
    ),
    Tool("get", "Read memories in full, by id, path or title.", ("refs", "history", "as_json"), "read"),
    Tool(
        "list",
        "List memories in a fixed order, newest first.",
        ("memory_type", "tag", "q", "status", "sort", "limit", "offset", "as_json"),
        "read",
    ),
    Tool(
        "update",
        "Change named fields or the content of a memory; the rest stays. Pass the revision you read as if_revision.",
        ("ref", "content", "section", "title", "tags", "importance", "pinned", "if_revision"),
        "destructive",
    ),
    Tool(
        "correct",
        "Replace a memory that turned out wrong: the new one supersedes it, the old is archived and linked.",
        ("ref", "content", "evidence"),
        "write",
    ),
    Tool(
        "forget",
        "Archive a memory: out of search, kept, reversible.",
        ("ref", "reason", "superseded_by"),
        "destructive",
    ),
    Tool(
        "relate",
        "Link two memories.",
        ("from_ref", "to_ref", "relation_type", "note"),
        "write",
    ),
    Tool(
        "checkpoint",
        "Save where the work stands, so that the next session can go on.",
        ("intent", "established", "pursuing", "open_questions"),
        "write",
    ),
    Tool(
        "pulse", "Start of a session: newest checkpoint, open handoffs, pitfalls, notes, anchors.", ("domain",), "read"
    ),
    Tool("history", "Who changed a memory, when and why.", ("ref", "limit"), "read"),
)
PROFILES: Final = {"core": CORE}
