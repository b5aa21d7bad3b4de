"""doctor's look at git: whether writes are committed, notes merge field by field, and our hooks are whole."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from vault_memory.operations.checks import Check, Doctor
from vault_memory.operations.context import Context

if TYPE_CHECKING:
    from vault_memory.files.git import Repository


def git(ctx: Context, request: Doctor) -> Iterator[Check]:
    """All about the vault's repository, if it has one."""
    commits, repository = ctx.vault.commits, ctx.vault.git.repository
    if commits.refusal:
        yield Check("git", "notice", f"no commits: {commits.refusal}; replaced texts are kept in state/versions")
        return
    assert repository is not None, "without a repository there is a refusal"
    yield from _lock(repository, request)
    if request.fix:
        commits.flush()
    queued, waiting = len(commits.queue), commits.waiting
    if waiting:
        yield Check("git", "problem", f"{queued} changes wait to be committed: {waiting}")
    else:
        yield Check("git", "ok", f"writes are committed ({queued} on their way)" if queued else "writes are committed")
    yield from _driver(repository, request)
    yield from _hooks(repository)
    if repository.identity() is None:
        yield Check("git", "notice", "git knows no name and mail; commits are made as vault-memory")


def _lock(repository: Repository, request: Doctor) -> Iterator[Check]:
    from vault_memory.files.git_state import index_lock, remove_left_over

    lock = index_lock(repository, time.time())
    if lock is not None and lock.left_over:
        fixed = request.fix and remove_left_over(lock)
        yield Check(
            "git", "problem", f"{lock.path} was left over by a git that died", "vault-memory doctor --fix", fixed
        )


def _driver(repository: Repository, request: Doctor) -> Iterator[Check]:
    from vault_memory.files.git_setup import merge_driver_problem, set_up_merge_driver

    if problem := merge_driver_problem(repository):
        fixed = request.fix and set_up_merge_driver(repository)
        yield Check("git", "problem", problem, "vault-memory doctor --fix", fixed)
    else:
        yield Check("git", "ok", "notes merge field by field")


def _hooks(repository: Repository) -> Iterator[Check]:
    """The hooks are a person's choice: none at all is as good as all of them; some are a half-done installation."""
    from vault_memory.errors import NotAllowed
    from vault_memory.files.githooks import HOOKS, installed

    again = "vault-memory init --git-hooks"
    try:
        there = installed(repository)
    except NotAllowed as error:
        yield Check("git hooks", "notice", error.detail, error.hint)
        return
    if not there:
        yield Check("git hooks", "ok", f"not installed (they are optional: {again})")
    elif missing := [name for name in HOOKS if name not in there]:
        yield Check("git hooks", "problem", f"{', '.join(missing)} missing or replaced by another program's", again)
    else:
        yield Check("git hooks", "ok", "in place")
