"""What a client's hook says on stdin and wants to hear on stdout. Pure text; it must not open a vault."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from vault_memory.harness.events import Event

_CONTEXT_EVENTS: Final = ("session-start", "prompt")
"""Only these take text for the model; the schemas of the others refuse it (tried with Claude Code and Codex)."""
_NAMES: Final = {"session-start": "SessionStart", "prompt": "UserPromptSubmit"}
_INJECTED: Final = re.compile(r"<hook_context>.*?</hook_context>\s*", re.DOTALL)
"""Gemini CLI puts the start text of another hook before the prompt that it hands on."""


class HookInput(Struct, frozen=True):
    """The parts of a hook's message that we use; what a client leaves out is empty.

    `source` is why a session starts: startup, resume, clear or compact. `summary` is a compaction's summary, `reply`
    the model's last answer, `transcript` the path of the client's own record.
    """

    event: Event
    client: str
    name: str = ""
    session: str = ""
    cwd: str = ""
    source: str = "startup"
    prompt: str = ""
    summary: str = ""
    reply: str = ""
    transcript: str = ""


def read_input(text: str, event: Event, client: str) -> HookInput:
    """The message of a hook; text that is no JSON object counts as an empty one, so that a session is never held up."""
    try:
        data = json.loads(text)
    except ValueError:
        data = {}
    if not isinstance(data, dict):
        data = {}
    roots = data.get("workspace_roots")
    cwd = _text(data, "cwd") or (roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else "")
    return HookInput(
        event=event,
        client=client,
        name=_text(data, "hook_event_name"),
        session=_text(data, "session_id") or _text(data, "conversation_id"),
        cwd=cwd,
        source=_text(data, "source") or "startup",
        prompt=_INJECTED.sub("", _text(data, "prompt")).strip(),
        summary=_text(data, "compact_summary"),
        reply=_text(data, "last_assistant_message") or _text(data, "prompt_response"),
        transcript=_text(data, "transcript_path"),
    )


def answer(message: HookInput, text: str) -> str:
    """What to print: one JSON object; an empty one where there is nothing to say or the event takes no text."""
    if not text or message.event not in _CONTEXT_EVENTS:
        return "{}"
    if message.client == "cursor":
        return json.dumps({"additional_context": text}, ensure_ascii=True)
    name = message.name or _NAMES[message.event]
    output = {"hookEventName": name, "additionalContext": text}
    return json.dumps({"hookSpecificOutput": output}, ensure_ascii=True)


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""
