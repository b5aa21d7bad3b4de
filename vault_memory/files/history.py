"""The history of a note as git and the kept versions tell it: who changed it, when, why, and what it was.

Owns reading it for one note, moves included. It writes nothing, and never shows a file outside the vault.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from vault_memory.files.commits_message import read_trailers, summary
from vault_memory.files.git import GitError, Repository
from vault_memory.files.git_log import Logged, log
from vault_memory.files.git_objects import blob_at, blobs
from vault_memory.memory.markdown import UnreadableNote, parse

_COMMIT: Final = re.compile(r"HEAD|[0-9a-f]{4,64}")
_MOVES_FOLLOWED: Final = 20
_COMPARED_BY_ID: Final = 200

Kind = Literal["created", "changed", "moved", "removed", "replaced"]
_KINDS: Final[dict[str, Kind]] = {"A": "created", "D": "removed", "R": "moved"}


class Version(Struct, frozen=True):
    """One entry of a note's history, its text reachable by `commit` and `path`, or by `revision` if it was kept."""

    when: datetime
    path: str
    kind: Kind
    commit: str | None = None
    revision: str | None = None
    author: str = ""
    agent: str | None = None
    session: str | None = None
    operation: str | None = None
    summary: str = ""
    came_from: str | None = None
    """The path before a move."""

    @property
    def by_tool(self) -> bool:
        """True when the tool made this change for an agent or a person, False when it was made by hand."""
        return self.operation is not None


class BlamedLine(Struct, frozen=True):
    """A line of a note as HEAD holds it, and the change that it comes from."""

    number: int
    text: str
    commit: str
    author: str
    agent: str | None
    when: datetime


def history(
    repository: Repository | None, path: str, limit: int = 20, kept: Iterable[tuple[str, datetime]] = ()
) -> tuple[Version, ...]:
    """The newest `limit` versions of a note, newest first, through moves; ties in time keep git before kept.

    Args:
        repository: None when there is no git; then only the kept versions are listed.
        kept: (revision, time it was replaced) of the versions that no commit holds.
    """
    versions = _from_git(repository, path, limit) if repository and repository.head().commit else []
    versions += [Version(when, path, "replaced", revision=revision) for revision, when in kept]
    return tuple(sorted(versions, key=lambda version: version.when, reverse=True)[:limit])


def show(repository: Repository, path: str, commit: str) -> bytes | None:
    """The note's bytes in a commit (an id, at least 4 digits of it, or HEAD), under whatever path it had then.

    None when that commit does not hold it.
    """
    if not _COMMIT.fullmatch(commit):
        return None
    data = blob_at(repository, commit, path)
    if data is not None:
        return data
    entry = next((v for v in _from_git(repository, path, 1000) if v.commit and v.commit.startswith(commit)), None)
    return blob_at(repository, commit, entry.path) if entry else None


def diff(old: bytes, new: bytes, old_name: str = "before", new_name: str = "after", context: int = 3) -> str:
    """The unified diff of two texts, '' when they are equal. Bytes that are not UTF-8 are replaced for display."""
    before, after = (text.decode("utf-8", "replace").splitlines(keepends=True) for text in (old, new))
    lines = difflib.unified_diff(before, after, old_name, new_name, n=context)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def blame(repository: Repository, path: str) -> tuple[BlamedLine, ...]:
    """The lines of a note in HEAD with the last change of each; empty when HEAD does not hold it."""
    name = f"{repository.prefix}{path}"
    try:
        output = repository.run("blame", "--no-textconv", "--no-ignore-revs-file", "--porcelain", "HEAD", "--", name)
    except GitError:
        return ()
    return tuple(_blamed(repository, output.decode("utf-8", "replace")))


def _from_git(repository: Repository, path: str, limit: int) -> list[Version]:
    versions: list[Version] = []
    start = "HEAD"
    for _ in range(_MOVES_FOLLOWED):
        listed = _of_path(repository, path, start, limit - len(versions))
        versions += [_version(entry, path) for entry in listed]
        if len(versions) >= limit or not listed or versions[-1].kind != "created" or not listed[-1].parents:
            break
        origin = _origin(repository, listed[-1].commit, path)
        if origin is None:
            break
        versions[-1] = replace(versions[-1], kind="moved", came_from=origin)
        path, start = origin, f"{listed[-1].commit}^"
    return versions


def _of_path(repository: Repository, path: str, start: str, limit: int) -> list[Logged]:
    name = f"{repository.prefix}{path}"
    return list(log(repository, "--name-status", "--no-renames", f"-n{limit}", start, "--", name))


def _version(entry: Logged, path: str) -> Version:
    trailers = read_trailers(entry.message)
    status = entry.files[0].status if entry.files else "M"
    return Version(
        datetime.fromtimestamp(entry.at, UTC),
        path,
        _KINDS.get(status, "changed"),
        commit=entry.commit,
        author=entry.author,
        agent=trailers.agent,
        session=trailers.session,
        operation=trailers.operation_of(path),
        summary=summary(entry.message),
    )


def _origin(repository: Repository, commit: str, path: str) -> str | None:
    """Where a note that a commit created was before: the file git sees renamed, else the removed note of its id."""
    name = f"{repository.prefix}{path}"
    logged = next(log(repository, "--name-status", "-M", "-n1", commit), None)
    files = logged.files if logged else ()
    source = next((file.source for file in files if file.path == name and file.source), None)
    if source is None:
        removed = [file.path for file in files if file.status == "D" and file.path.startswith(repository.prefix)]
        source = _same_id(repository, commit, name, removed)
    if source is None or not source.startswith(repository.prefix):
        return None
    return source.removeprefix(repository.prefix)


def _same_id(repository: Repository, commit: str, name: str, removed: Sequence[str]) -> str | None:
    wanted = {f"{commit}^:{path}": path for path in islice(removed, _COMPARED_BY_ID)}
    if not wanted:
        return None
    own = f"{commit}:{name}"
    found = blobs(repository, [own, *wanted])
    note_id = _id_of(found.get(own, b""))
    return next((path for key, path in wanted.items() if note_id and _id_of(found.get(key, b"")) == note_id), None)


def _id_of(data: bytes) -> str | None:
    try:
        return parse(data, "note.md").id
    except UnreadableNote:
        return None


def _blamed(repository: Repository, output: str) -> Iterable[BlamedLine]:
    """Takes `git blame --porcelain` apart: a header per line, the commit's details only when it first comes up."""
    seen: dict[str, dict[str, str]] = {}
    rows: list[tuple[str, int, str]] = []
    commit, number = "", 0
    for line in output.split("\n"):
        if line.startswith("\t"):
            rows.append((commit, number, line[1:]))
        elif (words := line.split(" "))[0] and re.fullmatch(r"[0-9a-f]{40,64}", words[0]):
            commit, number = words[0], int(words[2])
            seen.setdefault(commit, {})
        else:
            seen.get(commit, {})[words[0]] = " ".join(words[1:])
    agents = _agents(repository, list(seen))
    for commit, number, text in rows:
        details = seen[commit]
        when = datetime.fromtimestamp(int(details["author-time"]), UTC)
        yield BlamedLine(number, text.removesuffix("\r"), commit, details["author"], agents.get(commit), when)


def _agents(repository: Repository, commits: Sequence[str]) -> dict[str, str | None]:
    if not commits:
        return {}
    return {entry.commit: read_trailers(entry.message).agent for entry in log(repository, "--no-walk", *commits)}
