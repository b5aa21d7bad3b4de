"""The handed cases of kinds search and embedding, at the level of the indexes."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from tests.index.indexed_vault import BOTH, KEYWORD, SEMANTIC, IndexedVault, memory
from vault_memory.index.analyse import analyse_query, locate
from vault_memory.index.candidates import Sizes

HASH = "9fceb02d0ae598e95dc970b74767f19372d61af8"
NOTE_1 = f"Use C++ and node.js; call foo_bar() in src/app/main.py, see #123, mail ops@example.org, fixed in {HASH}"
UNRELATED = [
    "A letter came", "The main app failed", "123 apples", "Bar and foo", "Fixed prices", "Python 3 in C", "js files",
    "title of the fish days", "or and not", "Examples of mail",
]  # fmt: skip
IDENTIFIERS = ["C++", "node.js", "foo_bar", "src/app/main.py", "#123", "ops@example.org", HASH]
ODD = [
    "-well", '"unclosed', "(", "fish days:", "title:", "http://x.y/z?q=1", "12:30", "[[Wiki Link]]", "a AND", "OR", "^",
    "{", "\\\\", "a:(^", "[a TO", "*", "", "   ", "\x00", "a\x00b", "x" * 5_000, "\ud800", "'; DROP TABLE notes; --",
    "%", "NOT", "~1", "a^9", "+-!(){}[]^\"~*?:\\/", "x" * 200_000,
]  # fmt: skip


@pytest.fixture(params=["pending", "applied"])
def vault(request: pytest.FixtureRequest, tmp_path: Path):  # type: ignore[no-untyped-def]
    """A vault whose notes are put by `fill`, once pending and once applied."""
    opened = IndexedVault(tmp_path)
    opened.fill = lambda notes: (opened.put(notes), request.param == "applied" and opened.applier.apply())  # type: ignore[attr-defined]
    yield opened
    opened.close()


def test_sr_01_ordinary_text_is_found_as_text(vault) -> None:  # type: ignore[no-untyped-def]
    notes = {"n1.md": NOTE_1, "n2.md": "it is the well-known fix, don't retry"}
    vault.fill(notes | {f"u{n}.md": text for n, text in enumerate(UNRELATED)})
    for words in IDENTIFIERS:
        assert vault.found(words, KEYWORD)[0] == "n1.md", words
    for words in ("don't", "well-known", "-well"):
        assert vault.found(words, KEYWORD)[0] == "n2.md", words
        assert len(vault.found(words, KEYWORD)) < 4, "plain text, never all other notes"
    assert vault.found("[[Wiki Link]]", KEYWORD) == []


@pytest.mark.parametrize("words", ODD, ids=range(len(ODD)))
def test_sr_01_no_text_is_an_error_or_slow(vault, words: str) -> None:  # type: ignore[no-untyped-def]
    vault.fill({"n1.md": NOTE_1, "n2.md": "it is the well-known fix, don't retry"})
    start = time.process_time()
    found = vault.found(words, BOTH)
    assert time.process_time() - start < 1
    if not analyse_query(words):
        assert found == []


CJK = {
    "n1.md": "今天我们讨论了数据库迁移方案",
    "n2.md": "今日は成語しりとりをした",
    "n3.md": "오늘 끝말잇기 게임을 했다",
    "n4.md": "BBDown 下载工具链说明",
    "n5.md": "English only, nothing else",
}


@pytest.mark.parametrize(
    ("words", "path"),
    [
        ("数据库", "n1.md"), ("数据库 迁移", "n1.md"), ("しりとり", "n2.md"), ("끝말잇기", "n3.md"),
        ("BBDown 下载", "n4.md"), ("BBDown 视频下载", "n4.md"), ("nothing", "n5.md"), ("库", "n1.md"),
    ],
)  # fmt: skip
def test_sr_02_a_part_of_unspaced_text_finds_its_note_by_words(vault, words: str, path: str) -> None:  # type: ignore[no-untyped-def]
    vault.fill(CJK)
    assert vault.found(words, KEYWORD)[0] == path
    spans = locate(CJK[path], analyse_query(words))
    assert spans, "the passage that matches can be shown"


def test_sr_02_an_absent_word_lowers_but_does_not_empty(vault) -> None:  # type: ignore[no-untyped-def]
    vault.fill(CJK)
    whole, part = vault.gather("BBDown 下载", KEYWORD), vault.gather("BBDown 视频下载", KEYWORD)
    assert whole.bm25.max() == pytest.approx(part.bm25.max())
    assert part.term_hits.any(axis=0).tolist().count(False) == 2


LONG = "".join(f"# Section {n}\n\n{'word ' * 120}{'vermilion' if n == 11 else ''}\n\n" for n in range(1, 13))
SHORT = "".join(f"# Section {n}\n\n{'word ' * 120}\n\n" for n in range(1, 4))


@pytest.mark.parametrize("sizes", [KEYWORD, SEMANTIC, BOTH], ids=["keyword", "semantic", "both"])
@pytest.mark.parametrize("again", [False, True], ids=["live", "reopened"])
def test_sr_03_old_text_is_never_found(tmp_path: Path, sizes: Sizes, again: bool) -> None:
    vault = IndexedVault(tmp_path)

    def next_step(applied: bool) -> None:
        nonlocal vault
        if applied:
            vault.applier.apply()
        if again:
            vault.close()
            vault = IndexedVault(tmp_path)

    def ends(words: str) -> list[int]:
        return [fact.end for fact in vault.gather(words, sizes).facts if fact.path == "long.md"]

    for applied in (False, True):
        vault.put({"long.md": LONG, "other.md": "another note"})
        next_step(applied)
        assert "long.md" in vault.found("vermilion", sizes)
        vault.put({"long.md": SHORT})
        next_step(applied)
        assert max(ends("vermilion section"), default=0) <= len(SHORT)
        assert sizes.vectors or vault.found("vermilion", sizes) == []
        vault.put({"long.md": ""})
        next_step(applied)
        assert ends("section") == []
        assert vault.found("long", KEYWORD) == ["long.md"], "still found by its title"
        vault.remove("long.md", "other.md")
        next_step(applied)
        for words in ("vermilion", "section", "long", "another note"):
            assert vault.found(words, sizes) == []
        assert vault.catalog.meta("chunk_count") == 0


def test_em_02_notes_without_words_break_nothing_and_are_no_semantic_match(vault) -> None:  # type: ignore[no-untyped-def]
    odd = {"empty": "", "blank": "   \n", "emoji": "😀😀", "invisible": "\u200b\u200b"}
    notes = [memory(f"{name}.md", body, title=f"{name} quarterly", tags=("odd",)) for name, body in odd.items()]
    notes += [memory(f"n{n}.md", text) for n, text in enumerate(["A plan for autumn", "Fish need water", "Ports"])]
    vault.fill(notes)
    assert vault.found("autumn plan", BOTH)[0] == "n0.md"
    for name in odd:
        assert vault.found(name, KEYWORD) == [f"{name}.md"]
    assert len(vault.found("odd", KEYWORD)) == 4
    got = vault.gather("quarterly plan 😀", BOTH)
    assert not np.isnan(got.cosine).any()
    assert not np.isnan(got.vectors).any()
    assert not {f"{name}.md" for name in odd} & set(vault.found("quarterly plan", SEMANTIC))
    assert vault.found("😀", BOTH) == ["emoji.md"]
    assert vault.found("😀", SEMANTIC) == []
    assert vault.found("", BOTH) == []


FILLER = "The committee went through the agenda of the meeting and noted every remark about the building. "


def test_em_03_the_end_of_a_long_note_is_found_by_meaning(vault) -> None:  # type: ignore[no-untyped-def]
    last = "Rotate the submarine credentials every lunar month."
    big = FILLER * 260 + "\n\n" + last
    vault.fill({"big.md": big} | {f"n{n}.md": f"{text} number {n}" for n, text in enumerate(UNRELATED * 3)})
    question = "how often do we change the submarine passwords"
    for sizes in (SEMANTIC, BOTH):
        got = vault.gather(question, sizes)
        best = int(np.argmax(got.cosine))
        assert got.facts[best].path == "big.md"
        assert big[got.facts[best].start : got.facts[best].end] == last
        assert "big.md" in vault.found(question, sizes)[:3]
    long_query = "what about the weather and the trains " * 430 + question
    assert len(long_query.split()) > 3_000
    assert vault.found(long_query, KEYWORD)[0] == "big.md"
    assert "big.md" in vault.found(long_query, SEMANTIC)
