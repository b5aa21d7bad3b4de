"""Which sessions are logs of a conversation, and who speaks. Pure text rules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_LABEL: Final = re.compile(r"[\s>*_#-]*([^\W\d_][\w.'’-]*(?:[ ][\w.'’-]+){0,2})[*_]*:[*_]*(?=\s|$)")
_LABEL_LENGTH: Final = 40
LOG_MEMORIES: Final = 6
"""A session is a log from this many memories on."""
LOG_SHARE: Final = 0.8
"""… and when at least this share of them are interactions or begin with a `Name:` label."""


def speaker_label(body: str) -> str:
    """The name before the first colon when the body begins like a line of a conversation ("Ana: …"), else ""."""
    match = _LABEL.match(body[: _LABEL_LENGTH + 2])
    return match[1] if match else ""


def is_log(memories: int, spoken: int) -> bool:
    """True when a session of `memories`, of which `spoken` are interactions or labelled lines, is a conversation's log.

    An agent's working session is none: it must not lift its unrelated decisions.
    """
    return memories >= LOG_MEMORIES and spoken >= LOG_SHARE * memories


def session_is_log(memories: Sequence[tuple[str, str]]) -> bool:
    """`is_log` for a session given by (memory_type, beginning of the content) of its memories."""
    spoken = sum(memory_type == "interaction" or bool(speaker_label(text)) for memory_type, text in memories)
    return is_log(len(memories), spoken)
