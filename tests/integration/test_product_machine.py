"""Whatever hands, tools, git, kills and clocks do to one vault, and in whatever order: after each settling the catalog
is what a fresh look at the same disk gives, searches too, and no note has a byte that nobody wrote.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from tests.files.git_vault import person_git
from tests.integration.product import PROGRAM, until
from vault_memory import init_vault, open_vault
from vault_memory.errors import MalformedNote, MemoryNotFound, RevisionConflict, VaultError
from vault_memory.index.text import TextReader, TextWriter, text_folder
from vault_memory.memory.model import revision_of
from vault_memory.memory.scope import UNBOUND
from vault_memory.surfaces.python import VaultMemory
from vault_memory.upkeep import Upkeep

NAMES = ("a.md", "b.md", "sub/c.md", "sub/deep/d.md")
TEXTS = (
    "quartz and basalt\n",
    "# Titled\n\ngranite, [[b]] and [[sub/c|another]]\n",
    "---\nid: fixed\ntags: [x]\n---\nmarble\n",
    "---\ntitle: Stated\nupdated_at: 2021-01-01\n---\nslate #inline\r\nsecond line\r\n",
    "---\n: broken\n---\nchalk\n",
    "",
)
WORDS = ("quartz", "granite", "marble", "slate", "chalk", "written", "appended")
names = st.sampled_from(NAMES)
texts = st.sampled_from(TEXTS)
COMPARED = (
    "path", "id", "title", "content", "status", "memory_type", "tags", "relations", "created_at", "updated_at",
    "version", "findings", "revision",
)  # fmt: skip


class ProductMachine(RuleBasedStateMachine):
    """One vault with a watcher, a tool that writes, an editor and a person with git."""

    patience = 20.0
    """Seconds until the catalog must equal the disk."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.root = self.folder / "vault"
        init_vault(self.root)
        self.ahead = timedelta()
        self.branches = 0
        self.by_hand: dict[str, bytes] = {}
        """What the editor saved last at a path, while no tool has changed it since."""
        self.watching: tuple[VaultMemory, Upkeep] | None = None
        self.process: subprocess.Popen[bytes] | None = None
        self.vm = self.opened()

    def opened(self) -> VaultMemory:
        return open_vault(self.root, clock=lambda: datetime.now(UTC) + self.ahead)

    def teardown(self) -> None:
        try:
            self.settle()
        finally:
            self.end_the_watcher()
            self.kill_the_watching_process()
            self.vm.close()
            shutil.rmtree(self.folder)

    def end_the_watcher(self) -> None:
        if self.watching is not None:
            vm, upkeep = self.watching
            self.watching = None
            upkeep.stop()
            vm.close()

    @rule(name=names, text=texts)
    def save_in_an_editor(self, name: str, text: str) -> None:
        place = self.root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        temporary = place.with_name(".swap.tmp")
        temporary.write_bytes(text.encode())
        temporary.replace(place)
        self.by_hand[name] = text.encode()

    @rule(name=names)
    def delete_by_hand(self, name: str) -> None:
        (self.root / name).unlink(missing_ok=True)
        self.by_hand.pop(name, None)

    @rule(old=names, new=names)
    def move_by_hand(self, old: str, new: str) -> None:
        if old != new and (self.root / old).exists():
            (self.root / new).parent.mkdir(parents=True, exist_ok=True)
            (self.root / old).replace(self.root / new)
            self.by_hand.pop(new, None)
            if old in self.by_hand:
                self.by_hand[new] = self.by_hand.pop(old)

    @rule(text=st.sampled_from(["written quartz", "written basalt", "written granite"]))
    def remember(self, text: str) -> None:
        self.vm.remember(content=text, force=True, on_duplicate="keep_both")

    @rule(name=names, importance=st.sampled_from([0.1, 0.9]))
    def patch_a_field(self, name: str, importance: float) -> None:
        self.edit(name, lambda: self.vm.update(ref=name, importance=importance))

    @rule(name=names)
    def append(self, name: str) -> None:
        self.edit(name, lambda: self.vm.append(ref=name, text="appended by the tool"))

    @rule(name=names)
    def write_with_an_old_revision(self, name: str) -> None:
        self.edit(name, lambda: self.vm.update(ref=name, content="written over", if_revision="0" * 32))

    def edit(self, name: str, write: Any) -> None:
        with contextlib.suppress(MalformedNote, MemoryNotFound, RevisionConflict):
            if write().outcome != "unchanged":
                self.by_hand.pop(name, None)

    @rule(old=names, new=st.sampled_from(["moved.md", "sub/moved.md"]))
    def move_as_the_tool(self, old: str, new: str) -> None:
        with contextlib.suppress(VaultError):
            self.vm.move(ref=old, path=new)
            self.by_hand.clear()  # links to it were rewritten, wherever they are

    @rule()
    def commit_by_hand(self) -> None:
        person_git(self.root, "add", "-A")
        person_git(self.root, "commit", "-q", "--allow-empty", "-m", "by hand")

    @rule()
    def branch_and_come_back(self) -> None:
        """A checkout there and back again, as a person does to look at something."""
        self.vm._vault.commits.flush()
        self.commit_by_hand()
        self.branches += 1
        person_git(self.root, "switch", "-q", "-c", f"side{self.branches}")
        self.save_in_an_editor("a.md", f"on the side {self.branches}\n")
        self.commit_by_hand()
        person_git(self.root, "switch", "-q", "main")
        self.by_hand.pop("a.md", None)

    @rule(days=st.sampled_from([-2, 0, 5]))
    def let_the_clock_jump(self, days: int) -> None:
        self.ahead = timedelta(days=days)

    @precondition(lambda self: self.watching is None)
    @rule()
    def start_a_watcher(self) -> None:
        vm = self.opened()
        upkeep = Upkeep(vm._vault)
        upkeep.start()
        self.watching = vm, upkeep

    @precondition(lambda self: self.watching is not None)
    @rule()
    def lose_the_watcher(self) -> None:
        self.end_the_watcher()

    @precondition(lambda self: self.process is None)
    @rule()
    def start_a_watching_process(self) -> None:
        """As a person starts it; it is not waited for, so whatever comes next meets it at its start."""
        command = [*PROGRAM, "watch", "--vault", str(self.root)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @rule()
    def kill_the_watching_process(self) -> None:
        """kill -9, in the middle of whatever it was at."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    @rule()
    def die_and_start_again(self) -> None:
        """Another process: nothing is flushed, nothing is closed in order."""
        self.vm._vault.catalog.close()
        self.vm = self.opened()

    @rule()
    def settle(self) -> None:
        if self.watching is not None:
            assert self.watching[1].wait_idle(60)
        self.vm.list(limit=1, touch=False)
        until(self.in_step, self.patience)
        self.compare_with_a_fresh_index()
        self.compare_the_index_with_the_catalog()
        for name, data in self.by_hand.items():
            assert (self.root / name).read_bytes() == data, f"{name} was written by nobody's hand"

    def in_step(self) -> bool:
        known = {row.memory.path: row.memory.revision for row in rows(self.vm)}
        disk = {
            path.relative_to(self.root).as_posix(): revision_of(path.read_bytes())
            for path in self.root.rglob("*.md")
            if not path.relative_to(self.root).parts[0].startswith(("templates", ".", "Home"))
        }
        return known == disk

    def compare_with_a_fresh_index(self) -> None:
        place = self.folder / "fresh"
        shutil.copytree(
            self.root, place, copy_function=shutil.copy2, ignore=shutil.ignore_patterns("index", "state"), symlinks=True
        )
        try:
            with open_vault(place, clock=lambda: datetime.now(UTC) + self.ahead) as fresh:
                fresh.list(limit=1, touch=False)
                expected = known(fresh)
                until(lambda: known(self.vm).keys() == expected.keys(), self.patience)
                with contextlib.suppress(AssertionError):  # a watcher looks for commits every other second
                    until(lambda: known(self.vm) == expected, self.patience)
                assert known(self.vm) == expected
                for word in WORDS:
                    assert found(self.vm, word) == found(fresh, word), word
        finally:
            shutil.rmtree(place)

    def compare_the_index_with_the_catalog(self) -> None:
        """Each chunk once and no other: what a search would hide is looked for as well."""
        vault = self.vm._vault
        vault.indexes.applier.apply(wait=True)
        with vault.catalog.reading() as sql:
            chunks = [chunk for (chunk,) in sql.execute("SELECT chunk FROM chunks")]
        epoch = vault.catalog.meta("text_epoch")
        held = Counter(TextReader(text_folder(vault.folders.index, epoch)).keys()) if epoch else Counter()
        assert held == Counter(chunks)


def known(vm: VaultMemory) -> dict[str, dict[str, Any]]:
    """What is compared of each note, by path."""
    return {row.memory.path: {name: getattr(row.memory, name) for name in COMPARED} for row in rows(vm)}


def rows(vm: VaultMemory) -> list[Any]:
    from vault_memory.operations.read import all_statuses

    return list(vm._vault.catalog.select(all_statuses(), UNBOUND, now=datetime.now(UTC)))


def found(vm: VaultMemory, word: str) -> list[tuple[str, float]]:
    """Paths and evidence; the order of the index, whatever the clock says of age."""
    hits = vm.search(query=word, mode="keyword", limit=50, touch=False).hits
    return sorted((hit.memory.path, round(hit.relevance, 6)) for hit in hits)


_QUIET = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}

TestProduct = ProductMachine.TestCase
TestProduct.settings = settings(max_examples=6, stateful_step_count=15, **_QUIET)


class LongProductMachine(ProductMachine):
    """The same for longer."""


TestProductForLong = pytest.mark.slow(pytest.mark.timeout(3600)(LongProductMachine.TestCase))
TestProductForLong.settings = settings(max_examples=100, stateful_step_count=40, **_QUIET)


class Twin(ProductMachine):
    """The same with a part of the product broken: a machine that does not notice proves nothing."""

    patience = 3.0

    def __init__(self) -> None:
        super().__init__()
        self.start_a_watcher()
        self.save_in_an_editor("a.md", TEXTS[0])
        self.settle()


@pytest.fixture
def twin() -> Iterator[Twin]:
    made = Twin()
    yield made
    made.end_the_watcher()
    made.vm.close()
    shutil.rmtree(made.folder)


def test_a_watcher_that_drops_moves_is_noticed(twin: Twin, monkeypatch: pytest.MonkeyPatch) -> None:
    taken_in = Upkeep._changed

    def only_what_is_there(self: Upkeep, paths: frozenset[str] | None) -> None:
        taken_in(self, paths and frozenset(path for path in paths if (twin.root / path).exists()))

    twin.end_the_watcher()
    monkeypatch.setattr(Upkeep, "_changed", only_what_is_there)
    twin.start_a_watcher()
    twin.settle()
    twin.move_by_hand("a.md", "b.md")
    with pytest.raises(AssertionError):
        twin.settle()


def test_an_apply_that_removes_nothing_is_noticed(twin: Twin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TextWriter, "remove", lambda self, keys: None)
    twin.delete_by_hand("a.md")
    with pytest.raises(AssertionError):
        twin.settle()


def test_a_tool_that_touches_another_note_is_noticed(twin: Twin) -> None:
    (twin.root / "a.md").write_bytes(TEXTS[0].encode() + b" ")
    with pytest.raises(AssertionError):
        twin.settle()


def test_the_machine_is_content_with_the_product(twin: Twin) -> None:
    twin.move_by_hand("a.md", "b.md")
    twin.settle()
    twin.delete_by_hand("b.md")
    twin.settle()
