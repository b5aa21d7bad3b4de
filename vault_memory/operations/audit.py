"""Who wrote what, from the audit log of this machine, and what git says of the vault's repository. Reads only."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final

from msgspec import Struct

from vault_memory.errors import NotAllowed
from vault_memory.operations.context import Context
from vault_memory.operations.refs import resolve

COMMITS: Final = 10
"""So many commits are named."""
_LATELY_BYTES: Final = 512 * 1024


class Written(Struct, frozen=True):
    """One operation of somebody: every note it wrote, under the id by which it can be undone."""

    id: str
    operation: str
    time: str
    agent: str | None
    session: str | None
    reason: str | None
    paths: tuple[str, ...]


class Trail(Struct, frozen=True):
    """A page of the audit log, newest first; `agents` are all who ever wrote, by their last time, newest first."""

    items: tuple[Written, ...]
    has_more: bool
    agents: tuple[tuple[str, int, str], ...]


class Commit(Struct, frozen=True):
    """One commit of the repository."""

    commit: str
    when: datetime
    author: str
    agent: str | None
    summary: str


class RepositoryState(Struct, frozen=True):
    """`problem` says why nothing is committed, "" when it is; `unsaved` counts files that differ from HEAD."""

    problem: str
    branch: str | None = None
    queued: int = 0
    waiting: str = ""
    unsaved: int = 0
    commits: tuple[Commit, ...] = ()


def trail(ctx: Context, *, limit: int, offset: int = 0) -> Trail:
    """A page of the audit log.

    Raises:
        NotAllowed: the caller does not see the whole vault, of which the log tells.
    """
    _for_the_owner(ctx)
    latest: deque[Written] = deque(maxlen=offset + limit + 1)
    agents: dict[str, tuple[int, str]] = {}
    for entry in _operations(ctx.vault.audit.entries()):
        latest.append(entry)
        name = entry.agent or ""
        agents[name] = agents.get(name, (0, ""))[0] + 1, entry.time
    page = tuple(islice(reversed(latest), offset, offset + limit))
    ordered = sorted(agents.items(), key=lambda item: (item[1][1], item[0]), reverse=True)
    return Trail(page, len(latest) > offset + limit, tuple((name, n, last) for name, (n, last) in ordered))


def operation_of(ctx: Context, ref: str, *, revision: str | None, named: str | None) -> str | None:
    """The id of the operation that lately gave a memory this revision, or was called so; None when none is known.

    History cannot tell as surely: what was written just now may not be committed yet.

    Raises:
        MemoryNotFound: no such memory.
    """
    path = resolve(ctx, ref, deleted=True).path
    found = None
    for entry in ctx.vault.audit.entries(last_bytes=_LATELY_BYTES):
        fits = revision in (None, entry.get("after")) and named in (None, entry.get("operation"))
        if fits and entry.get("path") == path:
            found = entry.get("id")
    return found if isinstance(found, str) else None


def repository_state(ctx: Context) -> RepositoryState:
    """What git says; looks at every file of the work tree.

    Raises:
        NotAllowed: the caller does not see the whole vault.
    """
    from vault_memory.files.commits_message import read_trailers, summary
    from vault_memory.files.git_log import log

    _for_the_owner(ctx)
    commits, repository = ctx.vault.commits, ctx.vault.git.repository
    if repository is None:
        return RepositoryState(ctx.vault.git.problem)
    head = repository.head()
    logged = log(repository, f"--max-count={COMMITS}") if head.commit else ()
    changed = repository.run("status", "--porcelain", "-z", "--no-renames", "--", repository.prefix or ".")
    return RepositoryState(
        problem=commits.refusal,
        branch=head.branch,
        queued=len(commits.queue),
        waiting=commits.waiting,
        unsaved=changed.count(b"\0"),
        commits=tuple(
            Commit(one.commit, datetime.fromtimestamp(one.at, UTC), one.author, read_trailers(one.message).agent,
                   summary(one.message))
            for one in logged
        ),
    )  # fmt: skip


def _for_the_owner(ctx: Context) -> None:
    if not ctx.scope.unbound:
        raise NotAllowed("this tells of the whole vault; it is for who sees everything")


def _operations(entries: Iterable[dict[str, Any]]) -> Iterable[Written]:
    """The entries of one operation, which stand together, as one."""
    paths: list[str] = []
    last: dict[str, Any] = {}
    for entry in entries:
        if not isinstance(entry.get("path"), str) or not isinstance(entry.get("id"), str):
            continue
        if last and entry["id"] != last["id"]:
            yield _written(last, paths)
            paths = []
        last = entry
        paths.append(entry["path"])
    if last:
        yield _written(last, paths)


def _written(entry: dict[str, Any], paths: list[str]) -> Written:
    texts = {name: entry[name] for name in ("agent", "session", "reason") if isinstance(entry.get(name), str)}
    return Written(
        entry["id"], str(entry.get("operation", "")), str(entry.get("time", "")),
        texts.get("agent"), texts.get("session"), texts.get("reason"), tuple(paths),
    )  # fmt: skip
