"""The lean embedder gives model2vec's vectors, and another model comes through model2vec."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from tests.index.indexed_vault import model
from vault_memory.index.embed import PACKAGED, ModelUnavailable, _mapped_table, load_embedder

TEXTS = [
    "How do we deploy?", "Deploys go through fly.io, not Heroku's EU region (private networking).", "naïve café ÉTÉ",
    "getUserName() in src/app/main.py #123", "tab\tand\nnewline\r\n end", "a " * 3_000, "it's 12:30 — “quoted” text…",
    "数据库 migration", "x" * 200, "\x00nul and \x0b control \x85 here",
]  # fmt: skip
NOTHING = ["", "   \n", "😀😀", "\u200b\u200b", "数据"]


@pytest.fixture(scope="module")
def reference() -> object:
    from model2vec import StaticModel

    return StaticModel.from_pretrained(str(PACKAGED), force_download=False)


def test_vectors_equal_those_of_model2vec(reference) -> None:  # type: ignore[no-untyped-def]
    embedder = model()
    ours = embedder.vectors(embedder.tokenise(TEXTS))
    theirs = reference.encode(TEXTS, max_length=None, use_multiprocessing=False).astype(np.float32)
    known = ours.any(axis=1)
    assert np.array_equal(known, theirs.any(axis=1))
    assert known.sum() >= len(TEXTS) - 1
    theirs[known] /= np.linalg.norm(theirs[known], axis=1, keepdims=True)
    assert np.einsum("ij,ij->i", ours, theirs)[known].min() > 0.999999  # model2vec rounds the mean to half precision
    assert np.abs(ours - theirs).max() < 5e-4


def test_vectors_equal_those_of_model2vec_in_single_precision(reference) -> None:  # type: ignore[no-untyped-def]
    from model2vec import StaticModel

    single = StaticModel(reference.embedding.astype(np.float32), reference.tokenizer, normalize=True)
    embedder = model()
    theirs = single.encode(TEXTS, max_length=None, use_multiprocessing=False)
    assert np.abs(embedder.vectors(embedder.tokenise(TEXTS)) - theirs).max() < 1e-6


PLAIN = Tokenizer.from_file(str(PACKAGED / "tokenizer.json"))
PLAIN.no_truncation()
PLAIN.no_padding()


@settings(max_examples=300)
@given(
    st.text(max_size=60)
    | st.text(st.sampled_from("aZ é\u0301\u00a0\u3000\u2028库'_-#.\u200b\x1c\x85\t\n"), max_size=40)
)
def test_tokenising_word_by_word_gives_the_tokens_of_the_whole_text(text: str) -> None:
    readable = text.encode("utf-8", "ignore").decode()
    whole = [token for token in PLAIN.encode(readable, add_special_tokens=False).ids if token != model().unknown]
    assert model().tokenise([text]) == [whole]


def test_a_vector_depends_on_its_text_alone() -> None:
    embedder = model()
    together = embedder.vectors(embedder.tokenise(TEXTS * 3))
    for text, vector in zip(TEXTS * 3, together, strict=True):
        assert np.array_equal(embedder.encode(text), vector)


@pytest.mark.parametrize("text", NOTHING)
def test_what_the_model_does_not_know_has_a_zero_vector_and_no_nan(text: str) -> None:
    vector = model().encode(text)
    assert not np.isnan(vector).any()
    assert np.linalg.norm(vector) == pytest.approx(0) or text == "数据"


def test_the_script_that_made_the_model_keeps_the_cosines(tmp_path: Path) -> None:
    made = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "quantise_model.py"))
    table = np.random.default_rng(1).standard_normal((500, 256)).astype(np.float32)
    made["write_table"](table, tmp_path / "model.safetensors")
    half = np.asarray(_mapped_table(tmp_path / "model.safetensors"), np.float32)
    norms = np.linalg.norm(table, axis=1) * np.linalg.norm(half, axis=1)
    assert (np.einsum("ij,ij->i", table, half) / norms).min() > 0.999999
    assert made["REVISION"] in model().fingerprint


def test_the_script_refuses_a_file_that_is_not_the_published_model(tmp_path: Path) -> None:
    made = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "quantise_model.py"))
    made["write_table"](np.ones((2, 2), np.float32), tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match="is not revision"):
        made["read_table"](tmp_path / "model.safetensors")


@pytest.mark.parametrize("name", ["/no/such/folder", "nothing-here", "~/no/such/folder", "./relative"])
def test_a_missing_folder_is_no_reason_to_look_on_the_network(name: str) -> None:
    with pytest.raises(ModelUnavailable, match="there is no folder"):
        load_embedder(name)


def test_another_model_comes_through_model2vec_and_has_another_fingerprint(tmp_path: Path) -> None:
    other = small_model(tmp_path / "other", 64)
    embedder = load_embedder(str(other))
    assert embedder.dimensions == 64
    assert embedder.fingerprint != model().fingerprint
    assert np.linalg.norm(embedder.encode("how do we deploy")) == pytest.approx(1, abs=1e-6)


def small_model(folder: Path, dimensions: int) -> Path:
    """A model2vec folder of the packaged vocabulary with so many dimensions."""
    from model2vec import StaticModel

    table = np.asarray(model().table[:, :dimensions], np.float32)
    StaticModel(table, PLAIN, normalize=True).save_pretrained(folder)
    return folder


def test_loading_the_packaged_model_imports_nothing_heavy() -> None:
    code = (
        "from vault_memory.index.embed import load_embedder; load_embedder().encode('x'); import sys, json;"
        "print(json.dumps([m for m in ('model2vec', 'lancedb', 'pyarrow', 'mcp', 'joblib') if m in sys.modules]))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(shown.stdout) == []


def test_the_licence_ships_with_the_model() -> None:
    assert "Permission is hereby granted, free of charge" in (PACKAGED / "LICENSE").read_text("utf-8")
    assert json.loads((PACKAGED / "config.json").read_text("utf-8"))["revision"] in model().fingerprint
