"""The table of all operations, by name; a module is imported only when its operation is used.

By convention the operation `close_handoff` of module `kinds` is the function `close_handoff(ctx, request)` in
`vault_memory.operations.kinds`, and its request model is the class `CloseHandoff` beside it. Python's own names
(`list`, `import`) carry a trailing underscore as functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from vault_memory.operations.context import Context
    from vault_memory.operations.request import Request

Kind = Literal["read", "write", "destructive"]
Function = Callable[["Context", Any], Any]


class Operation(Struct, frozen=True):
    """One thing that can be asked of a vault."""

    name: str
    module: str
    kind: Kind
    summary: str

    def load(self) -> tuple[type[Request], Function]:
        """The request model and the function; imports the operation's module."""
        module = import_module(f"vault_memory.operations.{self.module}")
        model = "".join(part.capitalize() for part in self.name.split("_"))
        function = f"{self.name}_" if self.name in ("list", "import") else self.name
        return getattr(module, model), getattr(module, function)


_ROWS = (
    Operation("remember", "remember", "write", "Store a memory."),
    Operation("remember_many", "remember", "write", "Store several memories; a bad one does not stop the others."),
    Operation("get", "read", "read", "Read memories in full, by reference."),
    Operation("list", "read", "read", "List memories in a fixed order, page by page."),
    Operation("search", "search", "read", "Find memories by meaning and words, best first."),
    Operation("recall", "recall", "read", "Bring up what applies here: by page, project and topic."),
    Operation("context_pack", "packs", "read", "Assemble what an agent should know, within a token budget."),
    Operation("pulse", "pulse", "read", "What a session should start from, newest first."),
    Operation("anchor_add", "anchors", "write", "Add a standing instruction that heads every search and pack."),
    Operation("anchor_list", "anchors", "read", "The standing instructions that hold here."),
    Operation("anchor_remove", "anchors", "write", "Archive a standing instruction."),
    Operation("update", "edit", "write", "Change named fields or the content of a memory."),
    Operation("append", "edit", "write", "Add text to the end of a memory or under a heading."),
    Operation("checkpoint", "kinds", "write", "Save where the work stands, for the next session."),
    Operation("anti_pattern", "kinds", "write", "Save a pitfall and what to do instead."),
    Operation("reasoning", "kinds", "write", "Save why something was decided."),
    Operation("handoff", "kinds", "write", "Leave a note for the next agent or session."),
    Operation("close_handoff", "kinds", "write", "Close a handoff with its outcome."),
    Operation("review", "review", "read", "Pairs of memories that wait to be settled."),
    Operation("review_resolve", "review", "write", "Settle such a pair: supersede, merge, keep both or discard."),
    Operation("find_duplicates", "duplicates", "read", "Pairs of memories that may be the same; changes nothing."),
    Operation("merge", "merge", "destructive", "Join memories into one; the others are archived."),
    Operation("undo", "undo", "destructive", "Take back what an operation or a session wrote."),
    Operation("purge", "purge", "destructive", "Remove a memory and every copy of its text, for good."),
    Operation("correct", "correct", "write", "Replace a memory that turned out wrong; the old one stays, linked."),
    Operation("verify", "correct", "write", "Say whether a memory was checked, and how sure it is."),
    Operation("feedback", "correct", "write", "Say how a memory served: useful, wrong or outdated."),
    Operation("relate", "relations", "write", "Link two memories with a type."),
    Operation("unrelate", "relations", "write", "Remove a typed link between two memories."),
    Operation("relations", "relations", "read", "A memory's typed relations, in both directions."),
    Operation("history", "history", "read", "Who changed a memory, when and why."),
    Operation("diff", "history", "read", "What changed in a memory between two versions."),
    Operation("blame", "history", "read", "Who wrote each line of a memory."),
    Operation("move", "move", "write", "Rename or move a note; links to it follow."),
    Operation("forget", "lifecycle", "destructive", "Archive a memory: kept, out of search, reversible."),
    Operation("delete", "lifecycle", "destructive", "Delete a memory softly: hidden, restorable."),
    Operation("restore", "lifecycle", "write", "Bring back a forgotten, deleted or earlier version of a memory."),
    Operation("prune", "prune", "destructive", "Plan which memories may leave, or archive them."),
    Operation("summarize", "summarize", "write", "Put many old memories into one summary."),
    Operation("delete_many", "summarize", "destructive", "Delete several memories softly, at once."),
    Operation("domains", "domains", "write", "Domains in use, and renaming one as a plan."),
    Operation("tags", "domains", "write", "Tags in use, and renaming one as a plan."),
    Operation("projects", "domains", "read", "The projects that have memories, with counts."),
    Operation("expire", "prune", "destructive", "Plan, or carry out, the archiving of what has expired."),
    Operation("recent", "orders", "read", "The newest memories; never by similarity."),
    Operation("timeline", "orders", "read", "Memories in the order of time."),
    Operation("related", "orders", "read", "Memories near one: linked first, then similar."),
    Operation("touch", "orders", "write", "Count an access without reading."),
    Operation("graph", "graph", "read", "Memories as nodes, relations and links as edges."),
    Operation("export", "transfer", "read", "Write out memories, with everything that is known of them."),
    Operation("import", "transfer", "write", "Plan, or carry out, taking in memories from elsewhere."),
    Operation("backup", "transfer", "read", "Copy the whole vault to a dated folder or zip."),
    Operation("bench", "bench", "read", "Measure how well search finds what is in this vault."),
    Operation("status", "status", "read", "How the vault and its indexes are doing."),
    Operation("doctor", "doctor", "write", "Check notes, indexes, watcher, git and places; mend what can be mended."),
    Operation("reindex", "reindex", "write", "Make the indexes anew from the notes, or bring them up to date."),
    Operation("stats", "status", "read", "Counts by type, status, project and actor."),
)
OPERATIONS: Final[Mapping[str, Operation]] = MappingProxyType({row.name: row for row in _ROWS})
