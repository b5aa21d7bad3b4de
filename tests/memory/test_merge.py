"""Three-way merges: lines for stale writes, fields for git."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.memory.line_merge import hunks
from vault_memory.memory.markdown import parse
from vault_memory.memory.merge import merge_bytes, merge_fields

LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n", b"d\r\n", b"e"]), max_size=8)
BASE = (
    "---\n"
    "# kept by hand\n"
    "title: Plan  # the name\n"
    "tags: [a, b]\n"
    "status: active\n"
    "updated_at: 2026-01-01T00:00:00Z\n"
    "version: 3\n"
    "---\n"
    "first\n\nsecond\n"
)


def fields(base: str, ours: str, theirs: str) -> tuple[str, bool]:
    result = merge_fields(base.encode(), ours.encode(), theirs.encode())
    return result.data.decode(), result.conflict


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        (b"a\nb\nc\n", b"A\nb\nc\n", b"a\nb\nC\n", b"A\nb\nC\n"),
        (b"a\nb\n", b"A\nb\n", b"a\nB\n", b"A\nB\n"),
        (b"a\nb\n", b"a\nb\nx\n", b"a\nB\n", b"a\nB\nx\n"),
        (b"a\nb\n", b"a\n", b"a\nb\nx\n", b"a\nx\n"),
        (b"a\n", b"b\n", b"b\n", b"b\n"),
        (b"a\n", b"b\n", b"c\n", None),
        (b"a\n", b"a\nx\n", b"a\ny\n", None),
        (b"a\nb\nc\n", b"c\n", b"a\nB\nc\n", None),
        (b"", b"x\n", b"y\n", None),
    ],
)
def test_changes_to_other_lines_merge(base: bytes, ours: bytes, theirs: bytes, merged: bytes | None) -> None:
    assert merge_bytes(base, ours, theirs) == merged
    assert merge_bytes(base, theirs, ours) == merged


@given(LINES, LINES)
def test_hunks_rebuild_the_other_side(base: list[bytes], side: list[bytes]) -> None:
    built, position = [], 0
    for hunk in hunks(base, side):
        built += [*base[position : hunk.start], *hunk.lines]
        position = hunk.end
    assert [*built, *base[position:]] == side


@given(LINES, LINES, LINES)
def test_a_merge_is_symmetric_and_keeps_a_lone_change(
    base: list[bytes], ours: list[bytes], theirs: list[bytes]
) -> None:
    old, mine, other = (b"".join(side) for side in (base, ours, theirs))
    assert merge_bytes(old, mine, old) == mine
    assert merge_bytes(old, old, other) == other
    assert merge_bytes(old, mine, other) == merge_bytes(old, other, mine)


def test_a_merge_that_would_write_a_key_twice_is_none() -> None:
    base = b"---\na: 1\nb: 2\nc: 3\n---\n"
    ours, theirs = b"---\nnew: 1\na: 1\nb: 2\nc: 3\n---\n", b"---\na: 1\nb: 2\nc: 3\nnew: 2\n---\n"
    assert merge_bytes(base, ours, theirs) is None


def test_fields_of_both_sides_merge_line_for_line() -> None:
    ours = BASE.replace("status: active", "status: archived").replace("version: 3", "version: 4")
    theirs = BASE.replace("Plan ", "Big plan ").replace("version: 3", "version: 6").replace("second", "2nd")
    merged, conflict = fields(BASE, ours, theirs)
    assert not conflict
    assert merged == (
        BASE.replace("status: active", "status: archived")
        .replace("Plan ", "Big plan ")
        .replace("version: 3", "version: 6")
        .replace("second", "2nd")
    )


def test_lists_merge_as_sets_and_keep_our_style() -> None:
    merged, conflict = fields(BASE, BASE.replace("[a, b]", "[a, b, ours]"), BASE.replace("[a, b]", "[b, theirs]"))
    assert (conflict, "tags: [b, ours, theirs]\n" in merged) == (False, True)


@pytest.mark.parametrize("swap", [False, True])
def test_the_later_time_wins(swap: bool) -> None:
    sides = [BASE.replace("2026-01-01", day) for day in ("2026-02-02", "2026-03-03")]
    merged, conflict = fields(BASE, *(reversed(sides) if swap else sides))
    assert (conflict, "updated_at: 2026-03-03" in merged) == (False, True)


def test_a_field_that_both_changed_is_a_conflict_in_gits_words() -> None:
    merged, conflict = fields(
        BASE, BASE.replace("status: active", "status: archived"), BASE.replace("status: active", "status: invalid")
    )
    assert conflict
    assert "<<<<<<< ours\nstatus: archived\n=======\nstatus: invalid\n>>>>>>> theirs\nupdated_at" in merged
    assert parse(merged.encode(), "n.md").conflicted


def test_a_field_removed_here_and_changed_there_is_a_conflict() -> None:
    merged, conflict = fields(
        BASE, BASE.replace("status: active\n", ""), BASE.replace("status: active", "status: invalid")
    )
    assert conflict
    assert "<<<<<<< ours\n=======\nstatus: invalid\n>>>>>>> theirs\n" in merged


def test_a_body_conflict_leaves_the_fields_merged() -> None:
    ours = BASE.replace("second", "two").replace("version: 3", "version: 4")
    merged, conflict = fields(BASE, ours, BASE.replace("second", "zwei"))
    assert conflict
    assert merged.endswith("first\n\n<<<<<<< ours\ntwo\n=======\nzwei\n>>>>>>> theirs\n")
    assert "version: 4\n" in merged


def test_comments_and_new_keys_of_both_sides_stay() -> None:
    ours = BASE.replace("# kept by hand\n", "# kept by hand\n# ours\n").replace("version: 3\n", "version: 3\nmine: 1\n")
    theirs = BASE.replace("status:", "# theirs\nstatus:").replace("tags:", "other: 2\ntags:")
    merged, conflict = fields(BASE, ours, theirs)
    assert not conflict
    assert merged == (
        "---\n# kept by hand\n# ours\ntitle: Plan  # the name\nother: 2\ntags: [a, b]\n# theirs\nstatus: active\n"
        "updated_at: 2026-01-01T00:00:00Z\nversion: 3\nmine: 1\n---\nfirst\n\nsecond\n"
    )


def test_one_side_that_took_the_key_out_wins_over_no_change() -> None:
    assert fields(BASE, BASE, BASE.replace("status: active\n", "")) == (BASE.replace("status: active\n", ""), False)
    ours = BASE.replace("first", "1st")
    assert fields(BASE, ours, BASE.replace("status: active\n", "")) == (ours.replace("status: active\n", ""), False)


def test_a_note_that_both_sides_added_unites_its_lists() -> None:
    merged, conflict = fields("", "---\ntags: [a]\n---\nx\n", "---\ntags: [b]\n---\nx\n")
    assert (merged, conflict) == ("---\ntags: [a, b]\n---\nx\n", False)


def test_a_change_of_line_ends_alone_is_no_change_of_a_field() -> None:
    theirs = BASE.replace("status: active", "status: archived").replace("\n", "\r\n")
    merged, _ = fields(BASE, BASE.replace("Plan ", "Big plan "), theirs)
    head = merged.partition("\n---\n")[0]
    assert "title: Big plan  # the name\n" in head
    assert "status: archived\n" in head
    assert "<<<<" not in head


def test_malformed_notes_merge_by_lines() -> None:
    base = "---\ntitle: a: b\nx: 1\n---\nbody\n"
    assert fields(base, base.replace("x: 1", "x: 2"), base.replace("body", "text")) == (
        "---\ntitle: a: b\nx: 2\n---\ntext\n",
        False,
    )


def test_a_longer_marker_and_gits_labels_are_used() -> None:
    result = merge_fields(b"a\n", b"b\n", b"c\n", labels=("HEAD", "topic"), marker_size=9)
    assert result.data == b"<<<<<<<<< HEAD\nb\n=========\nc\n>>>>>>>>> topic\n"


def test_bytes_that_are_no_text_merge_by_lines() -> None:
    assert merge_fields(b"\xff\nb\n", b"\xfe\nb\n", b"\xff\nB\n").data == b"\xfe\nB\n"


NOTES = st.builds(
    lambda title, tags, version, extra, body: (
        f"---\ntitle: {title}\ntags: [{', '.join(tags)}]\n{extra}version: {version}\n---\n{body}"
    ),
    st.sampled_from(["One", "Two"]),
    st.lists(st.sampled_from("abc"), unique=True),
    st.integers(1, 5),
    st.sampled_from(["", "k: v\n", "# note\nk: w\n", "note: |\n  a\n\n  b\n"]),
    st.sampled_from(["x\ny\n", "x\n", "x\nz\ny", ""]),
)


@given(NOTES, NOTES, NOTES)
def test_a_merge_of_fields_is_sound_or_a_marked_conflict(base: str, ours: str, theirs: str) -> None:
    result = merge_fields(base.encode(), ours.encode(), theirs.encode())
    other = merge_fields(base.encode(), theirs.encode(), ours.encode())
    assert result.conflict == other.conflict == (b"<<<<<<<" in result.data)
    if not result.conflict:
        memory, mirrored = parse(result.data, "n.md"), parse(other.data, "n.md")
        assert not memory.findings
        assert (memory.title, set(memory.tags), memory.version) == (
            mirrored.title,
            set(mirrored.tags),
            mirrored.version,
        )
        assert memory.metadata == mirrored.metadata
