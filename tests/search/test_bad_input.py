"""Whatever is typed into a search: an answer or a clear empty one, never an error and never everything."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import pytest

from benchmarks.retrieval.vault import MemoryVault
from tests.search.pools import NOW, token_vectors, vault
from tests.search.test_order import SOFTWARE, TALK
from vault_memory.config import Ranking
from vault_memory.search.order import order
from vault_memory.search.query import parse

ODD = [
    "", " ", "\0", "\x1b[31mred", "the of and", "what is it", "x" * 10_000, "word " * 2_000,
    '"', '""', '"a', "'", "a:(^",
    "(.*)+$", "[a-z", "\\", "שלום עולם", "مرحبا", "🎉🎉", "👩‍👩‍👧", "\u202eevil", "\ud800", "ﬁ", "İstanbul", "ß",
    "\u200b",
    "数据库 迁移", "しりとり", "끝말잇기", "-", "--", "-a -b", "tag:", "tag:x", "before:9999-12-31", "after:0001-01-01",
    "last 999 years", "0", "1e309", "nan", "NULL", "'; DROP TABLE notes; --", "../../etc/passwd", "*", "?",
    "a OR b AND",
]  # fmt: skip
_ALPHABET = [
    *"abcdefghijklmnopqrstuvwxyz", *"  \t\n", *"\"'`:;-+*?^$()[]{}<>|\\/#@!%&=~_.,", *"0123456789",
    "é", "ß", "数", "し",
    "글", "ש", "م", "🎉", "\0", "\u200d", "\u202e", "\ud83d", "tag:", "before:", "last ", "may ", "the ", "postgres ",
]  # fmt: skip


@lru_cache(1)
def notes() -> MemoryVault:
    return vault([*SOFTWARE, *TALK])


def answer(query: str) -> int:
    """How many notes answer; everything on the way is the product's own code but for where the candidates lie."""
    parsed = parse(query, NOW)
    numbers = notes().numbers(parsed.text, NOW)
    pool = notes().pool(numbers)
    found = order(parsed.text, numbers, pool, token_vectors(), Ranking(), NOW)
    assert np.isfinite(found.scores).all()
    assert ((found.relevance >= 0) & (found.relevance <= 1.0001)).all()
    assert len(set(found.rows.tolist())) == len(found.rows) <= len(pool)
    return len(found.rows) if parsed.has_words else 0


def strings(count: int, seed: int) -> Iterator[str]:
    draw = random.Random(seed)
    for _ in range(count):
        yield "".join(draw.choices(_ALPHABET, k=draw.randint(0, 40)))


@pytest.mark.parametrize("query", ODD, ids=range(len(ODD)))
def test_odd_queries_are_answered(query: str) -> None:
    answer(query)


@pytest.mark.parametrize("query", ["", " \t", "\0", "(", "***", "🎉", "\u200b", "- -- ---"])
def test_what_holds_no_word_finds_nothing(query: str) -> None:
    assert answer(query) == 0


def test_random_strings_are_answered() -> None:
    for query in strings(300, seed=1):
        answer(query)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_five_thousand_random_strings_are_answered() -> None:
    for query in strings(5_000, seed=2):
        answer(query)
