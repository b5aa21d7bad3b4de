"""The scan sees what is there, names what is odd, and never takes trouble for absence."""

from __future__ import annotations

import os
import shutil
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.files.vault_tree import make_vault
from vault_memory.errors import VaultNotFound
from vault_memory.files.ignore import Ignore
from vault_memory.files.scan import RACY_NS, Known, Scan, diff, scan, still_gone
from vault_memory.files.stat import Stat


def look(root: Path, *within: str, **options: int) -> Scan:
    return scan(root, Ignore(root), within or None, **options)


def known(seen: Scan, later_ns: int = 0) -> dict[str, Known]:
    """As recorded after a scan that came `later_ns` after the files were last written."""
    return {path: Known(stat, stat.mtime_ns + RACY_NS + later_ns + 1) for path, stat in seen.files.items()}


def codes(seen: Scan) -> dict[str, str]:
    return {path: finding.code for path, finding in seen.findings}


def test_every_note_is_seen_with_its_stat(tmp_path: Path) -> None:
    root = make_vault(tmp_path, {"a.md": "x", "Ü/é.md": "yy", "d/e/f.md": "", "d/picture.png": "p"})
    seen = look(root)
    assert seen.files == {path: Stat.of((root / path).stat()) for path in ("a.md", "Ü/é.md", "d/e/f.md")}
    assert seen.folders == ("", "d", "d/e", "Ü")
    assert seen.findings == ()


def test_odd_names_and_sizes_are_named_and_left_out(tmp_path: Path) -> None:
    root = make_vault(tmp_path, {"a.md": "x" * 101, "b\nc.md": "x", "d\\e.md": "x", "%2e%2e/f.md": "x", "g.md": "x"})
    (root / os.fsdecode(b"\xff.md")).write_text("x")
    seen = look(root, max_bytes=100)
    assert list(seen.files) == ["g.md"]
    assert codes(seen) == {
        "a.md": "too_large",
        "b\nc.md": "unusable_name",
        "d\\e.md": "unusable_name",
        "%2e%2e": "unusable_name",
        "\\udcff.md": "unusable_name",
    }


def test_names_that_clash_elsewhere_are_named_and_both_read(tmp_path: Path) -> None:
    root = make_vault(tmp_path, {"Note.md": "x", "note.md": "y"})
    if len(list(root.glob("*.md"))) < 2:
        pytest.skip("this file system has no names that differ in case only")
    seen = look(root)
    assert set(seen.files) == {"Note.md", "note.md"}
    assert list(codes(seen).values()) == ["name_clash"]


def test_two_unicode_forms_of_a_name_are_one_path_and_a_finding(tmp_path: Path) -> None:
    root = make_vault(tmp_path, {"é.md": "composed", "e\u0301.md": "decomposed!"})
    if len(list(root.glob("*.md"))) < 2:
        pytest.skip("this file system knows one form only")
    seen = look(root)
    assert {path: stat.size for path, stat in seen.files.items()} == {"é.md": len("composed")}
    assert codes(seen) == {"é.md": "name_clash"}


def test_hidden_files_of_a_killed_writer_are_listed_and_never_notes(tmp_path: Path) -> None:
    name = f".~vm-0123abcd-{'0' * 16}-{'1' * 16}-a.md.tmp"
    root = make_vault(tmp_path, {"a.md": "x", f"d/{name}": "y", ".~vm-89abcdef.tmp": "z", ".~vm-else.md": "not ours"})
    seen = look(root)
    assert list(seen.files) == ["a.md"]
    assert seen.leftovers == (".~vm-89abcdef.tmp", f"d/{name}")


def test_a_missing_root_or_an_empty_mount_point_is_no_empty_vault(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"a.md": "x"})
    shutil.rmtree(root / ".vault-memory")
    (root / "a.md").unlink()
    for within in ((), ("a.md",)):
        with pytest.raises(VaultNotFound):
            look(root, *within)
    with pytest.raises(VaultNotFound):
        still_gone(root, ["a.md"], pause_seconds=0)
    root.rmdir()
    with pytest.raises(VaultNotFound):
        look(root)


