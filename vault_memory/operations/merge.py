"""merge: several memories become one. The most important is the base, the others are appended and archived."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from vault_memory.batch import Batch
from vault_memory.errors import InvalidRequest
from vault_memory.memory.duplicates import judge
from vault_memory.memory.markdown import replace_content
from vault_memory.memory.model import Memory
from vault_memory.operations.admit import SEPARATOR
from vault_memory.operations.context import Context
from vault_memory.operations.correct import retire, settle
from vault_memory.operations.gates import check_shape
from vault_memory.operations.refs import answer, link_to, resolve, why
from vault_memory.operations.request import Request
from vault_memory.operations.result import WriteResult


class Merge(Request):
    """Join memories into one; the others are archived and linked."""

    refs: list[str] = Field(
        min_length=2,
        description="The memories to join, two or more.",
        json_schema_extra={"cli": {"positional": True}},
    )
    reason: str | None = Field(None, max_length=2000, description="Why; goes to the history and the audit log.")


def merge(ctx: Context, request: Merge) -> WriteResult:
    """Append the other texts to the most important memory (ties: the oldest), unite the tags, archive the others.

    A text that repeats what is there already is not appended a second time.

    Raises:
        MemoryNotFound: one of them does not exist.
        InvalidRequest: fewer than two different memories, or of different projects or actors.
        Rejected: together they are too long for one memory.
    """
    memories = list({memory.path: memory for memory in (resolve(ctx, r, writing=True) for r in request.refs)}.values())
    if len(memories) < 2:
        raise InvalidRequest.of("refs", "name at least two different memories")
    if len({(memory.project, memory.actor) for memory in memories}) > 1:
        raise InvalidRequest.of("refs", "memories of different projects or actors are kept apart")
    base, *sources = sorted(memories, key=_rank)
    with ctx.vault.write(why(ctx, "merge", request.reason), ctx.now) as batch:
        merged = join(ctx, batch, base, sources)
    for source in sources:
        settle(ctx, base.ref, source.ref)
    return answer(ctx, batch, merged, "updated")


def join(ctx: Context, batch: Batch, base: Memory, sources: Sequence[Memory]) -> Memory:
    """Write the merge: the base with all texts, tags and `merged_from`, and the sources archived."""
    content = joined([base.content, *(source.content for source in sources)])
    changes = _changes(ctx, base, sources)
    check_shape(content, changes)
    body = None if content == base.content else lambda data: replace_content(data, content)
    merged = batch.patch(base.path, changes, body=body, whole=True).memory
    for source in sources:
        retire(ctx, batch, source, merged)
    return merged


def joined(texts: Sequence[str]) -> str:
    """The texts under separators, without those that repeat an earlier one; the first stays byte for byte."""
    kept = [texts[0]]
    for text in texts[1:]:
        if not any(judge(text, other, cosine=None).same for other in kept) and text.strip():
            kept.append(text)
    if len(kept) == 1:
        return kept[0]
    return kept[0].rstrip() + "".join(f"{SEPARATOR}{text.strip()}" for text in kept[1:]) + "\n"


def _changes(ctx: Context, base: Memory, sources: Sequence[Memory]) -> dict[str, Any]:
    links = [link_to(ctx, source) for source in sources]
    changes: dict[str, Any] = {
        "merged_from": [*dict.fromkeys((*base.relations.get("merged_from", ()), *links))],
    }
    tags = [*dict.fromkeys((*base.tags, *(tag for source in sources for tag in source.tags)))]
    if tags != list(base.tags):
        changes["tags"] = tags
    return changes


def _rank(memory: Memory) -> tuple[float, float, str]:
    created = memory.created_at.timestamp() if memory.created_at else 0.0
    return -memory.importance, created, memory.ref
