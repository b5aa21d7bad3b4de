"""The memories that have a form of their own: checkpoint, anti_pattern, reasoning, handoff and closing one."""

from __future__ import annotations

from typing import Any

from pydantic import Field
from pydantic.config import JsonDict

from vault_memory.errors import InvalidRequest
from vault_memory.operations.context import Context
from vault_memory.operations.refs import answer, expectation, resolve, why
from vault_memory.operations.remember import Remember, remember
from vault_memory.operations.request import Request, WriteRequest
from vault_memory.operations.result import WriteResult

_POSITIONAL: JsonDict = {"cli": {"positional": True}}


class _Kind(Request):
    """Where a memory with a form of its own belongs."""

    session: str | None = Field(None, description="The session it comes from.")
    domain: str | None = Field(None, description="Topic area.")
    project: str | None = Field(None, description="The project it belongs to.")
    actor: str | None = Field(None, description="Whose memory it is.")
    tags: list[str] = Field([], description="Tags.")


class Checkpoint(_Kind):
    """Save where the work stands; each part is free text."""

    intent: str = Field(min_length=1, description="What is to be achieved.", json_schema_extra=_POSITIONAL)
    established: str = Field("", description="What is known or done by now.")
    pursuing: str = Field("", description="What is being tried next.")
    open_questions: str = Field("", description="What is still unknown.")


class AntiPattern(_Kind):
    """Save a pitfall, why it is one, and what to do instead."""

    pattern: str = Field(min_length=1, description="What is tempting.", json_schema_extra=_POSITIONAL)
    why_wrong: str = Field(min_length=1, description="Why it goes wrong.")
    instead: str = Field(min_length=1, description="What to do instead.")


class Reasoning(_Kind):
    """Save why something was decided."""

    content: str = Field(min_length=1, description="The line of thought.", json_schema_extra=_POSITIONAL)


class Handoff(_Kind):
    """Leave a note for the next agent or session; it is open until it is closed."""

    content: str = Field(min_length=1, description="What the next one should take up.", json_schema_extra=_POSITIONAL)


class CloseHandoff(WriteRequest):
    """Close a handoff: it is archived with its outcome."""

    ref: str = Field(description="The handoff.", json_schema_extra=_POSITIONAL)
    outcome: str = Field(min_length=1, description="What became of it.")


def checkpoint(ctx: Context, request: Checkpoint) -> WriteResult:
    """Store a checkpoint; its body has the four headings, those without text left out."""
    parts = {
        "Intent": request.intent,
        "Established": request.established,
        "Pursuing": request.pursuing,
        "Open questions": request.open_questions,
    }
    return _remember(ctx, request, "checkpoint", sections(parts), f"Checkpoint: {request.intent}")


def anti_pattern(ctx: Context, request: AntiPattern) -> WriteResult:
    """Store a pitfall under the headings Temptation, Why wrong and Instead."""
    parts = {"Temptation": request.pattern, "Why wrong": request.why_wrong, "Instead": request.instead}
    return _remember(ctx, request, "anti_pattern", sections(parts), f"Avoid: {request.pattern}")


def reasoning(ctx: Context, request: Reasoning) -> WriteResult:
    """Store a line of thought."""
    return _remember(ctx, request, "reasoning", request.content, None)


def handoff(ctx: Context, request: Handoff) -> WriteResult:
    """Store an open handoff."""
    return _remember(ctx, request, "handoff", request.content, None)


def close_handoff(ctx: Context, request: CloseHandoff) -> WriteResult:
    """Archive a handoff with its outcome.

    Raises:
        MemoryNotFound: no such memory.
        InvalidRequest: it is no handoff.
    """
    memory = resolve(ctx, request.ref, writing=True)
    if memory.memory_type != "handoff":
        raise InvalidRequest.of("ref", f"'{memory.title}' is a {memory.memory_type}, not a handoff")
    changes = {"status": "archived", "outcome": request.outcome}
    with ctx.vault.write(why(ctx, "close_handoff", request.reason), ctx.now) as batch:
        edited = batch.patch(memory.path, changes, expect=expectation(request), whole=True)
    return answer(ctx, batch, edited.memory, "archived" if edited.changed else "unchanged")


def sections(parts: dict[str, str]) -> str:
    """A body with one heading for each part that has text."""
    return "\n".join(f"## {heading}\n\n{text.strip()}\n" for heading, text in parts.items() if text.strip())


def _remember(ctx: Context, request: _Kind, memory_type: str, content: str, title: str | None) -> WriteResult:
    from vault_memory.operations.draft import automatic_title

    where: dict[str, Any] = request.model_dump(include=set(_Kind.model_fields), exclude_none=True)
    name = automatic_title(title) if title else None
    return remember(ctx, Remember(content=content, memory_type=memory_type, title=name, **where))
