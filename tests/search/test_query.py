"""The query language, and the ordinary text that it must not eat."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_memory.search.query import MAX_CHARS, parse, search_words

NOW = datetime(2026, 12, 2, 9, tzinfo=UTC)
HASH = "9fceb02d0ae598e95dc970b74767f19372d61af8"
ORDINARY = [
    "C++", "node.js", "foo_bar", "src/app/main.py", "#123", "ops@example.org", HASH, "don't", "well-known", "-well",
    '"unclosed', "(", "fish days:", "title:", "http://x.y/z?q=1", "12:30", "[[Wiki Link]]", "a AND", "OR", "^", "{",
    "\\\\", "a:(^", "[a TO", "*", "", "   ", "\0", "x" * 5000,
]  # fmt: skip


@pytest.mark.parametrize("text", ORDINARY, ids=lambda text: text[:20] or "empty")
def test_sr_01_ordinary_text_is_plain_text(text: str) -> None:
    parsed = parse(text, NOW)
    assert not parsed.phrases
    assert not parsed.excluded
    assert not parsed.filters
    readable = "".join(char for char in text if char.isalnum())
    assert "".join(char for char in parsed.text if char.isalnum()) == readable
    assert parsed.has_words == any(char.isalnum() for char in text)


def test_sr_01_what_looked_like_a_mark_is_named_with_the_reason() -> None:
    reasons = {plain.piece: plain.reason for text in ('-well', '"unclosed', "type:", "before:soon") for plain in
               parse(text, NOW).plain}  # fmt: skip
    assert reasons == {
        "-well": "there is no other word to look for",
        '"unclosed': "the quotation mark has no partner",
        "type:": "there is no value after type:",
        "before:soon": "soon is no date (2026-03-05, 2026-03, 2026 or yesterday would be)",
    }


def test_every_mark_is_taken_out_of_the_text() -> None:
    parsed = parse(
        'deploy "blue green" -heroku tag:#ops tag:ci type:decision project:acme path:notes/2026 '
        'after:2026-03 before:"5 May 2026"',
        NOW,
    )
    assert parsed.text == "deploy blue green"
    assert parsed.phrases == ("blue green",)
    assert parsed.excluded == ("heroku",)
    assert parsed.tags == ("ops", "ci")
    assert parsed.types == ("decision",)
    assert parsed.projects == ("acme",)
    assert parsed.paths == ("notes/2026",)
    assert (parsed.after, parsed.before) == (date(2026, 3, 1), date(2026, 5, 5))
    assert parsed.plain == ()


def test_a_date_mark_is_reckoned_from_the_askers_clock() -> None:
    assert parse("deploys after:yesterday", NOW).after == date(2026, 12, 1)


@pytest.mark.parametrize("text", ["ls -l", "git commit -m", "minus -5 degrees", "--verbose output", "a - b", "x -- y"])
def test_hyphens_of_commands_numbers_and_dashes_exclude_nothing(text: str) -> None:
    assert parse(text, NOW).excluded == ()


@pytest.mark.parametrize("text", ["Tag: ops", "TYPE:x y", "note:type", "std::path", 'say ""', 'x="a"', "it's 5\" wide"])
def test_what_only_resembles_a_mark_stays_text(text: str) -> None:
    parsed = parse(text, NOW)
    assert not parsed.filters
    assert not parsed.phrases


def test_words_to_look_for_leave_out_what_only_asks() -> None:
    assert search_words("What did Caroline's kids do?", NOW) == "Caroline kids"
    assert search_words("how do we use C++ and node.js (v2)?", NOW) == "use C++ node.js v2"
    assert search_words("who are you", NOW) == "who are you"
    assert search_words("数据库 迁移。", NOW) == "数据库 迁移"


def test_may_is_looked_for_only_where_it_is_a_month() -> None:
    assert search_words("what may break in May", NOW) == "may break May"
    assert search_words("may I use the key", NOW) == "use key"


def test_a_query_is_read_to_a_bound() -> None:
    assert len(parse("word " * 100_000, NOW).text) <= MAX_CHARS


@settings(deadline=None)
@given(st.text(max_size=200))
def test_no_text_makes_it_fail_and_none_of_its_letters_is_lost(text: str) -> None:
    parsed = parse(text, NOW)
    if not parsed.filters and not parsed.excluded:
        letters = [char for char in text if char.isascii() and char.isalnum()]
        assert [char for char in parsed.text if char.isascii() and char.isalnum()] == letters
    assert isinstance(search_words(parsed.text, NOW), str)


_PIECES = st.sampled_from(
    ['"', "-", "tag:", "type:x", "before:", "after:2026", "path:", "word", ":", "'s", "(", " ", "\n"]
)


@settings(deadline=None)
@given(st.lists(_PIECES, max_size=12))
def test_no_mixture_of_marks_makes_it_fail(pieces: list[str]) -> None:
    parsed = parse("".join(pieces), NOW)
    assert all(plain.reason for plain in parsed.plain)
