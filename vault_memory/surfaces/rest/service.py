"""The vault behind the server: one caller's request becomes one operation in a worker thread. Speaks no HTTP.

Few threads are better than many here: each has a connection to the catalog, and Python runs one at a time anyway; the
others are there for while one waits for the disk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, TypeVar

import anyio
import anyio.to_thread
from msgspec import Struct

from vault_memory.errors import NotAllowed
from vault_memory.memory.scope import Scope
from vault_memory.operations.context import Context
from vault_memory.operations.table import Operation
from vault_memory.surfaces.auth.callers import Caller
from vault_memory.surfaces.dispatch import Answer, call
from vault_memory.vault import Vault

READERS: Final = 3
WRITERS: Final = 2
"""Writes wait for one another in any case; here, in the order in which they came, and without keeping readers waiting.
Two, so that a long upkeep (reindex) does not hold up what people write."""
_SHARED: Final = ("folders", "usage", "local", "catalog", "indexes", "git", "versions", "commits", "audit", "lease")
T = TypeVar("T")


class Asker(Struct, frozen=True):
    """One request's caller, the scope it asked for, and how the operation should treat it."""

    caller: Caller
    scope: Scope
    lenient: bool = False


class Service:
    """Runs operations for callers.

    Args:
        vault: stays open as long as the service is used.
        readonly: refuse every write, whoever asks.
    """

    def __init__(self, vault: Vault, *, readonly: bool = False) -> None:
        self.vault = vault
        self.readonly = readonly
        self._readers = anyio.CapacityLimiter(READERS)
        self._writers = anyio.CapacityLimiter(WRITERS)
        for name in _SHARED:  # several threads at once would open some of them twice
            getattr(vault, name)

    def context(self, asker: Asker, *, agent: bool = False) -> Context:
        """The request environment of a caller; what a named token stores was said by an agent, unless it says not."""
        who = asker.caller
        source: Literal["agent", "human"] = "agent" if agent or who.name is not None else "human"
        now = self.vault.clock()
        return Context(self.vault, asker.scope, now, who.name, None, source=source, lenient=asker.lenient)

    def allow(self, caller: Caller, *, writes: bool) -> None:
        """Refuse a write where only reads are allowed.

        Raises:
            NotAllowed: the server or the token is read-only.
        """
        if writes and self.readonly:
            raise NotAllowed("this server is read-only")
        if writes and caller.readonly:
            raise NotAllowed("this token is read-only")

    async def run(
        self, asker: Asker, operation: Operation, arguments: Mapping[str, Any], *, lenient: bool = False
    ) -> Answer:
        """The operation's answer; `lenient` reads the arguments as text from a query string.

        Raises:
            VaultError: whatever the arguments, the rights or the operation call for.
        """
        writes = operation.kind != "read"
        self.allow(asker.caller, writes=writes)
        return await self.work(lambda: call(self.context(asker), operation, arguments, lenient=lenient), writes=writes)

    async def work(self, work: Callable[[], T], *, writes: bool = False) -> T:
        """Run `work` in a thread of this server, when its turn comes."""
        limiter = self._writers if writes else self._readers
        return await anyio.to_thread.run_sync(work, limiter=limiter)
