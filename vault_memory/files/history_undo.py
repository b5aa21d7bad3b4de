"""Finds what an operation or a session changed, so that it can be taken back. Owns finding; undoing is a write."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from msgspec import Struct

from vault_memory.files.commits_message import OPERATION, SESSION, Trailers, one_line, operation_token, read_trailers
from vault_memory.files.git import Repository
from vault_memory.files.git_log import Logged, log
from vault_memory.files.git_objects import blobs


class Step(Struct, frozen=True):
    """One change of one path by a commit: its bytes before and after, None where there was or is no file."""

    path: str
    before: bytes | None
    after: bytes | None
    commit: str
    operation: str | None
    when: datetime


def steps_of_operation(repository: Repository, operation: str) -> tuple[Step, ...]:
    """What one operation changed, newest first, paths in order within a commit; empty when no commit names it.

    Changes that still wait in the queue are not seen: flush first.
    """
    token = operation_token(operation)
    found = _named(repository, f"{OPERATION}: {token}")
    return tuple(
        step
        for entry, trailers in found
        if token in dict(trailers.operations).values()
        for step in _steps(repository, entry, trailers)
        if step.operation == token
    )


def steps_of_session(repository: Repository, session: str) -> tuple[Step, ...]:
    """What one session changed, newest first, paths in order within a commit; empty when no commit names it."""
    name = one_line(session)
    found = _named(repository, f"{SESSION}: {name}")
    return tuple(
        step for entry, trailers in found if trailers.session == name for step in _steps(repository, entry, trailers)
    )


def _named(repository: Repository, line: str) -> Iterator[tuple[Logged, Trailers]]:
    """Commits whose message has the text, with their trailers; the text alone proves nothing, a person may quote it."""
    if repository.head().commit is None:
        return
    found = log(repository, "--name-status", "--no-renames", "--fixed-strings", f"--grep={line}", "HEAD")
    for entry in found:
        yield entry, read_trailers(entry.message)


def _steps(repository: Repository, entry: Logged, trailers: Trailers) -> Iterator[Step]:
    names = sorted(file.path for file in entry.files if file.path.startswith(repository.prefix))
    before = {name: f"{entry.commit}^:{name}" for name in names} if entry.parents else {}
    after = {name: f"{entry.commit}:{name}" for name in names}
    held = blobs(repository, [*before.values(), *after.values()])
    when = datetime.fromtimestamp(entry.at, UTC)
    for name in names:
        path = name.removeprefix(repository.prefix)
        operation = trailers.operation_of(path)
        yield Step(path, held.get(before.get(name, "")), held.get(after[name]), entry.commit, operation, when)
