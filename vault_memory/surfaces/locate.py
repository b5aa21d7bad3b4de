"""Which vault a caller means, and with whose eyes it looks. Owns the search order; opens nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vault_memory.config import CONFIG_FILE, load_config
from vault_memory.errors import VaultNotFound

if TYPE_CHECKING:
    from vault_memory.memory.scope import Scope

MARKER: Final = CONFIG_FILE.parts[0]
"""The folder that makes a folder a vault."""

ANYTHING: Final = "*"
"""The project or actor of a caller who is bound to none."""


def find_vault(named: str | None, *, environ: Mapping[str, str], cwd: Path) -> Path:
    """The vault's folder: the one named, else `$VAULT_MEMORY_DIR`, else the nearest parent of `cwd` that is a
    vault, else the user's default.

    Raises:
        VaultNotFound: there is none; the detail says where it was looked for.
    """
    for origin, text in (("--vault", named), ("VAULT_MEMORY_DIR", environ.get("VAULT_MEMORY_DIR"))):
        if text:
            return _checked(cwd / Path(text).expanduser(), origin)
    for folder in (cwd, *cwd.parents):
        if (folder / MARKER).is_dir():
            return folder
    if default := _default_vault(environ):
        return _checked(Path(default).expanduser(), "your default vault (default_vault in your settings)")
    raise VaultNotFound(
        f"no vault: neither --vault nor VAULT_MEMORY_DIR is given, no folder from {cwd} upwards holds {MARKER}/, "
        "and no default vault is set",
        hint="make one with: vault-memory init FOLDER",
    )


def _checked(folder: Path, origin: str) -> Path:
    folder = folder.resolve()
    if (folder / MARKER).is_dir():
        return folder
    state = "is not a vault yet" if folder.is_dir() else "does not exist"
    raise VaultNotFound(
        f"{folder} {state} ({origin}): it holds no {MARKER}/ folder",
        hint=f"make it one with: vault-memory init {folder}",
    )


def _default_vault(environ: Mapping[str, str]) -> str:
    return load_config(None, environ=environ).default_vault


def project_of(root: Path, named: str | None, *, environ: Mapping[str, str], cwd: Path, home: Path) -> str | None:
    """The project that a person in `cwd` means: the one named, else `$VAULT_MEMORY_PROJECT`, else the listed project of
    the repository that `cwd` lies in, else none. `*` and `global` are passed on as they are.

    Raises:
        InvalidRequest: the vault's list of projects cannot be understood.
    """
    if named or environ.get("VAULT_MEMORY_PROJECT"):
        return named or environ.get("VAULT_MEMORY_PROJECT")
    from vault_memory.harness.projects import load_registry, project_here

    if cwd.is_relative_to(root) or not load_registry(root).projects:
        return None  # asking git takes longer than most commands
    found = project_here(root, cwd, home=home)
    return found.slug if found.status == "known" else None


def find_scope(project: str | None, actor: str | None, *, environ: Mapping[str, str]) -> Scope:
    """What the caller sees and may change.

    `project`: a slug binds to that project and what is global, `global` to what is global alone, `*` or nothing
    leaves the caller unbound. `actor`: a name sees only its own memories, nothing sees those without an actor, `*`
    sees all. What is not given comes from `$VAULT_MEMORY_PROJECT` and `$VAULT_MEMORY_ACTOR`.
    """
    from vault_memory.memory.model import RESERVED_PROJECT
    from vault_memory.memory.scope import ANY, Scope

    project = project or environ.get("VAULT_MEMORY_PROJECT") or ANYTHING
    actor = actor or environ.get("VAULT_MEMORY_ACTOR") or None
    bound = ANY if project == ANYTHING else None if project == RESERVED_PROJECT else project
    return Scope(project=bound, actor=ANY if actor == ANYTHING else actor)
