"""Reading notes: every shape people write, nothing raised, what is odd becomes a finding; rendering new ones."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any, ClassVar

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from vault_memory.errors import InvalidRequest
from vault_memory.memory.markdown import UnreadableNote, parse, render, split
from vault_memory.memory.model import Memory


class CoreSchema(yaml.SafeLoader):
    """A reader with the core schema of YAML 1.2 instead of the types of 1.1."""

    yaml_implicit_resolvers: ClassVar = {}


for tag, pattern in {
    "null": r"~|null|Null|NULL|",
    "bool": r"true|True|TRUE|false|False|FALSE",
    "int": r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+",
    "float": r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
}.items():
    CoreSchema.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"(?:{pattern})\\Z"), None)


def by_every_reader(data: bytes) -> list[Any]:
    """What a YAML 1.1 and a YAML 1.2 reader make of a note's front matter."""
    block = split(data).block or ""
    return [yaml.safe_load(block), yaml.load(block, CoreSchema)]


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)
UTC_2026 = datetime(2026, 4, 5, tzinfo=UTC)


def read(text: str, path: str = "folder/The note.md", **vocabulary: Any) -> Memory:
    return parse(text.encode(), path, **vocabulary)


def codes(memory: Memory) -> list[str]:
    return [finding.code for finding in memory.findings]


def fronted(*lines: str) -> Memory:
    return read("---\n" + "".join(f"{line}\n" for line in lines) + "---\nbody\n")


# --- the cases ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("created: 2026-04-05", UTC_2026),
        ("created: 2026-04-05 09:30:00", datetime(2026, 4, 5, 9, 30, tzinfo=UTC)),
        ("created: 2026-04-05T09:30:00+02:00", datetime(2026, 4, 5, 7, 30, tzinfo=UTC)),
    ],
)
def test_fm_01_dates_compare_and_metadata_is_strict_json(line: str, expected: datetime) -> None:
    memory = fronted("title: Kiln log", line, "review: .nan", "n: [.inf, {x: .NaN}]")
    assert memory.created_at == expected
    assert json.loads(json.dumps(dict(memory.metadata), allow_nan=False)) == {
        "created": line.removeprefix("created: "),
        "review": ".nan",
        "n": [".inf", {"x": ".NaN"}],
    }


BAD = (
    '---\ntitle: Deploy: staging checklist\ndescription: "said "yes" twice"\ntags: [ops]\n---\n'
    "The heliotrope switch must be off.\n"
)


def test_fm_02_malformed_yaml_is_body_under_the_file_name_with_line_and_reason() -> None:
    memory = read(BAD, "inbox/bad.md")
    assert memory.content == BAD
    assert (memory.title, memory.tags, memory.metadata) == ("bad", (), {})
    (finding,) = memory.findings
    assert (finding.code, finding.line, finding.blocks_edit) == ("malformed_yaml", 2, True)
    assert "mapping values" in finding.reason


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\n\nMinutes of the quarry meeting\n\n---\nAction list\n", ["not_a_mapping"]),
        ("---\n**Larkfield Works**\n12 Mill Lane\n---\nDear all\n", ["malformed_yaml"]),
        ("---\nLarkfield Works\n12 Mill Lane\n---\nDear all\n", ["not_a_mapping"]),
        ("---\ntitle: never closed\nbody text cobalt\n", ["never_closed"]),
        ("---\n# A heading between rules\n---\ntext\n", ["not_a_mapping"]),
        ("---\n- a\n- b\n---\n", ["not_a_mapping"]),
        ('{\n"a": 1\n}\n', []),
        ("+++\ntitle = 'x'\n+++\n", []),
        ("----\ntitle: x\n----\n", []),
        (" ---\ntitle: x\n---\n", []),
        ("\n---\ntitle: x\n---\n", []),
        ("--- # note\ntitle: x\n---\n", []),
        ("---", []),
        ("", []),
    ],
)
def test_fm_03_a_block_that_is_no_closed_mapping_is_body(text: str, expected: list[str]) -> None:
    memory = read(text)
    assert (memory.content, codes(memory)) == (text, expected)


