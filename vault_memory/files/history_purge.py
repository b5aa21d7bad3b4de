"""What a person has to run so that git forgets a note. Owns the words of that command; running it is the person's."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import Final

from vault_memory.files.git import Repository
from vault_memory.files.history import history

_ALL: Final = 1_000_000


def paths_in_history(repository: Repository, path: str) -> tuple[str, ...]:
    """Every path the note had in commits, the newest first; empty when no commit holds it."""
    return tuple(dict.fromkeys(version.path for version in history(repository, path, _ALL)))


def purge_command(repository: Repository, paths: Iterable[str]) -> str:
    """The exact shell command that removes paths from every commit of the repository; it is never run by us.

    It rewrites history: every clone and remote has to be replaced afterwards.
    """
    names = " ".join(shlex.quote(f"{repository.prefix}{path}") for path in paths)
    remove = f"git --literal-pathspecs rm -q --cached --ignore-unmatch -- {names}"
    return (
        f"cd {shlex.quote(str(repository.top))} && "
        f"FILTER_BRANCH_SQUELCH_WARNING=1 git filter-branch --force --prune-empty "
        f"--index-filter {shlex.quote(remove)} -- --all && "
        "git for-each-ref --format='delete %(refname)' refs/original | git update-ref --stdin && "
        "git reflog expire --expire=now --all && git gc --quiet --prune=now"
    )
