"""Where notes are cut, and what is said beside a chunk."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vault_memory.memory.chunk import MAX_CHUNK_BYTES, chunks, label
from vault_memory.memory.model import Memory

BLOCKS = st.sampled_from(
    [
        "\n",
        "\n\n",
        "# One\n",
        "## Two words ##\n",
        "```\n# code\n```\n",
        "~~~",
        " ",
        "word " * 40,
        "Satz. " * 90,
        "数据库" * 300,
    ]
)


def of(content: str, **values: object) -> list[str]:
    return [chunk.text for chunk in chunks(Memory("a.md", content, **values))]  # type: ignore[arg-type]


@given(st.lists(BLOCKS | st.text(max_size=30), max_size=20).map("".join))
def test_chunks_cover_all_but_blank_text_in_order_and_stay_small(content: str) -> None:
    parts = chunks(Memory("a.md", content))
    assert parts
    assert [part.n for part in parts] == list(range(len(parts)))
    at = 0
    for part in parts:
        assert part.text == content[part.start : part.end]
        assert not content[at : part.start].strip()
        assert len(part.text.encode("utf-8", "surrogatepass")) <= MAX_CHUNK_BYTES * 4
        at = part.end
    assert not content[at:].strip()
    assert len(parts) == 1 or all(part.text.strip() for part in parts)


@given(st.text(st.characters(max_codepoint=127), max_size=6_000))
def test_english_chunks_keep_the_bound(content: str) -> None:
    assert all(len(part.text) <= MAX_CHUNK_BYTES for part in chunks(Memory("a.md", content)))


def test_a_short_note_is_one_chunk_whatever_its_headings() -> None:
    assert len(of("# A\n\none\n\n# B\n\ntwo\n\n# C\n\nthree")) == 1


def test_a_long_note_is_cut_at_its_headings() -> None:
    content = "".join(f"# Part {n}\n\n{'lorem ipsum dolor ' * 20}\n\n" for n in range(8))
    parts = chunks(Memory("a.md", content))
    assert [part.heading for part in parts] == [f"Part {n}" for n in range(8)]
    assert all(part.text.startswith("# Part") for part in parts)


def test_a_line_in_fenced_code_is_no_heading() -> None:
    content = "# Real\n\n" + "text " * 200 + "\n\n```sh\n# not one\n```\n\n" + "text " * 200
    assert {part.heading for part in chunks(Memory("a.md", content))} == {"Real"}


def test_small_sections_share_a_chunk_with_the_next() -> None:
    content = "# Big\n\n" + "word " * 300 + "\n\n# Small\n\nx\n\n# Next\n\n" + "word " * 100
    assert any(text.startswith("# Small") and "# Next" in text for text in of(content))


def test_a_paragraph_after_a_very_long_one_stands_alone() -> None:
    content = "filler words without end " * 400 + "\n\nThe last paragraph."
    assert of(content)[-1] == "The last paragraph."


def test_an_empty_note_has_one_empty_chunk() -> None:
    assert [(part.start, part.end, part.text) for part in chunks(Memory("a.md", " \n\n"))] == [(0, 0, "")]


def test_a_label_names_title_aliases_tags_and_domain() -> None:
    note = Memory("a.md", "Body", title="Deploy", aliases=("ship it",), tags=("ops", "prod"), domain="infra")
    assert label(note, 0) == "Deploy\nship it\nops prod\ninfra"


def test_an_automatic_title_is_not_said_again() -> None:
    note = Memory("a.md", "We moved to fly.io because\nof networking. More.", title="We moved to fly.io because of…")
    assert label(note, 0) == label(note, 3) == ""


def test_a_heading_as_title_is_said_beside_later_chunks_only() -> None:
    note = Memory("a.md", "# Deploying\n\nText", title="Deploying")
    assert (label(note, 0), label(note, 1)) == ("", "Deploying")
