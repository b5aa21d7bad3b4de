"""Whatever is recorded, applied and killed in whatever order, the index equals one built from nothing."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.index.indexed_vault import IndexedVault, memory
from vault_memory.index import apply, apply_text, apply_vectors, text, vectors
from vault_memory.memory.filter import Filter
from vault_memory.memory.model import Memory

PATHS = st.sampled_from([f"{folder}{n}.md" for folder in ("", "sub/") for n in range(4)])
WORDS = ("walnut", "walnut cake", "C++ and node.js", "数据库 迁移", "running late again", "5433", "", "😀", "the end?")
BODIES = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join) | st.just("# A\n\n" + "long text here. " * 150)
QUERIES = ("walnut", "run late", "数据库", "C++", "cake at the end", "nowhere")
STEPS = [
    (text.TextWriter, "commit"),
    (text.TextWriter, "add"),
    (apply_text, "_advance"),
    (apply_text, "drop_others"),
    (apply_vectors, "append_rows"),
    (apply_vectors, "drop_others"),
    (apply_vectors, "set_meta"),
    (apply.Applier, "_forget_tombstones"),
    (vectors, "_sync_folder"),
]
"""Where an apply may be killed: before and after each of these calls."""
KILLED = 97


@st.composite
def notes(draw: st.DrawFn) -> Memory:
    return memory(
        draw(PATHS),
        draw(BODIES),
        id=draw(st.none() | st.sampled_from(["id1", "id2", "id3"])),
        status=draw(st.sampled_from(["active", "archived"])),
        tags=draw(st.sampled_from([(), ("red",), ("red", "blue")])),
        session=draw(st.sampled_from([None, "talk"])),
        memory_type="interaction",
    )


class IndexMachine(RuleBasedStateMachine):
    """Edits, removals, applies and kills; two readers, one of which searches after every step."""

    @initialize()
    def start(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="index-machine-"))
        self.vault = IndexedVault(self.folder / "vault")
        self.late = IndexedVault(self.folder / "vault")
        self.notes: dict[str, Memory] = {}
        self.expected: dict[str, list[object]] = {}
        self.boots = 0

    @rule(batch=st.lists(notes(), min_size=1, max_size=3))
    def put(self, batch: list[Memory]) -> None:
        self.vault.put(batch)
        self.notes |= {note.path: note for note in batch}

    @precondition(lambda self: self.notes)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        path = data.draw(st.sampled_from(sorted(self.notes)))
        self.vault.remove(path)
        del self.notes[path]

    @precondition(lambda self: self.notes)
    @rule(data=st.data(), to=PATHS)
    def move(self, data: st.DataObject, to: str) -> None:
        path = data.draw(st.sampled_from(sorted(self.notes)))
        if path == to:
            return
        old = self.notes.pop(path)
        note = memory(to, old.content, id=old.id, tags=old.tags, session=old.session, status=old.status,
                      memory_type=old.memory_type)  # fmt: skip
        self.vault.remove(path)
        self.vault.put([note])
        self.notes[to] = note

    @rule()
    def apply(self) -> None:
        assert self.vault.applier.apply()

    @rule(batch=st.lists(notes(), max_size=2), step=st.sampled_from(STEPS), after=st.booleans(), boot=st.booleans())
    def apply_and_be_killed(self, batch: list[Memory], step: tuple[object, str], after: bool, boot: bool) -> None:
        self.put(batch)
        child = os.fork()
        if child == 0:
            _apply_and_die(self.folder / "vault", step, after=after)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) in (0, KILLED)
        self.boots += boot
        self.vault.close()
        self.vault = IndexedVault(self.folder / "vault", boot=f"boot {self.boots}")

    @rule()
    def the_other_reader_catches_up(self) -> None:
        self._compare(self.late)

    @invariant()
    def equals_a_fresh_rebuild(self) -> None:
        if hasattr(self, "vault"):
            self._compare(self.vault)

    def teardown(self) -> None:
        if not hasattr(self, "vault"):
            return
        self.vault.applier.apply()
        self._compare(self.vault)
        self._compare(self.late)
        self.vault.close()
        self.late.close()
        shutil.rmtree(self.folder)

    def _compare(self, vault: IndexedVault) -> None:
        wanted = [self.notes[path] for path in sorted(self.notes)]
        key = repr(wanted)
        if key not in self.expected:
            fresh = IndexedVault(Path(tempfile.mkdtemp(dir=self.folder)))
            fresh.put(wanted)
            fresh.applier.apply()
            self.expected = {key: _all_values(fresh)}
            fresh.close()
        assert _all_values(vault) == self.expected[key]


def _all_values(vault: IndexedVault) -> list[object]:
    red = Filter(tag="red", statuses=("active",))
    return [vault.values(query) for query in QUERIES] + [vault.values("walnut", wanted=red)]


def _apply_and_die(folder: Path, step: tuple[object, str], *, after: bool) -> None:
    """In a child: apply, and end without any clean-up at one call of the step."""
    owner, name = step
    done = getattr(owner, name)

    def dying(*args: object, **named: object) -> object:
        if after:
            done(*args, **named)
        os._exit(KILLED)

    try:
        vault = IndexedVault(folder)
        setattr(owner, name, dying)
        vault.applier.apply()
        os._exit(0)
    finally:
        os._exit(1)


IndexMachine.TestCase.settings = settings(max_examples=8, stateful_step_count=15, deadline=None)
TestIndex = IndexMachine.TestCase


@pytest.mark.slow
@pytest.mark.timeout(1_800)
def test_many_more_histories_equal_a_rebuild() -> None:
    run_state_machine_as_test(IndexMachine, settings=settings(max_examples=300, stateful_step_count=25, deadline=None))