@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_fm_05_byte_order_mark_and_line_ends_do_not_hide_front_matter(bom: str, newline: str) -> None:
    lines = ["---", "title: Boiler manual", "tags:", "  - heating", "---  ", "Bleed the radiators first.", ""]
    memory = read(bom + newline.join(lines))
    assert (memory.title, memory.tags) == ("Boiler manual", ("heating",))
    assert memory.content == f"Bleed the radiators first.{newline}"
    assert not memory.findings


def test_fm_06_values_that_look_like_other_types_stay_text() -> None:
    memory = fronted("title: 2024", "tags: [no, on, 2024, 1.10, 1e3, 007]", "slot: 12:30")
    assert (memory.title, memory.metadata["slot"]) == ("2024", "12:30")
    assert memory.tags == ("no", "on", "2024", "1.10", "1e3", "007")


def test_fm_06_written_scalars_read_alike_under_yaml_1_1_and_1_2() -> None:
    fields = {"title": "1e3", "tags": ["yes", "0o17", "12:30", "null", "~", "a\x85b", "0x1F", "1_000", "y", ".5"]}
    data = render(fields, "body")
    memory = parse(data, "x.md")
    assert (memory.title, list(memory.tags)) == (fields["title"], fields["tags"])
    assert by_every_reader(data) == [fields, fields]


# --- fields ------------------------------------------------------------------------------------------------------


def test_every_field_is_read_with_its_type() -> None:
    memory = fronted(
        "id: 1ngvj1k9f3qw", "title: T", "memory_type: decision", "status: archived", "tags: [deploy, ops]",
        "aliases: [One, 'Two, too']", "project: acme-api", "domain: ops", "actor: bob", "session: 0b2f6c1e",
        "agent: claude-code", "source: agent", "source_id: e1", "importance: 1", "confidence: 0.9",
        "verification: confirmed", "pinned: true", "emotional_valence: -0.5", "url: example.org/a/#b",
        "related_urls: ['https://a.example/x,y']", "stacks: [python]", "anchor_scope: stack",
        "expires_at: 2027-01-01", "valid_from: 2026-01-01", "valid_to: 2026-06-01T00:00:00Z", "outcome: done",
        "flags: [draft]", "created_at: 2026-11-30T19:02:11Z", "updated_at: 2026-11-30T19:02:11.5Z", "version: 7",
        'supersedes: ["[[deploy-with-heroku]]"]', 'relation_notes: ["supersedes [[x]]: why"]', "mood: calm",
    )  # fmt: skip
    assert not memory.findings
    assert memory == Memory(
        path="folder/The note.md", content="body\n", id="1ngvj1k9f3qw", title="T", memory_type="decision",
        status="archived", tags=("deploy", "ops"), aliases=("One", "Two, too"), project="acme-api", domain="ops",
        actor="bob", session="0b2f6c1e", agent="claude-code", source="agent", source_id="e1", importance=1.0,
        confidence=0.9, verification="confirmed", pinned=True, emotional_valence=-0.5, url="example.org/a/#b",
        related_urls=("https://a.example/x,y",), stacks=("python",), anchor_scope="stack",
        expires_at=datetime(2027, 1, 1, tzinfo=UTC), valid_from=datetime(2026, 1, 1, tzinfo=UTC),
        valid_to=datetime(2026, 6, 1, tzinfo=UTC), outcome="done", flags=("draft",),
        created_at=datetime(2026, 11, 30, 19, 2, 11, tzinfo=UTC),
        updated_at=datetime(2026, 11, 30, 19, 2, 11, 500000, tzinfo=UTC), version=7,
        relations={"supersedes": ("deploy-with-heroku",)}, relation_notes=("supersedes [[x]]: why",),
        metadata={"mood": "calm"}, stated=memory.stated, revision=memory.revision,
    )  # fmt: skip
    assert memory.written_by_tool


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("status: draft", "out_of_vocabulary"),
        ("memory_type: idea", "out_of_vocabulary"),
        ('source: "[[Kiln log]]"', "out_of_vocabulary"),
        ('project: "[[Kiln]]"', "out_of_vocabulary"),
        ("pinned: perhaps", "out_of_vocabulary"),
        ("flags: [odd]", "out_of_vocabulary"),
        ('version: "1.10"', "out_of_bounds"),
        ("version: 0", "out_of_bounds"),
        ("importance: 1.5", "out_of_bounds"),
        ("confidence: .nan", "out_of_bounds"),
        ("confidence: high", "out_of_bounds"),
        ("expires_at: soon", "out_of_bounds"),
        ("id: my note", "bad_id"),
        ("title: {a: 1}", "wrong_type"),
        ("title: {{title}}", "wrong_type"),
        ("tags: {a: 1}", "wrong_type"),
        ("tags: [[a, b], [c]]", "wrong_type"),
        ("supersedes: {a: 1}", "wrong_type"),
    ],
)
def test_a_value_outside_its_field_is_kept_and_read_as_the_default(line: str, code: str) -> None:
    memory, plain = fronted("x: 1", line), fronted("x: 1")
    assert codes(memory) == [code]
    assert (memory.findings[0].line, memory.findings[0].blocks_edit) == (3, False)
    for name in ("id", "title", "memory_type", "status", "source", "project", "version", "importance", "confidence"):
        assert getattr(memory, name) == getattr(plain, name)
    assert memory.metadata == {"x": 1}
    assert memory.stated == frozenset()


