"""The options that every command takes, before or after its name, and the settings they add up to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from msgspec import Struct

if TYPE_CHECKING:
    from vault_memory.operations.context import Context

_META: Final = "vault_memory.options"
_PREFIX: Final = "common_"


class Settings(Struct, frozen=True):
    """What the common options of one command line say; where both places give one, the later place wins."""

    vault: str | None = None
    project: str | None = None
    actor: str | None = None
    json: bool = False
    quiet: bool = False
    verbose: int = 0

    @classmethod
    def current(cls) -> Settings:
        """The settings of the command line that is being run; defaults when none is."""
        ctx = click.get_current_context(silent=True)
        return cls(**ctx.meta.get(_META, {})) if ctx else cls()

    def root(self) -> Path:
        """The folder of the vault that is meant.

        Raises:
            VaultNotFound: there is none.
        """
        from vault_memory.surfaces.locate import find_vault

        return find_vault(self.vault, environ=os.environ, cwd=Path.cwd())

    @contextmanager
    def open(self, **context: Any) -> Iterator[Context]:
        """The vault that is meant, opened for one request; `context` overrides fields of the request's Context.

        Raises:
            VaultNotFound: there is none.
        """
        from vault_memory.surfaces.dispatch import opened
        from vault_memory.surfaces.locate import find_scope, project_of

        root = self.root()
        project = project_of(root, self.project, environ=os.environ, cwd=Path.cwd().resolve(), home=Path.home())
        scope = find_scope(project, self.actor, environ=os.environ)
        with opened(root, scope=scope, environ=os.environ, **{"files": True, **context}) as ctx:
            yield ctx


def common_options() -> list[click.Parameter]:
    """Fresh options for one command: where the vault is, who looks, how the answer is shown."""
    return [
        _option("--vault", metavar="FOLDER", help="The vault (default: $VAULT_MEMORY_DIR, the nearest parent, yours)."),
        _option("--project", metavar="NAME", help="Look and write as this project and what is global; '*': all."),
        _option("--actor", metavar="NAME", help="Look and write as this actor: only its own memories; '*': all."),
        _option("--json", is_flag=True, help="Answer as JSON on stdout, problems as JSON on stderr."),
        _option("-q", "--quiet", is_flag=True, help="Print results only: no hints, no progress."),
        _option("-v", "--verbose", count=True, help="Log to stderr; twice for more."),
    ]


def _option(*flags: str, **options: Any) -> click.Option:
    """An option that no request field can be taken for: click tells parameters apart by their names alone."""
    name = _PREFIX + flags[-1].removeprefix("--")
    return click.Option([name, *flags], expose_value=False, is_eager=True, callback=_remember, **options)


def _remember(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Note a common option that was given; the absence of a later one never undoes an earlier one."""
    if value and param.name is not None:
        options: dict[str, Any] = ctx.meta.setdefault(_META, {})
        options[param.name.removeprefix(_PREFIX)] = value


def common_names() -> frozenset[str]:
    """The words that common options take up, so that a request field of that name gets another."""
    return frozenset(option.name.removeprefix(_PREFIX) for option in common_options() if option.name)
