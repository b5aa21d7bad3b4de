"""The write gates that look at one text alone: shape, secrets, low signal, orders to a model. They judge, never write.

Duplicates are found by `rivals` and decided by `admit`; what a gate refuses at which door is the table of OPERATIONS.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Final

from vault_memory.errors import InvalidRequest, Rejected
from vault_memory.memory.quality import (
    MAX_CONTENT_BYTES,
    MAX_TAG_CHARACTERS,
    MAX_TAGS,
    MAX_TITLE_CHARACTERS,
    instruction_like,
    low_signal,
)
from vault_memory.memory.secret_scan import scan_secrets

if TYPE_CHECKING:
    from vault_memory.memory.model import Memory
    from vault_memory.operations.context import Context
    from vault_memory.operations.draft import Draft

LENIENT_TYPES: Final = frozenset(("interaction", "summary", "checkpoint", "handoff", "anti_pattern", "reasoning"))
"""Types whose repetitions and small talk are stored with a warning: a log loses its order without them."""


def check_shape(content: str, fields: Mapping[str, Any]) -> None:
    """Refuse what no note should hold.

    Raises:
        Rejected: blank or oversized content.
        InvalidRequest: a title or tags out of bounds.
    """
    if not content.strip():
        raise Rejected("content is blank", hint="say what to remember", gate="shape", reason="blank")
    size = len(content.encode("utf-8", "surrogatepass"))
    if size > MAX_CONTENT_BYTES:
        raise Rejected(
            f"content has {size:,} bytes; at most {MAX_CONTENT_BYTES:,} are kept in one memory",
            hint="split it into several memories",
            gate="shape",
            reason="too long",
        )
    if "\0" in content or any("\ud800" <= c <= "\udfff" for c in content):
        raise InvalidRequest.of("content", "holds characters that no text file can keep (NUL or lone surrogates)")
    check_fields(fields)


def check_fields(fields: Mapping[str, Any]) -> None:
    """Refuse a title or tags out of bounds.

    Raises:
        InvalidRequest: naming the field and its bounds.
    """
    title = fields.get("title")
    if title is not None and len(title) > MAX_TITLE_CHARACTERS:
        raise InvalidRequest.of("title", f"has {len(title)} characters", allowed=f"at most {MAX_TITLE_CHARACTERS}")
    tags = fields.get("tags") or ()
    if len(tags) > MAX_TAGS:
        raise InvalidRequest.of("tags", f"there are {len(tags)}", allowed=f"at most {MAX_TAGS}")
    for tag in tags:
        if not tag.strip() or len(tag) > MAX_TAG_CHARACTERS:
            raise InvalidRequest.of(
                "tags", f"'{tag}' is blank or too long", allowed=f"1–{MAX_TAG_CHARACTERS} characters"
            )


def check_new(ctx: Context, draft: Draft, *, force: bool = False, reason: str | None = None) -> tuple[str, ...]:
    """Judge shape, secrets and signal of a memory about to be stored; the warnings to give with the answer.

    Raises:
        Rejected: a gate refuses it.
        InvalidRequest: a field is out of bounds.
    """
    check_text(ctx, draft.content, {**draft.fields, **draft.metadata, "reason": reason})
    if force or not ctx.config.curation.low_signal or (chatter := low_signal(draft.content)) is None:
        return ()
    if lenient(ctx, draft.memory_type):
        return (f"stored, though it is {chatter}",)
    raise Rejected(
        f"this is {chatter}, nothing to remember", hint="force=true stores it all the same", gate="low_signal",
        reason=chatter,
    )  # fmt: skip


def check_text(ctx: Context, content: str, fields: Mapping[str, Any]) -> None:
    """Refuse what no door lets in, whoever writes: bad shape and secrets. For imports, hooks and every edit.

    Raises:
        Rejected: blank or oversized content, or a secret in it or in a field.
        InvalidRequest: a title or tags out of bounds.
    """
    check_shape(content, fields)
    check_secrets(ctx, {"content": content, **fields})


def check_secrets(ctx: Context, fields: Mapping[str, Any]) -> None:
    """Refuse secrets in the texts of `fields`, unless the command line allowed them.

    Raises:
        Rejected: naming kind and position of each, never the secret.
    """
    if ctx.allow_secrets:
        return
    found: dict[tuple[str, int, int], dict[str, Any]] = {}
    for name, value in fields.items():
        for secret in scan_secrets(_text(value)):
            where = {"field": name, "kind": secret.kind, "line": secret.line, "column": secret.column}
            found.setdefault((secret.kind, secret.line, secret.column), where)
    if not found:
        return
    named = ", ".join(f"{s['kind']} ({s['field']}, line {s['line']}, column {s['column']})" for s in found.values())
    raise Rejected(
        f"this holds a secret: {named}", hint="say where it is kept instead of what it is", gate="secrets",
        reason="secret", secrets=list(found.values()),
    )  # fmt: skip


def check_edit(
    ctx: Context, memory: Memory, text: str | None, changes: Mapping[str, Any], *, reason: str | None = None
) -> tuple[str, ...]:
    """Judge the new text and fields of an existing memory; the warnings to give with the answer.

    Raises:
        Rejected: a gate refuses it.
        InvalidRequest: a field is out of bounds.
    """
    if text is None:
        check_fields(changes)
        check_secrets(ctx, {**changes, "reason": reason})
        return ()
    check_text(ctx, text, {**changes, "reason": reason})
    return _edit_warnings(ctx, memory, text)


def _edit_warnings(ctx: Context, memory: Memory, text: str) -> tuple[str, ...]:
    from vault_memory.operations.rivals import find_rival

    rival = find_rival(ctx, text, memory.project, memory.actor, but=frozenset((memory.path,)))
    if rival is None or not rival.verdict.same:
        return ()
    return (f"this repeats '{rival.memory.title}' ({rival.memory.ref})",)


def lenient(ctx: Context, memory_type: str) -> bool:
    """Whether small talk and repetitions are stored with a warning: memories with a form of their own, chat logs, and
    the profiles whose callers expect every write to be kept."""
    return ctx.lenient or memory_type in LENIENT_TYPES


def flags_of(source: str, content: str, flags: Collection[str] = ()) -> tuple[str, ...]:
    """The flags of a memory with this content: text that gives a model orders is marked, unless a person wrote it."""
    if source == "human" or not instruction_like(content):
        return tuple(flags)
    return tuple(dict.fromkeys((*flags, "instruction_like")))


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "\n".join(f"{key}: {_text(item)}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return "\n".join(map(_text, value))
    return ""