def test_null_fields_are_absent() -> None:
    memory = fronted("title:", "project: null", "domain: ~", "tags:", "supersedes: []", "id: ''")
    assert (memory.title, memory.project, memory.domain, memory.tags) == ("The note", None, None, ())
    assert codes(memory) == ["bad_id"]


def test_the_word_global_is_no_project() -> None:
    assert fronted("project: global").project is None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tags: a, b", ("a", "b")),
        ("tags: a b", ("a", "b")),
        ("tags: '#a, #b'", ("a", "b")),
        ("tags: ['#a', '##b', a]", ("a", "b")),
        ("tags:\n- one\n- two words", ("one", "two words")),
        ("tags: solo", ("solo",)),
        ("tags: [a, '', ' ']", ("a",)),
    ],
)
def test_tags_follow_obsidian(line: str, expected: tuple[str, ...]) -> None:
    assert fronted(line).tags == expected


def test_a_title_on_several_lines_is_folded() -> None:
    assert fronted("title: |", "  one", "  two").title == "one two"


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("# First\n# Second\n", "First"),
        ("intro\n\n#   Spaced   #\n", "Spaced"),
        ("## Only two\n", "The note"),
        ("```\n# in code\n```\n# Real\n", "Real"),
        ("#hashtag\n", "The note"),
        ("#\n# After an empty one\n", "After an empty one"),
        ("", "The note"),
    ],
)
def test_the_title_falls_back_to_the_heading_then_the_file_name(body: str, title: str) -> None:
    assert read(body).title == title
    assert read(f"---\nx: 1\n---\n{body}").title == title


def test_the_file_name_as_title_is_composed() -> None:
    assert read("", "a/Cafe\u0301.v2.md").title == "Café.v2"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("supersedes: [[X]]", ("X",)),
        ("supersedes: '[[X]]'", ("X",)),
        ("supersedes: plain", ("plain",)),
        ("supersedes: [[[X]], '[[Y|why]]', '[[Z#part]]']", ("X", "Y", "Z#part")),
        ("supersedes:\n  - [[X]]\n  - [[a/Y|shown]]", ("X", "a/Y")),
    ],
)
def test_relations_are_links_quoted_or_bare(line: str, expected: tuple[str, ...]) -> None:
    assert fronted(line).relations == {"supersedes": expected}


