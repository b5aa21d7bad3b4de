"""Chunks with terms, tokens and vectors."""

from __future__ import annotations

import numpy as np
import pytest

from tests.index.indexed_vault import memory, model
from vault_memory.index.analyse import analyse
from vault_memory.index.derive import derive, fingerprint


def test_label_and_text_are_indexed_and_path_urls_and_own_keys_beside_them() -> None:
    note = memory(
        "people/anna.md", "Deploys on Friday", title="Release", tags=("ops",), domain="infra",
        url="https://docs.example.com/a", metadata={"client": {"name": "Globex"}, "seen": True},
    )  # fmt: skip
    (chunk,) = derive([note], model())[0]
    assert set(chunk.terms.split()) == set(analyse("Release ops infra Deploys on Friday"))
    assert chunk.length == len(chunk.terms.split())
    assert set(analyse("people anna docs.example.com client Globex")) <= set(chunk.extra.split())
    assert chunk.made_by == fingerprint(model())


def test_tokens_are_the_unique_ids_of_label_and_text_in_rising_order() -> None:
    (chunk,) = derive([memory("a.md", "the port the port", title="the database")], model())[0]
    ids = np.frombuffer(chunk.tokens or b"", "<u2").tolist()
    assert ids == sorted(set(model().tokenise(["the database the port"])[0]))


def test_a_vector_is_that_of_label_and_text_together() -> None:
    (chunk,) = derive([memory("a.md", "listens on 5433", title="Postgres")], model())[0]
    assert np.array_equal(np.frombuffer(chunk.vector or b"", "<f4"), model().encode("Postgres listens on 5433"))


def test_only_the_first_chunk_is_found_by_the_path() -> None:
    note = memory("some/where.md", "para graph. " * 300)
    first, *rest = derive([note], model())[0]
    assert rest
    assert first.extra
    assert not any(chunk.extra for chunk in rest)


@pytest.mark.parametrize("body", ["", "   \n", "😀😀", "\u200b\u200b"])
def test_a_body_without_words_has_no_vector_even_when_its_title_has(body: str) -> None:
    (chunk,) = derive([memory("a.md", body, title="Quarterly plan")], model())[0]
    assert chunk.vector is None
    assert "plan" in chunk.terms.split()
    assert chunk.tokens


def test_without_a_model_there_are_words_only() -> None:
    (chunk,) = derive([memory("a.md", "hello")], None)[0]
    assert (chunk.tokens, chunk.vector) == (None, None)
    assert "hello" in chunk.terms.split()
    assert fingerprint(None) != fingerprint(model())


def test_a_memory_gives_the_same_chunks_alone_and_among_others() -> None:
    notes = [memory(f"n{n}.md", f"text number {n} " * (n * 40 + 1)) for n in range(12)]
    assert derive(notes, model()) == [derive([note], model())[0] for note in notes]
