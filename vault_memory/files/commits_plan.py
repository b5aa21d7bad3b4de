"""Decides which commits a queue of changes becomes. Pure: it sees ids and bytes, neither git nor the disk.

Owns the rules: a person's text comes first and alone, what is in HEAD already is not committed again, what somebody
committed over is not put back, changes of one agent and session share a commit until a path comes up again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from vault_memory.files.commits_message import person_message, tool_message
from vault_memory.files.queue import Change, Queued


@dataclass(frozen=True, slots=True)
class Planned:
    """One commit to make: `files` maps vault paths to their new bytes (None: removed)."""

    by_person: bool
    files: Mapping[str, bytes | None]
    message: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Plan:
    """Commits in order, and the changes that stay out because a later commit of somebody else covers them."""

    commits: tuple[Planned, ...]
    overtaken: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """What the planner may ask: blob ids, None standing for 'no such file'.

    `base` answers for the commit to build on, `then` for the commit HEAD was at when a change was queued, `disk` for
    the file as it is now.
    """

    blob: Callable[[bytes], str]
    base: Callable[[str], str | None]
    then: Callable[[str | None, str], str | None]
    disk: Callable[[str], str | None]


@dataclass(slots=True)
class _Group:
    """Changes that will share a commit, and the person's bytes that must come before it."""

    changes: list[Change] = field(default_factory=list)
    person: dict[str, bytes | None] = field(default_factory=dict)

    def takes(self, change: Change) -> bool:
        if not self.changes:
            return True
        last = self.changes[-1]
        same = (last.agent, last.session) == (change.agent, change.session)
        return same and all(change.path != other.path for other in self.changes)

    def commits(self) -> Iterator[Planned]:
        if self.person:
            yield Planned(True, dict(self.person), person_message(list(self.person)), self.changes[0].at)
        if self.changes:
            files = {change.path: change.after for change in self.changes}
            yield Planned(False, files, tool_message(self.changes), self.changes[-1].at)


def plan(queued: Sequence[Queued], known: Known) -> Plan:
    """The commits for these queue entries, oldest first. A plan of no commits is a valid answer."""
    state: dict[str, str | None] = {}
    following = _following(queued)
    commits: list[Planned] = []
    overtaken: list[Change] = []
    group = _Group()
    for entry in queued:
        change = entry.change
        now = state[change.path] if change.path in state else known.base(change.path)
        before, after = _id(change.before, known), _id(change.after, known)
        if now == after:
            continue
        if now != before and change.path not in state and _covered(entry, following.get(entry.number), known):
            overtaken.append(change)
            continue
        if not group.takes(change):
            commits.extend(group.commits())
            group = _Group()
        if now != before and change.before is not None:
            group.person[change.path] = change.before
        group.changes.append(change)
        state[change.path] = after
    commits.extend(group.commits())
    return Plan(tuple(commits), tuple(overtaken))


def _covered(entry: Queued, following: Change | None, known: Known) -> bool:
    """True when somebody committed the path after our change and the file has moved on from our bytes as well.

    While the file still holds our bytes they are the newest, whatever was committed meanwhile; and when nothing was
    committed since, what HEAD lacks is an edit of the person from before our change.
    """
    change = entry.change
    if known.then(entry.head, change.path) == known.base(change.path):
        return False
    next_seen = _id(following.before, known) if following else known.disk(change.path)
    return next_seen != _id(change.after, known)


def _following(queued: Sequence[Queued]) -> dict[int, Change]:
    """For each entry, by number, the next change of its path; the last ones have none."""
    answer: dict[int, Change] = {}
    later: dict[str, Change] = {}
    for entry in reversed(queued):
        change = entry.change
        if change.path in later:
            answer[entry.number] = later[change.path]
        later[change.path] = change
    return answer


def _id(data: bytes | None, known: Known) -> str | None:
    return None if data is None else known.blob(data)
