"""Damaged notes: whatever the bytes, reading raises nothing but UnreadableNote, and edits only what they document."""

from __future__ import annotations

import json
from random import Random

import pytest

from tests.properties.nasty_notes import nasty_note, random_changes
from vault_memory.errors import InvalidRequest, MalformedNote
from vault_memory.memory.links import LinkIndex, links, retarget_note
from vault_memory.memory.markdown import (
    UnreadableNote,
    append,
    parse,
    patch,
    replace_content,
    replace_section,
    split,
)
from vault_memory.memory.merge import merge_bytes, merge_fields

SCRAPS = (
    b"---\n", b"---", b"\n", b"\r", b"\r\n", b"\t", b" ", b": ", b"- ", b"[", b"]", b"{", b"}", b"&a ", b"*a", b"!!x ",
    b"'", b'"', b"|\n", b">-\n", b"#", b" # ", b"? ", b"%", b"@", b"`", b"```\n", b"~~~", b"\xef\xbb\xbf", b"\xc2\x85",
    b"\xe2\x80\xa8", b"\xff", b"\x00", b"\x07", b"<<<<<<< a\n", b"=======\n", b">>>>>>> b\n", b"<<: *a\n", b"...\n",
    b"%YAML 1.1\n", b"[[x]]", b"[a](b.md)", b"](", b"created_at: 2024-02-30\n", b"title: x\n", b"\xf0\x9f\x99\x82",
    b"id: a b\n", b"version: 1e400\n", b"tags: {a\n", b"\\", b"# H\n", b"[[", b"]]", b"a: 99999999999999999999\n",
)  # fmt: skip
MOVES = {"x.md": "folder/y.md", "n.md": "m/n.md"}
PATHS = LinkIndex(["x.md", "n.md", "b.md"])


def damaged(random: Random) -> bytes:
    """A nasty note with bytes cut out, doubled or put in at random places."""
    data = nasty_note(random).text.encode()
    for _ in range(random.randint(1, 6)):
        at = random.randint(0, len(data))
        to = min(len(data), at + random.randint(0, 12))
        match random.randint(0, 3):
            case 0:
                data = data[:at] + data[to:]
            case 1:
                data = data[:at] + random.choice(SCRAPS) + data[at:]
            case 2:
                data = data[:to] + data[at:to] + data[to:]
            case _:
                data = data[:at] + bytes([random.randint(0, 255)]) + data[at + 1 :]
    return data


def read_whole(data: bytes) -> None:
    """Read all that can be read, and check that nothing of the bytes got lost."""
    memory, parts = parse(data, "n.md"), split(data)
    assert (parts.head + parts.body).encode() == data
    assert memory.content == parts.body
    json.dumps(dict(memory.metadata), allow_nan=False)
    for link in links(memory.content):
        assert 0 <= link.start < link.target_start <= link.target_end < link.end <= len(memory.content)


def edit_all_ways(data: bytes, random: Random) -> None:
    """Every edit is carried out as promised, or refused with a documented error."""
    changes = random_changes(random, nasty_note(random))
    memory = parse(data, "n.md")
    if (patched := _tried(lambda: patch(data, changes))) is not None:
        assert parse(patched, "n.md").content == memory.content
    if (replaced := _tried(lambda: replace_content(data, "---\nnew: 1\n---\n"))) is not None:
        assert parse(replaced, "n.md").content == "---\nnew: 1\n---\n"
        assert parse(replaced, "n.md").metadata == memory.metadata
    if (appended := _tried(lambda: append(data, "--- end"))) is not None:
        assert parse(appended, "n.md").content.startswith(memory.content)
    _tried(lambda: append(data, "x", "H"))
    _tried(lambda: replace_section(data, "H", "x"))
    _tried(lambda: retarget_note(data, MOVES, "n.md", PATHS))


def _tried(edit):  # type: ignore[no-untyped-def]
    try:
        return edit()
    except (MalformedNote, InvalidRequest):
        return None


def fuzz(seeds: range) -> int:
    """Read and edit one damaged note a seed; the number that could be read."""
    readable = 0
    for seed in seeds:
        random = Random(seed)
        data = damaged(random)
        try:
            read_whole(data)
            edit_all_ways(data, random)
            readable += 1
        except UnreadableNote:
            continue
        except Exception as error:
            error.add_note(f"seed {seed}: {data!r}")
            raise
    return readable


def test_two_thousand_damaged_notes_are_read_without_a_crash() -> None:
    assert fuzz(range(2_000)) > 1_000


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_twenty_thousand_damaged_notes_are_read_without_a_crash() -> None:
    assert fuzz(range(2_000, 22_000)) > 10_000


def test_merges_of_damaged_notes_never_raise() -> None:
    for seed in range(300):
        random = Random(seed)
        base = damaged(random)
        ours, theirs = (base.replace(b"a", b"A", 1) + random.choice(SCRAPS) for _ in range(2))
        merge_bytes(base, ours, theirs)
        assert merge_fields(base, ours, theirs).data is not None


def test_long_lines_of_marks_take_no_time_to_read() -> None:
    for mark in (
        "`",
        "[",
        "![",
        "](",
        "#",
        "[[",
        "\\",
        "> ",
        "- ",
        "`a``b",
        "[](",
        "\n\n",
        " #",
        "~~~\n",
        "<" * 7 + "\n",
    ):
        parse((mark * 20_000).encode(), "n.md")
        links(mark * 20_000)
