"""The passage that shows why a memory was found."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from vault_memory.index.analyse import analyse_query, locate
from vault_memory.search.snippet import Mark, snippet

FILLER = "Nothing of interest is said in this sentence at all. " * 20


def marks(content: str, query: str) -> list[Mark]:
    return [Mark(start, end, term) for term in analyse_query(query) for start, end in locate(content, [term])]


def test_the_passage_around_the_match_is_shown_with_its_place() -> None:
    content = FILLER + "Rotate the submarine credentials every lunar month. " + FILLER
    found = snippet(content, marks(content, "submarine credentials"))
    assert "submarine credentials every lunar month" in found.text
    assert content[found.start : found.end] == found.text
    assert [found.text[a:b] for a, b in found.marks] == ["submarine", "credentials"]
    assert found.cut_before
    assert found.cut_after
    assert len(found.text) <= 240


def test_the_passage_with_the_most_distinct_words_wins_over_repetitions() -> None:
    content = "port port port port. " + FILLER + "The billing database listens on port 5433. " + FILLER
    assert "billing database" in snippet(content, marks(content, "billing database port")).text


def test_a_rare_word_outweighs_common_ones() -> None:
    content = "alpha beta. " + FILLER + "gamma."
    where = [
        Mark(0, 5, "alpha", 0.1),
        Mark(6, 10, "beta", 0.1),
        Mark(content.index("gamma"), len(content) - 1, "gamma", 3),
    ]
    assert snippet(content, where).text.endswith("gamma.")


def test_sr_02_chinese_is_cut_around_the_match() -> None:
    content = "无关的内容。" * 100 + "今天我们讨论了数据库迁移方案。" + "其他的事情。" * 100
    found = snippet(content, marks(content, "数据库"), width=60)
    assert "数据库迁移" in found.text
    assert len(found.text) <= 60
    assert found.marks


def test_without_a_word_the_sentence_nearest_in_meaning_is_shown() -> None:
    content = FILLER + "Backups run at night. " + FILLER
    assert "Backups" in snippet(content, [], meaning=lambda sentence: float("Backups" in sentence)).text
    assert snippet(content, []).start == 0


def test_only_the_chunk_that_matched_is_looked_at() -> None:
    content = "walnut one. " + FILLER + "walnut two."
    place = content.index("walnut two")
    assert snippet(content, marks(content, "walnut"), within=(place, len(content))).text == "walnut two."


def test_words_are_not_cut_in_half() -> None:
    content = "supercalifragilistic " * 50
    found = snippet(content, [Mark(420, 440, "x")], width=100)
    assert set(found.text.split()) == {"supercalifragilistic"}


_MARKS = st.lists(st.tuples(st.integers(0, 300), st.integers(1, 12), st.sampled_from("abc")), max_size=8)


@settings(deadline=None)
@given(st.text(max_size=300), _MARKS, st.integers(1, 120), st.tuples(st.integers(-5, 320), st.integers(-5, 320)))
def test_a_snippet_is_always_a_part_of_the_text(
    content: str, where: list[tuple[int, int, str]], width: int, within: tuple[int, int]
) -> None:
    placed = [
        Mark(start, min(start + length, len(content)), term) for start, length, term in where if start < len(content)
    ]
    found = snippet(content, placed, within=within, width=width)
    assert content[found.start : found.end] == found.text
    assert len(found.text) <= max(width, max((m.end - m.start for m in placed), default=0))
    assert all(0 <= a < b <= len(found.text) for a, b in found.marks)