def test_a_vaults_own_relations_and_types_are_known_when_named() -> None:
    text = "---\nblocks: '[[X]]'\nmemory_type: recipe\n---\n"
    assert read(text).metadata == {"blocks": "[[X]]"}
    memory = read(text, relation_types=["blocks"], memory_types=["recipe"])
    assert (memory.relations, memory.memory_type, memory.findings) == ({"blocks": ("X",)}, "recipe", ())


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("null", None), ("~", None), ("", None), ("true", True), ("False", False), ("5", 5), ("-5", -5), ("0.5", 0.5),
        ("1.0", 1.0), ("12:30", "12:30"), ("1.10", "1.10"), ("no", "no"), ("007", "007"), ("1e3", "1e3"), ("+5", "+5"),
        ("0x1f", "0x1f"), (".5", ".5"), ("2026-04-05", "2026-04-05"), ("'5'", "5"), ('"true"', "true"),
        ("[[X]]", "[[X]]"), ("[[a, b]]", "[[a, b]]"), ("[1, [2, x]]", [1, [2, "x"]]), ("{a: {b: 1}}", {"a": {"b": 1}}),
        ("12345678901234567890", "12345678901234567890"), ("=", "="), ("!!python/object:os.system x", "x"),
        ("!!int 5", "5"), ("<<", "<<"), ("1.7976931348623157e+308", 1.7976931348623157e308), ("1e999", "1e999"),
    ],
)  # fmt: skip
def test_a_persons_own_values_keep_their_text(written: str, expected: object) -> None:
    value = fronted(f"mine: {written}").metadata["mine"]
    assert (value, type(value)) == (expected, type(expected))


def test_the_metadata_map_holds_keys_that_equal_a_field() -> None:
    memory = fronted("mine: 1", "metadata: {status: open, mine: 2, other: 3}")
    assert memory.metadata == {"status": "open", "mine": 1, "other": 3}
    assert memory.status == "active"
    assert fronted("metadata: text").metadata == {"metadata": "text"}


@pytest.mark.parametrize(
    ("lines", "created", "updated"),
    [
        (["created_at: 2026-01-01", "created: 2025-01-01"], 2026, None),
        (["created: 2025-01-01", "date: 2024-01-01"], 2025, None),
        (["date: 2024-01-01"], 2024, None),
        (["created: long ago", "date: 2024-01-01"], 2024, None),
        (["updated: 2023-01-01", "modified: 2022-01-01"], None, 2023),
        (["modified: 2022-01-01"], None, 2022),
        (["created: [2022-01-01]"], None, None),
    ],
)
def test_other_peoples_words_for_times_are_understood(
    lines: list[str], created: int | None, updated: int | None
) -> None:
    memory = fronted(*lines)
    assert (memory.created_at and memory.created_at.year) == created
    assert (memory.updated_at and memory.updated_at.year) == updated
    assert not memory.findings
    assert set(memory.metadata) == {line.partition(":")[0] for line in lines} - {"created_at"}
    assert ("created_at" in memory.stated) == (lines[0].startswith("created_at"))


# --- findings ----------------------------------------------------------------------------------------------------


def test_the_first_of_two_equal_keys_wins_and_edits_are_blocked() -> None:
    memory = fronted("title: One", "tags: [a]", "title: Two")
    assert memory.title == "One"
    (finding,) = memory.findings
    assert (finding.code, finding.line, finding.blocks_edit) == ("duplicate_key", 4, True)


@pytest.mark.parametrize("line", ["created_at: 2024-02-30", "expires_at: 2024-01-01T25:00", "date: 2023-13-01"])
def test_impossible_dates_are_a_finding(line: str) -> None:
    memory = fronted("x: 1", line)
    (finding,) = memory.findings
    assert (finding.code, finding.line, finding.blocks_edit) == ("impossible_date", 3, True)
    assert memory.created_at is memory.expires_at is None


