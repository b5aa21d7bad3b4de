"""Facts about the repository of a working folder, asked from git: the top folder, first commit, remote, work trees.

Owns the questions, not what follows from them (memory/project_id.py). It changes nothing and runs nothing that the
repository's own settings name.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from vault_memory.files.git import GitError, run_git
from vault_memory.memory.project_id import RepositoryFacts

_MAIN_LINES: Final = ("refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master", "HEAD")
"""Where the first commit is looked for, best first: a side branch such as gh-pages has a beginning of its own."""


def repository_facts(folder: Path, *, program: str = "git") -> RepositoryFacts:
    """What git says about `folder`; outside a repository, without git or where git refuses, the folder alone."""
    real = os.path.realpath(folder)
    path = shutil.which(program)
    if path is None or not Path(real).is_dir():
        return RepositoryFacts(real)
    try:
        return _asked(path, Path(real))
    except GitError:
        return RepositoryFacts(real)


def _asked(program: str, folder: Path) -> RepositoryFacts:
    questions = ("--is-inside-work-tree", "--is-shallow-repository", "--git-common-dir", "--show-cdup")
    lines = _lines(run_git(program, folder, ["rev-parse", *questions]))
    inside, shallow, common, *up = lines
    if inside != "true":
        raise GitError("rev-parse", 0, "no work tree")
    top = os.path.realpath(folder / (up[0] if up else ""))
    cut = shallow == "true"
    return RepositoryFacts(
        top=top,
        common=os.path.realpath(folder / common),
        first_commit=None if cut else _first_commit(program, folder),
        shallow=cut,
        remote=_remote(program, folder),
    )


def _first_commit(program: str, folder: Path) -> str | None:
    """The root of the main line by first parents, so that a later merge of another history changes nothing."""
    for name in _MAIN_LINES:
        arguments = ["rev-list", "--max-parents=0", "--first-parent", "--end-of-options", name]
        found = _lines(run_git(program, folder, arguments, allowed=(0, 128)))
        if found:
            return found[-1]
    return None


def _remote(program: str, folder: Path) -> str | None:
    """The address of `origin`; without one that of the only remote; with several others none."""
    asked = ["config", "--get-regexp", r"^remote\..*\.url$"]
    addresses: dict[str, str] = {}
    for line in _lines(run_git(program, folder, asked, allowed=(0, 1))):
        key, _, address = line.partition(" ")
        addresses.setdefault(key.removeprefix("remote.").removesuffix(".url"), address)
    only: str | None = next(iter(addresses.values())) if len(addresses) == 1 else None
    chosen = addresses.get("origin", only)
    if chosen and chosen.startswith((".", "~")):
        return os.path.realpath(Path(folder, chosen).expanduser())
    return chosen


def _lines(output: bytes) -> list[str]:
    return output.decode("utf-8", "surrogateescape").splitlines()
