"""Carries a hook out: opens the vault, finds the project, answers in the client's shape.

Owns the order of the steps. A hook must never hold a session up, so what goes wrong is logged and the answer is empty;
it never writes to a tracked file, except for a captured checkpoint where the person switched that on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from vault_memory.config import Config
from vault_memory.harness.binding import without_squatting
from vault_memory.harness.gather import gather
from vault_memory.harness.glance import glance
from vault_memory.harness.hooks import HookInput, answer
from vault_memory.harness.projects import Resolution, load_registry, project_here
from vault_memory.harness.session import Trust, start_text
from vault_memory.harness.told import Told
from vault_memory.index.local import Local
from vault_memory.memory.model import Memory
from vault_memory.memory.scope import Scope


class HookSite(Struct, frozen=True):
    """Where a hook runs: the vault and its settings, the client's working folder, the person's home folder, the time.

    `project` names the project instead of the working folder.
    """

    root: Path
    config: Config
    cwd: Path
    home: Path
    now: datetime
    project: str | None = None


def run_hook(message: HookInput, site: HookSite) -> str:
    """What to print for the message.

    Raises:
        VaultError, OSError: the caller logs it and prints an empty object.
    """
    if message.event == "session-start":
        return answer(message, _start(message, site))
    if message.event == "prompt":
        from vault_memory.harness.prompt import prompt_recall

        return answer(message, prompt_recall(message, site))
    if message.event in ("post-compact", "stop", "session-end") and site.config.capture:
        from vault_memory.harness.capture import capture

        capture(message, site)
    return answer(message, "")


def _start(message: HookInput, site: HookSite) -> str:
    with glance(site.root, site.config) as vault:
        project = without_squatting(project_of(site), vault.catalog, site.now)
        told = Told(vault.state / "sessions")
        memories = gather(vault.catalog, Scope(project.slug, None), now=site.now)
        seen = told.load(message.session) if message.source == "resume" else {}
        trust = trust_of(site, project, memories, vault.state)
        start = start_text(memories, trust, now=site.now, seen=seen, notices=_notices(project))
        told.save(message.session, seen | dict(start.shown))
    return start.text


def project_of(site: HookSite) -> Resolution:
    """The project that the hook works for."""
    if site.project:
        return Resolution("known", site.project)
    return project_here(site.root, site.cwd, home=site.home)


def trust_of(site: HookSite, project: Resolution, memories: Iterable[Memory], state: Path) -> Trust:
    """Whom a session in this project believes, and which of the memories a person vouched for as they are now."""
    listed = load_registry(site.root).projects.get(project.slug or "")
    confirmed = _confirmed(state / "local.sqlite")
    approved = frozenset(m.ref for m in memories if m.ref in confirmed and confirmed[m.ref] == m.content_hash)
    return Trust(project.slug, frozenset(listed.stacks if listed else ()), approved)


def _confirmed(file: Path) -> Mapping[str, str]:
    if not file.exists():
        return {}
    local = Local(file)
    try:
        return local.confirmed()
    finally:
        local.close()


def _notices(project: Resolution) -> list[str]:
    if project.status != "untrusted":
        return []
    return [
        f"This repository may not use the memories of “{project.claims}” yet: {project.reason}. Tell the person once:"
        f" `vault-memory project bind {project.claims}` allows it here, `vault-memory project pin NAME` keeps it apart."
        " Until then only global memories are shown."
    ]
