"""The names of the hooks that coding agents call, as `vault-memory hook NAME` takes them."""

from __future__ import annotations

from typing import Final, Literal, get_args

Event = Literal["session-start", "prompt", "pre-compact", "post-compact", "stop", "session-end"]
EVENTS: Final[tuple[Event, ...]] = get_args(Event)
