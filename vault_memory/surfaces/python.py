"""Python: `open_vault(path)` gives an object with one method per operation, its keyword arguments the request's fields.

The object may be used from several threads, not across fork. It needs no configuration, and without `watch` it starts
no thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from vault_memory.config import Config, load_config
from vault_memory.memory.scope import ANY, Scope
from vault_memory.operations.context import Context
from vault_memory.operations.init import init_vault
from vault_memory.operations.result import to_json
from vault_memory.operations.table import OPERATIONS
from vault_memory.upkeep import Upkeep
from vault_memory.vault import Vault, system_clock

__all__ = ["VaultMemory", "init_vault", "open_vault", "to_json"]


class VaultMemory:
    """An open vault: `vm.remember(content="…")`, `vm.search(query="…")`, … ; see `vault_memory.operations`."""

    def __init__(self, vault: Vault, scope: Scope, *, agent: str | None = None, session: str | None = None) -> None:
        self._vault = vault
        self._scope = scope
        self._agent = agent
        self._session = session
        self._upkeep: Upkeep | None = None

    def __enter__(self) -> VaultMemory:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Flush commits and indexes and give up every file."""
        if self._upkeep is not None:
            self._upkeep.stop()
        self._vault.close()

    def watch(self) -> None:
        """Follow changes by hand from now on, in a thread of its own."""
        if self._upkeep is None:
            self._upkeep = Upkeep(self._vault)
            self._upkeep.start()

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *OPERATIONS]

    def __getattr__(self, name: str) -> Callable[..., Any]:
        operation = OPERATIONS.get(name.removesuffix("_"))
        if operation is None:
            raise AttributeError(f"there is no operation {name!r}")

        def call(**arguments: Any) -> Any:
            from vault_memory.surfaces.dispatch import call as dispatch

            return dispatch(self._context(), operation, arguments).result

        call.__name__ = name
        call.__doc__ = operation.summary
        return call

    def _context(self) -> Context:
        return Context(self._vault, self._scope, self._vault.clock(), self._agent, self._session, files=True)


def open_vault(
    path: str | Path,
    *,
    project: str | None = "*",
    actor: str | None = None,
    agent: str | None = None,
    session: str | None = None,
    clock: Callable[[], datetime] = system_clock,
    environ: Mapping[str, str] | None = None,
    config: Config | None = None,
    watch: bool = False,
) -> VaultMemory:
    """Open the vault at `path`.

    Args:
        path: the vault's folder.
        project: see and write this project and what is global; `*` is unbound, None only what is global.
        actor: see and write only this actor's memories; `*` all; None those without an actor.
        agent: who writes, for the history.
        session: the session that writes belong to.
        clock: gives the time, UTC-aware.
        environ: where VAULT_MEMORY_* settings are read; the process environment by default.
        watch: follow changes by hand in a thread of its own.
        config: settings to use instead of the files and the environment.

    Raises:
        VaultNotFound: there is no vault; `init_vault` makes one.
    """
    root = Path(path)
    scope = Scope(ANY if project == "*" else project, ANY if actor == "*" else actor)
    settings = config if config is not None else load_config(root, environ=environ)
    opened = VaultMemory(Vault.open(root, settings, clock=clock), scope, agent=agent, session=session)
    if watch:
        opened.watch()
    return opened
