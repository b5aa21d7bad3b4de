"""Byte-exact edits: front matter by key, body by part. What cannot be kept is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from vault_memory.errors import InvalidRequest, MalformedNote
from vault_memory.memory.markdown import append, metadata_changes, parse, patch, replace_content, replace_section

LONG_TITLE = (
    "A title of one hundred and ten characters, several words, that a careless writer would fold at eighty columns"
)
FMT = f"""\
---
# owner: platform team
zeta: 1  # do not renumber
aliases: [One, Two]
version: "1.10"
title: "{LONG_TITLE}"
source: "[[Kiln log]]"
note: |
  first
  ---
  last
status: draft
---


body with two trailing spaces{"  "}


"""
BAD = '---\ntitle: Deploy: staging checklist\ndescription: "said "yes" twice"\ntags: [ops]\n---\nSwitch it off.\n'
CONFLICT = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> topic\n"


def edit(text: str, **changes: Any) -> str:
    return patch(text.encode(), changes).decode()


def block(*lines: str) -> str:
    return "---\n" + "".join(f"{line}\n" for line in lines) + "---\nbody\n"


# --- the cases ---------------------------------------------------------------------------------------------------


def test_fm_02_a_malformed_note_is_refused_with_line_and_reason() -> None:
    with pytest.raises(MalformedNote, match="line 2: malformed front matter") as caught:
        edit(BAD, tags=["ops", "new"])
    assert caught.value.extra["line"] == 2


@pytest.mark.parametrize(
    "text",
    [
        "---\n\nMinutes of the quarry meeting\n\n---\nAction list\n",
        "---\ntitle: never closed\nbody text cobalt\n",
        '{\n"a": 1\n}\n',
        "",
        "no end newline",
    ],
)
def test_fm_03_a_note_without_front_matter_gets_a_block_on_top_of_all_its_text(text: str) -> None:
    result = edit(text, status="archived")
    assert result == f"---\nstatus: archived\n---\n{text}"
    memory = parse(result.encode(), "n.md")
    assert (memory.content, memory.status, memory.findings) == (text, "archived", ())
    assert edit(result, status="archived") == result


def test_fm_04_one_field_is_one_line() -> None:
    assert edit(FMT, status="active") == FMT.replace("status: draft", "status: active")
    assert edit(edit(FMT, status="active"), status="active") == edit(FMT, status="active")


@pytest.mark.parametrize("bom", ["\ufeff", ""])
@pytest.mark.parametrize("newline", ["\r\n", "\n", "\r"])
def test_fm_05_byte_order_mark_and_line_ends_stay(bom: str, newline: str) -> None:
    text = bom + "---\ntitle: Boiler manual\ntags:\n  - heating\n---\nBleed the radiators first.\n".replace(
        "\n", newline
    )
    end = f"{newline}---{newline}Bleed"
    assert edit(text, status="active") == text.replace(end, f"{newline}status: active{end}")
    tagged = edit(text, tags=["heating", "home"])
    assert tagged == text.replace(f"  - heating{newline}", f"  - heating{newline}  - home{newline}")
    assert (
        edit(f"{bom}one{newline}two", pinned=True)
        == f"{bom}---{newline}pinned: true{newline}---{newline}one{newline}two"
    )


# --- one key -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "changes", "expected"),
    [
        (["status: active   # why"], {"status": "archived"}, ["status: archived   # why"]),
        (["status: 'active'"], {"status": "archived"}, ["status: 'archived'"]),
        (['title: "It is"'], {"title": 'say "no"'}, ['title: "say \\"no\\""']),
        (["title: 'x'"], {"title": "it's"}, ["title: 'it''s'"]),
        (["title: 'x'"], {"title": "two\x07"}, ['title: "two\\u0007"']),
        (["status:", "b: 1"], {"status": "archived"}, ["status: archived", "b: 1"]),
        (["status: # why", "b: 1"], {"status": "archived"}, ["status: archived # why", "b: 1"]),
        (["outcome: |", "  one", "  two  ", "", "b: 1"], {"outcome": "x"}, ["outcome: x", "", "b: 1"]),
        (["title: a", "  b", "b: 1"], {"title": "c"}, ["title: c", "b: 1"]),
        (["title: >-", "  a", "# after", "b: 1"], {"title": "c"}, ["title: c", "# after", "b: 1"]),
        (['"status": draft'], {"status": "active"}, ['"status": active']),
        (["status : draft"], {"status": "active"}, ["status : active"]),
        (["  status: x", "  b: 1"], {"status": "active", "c": 2}, ["  status: active", "  b: 1", "  c: 2"]),
        (["tags: [a, b] # t"], {"tags": ["a", "c"]}, ["tags: [a, c] # t"]),
        (["tags: a, b"], {"tags": ["a", "c"]}, ["tags: [a, c]"]),
        (["tags: [a,", "  b]", "b: 1"], {"tags": ["c"]}, ["tags: [c]", "b: 1"]),
        (["tags:", "- a", "- b"], {"tags": []}, ["tags: []"]),
        (["tags:", "  - a # x", "  - b"], {"tags": ["a", "c"]}, ["tags:", "  - a # x", "  - c"]),
        (["tags:", "  # x", "  - a", "  # y", "  - b"], {"tags": ["b"]}, ["tags:", "  # x", "  # y", "  - b"]),
        (["tags:", "- a", "- b"], {"tags": ["b", "a"]}, ["tags:", "- b", "- a"]),
        (["tags:", "- a", "- b", "# after"], {"tags": ["x"]}, ["tags:", "- x", "# after"]),
        (["tags: # t", "  - a"], {"tags": []}, ["tags: [] # t"]),
        (["supersedes: [[X]]"], {"supersedes": ["X", "Y"]}, ['supersedes: ["[[X]]", "[[Y]]"]']),
        (["supersedes:", '  - "[[X|x]]"'], {"supersedes": ["X", "Y"]}, ["supersedes:", '  - "[[X|x]]"', '  - "[[Y]]"']),
        (["pinned: no"], {"pinned": True}, ["pinned: true"]),
        (["importance: 0.5"], {"importance": 1.0}, ["importance: 1.0"]),
        (["mine: {a: 1}"], {"mine": {"a": 2}}, ["mine: {a: 2}"]),
        (["x: 1"], {"updated_at": datetime(2026, 1, 2, tzinfo=UTC)}, ["x: 1", "updated_at: 2026-01-02T00:00:00Z"]),
        (["x: &a 1", "y: *a"], {"status": "active"}, ["x: &a 1", "y: *a", "status: active"]),
        (["x: 1", "", "# end"], {"status": "active"}, ["x: 1", "", "# end", "status: active"]),
    ],
)  # fmt: skip
def test_only_the_named_value_changes(lines: list[str], changes: dict[str, Any], expected: list[str]) -> None:
    assert edit(block(*lines), **changes) == block(*expected)


@pytest.mark.parametrize(
    ("lines", "name", "expected"),
    [
        (["a: 1", "status: x", "b: 1"], "status", ["a: 1", "b: 1"]),
        (["a: 1", "tags:", "  - a", "  - b", "# after", "b: 1"], "tags", ["a: 1", "# after", "b: 1"]),
        (["a: 1", "status: x  # why", "b: 1"], "status", ["a: 1", "# why", "b: 1"]),
        (["status:"], "status", []),
        (["outcome: |", "  x", "b: 1"], "outcome", ["b: 1"]),
        (["a: 1"], "status", ["a: 1"]),
    ],
)
def test_a_key_is_taken_out_with_its_lines(lines: list[str], name: str, expected: list[str]) -> None:
    assert edit(block(*lines), **{name: None}) == block(*expected)


@pytest.mark.parametrize(
    ("lines", "changes"),
    [
        (["status: active"], {"status": "active"}),
        (["pinned: yes"], {"pinned": True}),
        (["tags: a, b"], {"tags": ["a", "b"]}),
        (["tags: ['#a']"], {"tags": ["a"]}),
        (["supersedes: [[X]]"], {"supersedes": ["X"]}),
        (["created_at: 2026-04-05 09:30"], {"created_at": datetime(2026, 4, 5, 9, 30, tzinfo=UTC)}),
        (["confidence: '0.90'"], {"confidence": 0.9}),
        (["mine: [1, two]"], {"mine": [1, "two"]}),
        (["mine: *x", "y: &x 1"], {"title": None}),
        (["x: 1"], {"domain": ""}),
    ],
)
def test_a_value_that_is_already_there_changes_nothing(lines: list[str], changes: dict[str, Any]) -> None:
    text = block(*lines)
    if "*x" in text:
        text = block(*reversed(lines))
    assert edit(text, **changes) == text


def test_a_default_that_the_file_does_not_say_is_written() -> None:
    assert edit(block("x: 1"), status="active") == block("x: 1", "status: active")
    assert edit(block("status: draft"), status="active") == block("status: active")


def test_several_keys_change_in_one_edit() -> None:
    text = block("title: A", "status: active", "version: 1")
    assert edit(text, version=2, status=None, title="B", domain="d") == block("title: B", "version: 2", "domain: d")


def test_a_vaults_own_relations_are_written_as_links() -> None:
    result = patch(b"---\nx: 1\n---\n", {"blocks": ["a b"]}, relation_types=["blocks"])
    assert result == b'---\nx: 1\nblocks: ["[[a b]]"]\n---\n'


# --- refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "changes"),
    [
        (["x: &k v", "status: *k"], {"status": "active"}),
        (["status: &k v", "x: *k"], {"status": "active"}),
        (["status: !!str 5"], {"status": "active"}),
        (["tags:", "  - &k a", "x: *k"], {"tags": ["b"]}),
        (["? status", ": x"], {"status": "active"}),
        (["{status: x}"], {"status": "active"}),
        (["{x: 1}"], {"status": "active"}),
        (["tags:", "  - a", "  # kept", "  - b"], {"tags": []}),
        (["tags:", "  - a", "  # kept", "  - b"], {"tags": None}),
        (["tags:", "  - a # kept", "  - b"], {"tags": ["b"]}),
        (["tags:", "  - a", "  # kept", "  - b"], {"tags": ["b", "a"]}),
        (["tags: [a, # kept", "  b]"], {"tags": ["a"]}),
        (["note: | # kept", "  x"], {"note": "y"}),
        (["status: a", "status: b"], {"domain": "x"}),
        (["created_at: 2024-02-30"], {"domain": "x"}),
        (["x: 1", "..."], {"status": "active"}),
        (["x: |+", "  a", "", "y: 1", ""], {"y": None}),
    ],
)
def test_an_edit_that_could_not_keep_the_rest_is_refused(lines: list[str], changes: dict[str, Any]) -> None:
    with pytest.raises(MalformedNote) as caught:
        edit(block(*lines), **changes)
    assert caught.value.extra["reason"]


@pytest.mark.parametrize("text", [CONFLICT, f"---\ntitle: x\n---\n{CONFLICT}"])
def test_a_conflicted_note_is_not_written_in_any_way(text: str) -> None:
    data = text.encode()
    for change in (
        lambda: patch(data, {"status": "active"}),
        lambda: replace_content(data, "x"),
        lambda: append(data, "x"),
        lambda: replace_section(data, "H", "x"),
    ):
        with pytest.raises(MalformedNote, match="conflict"):
            change()


@pytest.mark.parametrize(
    "changes",
    [{"status": "draft"}, {"importance": 2.0}, {"version": 0}, {"id": "a b"}, {"title": "\0"}, {"x": object()}],
)
def test_a_value_that_its_field_does_not_take_is_an_invalid_request(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest):
        edit(block("a: 1"), **changes)


# --- a caller's own keys -----------------------------------------------------------------------------------------


def test_a_callers_keys_that_equal_a_field_go_under_the_metadata_map() -> None:
    memory = parse(b"---\nx: 1\nmetadata: {status: old, title: t}\n---\n", "n.md")
    assert metadata_changes(memory, {"x": 2, "status": "new", "title": None}) == {"x": 2, "metadata": {"status": "new"}}
    assert metadata_changes(memory, {"status": None, "title": None}) == {"metadata": None}
    assert metadata_changes(memory, {"y": None}) == {"y": None}


# --- the body ----------------------------------------------------------------------------------------------------

PAGE = "---\ntitle: x  # t\n---\n# A\n\ntext\n\n## B\n\nold\n- x\n\n### deep\n\ny\n\n\n## C\n```\n## B\n```\nend"


@pytest.mark.parametrize("content", ["", "x", "---\na: 1\n---\n", "\ufeffx", "\n\n", "a\r\nb"])
@pytest.mark.parametrize(
    "note", ["---\ntitle: x\n---\nold\n", "---\ntitle: x\n---", "old", "", "\ufeffold", "---\nopen"]
)
def test_a_new_content_reads_back_byte_for_byte(note: str, content: str) -> None:
    before = parse(note.encode(), "n.md")
    after = parse(replace_content(note.encode(), content), "n.md")
    assert after.content == content
    assert after.stated == before.stated


def test_the_front_matter_of_a_new_content_stays_byte_for_byte() -> None:
    head = PAGE[: PAGE.index("# A")]
    assert replace_content(PAGE.encode(), "new").decode() == f"{head}new"


def test_text_is_added_at_the_end_on_its_own_lines() -> None:
    assert append(PAGE.encode(), "one\ntwo").decode() == f"{PAGE}\none\ntwo\n"
    assert append(b"a\r\n", "one\ntwo\n") == b"a\r\none\r\ntwo\r\n"
    assert append(b"", "x") == b"x\n"


def test_text_is_added_to_a_malformed_note_but_not_under_a_heading_of_it() -> None:
    assert append(BAD.encode(), "more").decode() == f"{BAD}more\n"
    with pytest.raises(MalformedNote):
        append(BAD.encode(), "more", "H")
    with pytest.raises(MalformedNote):
        replace_content(BAD.encode(), "more")


def test_added_text_never_turns_the_note_into_front_matter() -> None:
    result = append(b"---\ntitle: open", "---")
    assert parse(result, "n.md").content == "---\ntitle: open\n---\n"


@pytest.mark.parametrize(
    ("heading", "before"),
    [("B", "\n\n\n## C"), ("## B", "\n\n\n## C"), ("### deep", "\n\n\n## C"), ("b", "\n\n\n## C")],
)
def test_text_is_added_at_the_end_of_a_section(heading: str, before: str) -> None:
    assert append(PAGE.encode(), "new", heading).decode() == PAGE.replace(before, f"\nnew{before}")


def test_text_under_the_last_or_an_empty_heading_follows_it() -> None:
    assert append(PAGE.encode(), "new", "C").decode() == f"{PAGE}\nnew\n"
    assert append(b"# A\n# B\n", "x", "A") == b"# A\nx\n# B\n"
    assert append(b"# A", "x", "A") == b"# A\nx\n"


def test_a_section_is_replaced_between_its_blank_lines() -> None:
    expected = PAGE.replace("old\n- x\n\n### deep\n\ny\n", "new\n")
    assert replace_section(PAGE.encode(), "B", "new").decode() == expected
    assert replace_section(b"# A\nx\n\n# B\n", "A", "") == b"# A\n\n# B\n"
    assert replace_section(b"# A\r\nx\r\n", "A", "one\ntwo") == b"# A\r\none\r\ntwo\r\n"


@pytest.mark.parametrize(
    ("heading", "problem"), [("Z", "is not in the note"), ("# B", "is not in the note"), ("A", "stands 2 times")]
)
def test_a_heading_must_be_there_once(heading: str, problem: str) -> None:
    with pytest.raises(InvalidRequest, match=problem):
        append(f"{PAGE}\n# A\n".encode(), "x", heading)
