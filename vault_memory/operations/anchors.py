"""Anchors: short standing instructions that head every search and pack of their scope. Never cut, never hits."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, Literal

from msgspec import Struct
from pydantic import Field
from pydantic.config import JsonDict

from vault_memory.errors import InvalidRequest
from vault_memory.memory.filter import Filter
from vault_memory.memory.model import Memory
from vault_memory.memory.tokens import estimate_tokens
from vault_memory.operations.context import Context
from vault_memory.operations.refs import answer, expectation, resolve, why
from vault_memory.operations.remember import Remember, remember
from vault_memory.operations.request import Request, WriteRequest
from vault_memory.operations.result import WriteResult

MAX_CHARACTERS: Final = 400
MAX_SENTENCES: Final = 5
AIM_TOKENS: Final = 30
MAX_ANCHORS: Final = 100
_SENTENCE: Final = re.compile(r"[.!?。！？]+(?:\s|$)|\n+")
_REF: JsonDict = {"cli": {"positional": True}}


class AnchorAdd(Request):
    """Add a standing instruction: one to five short imperative sentences."""

    text: str = Field(min_length=1, max_length=MAX_CHARACTERS, description="The instruction.", json_schema_extra=_REF)
    scope: Literal["global", "project", "stack"] | None = Field(
        None, description="Where it holds; by default the project, or everywhere when none is bound."
    )
    stacks: list[str] = Field([], description="The technologies it is about (scope stack).")
    project: str | None = Field(None, description="The project it holds in.")


class AnchorList(Request):
    """The anchors that hold here."""

    stacks: list[str] = Field([], description="Also those of these technologies.")


class AnchorRemove(WriteRequest):
    """Archive an anchor."""

    ref: str = Field(description="The anchor.", json_schema_extra=_REF)


class Anchors(Struct, frozen=True):
    """Anchors in the order in which they are shown: by creation, then ref."""

    anchors: tuple[Memory, ...]
    token_estimate: int


def anchor_add(ctx: Context, request: AnchorAdd) -> WriteResult:
    """Store an anchor.

    Raises:
        InvalidRequest: too many sentences, or a scope that lacks its project or stacks.
    """
    sentences = [part for part in _SENTENCE.split(request.text) if part.strip()]
    if len(sentences) > MAX_SENTENCES:
        raise InvalidRequest.of("text", f"has {len(sentences)} sentences", allowed=f"1 to {MAX_SENTENCES}")
    scope = request.scope or ("stack" if request.stacks else _default_scope(ctx, request))
    if scope == "stack" and not request.stacks:
        raise InvalidRequest.of("stacks", "name at least one technology for an anchor of scope stack")
    stored = remember(
        ctx,
        Remember(
            content=request.text,
            memory_type="anchor",
            anchor_scope=scope,
            stacks=request.stacks,
            project=request.project,
            scope="global" if scope != "project" else None,
            force=True,
        ),
    )
    cost = estimate_tokens(request.text)
    if cost <= AIM_TOKENS:
        return stored
    note = f"this anchor costs about {cost} tokens in every answer; aim for {AIM_TOKENS}"
    return WriteResult(stored.outcome, stored.memory, stored.revision, warnings=(*stored.warnings, note))


def anchor_list(ctx: Context, request: AnchorList) -> Anchors:
    """The anchors that hold for the caller."""
    ctx.vault.refresh()
    found = anchors_for(ctx, request.stacks)
    return Anchors(found, sum(estimate_tokens(memory.content) for memory in found))


def anchor_remove(ctx: Context, request: AnchorRemove) -> WriteResult:
    """Archive an anchor.

    Raises:
        MemoryNotFound: no such memory.
        InvalidRequest: it is no anchor.
    """
    memory = resolve(ctx, request.ref, writing=True)
    if memory.memory_type != "anchor":
        raise InvalidRequest.of("ref", f"'{memory.title}' is a {memory.memory_type}, not an anchor")
    with ctx.vault.write(why(ctx, "anchor_remove", request.reason), ctx.now) as batch:
        edited = batch.patch(memory.path, {"status": "archived"}, expect=expectation(request), whole=True)
    return answer(ctx, batch, edited.memory, "archived")


def anchors_for(ctx: Context, stacks: Iterable[str] = ()) -> tuple[Memory, ...]:
    """The active anchors of the caller's scope: global and project ones, and those of the named stacks."""
    wanted = {stack.casefold() for stack in stacks}
    page = ctx.vault.catalog.page(
        Filter(statuses=("active",), memory_types=("anchor",)), ctx.scope, now=ctx.now, sort="id", limit=MAX_ANCHORS
    )
    return tuple(row.memory for row in page.items if _holds(row.memory, wanted))


def _holds(memory: Memory, stacks: set[str]) -> bool:
    if memory.anchor_scope == "stack":
        return not stacks.isdisjoint(stack.casefold() for stack in memory.stacks)
    return True


def _default_scope(ctx: Context, request: AnchorAdd) -> Literal["global", "project"]:
    return "project" if request.project or isinstance(ctx.scope.project, str) else "global"
