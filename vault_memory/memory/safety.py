"""Which notes may be edited at all: one gate before every change of bytes. Changes nothing."""

from __future__ import annotations

from vault_memory.memory.front_matter import Parts, decode, split_text
from vault_memory.memory.model import CONFLICT_CODES
from vault_memory.memory.parse import findings_of
from vault_memory.memory.spans import refusal


def editable_parts(data: bytes, *, front_matter: bool = True) -> Parts:
    """The parts of a note that may be edited.

    Args:
        data: the note's bytes.
        front_matter: False when only text at the end is added, which malformed front matter does not hinder.

    Raises:
        MalformedNote: with the line and reason of the first finding that stands in the way.
        UnreadableNote: invalid UTF-8 or a NUL byte.
    """
    parts = split_text(decode(data))
    for finding in findings_of(parts):
        if finding.code in CONFLICT_CODES or (front_matter and finding.blocks_edit):
            raise refusal(finding.reason, finding.line)
    return parts


def is_sound(data: bytes) -> bool:
    """True when nothing in the note stands in the way of an edit."""
    try:
        return not any(finding.blocks_edit for finding in findings_of(split_text(decode(data))))
    except ValueError:  # UnreadableNote
        return False
