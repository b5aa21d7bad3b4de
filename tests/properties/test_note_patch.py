"""Edits of nasty front matter: only the named lines differ, everything else is byte-equal. Proven against two twins."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.nasty_notes import NastyNote, nasty_note, random_changes
from vault_memory.errors import MalformedNote
from vault_memory.memory.markdown import parse, patch, split
from vault_memory.memory.model import FIELDS, RELATION_TYPES, Memory

Writer = Callable[[bytes, Mapping[str, Any]], bytes]


def only_named_lines(note: NastyNote, changes: Mapping[str, Any]) -> re.Pattern[str]:
    """What the result must look like: every other fragment verbatim and in its place."""
    pattern = re.escape(note.opening)
    for one in note.fragments:
        pattern += "(?:.*?)" if one.key in changes else re.escape(one.text)
    new_keys = "(?:.*?)" if any(key not in note.keys for key in changes) else ""
    return re.compile(pattern + new_keys + re.escape(note.closing + note.body), re.DOTALL)


def says(memory: Memory, key: str, value: Any) -> bool:
    """True when the note now says what was asked."""
    if value is None:
        return key not in memory.stated and key not in memory.metadata
    if key in RELATION_TYPES and not value:
        return key not in memory.relations
    if key in RELATION_TYPES:
        return memory.relations.get(key) == tuple(value)
    if key not in FIELDS:
        return bool(memory.metadata.get(key) == value)
    found = getattr(memory, key)
    if isinstance(value, list):
        wanted = (item.lstrip("#") for item in value) if key == "tags" else value
        return bool(found == tuple(dict.fromkeys(str(item).strip() if key == "tags" else item for item in wanted)))
    if key == "title":
        return bool(found == re.sub(r"\s*[\n\x85\u2028]\s*", " ", value))
    return bool(found == value)


def check(note: NastyNote, changes: Mapping[str, Any], write: Writer) -> bool:
    """Assert all that an edit promises; False when it was refused."""
    data = note.text.encode()
    try:
        result = write(data, changes)
    except MalformedNote:
        return False
    text = result.decode()
    assert only_named_lines(note, changes).fullmatch(text), "other lines changed"
    for one in note.fragments:
        assert all(comment in text for comment in one.comments), "a comment was lost"
    before, after = parse(data, "n.md"), parse(result, "n.md")
    assert after.content == before.content
    for key, value in changes.items():
        assert says(after, key, value), f"{key} does not say {value!r}"
    assert {k: v for k, v in after.metadata.items() if k not in changes} == {
        k: v for k, v in before.metadata.items() if k not in changes
    }
    assert write(result, changes) == result, "the same edit again changed something"
    return True


def run(seeds: range, write: Writer = patch) -> int:
    """Check one random edit a seed; the number that was carried out."""
    done = 0
    for seed in seeds:
        random = Random(seed)
        note = nasty_note(random)
        try:
            done += check(note, random_changes(random, note), write)
        except AssertionError as error:
            error.add_note(f"seed {seed}")
            raise
    return done


def test_edits_change_only_the_lines_they_name() -> None:
    assert run(range(1_000)) > 850


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_ten_thousand_edits_change_only_the_lines_they_name() -> None:
    assert run(range(1_000, 11_000)) > 8_500


@given(st.randoms(use_true_random=False), st.data())
@settings(max_examples=100, deadline=None)
def test_edits_found_by_search_change_only_the_lines_they_name(random: Random, data: st.DataObject) -> None:
    note = nasty_note(random)
    key = data.draw(st.sampled_from(["title", "domain", "mood", *[k for k in note.keys if k in ("title", "mood")]]))
    value = data.draw(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\n\x85\u2028\u2029"), min_size=1)
    )
    check(note, {key: value}, patch)


def dumping_twin(data: bytes, changes: Mapping[str, Any]) -> bytes:
    """The usual way: load, change, dump."""
    parts = split(data)
    loaded = yaml.safe_load(parts.block or "") or {}
    loaded |= changes
    return f"---\n{yaml.safe_dump(loaded, allow_unicode=True)}---\n{parts.body}".encode()


def line_twin(data: bytes, changes: Mapping[str, Any]) -> bytes:
    """Another usual way: find the key's line and write it anew."""
    text = data.decode()
    for key, value in changes.items():
        line = "" if value is None else f"{key}: {yaml.safe_dump(value, default_flow_style=True).splitlines()[0]}"
        text = re.sub(rf"(?m)^{re.escape(key)}:.*$", lambda _, line=line: line, text, count=1)
    return text.encode()


@pytest.mark.parametrize("twin", [dumping_twin, line_twin])
def test_a_careless_writer_is_caught(twin: Writer) -> None:
    caught = 0
    for seed in range(100):
        try:
            run(range(seed, seed + 1), twin)
        except (AssertionError, yaml.YAMLError, ValueError):
            caught += 1
    assert caught > 60