def test_a_persons_impossible_date_in_an_own_key_is_text() -> None:
    memory = fronted("due: 2024-02-30")
    assert (memory.metadata, memory.findings) == ({"due": "2024-02-30"}, ())


def test_aliases_are_followed_up_to_a_limit() -> None:
    assert fronted("a: &x [1, 2]", "b: *x").metadata == {"a": [1, 2], "b": [1, 2]}
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    memory = fronted("title: Bomb", *lines)
    assert set(codes(memory)) == {"alias_limit"}
    assert (memory.title, memory.content) == ("Bomb", "body\n")
    assert all(finding.blocks_edit for finding in memory.findings)


def test_an_alias_inside_its_own_anchor_does_not_hang() -> None:
    memory = fronted("loop: &l [*l]")
    assert codes(memory) in (["alias_limit"], ["malformed_yaml"])


@pytest.mark.parametrize("deep", ["[" * 3000, "- " * 3000, "{a: " * 3000, "> " * 3000])
def test_endless_nesting_is_a_finding(deep: str) -> None:
    assert len(codes(fronted(f"x: {deep}"))) <= 1
    assert read(f"---\n{deep}\n---\nbody").content


CONFLICT = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> topic\n"


@pytest.mark.parametrize(
    "text",
    [
        f"before\n{CONFLICT}",
        f"---\ntitle: x\n---\n{CONFLICT}",
        f"---\n{CONFLICT}---\nbody",
        CONFLICT.replace("\n", "\r\n"),
        CONFLICT.replace("=======", "||||||| base\nold\n======="),
        f"```\n{CONFLICT}```\n",
    ],
)
def test_conflict_markers_mark_the_note(text: str) -> None:
    memory = read(text)
    assert memory.conflicted
    assert "theirs" in memory.content or "theirs" in str(memory.metadata)


@pytest.mark.parametrize(
    "text", ["<<<<<<< HEAD\n", "a <<<<<<< b\n=======\n>>>>>>> c\n", "> " + CONFLICT.split("\n")[0]]
)
def test_half_a_conflict_marker_is_just_text(text: str) -> None:
    assert not read(text).conflicted


@pytest.mark.parametrize("data", [b"\xff\xfe", b"a\0b", b"---\ntitle: \xe9\n---\n"])
def test_bytes_that_are_no_text_are_unreadable(data: bytes) -> None:
    with pytest.raises(UnreadableNote):
        parse(data, "x.md")


def test_a_character_that_yaml_forbids_is_named_with_its_line() -> None:
    memory = read("---\ntitle: ä\nx: a\x07b\n---\n")
    assert [(finding.code, finding.line) for finding in memory.findings] == [("malformed_yaml", 3)]


# --- inline tags -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "tags"),
    [
        ("#one and #two/deep, #three-x.", ("one", "two/deep", "three-x")),
        ("#2024 #2024-q1 #día #日本 #🙂", ("2024-q1", "día", "日本", "🙂")),
        ("`#no` ``#no ` #no`` #yes", ("yes",)),
        ("```\n#no\n```\n#yes\n~~~\n#no", ("yes",)),
        ("    #no\n\n- item\n\n    #yes", ("yes",)),
        ("a#no (#no) [x](#no) [[#no]] https://x.org/#no", ()),
        ("# Heading #yes\n## no", ("yes",)),
        ("#a #a #A", ("a", "A")),
        ("> #quoted", ("quoted",)),
        ("\\`#yes \\` `#no`", ("no",)),
    ],
)
def test_inline_tags_follow_obsidian_outside_code(body: str, tags: tuple[str, ...]) -> None:
    if body.startswith("\\"):
        tags = ()
    assert read(body).inline_tags == tags


