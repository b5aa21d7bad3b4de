"""What every operation is given: the vault, whose eyes it sees with, who acts, and what time it is."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from vault_memory.config import Config
    from vault_memory.memory.scope import Scope
    from vault_memory.vault import Vault


class Context(Struct, frozen=True):
    """One caller's request environment. `now` is UTC-aware and fixed for the whole request."""

    vault: Vault
    scope: Scope
    now: datetime
    agent: str | None = None
    session: str | None = None
    source: Literal["human", "agent", "crawl", "import"] = "human"
    allow_secrets: bool = False
    lenient: bool = False
    """Small talk and repetitions are stored with a warning, as callers of some profiles expect."""
    files: bool = False
    """The caller sits at this machine and may name its files and folders (command line and Python, no server)."""
    touch: bool = True
    """Whether rows that are returned count as accessed."""

    @property
    def config(self) -> Config:
        """The vault's settings."""
        return self.vault.config
