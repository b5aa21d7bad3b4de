"""Native tools: the operation behind each, the parameters it lists, what it says of itself, and how it is answered.

A tool's parameters are fields of its operation's request model; the ones that are not listed are understood all the
same, so an agent that knows more may say more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from vault_memory.operations.context import Context

Opener = Callable[[bool], "Context"]
"""Opens the vault on first use and gives the caller's context, its clock read anew at each call; told whether the call
writes, so that a project is known before its first memory."""

Hint = Literal["read", "write", "destructive"]


class Tool(Struct, frozen=True):
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

    def schema(self) -> dict[str, Any]:
        """The JSON schema of the listed parameters."""
        from vault_memory.operations.table import OPERATIONS
        from vault_memory.surfaces.mcp.schema import input_schema

        model, _ = OPERATIONS[self.runs].load()
        return input_schema(model, [name for name in self.fields if name in model.model_fields])

    def answer(self, open_context: Opener, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        """Fenced text for a model, or with `as_json` the exact JSON.

        Raises:
            VaultError: whatever the arguments or the operation call for.
        """
        from vault_memory.operations.read import Got
        from vault_memory.operations.table import OPERATIONS
        from vault_memory.surfaces.dispatch import call
        from vault_memory.surfaces.mcp import text

        given = dict(arguments)
        exact = str(given.pop("as_json", "")).lower() in ("true", "1")
        operation = OPERATIONS[self.runs]
        answer = call(open_context(operation.kind != "read"), operation, given, lenient=True)
        if exact:
            return (text.as_json(answer.result),)
        shown = text.full(answer.result.memories) if isinstance(answer.result, Got) else text.as_text(answer.result)
        return ("\n".join([shown, *(f"warning: {warning}" for warning in answer.warnings)]),)


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
