"""Which notes may be edited at all: one gate before every change of bytes. Changes nothing."""

from __future__ import annotations

from vault_memory.errors import MalformedNote
from vault_memory.memory.findings import CONFLICT_CODES
from vault_memory.memory.parse import parse
from vault_memory.memory.spans import refusal


def check_editable(data: bytes, *, front_matter: bool = True) -> None:
    """Refuse a note whose text no tool should touch.

    Args:
        data: the note's bytes.
        front_matter: False when only text at the end is added, which malformed front matter does not hinder.

    Raises:
        MalformedNote: with the line and reason of the first finding that stands in the way.
    """
    if (error := edit_refusal(data, front_matter=front_matter)) is not None:
        raise error


def edit_refusal(data: bytes, *, front_matter: bool = True) -> MalformedNote | None:
    """The error that `check_editable` would raise, or None."""
    for finding in parse(data, "").findings:
        if finding.code in CONFLICT_CODES or (front_matter and finding.blocks_edit):
            return refusal(finding.reason, finding.line)
    return None
