"""One analyser: words, identifiers whole and by part, scripts without spaces."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.index.analyse import MAX_TERM_CHARS, analyse, analyse_query, locate

HASH = "9fceb02d0ae598e95dc970b74767f19372d61af8"


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Use C++ and C#.", {"c++", "c#", "c", "use"}),
        ("node.js;", {"node.js", "node", "js"}),
        ("call foo_bar()", {"foo_bar", "foo", "bar"}),
        ("src/app/main.py,", {"src/app/main.py", "main.py", "src", "app", "main", "py"}),
        (r"C:\Users\bob\note.md", {r"c:\users\bob\note.md", "note.md", "bob"}),
        ("see #123", {"#123", "123"}),
        ("mail ops@example.org.", {"ops@example.org", "op", "exampl", "org"}),
        (f"fixed in {HASH}", {HASH}),
        ("getUserName", {"getusernam", "get", "user", "name"}),
        ("HTTPServer", {"httpserver", "http", "server"}),
        ("BBDown", {"bbdown", "bb", "down"}),
        ("std::vector", {"std::vector", "std", "vector"}),
        ("v1.2.3", {"v1.2.3", "1.2.3"}),
        ("eu-west-1", {"eu-west-1", "eu", "west"}),
        ("at 12:30", {"12:30"}),
        ("Straße café", {"strass", "cafe"}),
        ("re\u0301sume\u0301s", {"resum"}),
        ("running tests", {"run", "test"}),
        ("ＡＢＣ１２３", {"abc123"}),
        ("😀 ok", {"😀", "ok"}),
    ],
)
def test_identifiers_are_found_whole_and_by_part(text: str, terms: set[str]) -> None:
    assert terms <= set(analyse(text))


@pytest.mark.parametrize(
    "text", ["well-known", "don't", "The PDFs are here. Next one", "wait... what", "- item", "(a)"]
)
def test_prose_gets_no_identifier(text: str) -> None:
    assert all(term.isalnum() for term in analyse(text))


def test_any_part_of_text_without_spaces_shares_its_pairs() -> None:
    stored = set(analyse("今天我们讨论了数据库迁移方案"))
    assert set(analyse_query("数据库")) == {"数据", "据库"} <= stored
    assert set(analyse_query("库")) == {"库"} <= stored
    assert set(analyse_query("끝말잇기")) <= set(analyse("오늘 끝말잇기 게임을 했다"))
    assert set(analyse_query("しりとり")) <= set(analyse("今日は成語しりとりをした"))
    assert set(analyse_query("BBDown 下载")) <= set(analyse("BBDown 下载工具链说明")) | {"bb", "down"}


def test_a_query_has_no_doubles_and_keeps_its_order() -> None:
    assert analyse_query("tests of the test, of C++") == ["test", "of", "the", "c", "c++"]


@pytest.mark.parametrize("text", ["", "   ", "*", "(", "^", "{", "---", '"', "\x00", "\ud800"])
def test_text_without_words_has_no_terms(text: str) -> None:
    assert analyse_query(text) == []


@pytest.mark.parametrize("text", ["x" * 5_000, "x" * 100_000, "库" * 5_000, "a_" * 5_000, "#" * 5_000, "a.b-1" * 2_000])
def test_long_and_odd_text_is_analysed_in_time(text: str) -> None:
    start = time.process_time()
    terms = analyse_query(text)
    assert time.process_time() - start < 1
    assert all(len(term) <= MAX_TERM_CHARS for term in terms)


@given(st.text(max_size=60), st.text(max_size=60))
def test_terms_of_a_text_are_those_of_its_parts(left: str, right: str) -> None:
    assert analyse(f"{left} {right}") == analyse(left) + analyse(right)


@given(st.text(max_size=80))
def test_terms_hold_no_space_so_that_a_joined_bag_splits_into_them(text: str) -> None:
    terms = analyse(text)
    assert " ".join(terms).split() == terms
    assert all(terms)


@given(st.text(st.characters(max_codepoint=0x2FF), max_size=80))
def test_a_query_made_of_a_text_finds_that_text(text: str) -> None:
    assert set(analyse_query(text)) <= set(analyse(text))


def test_the_places_of_terms_are_character_spans() -> None:
    text = "Größe: running C++ 数据库 here"
    spans = locate(text, analyse_query("run grosse C++ 数据库"))
    assert [text[start:end] for start, end in spans] == ["Größe", "running", "C++", "数据库"]