# --- rendering ---------------------------------------------------------------------------------------------------


def test_a_new_note_has_its_fields_in_order_and_no_defaults() -> None:
    data = render(
        {
            "version": 1, "title": "Deploy with fly.io, not Heroku", "id": "1ngvj1k9f3qw", "memory_type": "decision",
            "status": "active", "tags": ["deploy", "ops"], "project": "acme-api", "source": "agent",
            "agent": "claude-code", "session": "0b2f6c1e", "confidence": 0.9, "importance": 0.5, "pinned": False,
            "created_at": datetime(2026, 11, 30, 19, 2, 11, tzinfo=UTC),
            "updated_at": datetime(2026, 11, 30, 19, 2, 11, tzinfo=UTC), "domain": None, "aliases": [],
        },
        "We moved.\n",
        relations={"supersedes": ["deploy-with-heroku"], "relates_to": []},
        metadata={"ticket": "OPS-7", "status": "open", "points": 3, "nested": {"a": [1.5, None, True]}},
    )  # fmt: skip
    assert (
        data.decode()
        == """\
---
id: 1ngvj1k9f3qw
title: "Deploy with fly.io, not Heroku"
memory_type: decision
tags: [deploy, ops]
project: acme-api
session: 0b2f6c1e
agent: claude-code
source: agent
confidence: 0.9
created_at: 2026-11-30T19:02:11Z
updated_at: 2026-11-30T19:02:11Z
version: 1
supersedes: ["[[deploy-with-heroku]]"]
ticket: OPS-7
points: 3
nested: {a: [1.5, null, true]}
metadata: {status: open}
---
We moved.
"""
    )


@given(TEXT)
@example("---\na: b\n---\n")
@example("---\n")
@example("---")
@example("\n\n---\n")
@example("\ufeffx")
@example("a\r\nb")
@example("\r")
@example("")
def test_content_comes_back_byte_for_byte(content: str) -> None:
    for fields in ({}, {"title": "x"}):
        assert parse(render(fields, content), "n.md").content == content


@given(TEXT, st.lists(TEXT, max_size=4), TEXT, st.dictionaries(TEXT, TEXT, max_size=3))
def test_field_values_come_back_as_given(title: str, aliases: list[str], outcome: str, own: dict[str, str]) -> None:
    data = render({"title": title, "aliases": aliases, "outcome": outcome}, "", metadata=own)
    memory = parse(data, "n.md")
    assert codes(memory) == []
    if title and not any(character in title for character in "\n\r\x85\u2028\u2029"):
        assert memory.title == title
    assert memory.aliases == tuple(dict.fromkeys(alias for alias in aliases if alias))
    assert memory.outcome == (outcome or None)
    assert memory.metadata == own
    yaml.safe_load(split(data).block or "")


@given(st.text("yYnN0123456789.:-+eE_xXobtTrufalsn~ ,#'\"[]{}!&*|>%@`=<?\\\n\t\x85\u2028\ufeff", max_size=8))
def test_every_written_text_reads_alike_for_every_reader(text: str) -> None:
    data = render({}, "", metadata={"k": text, "l": [text], "m": {"n": text}})
    assert parse(data, "n.md").metadata == {"k": text, "l": [text], "m": {"n": text}}
    assert by_every_reader(data) == [{"k": text, "l": [text], "m": {"n": text}}] * 2


@pytest.mark.parametrize("content", ["a\0b", "\ud800"])
def test_text_that_no_file_can_hold_is_refused(content: str) -> None:
    with pytest.raises(InvalidRequest):
        render({}, content)
    with pytest.raises(InvalidRequest):
        render({"title": content}, "")


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_are_refused(number: float) -> None:
    with pytest.raises(InvalidRequest):
        render({}, "", metadata={"x": number})


def test_an_unknown_field_is_a_programming_error() -> None:
    with pytest.raises(KeyError):
        render({"colour": "red"}, "")
