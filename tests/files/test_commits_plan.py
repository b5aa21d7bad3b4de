"""The rules of the plan, over generated mixtures of our writes, hand edits and other people's commits."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.files.git_vault import START
from vault_memory.files.commits_plan import Known, Plan, plan
from vault_memory.files.queue import Change, Queued

PATHS = ("a.md", "b.md")
EVENT = st.tuples(
    st.sampled_from(["tool", "tool", "tool", "remove", "hand", "commit"]), st.sampled_from(PATHS), st.sampled_from("xy")
)


@dataclass
class World:
    """A repository as a list of trees, a disk and a queue, all in memory."""

    trees: list[dict[str, bytes]] = field(default_factory=lambda: [{}])
    disk: dict[str, bytes] = field(default_factory=dict)
    queue: list[Queued] = field(default_factory=list)
    seen: dict[str, list[bytes | None]] = field(default_factory=lambda: {path: [None] for path in PATHS})
    """Every state of each path in the order in which the disk had them."""

    def play(self, what: str, path: str, agent: str) -> None:
        number = sum(map(len, self.seen.values()))
        if what == "commit":
            tree = {**self.trees[-1]} | ({path: self.disk[path]} if path in self.disk else {})
            if path not in self.disk:
                tree.pop(path, None)
            self.trees.append(tree)
            return
        before = self.disk.get(path)
        after = None if what == "remove" else b"%d" % number
        if after == before:
            return
        self._set(path, after)
        if what != "hand":
            change = Change(path, before, after, f"{what}-{number}", START, agent)
            self.queue.append(Queued(len(self.queue) + 1, change, str(len(self.trees) - 1)))

    def _set(self, path: str, data: bytes | None) -> None:
        self.seen[path].append(data)
        if data is None:
            self.disk.pop(path, None)
        else:
            self.disk[path] = data

    def plan(self) -> Plan:
        known = Known(
            blob=bytes.decode,
            base=lambda path: _text(self.trees[-1].get(path)),
            then=lambda head, path: _text(self.trees[int(head or 0)].get(path)),
            disk=lambda path: _text(self.disk.get(path)),
        )
        return plan(self.queue, known)


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode()


@settings(max_examples=600, deadline=None)
@given(st.lists(EVENT, max_size=14))
def test_history_never_goes_back_never_repeats_and_never_loses(events: list[tuple[str, str, str]]) -> None:
    world = World()
    for event in events:
        world.play(*event)
    made = world.plan()
    for path in PATHS:
        order = world.seen[path]
        base = world.trees[-1].get(path)
        states = [base] + [commit.files[path] for commit in made.commits if path in commit.files]
        assert all(one != other for one, other in pairwise(states)), "an empty commit"
        places = [_last(order, state) for state in states if state is not None]
        assert places == sorted(places), "a later state was put under an earlier one"
        ours = [entry.change.after for entry in world.queue if entry.change.path == path]
        held = {state for tree in world.trees for state in [tree.get(path)]} | set(states)
        kept = {change.after for change in made.overtaken}
        assert {data for data in ours if data is not None} <= held | kept, "one of our writes is nowhere"
        if ours and order[-1] == ours[-1]:
            assert states[-1] == ours[-1], "the newest text is ours and is not what history ends with"


@settings(max_examples=300, deadline=None)
@given(st.lists(EVENT, max_size=14))
def test_text_by_hand_from_before_our_writes_is_in_history_or_kept(events: list[tuple[str, str, str]]) -> None:
    world = World()
    for event in events:
        world.play(*event)
    made = world.plan()
    held = {(path, data) for tree in world.trees for path, data in tree.items()}
    held |= {(path, data) for commit in made.commits for path, data in commit.files.items() if data is not None}
    held |= {(change.path, data) for change in made.overtaken for data in (change.before, change.after) if data}
    for entry in world.queue:
        if entry.change.before is not None:
            assert (entry.change.path, entry.change.before) in held


@given(st.lists(EVENT, max_size=14))
def test_a_commit_is_of_one_agent_or_of_the_person_and_says_so(events: list[tuple[str, str, str]]) -> None:
    world = World()
    for event in events:
        world.play(*event)
    for commit in world.plan().commits:
        assert commit.files
        assert commit.by_person == ("Memory-" not in commit.message)
        assert commit.message.count("Memory-Agent: ") == (0 if commit.by_person else 1)


def _last(order: list[bytes | None], state: bytes | None) -> int:
    return len(order) - 1 - order[::-1].index(state)
