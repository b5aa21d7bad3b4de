"""Sync: what is on disk is what the catalog says, whatever happened meanwhile; nothing is lost for a hiccup."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.index.vaults import NOW, NOW_NS, VaultOnDisk, by_words
from vault_memory.errors import StorageError, VaultNotFound
from vault_memory.index.sync import Written
from vault_memory.memory.filter import Filter
from vault_memory.memory.model import Memory
from vault_memory.memory.scope import UNBOUND, Scope
from vault_memory.memory.times import Provenance


@pytest.fixture
def unprivileged() -> Iterator[VaultOnDisk]:
    """A vault of somebody whom permissions stop, also when the tests are run by root."""
    with tempfile.TemporaryDirectory() as folder:
        was = os.geteuid()
        if was == 0:
            os.chown(folder, NOBODY, -1)
            os.seteuid(NOBODY)
        try:
            vault = VaultOnDisk(Path(folder, "vault"))
            yield vault
            vault.close()
        finally:
            os.seteuid(was)


NOBODY = 65534


def paths(vault: VaultOnDisk) -> list[str]:
    return vault.catalog.paths(UNBOUND)


def codes(vault: VaultOnDisk) -> list[tuple[str, str]]:
    return [(found.path, found.finding.code) for found in vault.catalog.findings(UNBOUND)]


def test_notes_are_recorded_as_they_are_read(vault: VaultOnDisk) -> None:
    text = "---\nid: 1abc\ntags: [x]\ncreated_at: 2026-01-02T03:04:05Z\n---\n# Title\r\nbody [[b]]\n"
    vault.write("sub/a.md", text)
    vault.write("b.md", "plain")
    changes = vault.run()
    assert (changes.added, changes.changed, changes.removed) == (("b.md", "sub/a.md"), (), ())
    assert (changes.done, changes.total, changes.complete) == (2, 2, True)
    row = vault.catalog.get("sub/a.md", UNBOUND)
    assert row is not None
    assert (row.memory.id, row.memory.title, row.memory.tags) == ("1abc", "Title", ("x",))
    assert row.memory.created_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert row.memory.updated_at == datetime.fromtimestamp(NOW_NS // 10**9 - 60, UTC)
    assert vault.catalog.source("sub/a.md", UNBOUND) == text.encode()
    assert [link.path for link in vault.catalog.backlinks("b.md", UNBOUND)] == ["sub/a.md"]


def test_an_unchanged_vault_is_left_alone(vault: VaultOnDisk) -> None:
    vault.write("a.md", "text")
    vault.run()
    generation = vault.catalog.generation
    changes = vault.run()
    assert (changes.total, changes.generation) == (0, generation)


def test_edits_removals_and_new_notes_are_found(vault: VaultOnDisk) -> None:
    for name in "abc":
        vault.write(f"{name}.md", name)
    vault.run()
    vault.write("a.md", "changed", at_ns=NOW_NS - 30 * 10**9)
    vault.remove("b.md")
    vault.write("d.md", "new")
    changes = vault.run()
    assert (changes.added, changes.changed, changes.removed) == (("d.md",), ("a.md",), ("b.md",))
    assert paths(vault) == ["a.md", "c.md", "d.md"]
    assert vault.catalog.source("a.md", UNBOUND) == b"changed"


def test_an_edit_of_equal_size_just_after_the_scan_is_found(vault: VaultOnDisk) -> None:
    vault.write("a.md", "one", at_ns=NOW_NS - 10**9)
    vault.run()
    place = vault.root / "a.md"
    with place.open("r+b") as file:  # same inode, size and mtime
        file.write(b"two")
    os.utime(place, ns=(NOW_NS - 10**9, NOW_NS - 10**9))
    vault.run()
    assert vault.catalog.source("a.md", UNBOUND) == b"two"


def test_only_the_named_paths_and_what_lies_below_are_looked_at(vault: VaultOnDisk) -> None:
    vault.write("in/a.md", "a")
    vault.write("in/deep/b.md", "b")
    vault.write("out.md", "c")
    vault.write("in2.md", "d")
    assert vault.run(["in"]).added == ("in/a.md", "in/deep/b.md")
    shutil.rmtree(vault.root / "in")
    vault.remove("out.md")
    assert vault.run(["in/a.md"]).removed == ("in/a.md",)
    assert paths(vault) == ["in/deep/b.md"]
    assert vault.run(["in"]).removed == ("in/deep/b.md",)


def test_touching_changes_the_time_and_makes_no_new_text(vault: VaultOnDisk) -> None:
    vault.write("a.md", "text")
    vault.run()
    vault.write("a.md", "text", at_ns=NOW_NS - 10 * 10**9)
    changes = vault.run()
    assert (changes.changed, changes.total) == ((), 1)
    row = vault.catalog.get("a.md", UNBOUND)
    assert row is not None
    assert row.memory.updated_at == datetime.fromtimestamp(NOW_NS // 10**9 - 10, UTC)
    assert vault.run().total == 0


def test_one_bad_file_becomes_a_finding_and_stops_nothing(vault: VaultOnDisk) -> None:
    vault.write("a.md", "good")
    vault.write("bad.md", b"\xff\xfe")
    vault.write("nul.md", b"a\0b")
    vault.write("z.md", "good too")
    changes = vault.run()
    assert changes.added == ("a.md", "z.md")
    assert changes.unreadable == ("bad.md", "nul.md")
    assert codes(vault) == [("bad.md", "not_text"), ("nul.md", "not_text")]
    assert vault.run().total == 0, "it is not read again until it changes"
    vault.write("bad.md", "repaired", at_ns=NOW_NS - 30 * 10**9)
    assert vault.run().changed == ("bad.md",)
    assert codes(vault) == [("nul.md", "not_text")]


def test_a_symlink_is_named_until_it_is_gone(vault: VaultOnDisk, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("outside")
    vault.write("a.md", "text")
    (vault.root / "leak.md").symlink_to(tmp_path / "secret.md")
    vault.run()
    assert paths(vault) == ["a.md"]
    assert codes(vault) == [("leak.md", "symlink")]
    assert vault.catalog.findings(Scope("p", None)) == [], "names of files without a project are for the owner"
    vault.remove("leak.md")
    vault.run()
    assert codes(vault) == []


def test_a_note_that_grows_too_large_leaves_the_catalog_and_is_named(vault: VaultOnDisk) -> None:
    vault.write("a.md", "text")
    vault.run()
    vault.write("a.md", b"x" * 5_000_001)
    assert vault.run().removed == ("a.md",)
    assert codes(vault) == [("a.md", "too_large")]


def test_a_file_that_cannot_be_opened_keeps_what_is_known(unprivileged: VaultOnDisk) -> None:
    vault = unprivileged
    vault.write("a.md", "text")
    vault.run()
    vault.write("a.md", "text, locked", at_ns=NOW_NS - 30 * 10**9)
    (vault.root / "a.md").chmod(0)
    assert vault.run().unreadable == ("a.md",)
    assert paths(vault) == ["a.md"]
    assert codes(vault) == [("a.md", "unreadable")]


def test_a_folder_that_cannot_be_read_raises_and_removes_nothing(unprivileged: VaultOnDisk) -> None:
    vault = unprivileged
    vault.write("sub/a.md", "text")
    vault.write("b.md", "text")
    vault.run()
    vault.remove("b.md")
    (vault.root / "sub").chmod(0)
    with pytest.raises(StorageError):
        vault.run()
    (vault.root / "sub").chmod(0o700)
    assert paths(vault) == ["b.md", "sub/a.md"]


def test_a_vault_that_is_gone_raises_and_removes_nothing(vault: VaultOnDisk, tmp_path: Path) -> None:
    vault.write("a.md", "text")
    vault.run()
    vault.root.rename(tmp_path / "elsewhere")
    vault.root.mkdir()  # an empty mount point
    with pytest.raises(VaultNotFound):
        vault.run()
    vault.root.rmdir()
    (tmp_path / "elsewhere").rename(vault.root)
    assert paths(vault) == ["a.md"]


def test_a_note_that_is_away_for_a_moment_is_not_removed(vault: VaultOnDisk) -> None:
    vault.write("a.md", "text")
    vault.run()
    (vault.root / "a.md").rename(vault.root / ".a.md.swp")

    def back() -> None:
        time.sleep(0.03)
        (vault.root / ".a.md.swp").rename(vault.root / "a.md")

    saver = threading.Thread(target=back)
    saver.start()
    changes = vault.run()
    saver.join()
    assert changes.removed == ()
    assert paths(vault) == ["a.md"]


def test_a_move_keeps_the_identity_of_a_note_with_an_id(vault: VaultOnDisk) -> None:
    vault.write("old.md", "---\nid: 1abc\n---\ntext")
    vault.run()
    vault.usage.record(["1abc"], NOW)
    vault.move("old.md", "sub/new.md")
    assert vault.run().moved == {"old.md": "sub/new.md"}
    [row] = vault.catalog.by_id("1abc", UNBOUND)
    assert (row.memory.path, row.access_count) == ("sub/new.md", 1)


def test_usage_follows_a_note_without_an_id_by_its_bytes(vault: VaultOnDisk) -> None:
    vault.write("old.md", "the only note that says this")
    vault.run()
    vault.usage.record(["old.md"], NOW)
    vault.move("old.md", "new.md")
    assert vault.run().moved == {"old.md": "new.md"}
    assert vault.usage.get(["old.md", "new.md"]).keys() == {"new.md"}


@pytest.mark.parametrize("first", ["left", "came"])
def test_the_two_halves_of_a_move_may_be_seen_apart_but_not_later_than_two_seconds(
    vault: VaultOnDisk, first: str
) -> None:
    for seconds, follows in ((1.5, True), (2.5, False)):
        old, new = f"old{seconds}.md", f"new{seconds}.md"
        vault.write(old, f"text {seconds}")
        vault.run()
        vault.seconds += 10
        vault.usage.record([old], NOW)
        if first == "left":
            halves = [lambda o=old: vault.move(o, ".hidden"), lambda n=new: vault.move(".hidden", n)]
        else:
            halves = [lambda o=old, n=new: vault.write(n, (vault.root / o).read_bytes()), lambda o=old: vault.remove(o)]
        halves[0]()
        vault.run()
        vault.seconds += seconds
        halves[1]()
        vault.run()
        assert (vault.usage.get([new]).keys() == {new}) is follows


def test_an_ambiguous_or_empty_move_is_none(vault: VaultOnDisk) -> None:
    for name in ("one", "two"):
        vault.write(f"{name}.md", "the same text")
    vault.write("empty.md", "")
    vault.run()
    vault.usage.record(["one.md", "two.md", "empty.md"], NOW)
    for name in ("one", "two", "empty"):
        vault.move(f"{name}.md", f"moved-{name}.md")
    assert vault.run().moved == {}
    assert vault.usage.get(["one.md", "two.md", "empty.md"]).keys() == {"one.md", "two.md", "empty.md"}


def test_usage_follows_a_note_that_is_given_an_id(vault: VaultOnDisk) -> None:
    vault.write("a.md", "text")
    vault.run()
    vault.usage.record(["a.md"], NOW)
    vault.write("a.md", "---\nid: 1new\n---\ntext")
    vault.run()
    assert vault.usage.get(["a.md", "1new"]).keys() == {"1new"}


def test_usage_stays_with_an_id_that_another_note_still_holds(vault: VaultOnDisk) -> None:
    for name in ("a", "b"):
        vault.write(f"{name}.md", "---\nid: 1abc\n---\n" + name)
    vault.run()
    vault.usage.record(["1abc"], NOW)
    vault.write("b.md", "---\nid: 1other\n---\nb", at_ns=NOW_NS - 30 * 10**9)
    vault.run()
    assert vault.usage.get(["1abc", "1other"]).keys() == {"1abc"}


def test_ids_held_twice_are_named_and_the_original_answers(vault: VaultOnDisk) -> None:
    copy = "note (Conflicted copy PHONE 202611301200).md"
    vault.write("note.md", "---\nid: 1abc\n---\ntext")
    vault.write(copy, "---\nid: 1abc\n---\nother text")
    vault.run()
    assert codes(vault) == [(copy, "conflict_copy"), (copy, "duplicate_id"), ("note.md", "duplicate_id")]
    assert "note.md" in vault.catalog.findings(UNBOUND)[1].finding.reason
    assert [row.memory.path for row in vault.catalog.by_id("1abc", UNBOUND)] == ["note.md", copy]


def test_when_the_time_is_up_it_says_how_far_it_came_and_goes_on_next_time(vault: VaultOnDisk) -> None:
    for n in range(600):
        vault.write(f"n{n:03}.md", f"text {n}")
    told: list[tuple[int, int]] = []
    first = vault.run(budget_ms=0, progress=lambda done, total: told.append((done, total)))
    assert (first.done, first.total, first.complete) == (256, 600, False)
    assert len(paths(vault)) == 256
    second = vault.run(progress=lambda done, total: told.append((done, total)))
    assert second.complete
    assert len(paths(vault)) == 600
    assert told == [(256, 600), (256, 344), (344, 344)]


def test_what_is_only_read_again_to_be_sure_comes_last_and_is_not_waited_for(vault: VaultOnDisk) -> None:
    for n in range(600):
        vault.write(f"n{n:03}.md", f"text {n}", at_ns=NOW_NS)  # written just now, as by a checkout
    seen = [len(paths(vault)) for _ in range(3) if vault.run(budget_ms=0)]
    assert seen == [256, 512, 600]
    vault.write("n000.md", "TEXT 0", at_ns=NOW_NS)  # the same size and time: only a second reading tells
    while not (changes := vault.run()).changed:
        assert changes.complete
    assert changes.changed == ("n000.md",)


def test_chunks_are_made_at_once_or_later_with_the_same_result(vault: VaultOnDisk, tmp_path: Path) -> None:
    other = VaultOnDisk(tmp_path / "other", derive=by_words)
    for here in (vault, other):
        for n in range(5):
            here.write(f"n{n}.md", f"some words\nand line {n}")
        here.run()
    assert vault.catalog.underived_count() == 5
    other.close()
    vault.close()
    vault.derive = by_words
    vault.open()
    told: list[tuple[int, int]] = []
    assert vault.sync.derive_pending(progress=lambda done, total: told.append((done, total))) == 0
    assert told == [(5, 5)]
    other.open()

    def bags(of: VaultOnDisk) -> list[object]:
        with of.catalog.reading() as sql:
            chunks = sql.execute("SELECT path, n, terms, tokens FROM chunks JOIN notes USING (note) ORDER BY 1, 2")
            return [*chunks.fetchall(), *sql.execute("SELECT * FROM terms"), *sql.execute("SELECT * FROM token_df")]

    assert bags(vault) == bags(other) != []
    other.close()


def test_an_own_write_is_recorded_without_a_scan_and_found_unchanged_by_the_next(vault: VaultOnDisk) -> None:
    vault.write("a.md", "---\nid: 1abc\n---\nours", at_ns=NOW_NS - 10 * 10**9)
    stat = vault.sync._reader.store.stat("a.md")
    generation, [memory] = vault.sync.record([Written("a.md", b"---\nid: 1abc\n---\nours", stat)])
    assert (generation, memory.id, memory.updated_at) == (1, "1abc", datetime.fromtimestamp(NOW_NS // 10**9 - 10, UTC))
    assert vault.catalog.get("a.md", UNBOUND).memory == memory  # type: ignore[union-attr]
    assert vault.run().total == 0
    assert vault.sync.record([], ["a.md"])[0] == 2
    assert paths(vault) == []


class OneCommit:
    """Provenances of a test: the notes in `committed`, as of a HEAD that the test moves."""

    def __init__(self) -> None:
        self.head = ""
        self.committed: dict[str, tuple[bytes, datetime]] = {}
        self.touched: Sequence[str] | None = None
        self.asked: list[str] = []

    def of(self, path: str, data: bytes) -> Provenance:
        self.asked.append(path)
        known = self.committed.get(path)
        if not self.head:
            return Provenance()
        if known is None:
            return Provenance(in_repository=True)
        return Provenance(True, known[0] == data, known[1], known[1])

    def changed_since(self, head: str) -> Sequence[str] | None:
        return self.touched

    def settle(self) -> str:
        return "{}"


def times(vault: VaultOnDisk, path: str) -> tuple[datetime | None, datetime | None]:
    row = vault.catalog.get(path, UNBOUND)
    assert row is not None
    return row.memory.created_at, row.memory.updated_at


def test_a_clean_note_has_the_times_of_its_commits_and_a_modified_one_its_mtime(tmp_path: Path) -> None:
    git = OneCommit()
    vault = VaultOnDisk(tmp_path / "vault", provenances=git)
    then = datetime(2025, 3, 4, tzinfo=UTC)
    mtime = datetime.fromtimestamp(NOW_NS // 10**9 - 60, UTC)
    stated = "---\ncreated_at: 2024-01-01\nupdated_at: 2027-01-01\n---\n"
    for name in ("clean", "modified", "new"):
        vault.write(f"{name}.md", name)
        vault.write(f"{name}-stated.md", stated + name)
    vault.run()
    assert times(vault, "clean.md") == (mtime, mtime)
    git.head = "c1"
    git.committed = {
        "clean.md": (b"clean", then),
        "modified.md": (b"other", then),
        "clean-stated.md": (f"{stated}clean".encode(), then),
        "modified-stated.md": (b"other", then),
    }
    generation = vault.catalog.generation
    vault.run()
    first, last = datetime(2024, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)
    assert times(vault, "clean.md") == (then, then)
    assert times(vault, "modified.md") == (then, mtime)
    assert times(vault, "new.md") == (mtime, mtime)
    for name in ("clean", "modified", "new"):
        assert times(vault, f"{name}-stated.md") == (first, last)
    assert vault.catalog.generation == generation + 2, "only the two whose times changed were touched"
    assert vault.catalog.meta("head") == "c1"
    git.asked.clear()
    vault.run()
    assert git.asked == []
    git.head, git.touched = "c2", ["new.md"]
    git.committed["new.md"] = (b"new", then)
    vault.run()
    assert git.asked == ["new.md"]
    assert times(vault, "new.md") == (then, then)
    vault.close()


def test_derive_sees_each_batch_once(tmp_path: Path) -> None:
    sizes: list[int] = []

    def derive(memories: Iterable[Memory]) -> list[tuple[()]]:
        memories = list(memories)
        sizes.append(len(memories))
        return [() for _ in memories]

    vault = VaultOnDisk(tmp_path / "vault", derive=derive)
    for n in range(300):
        vault.write(f"n{n}.md", str(n))
    vault.run()
    assert sizes == [256, 44]
    assert vault.catalog.page(Filter(), UNBOUND, now=NOW).total == 300
    vault.close()
