"""Keeps where a session stopped as a draft checkpoint, when the person switched that on (`capture = true`).

Owns what is worth keeping of a compaction's summary or a last answer, and that a session has one draft. Never stores a
transcript: at most one text of a bounded size.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from vault_memory.harness.hooks import HookInput
from vault_memory.memory.filter import Filter
from vault_memory.memory.quality import low_signal

if TYPE_CHECKING:
    from vault_memory.harness.run_hook import HookSite

TAGS: Final = ("captured", "draft")
MAX_CHARS: Final = 4_000
_MIN_CHARS: Final = 80
"""A last answer shorter than this says too little to be worth a note."""
_TAIL_BYTES: Final = 300_000


class Captured(Struct, frozen=True):
    """A draft: its title and text."""

    title: str
    text: str


def captured(message: HookInput) -> Captured | None:
    """What the message leaves to keep, or None: nothing, too little, or small talk."""
    if message.event == "post-compact":
        title, text = "Where the session stood when it was compacted", message.summary
    else:
        title, text = "How the session ended", message.reply or last_reply(message.transcript)
    text = text.strip()
    if len(text) < _MIN_CHARS or low_signal(text) is not None:
        return None
    if len(text) > MAX_CHARS:
        text = text[:MAX_CHARS].rsplit(None, 1)[0] + " …"
    return Captured(title, f"{text}\n")


def last_reply(transcript: str) -> str:
    """The last text that the model wrote, from the end of a client's transcript; empty when there is none."""
    try:
        with Path(transcript).open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _TAIL_BYTES))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except (OSError, ValueError):
        return ""
    for line in reversed(lines):
        try:
            text = _reply(json.loads(line))
        except ValueError:
            continue
        if text:
            return text
    return ""


def _reply(entry: Any) -> str:
    """The text of an assistant's entry in Claude Code's transcripts."""
    if not isinstance(entry, dict) or entry.get("type") != "assistant":
        return ""
    message = entry.get("message")
    parts = message.get("content") if isinstance(message, dict) else None
    if not isinstance(parts, list):
        return ""
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str)).strip()


def capture(message: HookInput, site: HookSite) -> str | None:
    """Store or renew the session's draft; its ref, or None when there was nothing to keep.

    Raises:
        Rejected: a write gate refuses the text (a secret).
    """
    draft = captured(message)
    if draft is None or not message.session:
        return None
    from vault_memory.harness.binding import bind, list_project
    from vault_memory.operations.context import Context
    from vault_memory.operations.edit import Update, update
    from vault_memory.operations.remember import Remember, remember
    from vault_memory.vault import Vault

    with Vault.open(site.root, site.config) as vault:
        binding = bind(vault, site.cwd, home=site.home, project=site.project, actor=None)
        list_project(vault, binding, agent=message.client, session=message.session)
        scope = binding.scope
        ctx = Context(vault, scope, site.now, message.client, message.session, source="agent", touch=False)
        wanted = Filter(statuses=("active",), memory_types=("checkpoint",), session=message.session, tag=TAGS[0])
        known = [row.memory for row in vault.catalog.page(wanted, scope, now=site.now, limit=1).items]
        if known and known[0].content == draft.text:
            return known[0].ref
        if known:
            request = Update(ref=known[0].ref, content=draft.text, title=draft.title)
            memory = update(ctx, request).memory
        else:
            memory = remember(
                ctx,
                Remember(
                    content=draft.text,
                    title=draft.title,
                    memory_type="checkpoint",
                    tags=list(TAGS),
                    on_duplicate="skip",
                    source_id=f"{message.client}:{message.event}",
                ),
            ).memory
        return memory.ref if memory is not None else None