class TestDiff:
    def test_nothing_changed(self, tmp_path: Path) -> None:
        seen = look(make_vault(tmp_path, {"a.md": "x", "b/c.md": "y"}))
        assert not diff(seen, known(seen))

    def test_what_came_changed_and_went(self, tmp_path: Path) -> None:
        root = make_vault(tmp_path, {"a.md": "x", "b.md": "x", "d/c.md": "x"})
        before = known(look(root))
        (root / "a.md").write_text("longer")
        shutil.rmtree(root / "d")
        (root / "new.md").write_text("x")
        found = diff(look(root), before)
        assert (found.added, found.changed, found.removed) == (("new.md",), ("a.md",), ("d/c.md",))

    def test_a_save_of_the_same_size_is_seen_by_its_mtime_or_inode(self, tmp_path: Path) -> None:
        root = make_vault(tmp_path, {"a.md": "one"})
        before = known(look(root))
        stat = (root / "a.md").stat()
        (root / "b").write_text("two")
        os.utime(root / "b", ns=(stat.st_atime_ns, stat.st_mtime_ns))
        (root / "b").replace(root / "a.md")
        assert diff(look(root), before).changed == ("a.md",)

    def test_what_was_written_just_before_its_scan_is_read_again(self, tmp_path: Path) -> None:
        """Size, mtime and inode of a second save in the same clock tick can be equal."""
        root = make_vault(tmp_path, {"a.md": "x"})
        seen = look(root)
        assert diff(seen, known(seen, later_ns=-10)).changed == ("a.md",)
        assert not diff(seen, known(seen))

    def test_a_part_of_the_vault_says_nothing_about_the_rest(self, tmp_path: Path) -> None:
        root = make_vault(tmp_path, {"a.md": "x", "d/b.md": "x", "d/e/c.md": "x", "dd/f.md": "x"})
        before = known(look(root))
        shutil.rmtree(root / "d")
        shutil.rmtree(root / "dd")
        assert diff(look(root, "d/b.md"), before).removed == ("d/b.md",)
        assert diff(look(root, "d"), before).removed == ("d/b.md", "d/e/c.md")
        assert diff(look(root, "a.md"), before).removed == ()
        assert diff(look(root), before).removed == ("d/b.md", "d/e/c.md", "dd/f.md")

    def test_a_note_that_is_ignored_from_now_on_leaves(self, tmp_path: Path) -> None:
        root = make_vault(tmp_path, {"a.md": "x", "d/b.md": "x"})
        before = known(look(root))
        (root / ".gitignore").write_text("d/\n")
        assert diff(look(root), before).removed == ("d/b.md",)
        assert diff(look(root, "d/b.md"), before).removed == ("d/b.md",)


@pytest.mark.parametrize(
    "within", ["d", "d/b.md", "d/e", "x.md", ".obsidian/y.md", "nothing/at/all.md", "a.md/b.md", ""]
)
def test_a_part_is_what_the_whole_says_of_it(tmp_path: Path, within: str) -> None:
    root = make_vault(tmp_path, {"a.md": "x", "d/b.md": "x", "d/e/c.md": "x", ".obsidian/y.md": "x", "d/z.txt": ""})
    whole, part = look(root), scan(root, Ignore(root), [within])
    inside = {path for path in whole.files if not within or path == within or path.startswith(within + "/")}
    assert part.files == {path: whole.files[path] for path in inside}


def test_a_note_that_steps_aside_for_a_save_is_not_gone(tmp_path: Path) -> None:
    root = make_vault(tmp_path, {"a.md": "x", "b.md": "x"})
    (root / "a.md").rename(root / "a.md~")
    (root / "b.md").unlink()

    def finish_saving() -> None:
        time.sleep(0.05)
        (root / "a.md").write_text("saved")

    editor = threading.Thread(target=finish_saving)
    editor.start()
    assert still_gone(root, ["a.md", "b.md"]) == {"b.md"}
    editor.join()


def test_folders_that_come_and_go_do_not_disturb_a_scan(tmp_path: Path) -> None:
    root = make_vault(tmp_path, {f"d{number}/a.md": "x" for number in range(30)})
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            (root / "churn/x").mkdir(parents=True, exist_ok=True)
            (root / "churn/x/n.md").write_text("x")
            shutil.rmtree(root / "churn", ignore_errors=True)

    other = threading.Thread(target=churn)
    other.start()
    try:
        for _ in range(50):
            assert {f"d{number}/a.md" for number in range(30)} <= set(look(root).files)
    finally:
        stop.set()
        other.join()


NAMES = st.sampled_from(["a.md", "b.md", "d/a.md", "d/e/b.md", "f/c.md"])


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(NAMES, st.binary(max_size=5)), st.dictionaries(NAMES, st.binary(max_size=5)))
def test_added_changed_and_removed_lead_from_what_was_known_to_what_is(
    tmp_path_factory: pytest.TempPathFactory, first: dict[str, bytes], second: dict[str, bytes]
) -> None:
    root = make_vault(tmp_path_factory.mktemp("v"), first)
    before = look(root)
    for path in first.keys() - second.keys():
        (root / path).unlink()
    make_vault(root, {path: data for path, data in second.items() if first.get(path) != data})
    found = diff(look(root), known(before))
    assert set(found.added) == second.keys() - first.keys()
    assert set(found.removed) == first.keys() - second.keys()
    assert {path for path in first.keys() & second.keys() if first[path] != second[path]} <= set(found.changed)


def test_ten_thousand_unchanged_notes_are_looked_at_in_a_moment(tmp_path: Path) -> None:
    for folder in range(100):
        (tmp_path / f"folder {folder}").mkdir()
        for number in range(100):
            (tmp_path / f"folder {folder}" / f"note {number}.md").touch()
    root = make_vault(tmp_path, {".gitignore": "*.pdf\nbuild/\n"})
    ignore = Ignore(root)
    before = known(scan(root, ignore))
    started = time.process_time()
    found = diff(scan(root, ignore), before)
    spent = time.process_time() - started
    assert not found
    assert len(before) == 10_000
    assert spent < 0.6, "0.15 s on an idle machine; four times that is a fault and no noise"
