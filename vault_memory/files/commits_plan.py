"""Decides which commits a queue of changes becomes. Pure: it sees ids and bytes, neither git nor the disk.

Owns the rules: a person's text comes first and alone, what is in HEAD already is not committed again, what somebody
committed over is not put back, changes of one agent and session share a commit until a path comes up again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby

from msgspec import Struct, field

from vault_memory.files.commits_message import person_message, tool_message
from vault_memory.files.queue import Change, Queued


class Planned(Struct, frozen=True):
    """One commit to make: `files` maps vault paths to their new bytes (None: removed)."""

    by_person: bool
    files: Mapping[str, bytes | None]
    message: str
    at: datetime


class Plan(Struct, frozen=True):
    """Commits in order, and the changes that stay out because a later commit of somebody else covers them.

    Of the latter neither `before` nor `after` need be in any commit.
    """

    commits: tuple[Planned, ...]
    overtaken: tuple[Change, ...]


class Known(Struct, frozen=True):
    """What the planner may ask: blob ids, None standing for 'no such file'.

    `base` answers for the commit to build on, `then` for the commit HEAD was at when a change was queued, `disk` for
    the file as it is now.
    """

    blob: Callable[[bytes], str]
    base: Callable[[str], str | None]
    then: Callable[[str | None, str], str | None]
    disk: Callable[[str], str | None]


class _Group(Struct):
    """Changes that will share a commit, and the person's bytes that must come before it."""

    changes: list[Change] = field(default_factory=list)
    person: dict[str, bytes | None] = field(default_factory=dict)

    def takes(self, changes: Sequence[Change]) -> bool:
        if not self.changes:
            return True
        last, first = self.changes[-1], changes[0]
        held = {change.path for change in self.changes}
        return (last.agent, last.session) == (first.agent, first.session) and all(c.path not in held for c in changes)

    def commits(self) -> Iterator[Planned]:
        if self.person:
            yield Planned(True, dict(self.person), person_message(list(self.person)), self.changes[0].at)
        if self.changes:
            files = {change.path: change.after for change in self.changes}
            yield Planned(False, files, tool_message(self.changes), self.changes[-1].at)


class _Planner:
    """Goes through the queue once, with the state that the planned commits will have brought about."""

    def __init__(self, queued: Sequence[Queued], known: Known) -> None:
        self.commits: list[Planned] = []
        self.overtaken: list[Change] = []
        self._known = known
        self._later: dict[str, deque[Change]] = {}
        for entry in queued:
            self._later.setdefault(entry.change.path, deque()).append(entry.change)
        self._state: dict[str, str | None] = {}
        self._handled: dict[str, str | None] = {}
        """What the last covered change of a path left: in a commit, or among the overtaken."""
        self._group = _Group()

    def operation(self, entries: Sequence[Queued]) -> None:
        """Plan the changes of one operation; they stay together unless it changed a path twice."""
        self._make_room([entry.change for entry in entries])
        for entry in entries:
            self._entry(entry)

    def close(self) -> None:
        """End the last group."""
        self.commits.extend(self._group.commits())
        self._group = _Group()

    def _entry(self, entry: Queued) -> None:
        change = entry.change
        self._later[change.path].popleft()
        seen = change.path in self._state
        now = self._state[change.path] if seen else self._known.base(change.path)
        before, after = _id(change.before, self._known), _id(change.after, self._known)
        if now == after and before in (None, now):
            return
        if now != before and not seen and self._is_covered(entry):
            held = (self._known.then(entry.head, change.path), self._handled.get(change.path))
            if now != after or before not in held:
                self.overtaken.append(change)
            self._handled[change.path] = after
            return
        self._make_room([change])
        if now != before and change.before is not None:
            self._group.person[change.path] = change.before
        self._group.changes.append(change)
        self._state[change.path] = after

    def _is_covered(self, entry: Queued) -> bool:
        """True when what HEAD holds of the path is our change or newer, so that ours must not be put on top of it.

        It is when somebody committed the path since, and either a later state that we know of is the one HEAD holds, or
        the file was changed by others after us, in which case HEAD may hold a state that we never saw. While all later
        changes are ours without a gap and the file still is as the last one left it, what HEAD holds can only be older.
        """
        path, known = entry.change.path, self._known
        base, later = known.base(path), self._later[path]
        if known.then(entry.head, path) == base:
            return False
        ours = [_id(change.after, known) for change in (entry.change, *later)]
        seen_next = [*(_id(change.before, known) for change in later), known.disk(path)]
        return base in (*ours, *seen_next) or ours != seen_next

    def _make_room(self, changes: Sequence[Change]) -> None:
        if not self._group.takes(changes):
            self.close()


def plan(queued: Sequence[Queued], known: Known) -> Plan:
    """The commits for these queue entries, oldest first. A plan of no commits is a valid answer."""
    planner = _Planner(queued, known)
    for _, entries in groupby(queued, key=lambda entry: entry.change.operation):
        planner.operation(list(entries))
    planner.close()
    return Plan(tuple(planner.commits), tuple(planner.overtaken))


def _id(data: bytes | None, known: Known) -> str | None:
    return None if data is None else known.blob(data)
