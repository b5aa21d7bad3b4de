"""The Tantivy index: keys by terms, filters inside the query, one writer, readers that see commits on request."""

from __future__ import annotations

from pathlib import Path

import pytest

from vault_memory.index.text import TextDocument, TextFilter, TextReader, TextWriter

EVERY = TextFilter()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with TextWriter(tmp_path / "t") as writer:
        writer.add(
            [
                TextDocument(1, 1, " walnut  cake ", "c++", ("red", "two words")),
                TextDocument(2, 2, " walnut  c++  c ", "", ("blue",)),
                TextDocument(3, 1, " " + "x" * 200 + " ", "walnut"),
            ]
        )
        writer.commit()
    return tmp_path / "t"


def found(folder: Path, *terms: str, where: TextFilter = EVERY, limit: int = 10, beside: bool = False) -> list[int]:
    return sorted(TextReader(folder).search(dict.fromkeys(terms, 1.0), limit, where, beside=beside))


def test_chunks_are_found_by_any_of_the_terms_exactly_as_analysed(folder: Path) -> None:
    assert found(folder, "walnut", "nothing") == [1, 2]
    assert found(folder, "c++") == [2]
    assert found(folder, "x" * 200) == [3]
    assert found(folder, "WALNUT") == []


def test_terms_beside_the_text_select_only_when_asked(folder: Path) -> None:
    assert found(folder, "c++", beside=True) == [1]
    assert found(folder, "walnut", beside=True) == [3]


def test_filters_are_judged_inside_the_query(folder: Path) -> None:
    assert found(folder, "walnut", where=TextFilter(kinds=(1,))) == [1]
    assert found(folder, "walnut", where=TextFilter(kinds=(1, 2))) == [1, 2]
    assert found(folder, "walnut", where=TextFilter(kinds=())) == []
    assert found(folder, "walnut", where=TextFilter(tags=(("two words", "none"),))) == [1]
    assert found(folder, "walnut", where=TextFilter(tags=(("red",), ("blue",)))) == []
    assert found(folder, "walnut", where=TextFilter(chunks=(2, 3))) == [2]
    assert found(folder, "walnut", where=TextFilter(chunks=())) == []


def test_no_terms_find_nothing(folder: Path) -> None:
    assert found(folder) == []


def test_a_term_that_is_worth_more_comes_first(folder: Path) -> None:
    reader = TextReader(folder)
    assert list(reader.search({"cake": 1.0, "c": 9.0}, 10, EVERY)) == [2, 1]
    assert list(reader.search({"cake": 9.0, "c": 1.0}, 10, EVERY)) == [1, 2]


def test_removed_documents_are_gone_and_a_reader_sees_a_commit_when_it_reloads(folder: Path) -> None:
    reader = TextReader(folder)
    with TextWriter(folder) as writer:
        writer.remove([1, 99])
        writer.commit()
    assert sorted(reader.keys()) == [1, 2, 3]
    reader.reload()
    assert sorted(reader.keys()) == [2, 3]


def test_what_was_not_committed_is_not_there(folder: Path) -> None:
    with TextWriter(folder) as writer:
        writer.add([TextDocument(7, 1, " walnut ", "")])
    assert found(folder, "walnut") == [1, 2]


def test_a_second_writer_is_refused_while_one_is_open(folder: Path) -> None:
    with TextWriter(folder), pytest.raises(ValueError, match="LockBusy"):
        TextWriter(folder)


def test_a_folder_that_is_no_index_is_not_made_one_by_a_reader(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        TextReader(tmp_path / "none")
    (tmp_path / "t").mkdir()
    with pytest.raises(FileNotFoundError):
        TextReader(tmp_path / "t")
    assert list((tmp_path / "t").iterdir()) == []
