"""The write gates, in one place: shape, secrets, low signal, duplicates. They judge and never write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from vault_memory.errors import InvalidRequest, Rejected
from vault_memory.memory.quality import MAX_CONTENT_BYTES, MAX_TAG_CHARACTERS, MAX_TAGS, MAX_TITLE_CHARACTERS

if TYPE_CHECKING:
    from vault_memory.memory.model import Memory
    from vault_memory.operations.context import Context
    from vault_memory.operations.draft import Draft


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


def check_new(ctx: Context, draft: Draft) -> tuple[str, ...]:
    """Judge a memory about to be stored; the warnings to give with the answer.

    Raises:
        Rejected: a gate refuses it.
        InvalidRequest: a field is out of bounds.
    """
    check_shape(draft.content, draft.fields)
    return ()


def check_edit(ctx: Context, memory: Memory, text: str | None, changes: Mapping[str, Any]) -> tuple[str, ...]:
    """Judge the new text and fields of an existing memory; the warnings to give with the answer.

    Raises:
        Rejected: a gate refuses it.
        InvalidRequest: a field is out of bounds.
    """
    if text is not None:
        check_shape(text, changes)
    else:
        check_fields(changes)
    return ()
