"""Which project a working folder belongs to, and the list of projects in `.vault-memory/projects.toml`.

Owns that file's format and the rule of trust: a repository does not get another project's memories by naming it.
Reading only, and light: every hook does it. Changes of the list are plans (project_edits.py).
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import Struct, field

from vault_memory.errors import InvalidRequest
from vault_memory.files.repository import repository_facts
from vault_memory.memory.model import RESERVED_PROJECT
from vault_memory.memory.project_id import RepositoryFacts, all_ids, identity, own_slug, remote_id

PROJECTS_FILE: Final = Path(".vault-memory", "projects.toml")
PIN_FILE: Final = ".vault-memory.toml"
_SLUG: Final = re.compile(r"[^\W_](?:[\w.+-]{0,62}[\w+])?")

Status = Literal["known", "new", "untrusted", "none"]


class Project(Struct, frozen=True):
    """One listed project. `repositories` are ids (memory/project_id.py); `remotes` those it was allowed from."""

    slug: str
    title: str = ""
    repositories: tuple[str, ...] = ()
    remotes: tuple[str, ...] = ()
    stacks: tuple[str, ...] = ()


class Registry(Struct, frozen=True):
    """All listed projects by slug, in file order."""

    projects: Mapping[str, Project] = field(default_factory=dict)

    def owner(self, repository: str) -> Project | None:
        """The project that lists this id, or None; of several the first."""
        return next((project for project in self.projects.values() if repository in project.repositories), None)


class Resolution(Struct, frozen=True):
    """The project of a folder.

    `slug` is what reads and writes are bound to; None: only what is global. `untrusted` means that the repository asks
    for the listed project `claims`, which a person has not allowed from `remote`; until then it is bound to a slug of
    its own. `learn` are ids that the list should get to know (a first commit, a remote); a reader may leave them.
    """

    status: Status
    slug: str | None
    identity: str = ""
    claims: str | None = None
    remote: str | None = None
    learn: tuple[str, ...] = ()
    reason: str = ""


def load_registry(root: Path) -> Registry:
    """The projects that the vault at `root` lists; none without the file.

    Raises:
        InvalidRequest: the file cannot be understood; names what.
    """
    path = root / PROJECTS_FILE
    try:
        return _parsed(path.read_text("utf-8-sig"), path)
    except FileNotFoundError:
        return Registry()
    except UnicodeDecodeError as error:
        raise InvalidRequest.of(str(path), f"not UTF-8: {error}") from error


def pinned(top: Path) -> str | None:
    """The slug that the repository's `.vault-memory.toml` names, or None; what cannot be read counts as no pin.

    The file is a stranger's: only this one text is taken from it.
    """
    path = top / PIN_FILE
    try:
        if path.stat().st_size > 10_000:
            return None
        value = tomllib.loads(path.read_text("utf-8")).get("project")
    except (OSError, ValueError):
        return None
    return value if isinstance(value, str) and is_slug(value) else None


def is_slug(text: str) -> bool:
    """Whether a project may be called that: letters, digits, `.`, `-`, `_`, `+`, at most 64, not `global`."""
    return _SLUG.fullmatch(text) is not None and text == text.lower() and text != RESERVED_PROJECT


def resolve(
    facts: RepositoryFacts, registry: Registry, *, pin: str | None = None, outside: Sequence[str] = ()
) -> Resolution:
    """The project of the folder that `facts` describe.

    Args:
        facts: from files/repository.py.
        registry: the vault's list.
        pin: what `pinned` found.
        outside: top folders that are no project: the vault itself, the home folder.
    """
    if facts.top in outside or facts.top == str(Path(facts.top).anchor):
        return Resolution("none", None, reason="this folder is no project")
    counts = identity(facts)
    remote = remote_id(facts.remote)
    claimed = registry.projects.get(pin) if pin else _owner(registry, facts)
    if claimed is None:
        slug = pin or own_slug(facts, registry.projects)
        return Resolution("new", slug, counts, remote=remote, learn=(counts,))
    if _trusted(claimed, remote, facts):
        known = (*claimed.repositories, *claimed.remotes)
        learn = tuple(item for item in (counts, remote) if item and item not in known)
        return Resolution("known", claimed.slug, counts, remote=remote, learn=learn)
    own = own_slug(facts, registry.projects)
    where = remote.partition(":")[2] if remote else facts.top
    reason = f"it names the project {claimed.slug}, which you have not allowed from {where} yet"
    return Resolution("untrusted", own, counts, claimed.slug, remote, reason=reason)


def project_here(root: Path, cwd: Path, *, home: Path) -> Resolution:
    """The project of the working folder for the vault at `root`; the vault itself and the home folder are none.

    Raises:
        InvalidRequest: the vault's list of projects cannot be understood.
    """
    facts = repository_facts(cwd)
    outside = tuple(os.path.realpath(folder) for folder in (root, home))
    return resolve(facts, load_registry(root), pin=pinned(Path(facts.top)), outside=outside)


def _owner(registry: Registry, facts: RepositoryFacts) -> Project | None:
    """The project that lists one of the repository's ids, the one that counts first.

    A folder is weak: when the project knows the first commit of what lay there, another repository took its place.
    """
    counts = identity(facts)
    for item in all_ids(facts):
        owner = registry.owner(item) or (_by_remote(registry, item) if item.startswith("remote:") else None)
        if owner is None:
            continue
        replaced = item in facts.places and counts.startswith("commit:") and item != counts
        if not (replaced and any(known.startswith("commit:") for known in owner.repositories)):
            return owner
    return None


def _by_remote(registry: Registry, remote: str) -> Project | None:
    return next((project for project in registry.projects.values() if remote in project.remotes), None)


def _trusted(project: Project, remote: str | None, facts: RepositoryFacts) -> bool:
    """Known by its place on this machine or by where it was cloned from; what its history or files say is no proof."""
    if any(place in project.repositories for place in facts.places):
        return True
    if remote is None:
        return not project.remotes
    return remote in project.remotes or remote in project.repositories


def _parsed(text: str, path: Path) -> Registry:
    try:
        tables = tomllib.loads(text).get("projects", {})
    except tomllib.TOMLDecodeError as error:
        raise InvalidRequest.of(str(path), f"not valid TOML: {error}") from error
    if not isinstance(tables, dict):
        raise InvalidRequest.of(str(path), "projects must be a table")
    return Registry({slug: _project(slug, table, path) for slug, table in tables.items()})


def _project(slug: str, table: Any, path: Path) -> Project:
    if not isinstance(table, dict):
        raise InvalidRequest.of(str(path), f"projects.{slug} must be a table")
    title = table.get("title", "")
    lists = {key: table.get(key, []) for key in ("repositories", "remotes", "stacks")}
    for key, value in lists.items():
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise InvalidRequest.of(str(path), f"projects.{slug}.{key} must be a list of texts")
    return Project(slug, title if isinstance(title, str) else "", **{key: tuple(value) for key, value in lists.items()})
