"""Changes of the list of projects and of a repository's pin, as plans (edits.FileChange) that keep everything else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vault_memory.errors import InvalidRequest
from vault_memory.harness.edits import FileChange, decode, encode, missing_folders, read
from vault_memory.harness.projects import PIN_FILE, PROJECTS_FILE, Project, is_slug, load_registry, pinned
from vault_memory.memory.project_id import RepositoryFacts, identity, remote_id


def plan_bind(root: Path, slug: str, facts: RepositoryFacts, *, title: str = "") -> FileChange:
    """The change of the list that binds the repository to `slug`, which is created when it is new.

    This is the person's consent too: the remote and the place count as trusted from then on.

    Raises:
        InvalidRequest: not a slug, or the repository belongs to another project already.
    """
    _check_slug(slug)
    registry = load_registry(root)
    apart = pinned(Path(facts.top)) == slug
    owners = {item: registry.owner(item) for item in (identity(facts), *facts.places[:1])}
    strange = next((owner for owner in owners.values() if owner is not None and owner.slug != slug), None)
    if strange is not None and not apart:
        raise InvalidRequest.of(
            "project",
            f"this repository belongs to {strange.slug}",
            hint=f"Move all with: project merge {strange.slug} {slug}; keep a fork apart with: project pin {slug}",
        )
    old = registry.projects.get(slug) or Project(slug, title)
    remote = remote_id(facts.remote)
    ids = [item for item, owner in owners.items() if item != remote and (owner is None or owner.slug == slug)]
    repositories = tuple(dict.fromkeys((*old.repositories, *ids)))
    remotes = tuple(dict.fromkeys((*old.remotes, *((remote,) if remote else ()))))
    return _plan(root, {slug: Project(slug, title or old.title, repositories, remotes, old.stacks)})


def plan_create(root: Path, slug: str, *, title: str = "", stacks: Sequence[str] = ()) -> FileChange:
    """The change that lists a new project without a repository.

    Raises:
        InvalidRequest: not a slug, or listed already.
    """
    _check_slug(slug)
    if slug in load_registry(root).projects:
        raise InvalidRequest.of("project", f"{slug} is there already")
    return _plan(root, {slug: Project(slug, title, stacks=tuple(stacks))})


def plan_merge(root: Path, old: str, into: str) -> FileChange:
    """The change of the list that gives `old`'s repositories to `into` and removes `old`. Notes are the caller's.

    Raises:
        InvalidRequest: the same project twice, or `into` is not listed.
    """
    registry = load_registry(root)
    if old == into:
        raise InvalidRequest.of("project", "a project cannot be merged into itself")
    target = registry.projects.get(into)
    if target is None:
        raise InvalidRequest.of("project", f"{into} is not listed", allowed=list(registry.projects))
    source = registry.projects.get(old, Project(old))
    united = Project(
        into,
        target.title or source.title,
        tuple(dict.fromkeys((*target.repositories, *source.repositories))),
        tuple(dict.fromkeys((*target.remotes, *source.remotes))),
        tuple(dict.fromkeys((*target.stacks, *source.stacks))),
    )
    return _plan(root, {into: united}, removed=old)


def plan_pin(top: Path, slug: str) -> FileChange:
    """The change that fixes a repository's project in its `.vault-memory.toml`, to be committed and shared.

    Raises:
        InvalidRequest: not a slug, or the file cannot be parsed.
    """
    import tomlkit

    _check_slug(slug)
    path = top / PIN_FILE
    before = read(path)
    document = _document(decode(before, path), path)
    document["project"] = slug
    after = encode(tomlkit.dumps(document), before)
    return FileChange(path, before, after, before, made=missing_folders(path))


def _plan(root: Path, changed: Mapping[str, Project], *, removed: str = "") -> FileChange:
    """The new text of the list with everything else in it kept."""
    import tomlkit

    path = root / PROJECTS_FILE
    before = read(path)
    document = _document(decode(before, path), path)
    projects = document.setdefault("projects", tomlkit.table(is_super_table=True))
    projects.pop(removed, None)
    for slug, project in changed.items():
        table = projects.setdefault(slug, tomlkit.table())
        for key in ("title", "repositories", "remotes", "stacks"):
            value: Any = getattr(project, key)
            value = list(value) if isinstance(value, tuple) else value
            if value and table.get(key) != value:
                table[key] = value
    after = encode(tomlkit.dumps(document), before)
    return FileChange(path, before, after, before, made=missing_folders(path))


def _document(text: str, path: Path) -> Any:
    import tomlkit
    from tomlkit.exceptions import ParseError

    try:
        return tomlkit.parse(text)
    except ParseError as error:
        raise InvalidRequest.of(str(path), f"not valid TOML: {error}; nothing was changed") from error


def _check_slug(slug: str) -> None:
    if not is_slug(slug):
        raise InvalidRequest.of("project", "must be lower-case letters, digits, '.', '-', '_' or '+', not 'global'")
