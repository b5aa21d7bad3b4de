"""What goes with one prompt: the few memories that match it, new to the session, when they match well enough.

Owns when a match is good enough to be told unasked. Reads only; hooks count nothing as an access.
"""

from __future__ import annotations

from typing import Final

from vault_memory.harness.binding import without_squatting
from vault_memory.harness.hooks import HookInput
from vault_memory.harness.run_hook import HookSite, project_of, trust_of
from vault_memory.harness.session import prompt_text
from vault_memory.harness.told import Told
from vault_memory.memory.scope import Scope

MIN_RELEVANCE: Final = 0.35
"""Of 21 prompts about a memory this brings 90 %, of 24 about none not one (0.3: all and none, 0.25: 4 %, 0.5: 48 %)."""
MAX_HITS: Final = 3
_MIN_WORDS: Final = 3
_MAX_QUERY: Final = 600


def prompt_recall(message: HookInput, site: HookSite) -> str:
    """The text for this prompt; empty for short prompts and commands, and when nothing new matches well.

    Raises:
        VaultError, OSError: the vault cannot be read.
    """
    query = message.prompt[:_MAX_QUERY]
    if len(query.split()) < _MIN_WORDS or query.startswith("/"):
        return ""
    from vault_memory.operations.context import Context
    from vault_memory.operations.search import Search, search
    from vault_memory.vault import Vault

    with Vault.open(site.root, site.config) as vault:
        project = without_squatting(project_of(site), vault.catalog, site.now)
        told = Told(vault.folders.state / "sessions")
        seen = told.load(message.session)
        ctx = Context(vault, Scope(project.slug, None), site.now, message.client, message.session, touch=False)
        hits = search(ctx, Search(query=query, mode="keyword", limit=MAX_HITS, touch=False)).hits
        new = [hit.memory for hit in hits if hit.relevance >= MIN_RELEVANCE and hit.memory.ref not in seen]
        text = prompt_text(new, trust_of(site, project, new, vault.folders.state), now=site.now)
        if text.shown:
            told.save(message.session, seen | dict(text.shown))
    return text.text
