"""Ids: permanent, sorted by creation, unique in a batch."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.memory.ids import ALPHABET, IdSource, encode, is_id

NOW = datetime(2026, 11, 30, 19, 2, 11, tzinfo=UTC)


def lowest(_: int) -> int:
    return 0


def highest(below: int) -> int:
    return below - 1


def test_an_id_has_seven_digits_of_time_and_five_of_count() -> None:
    assert IdSource(lowest).next(NOW) == encode(int(NOW.timestamp()), 7) + "00000"
    assert IdSource(lambda below: below // 2).next(NOW)[7:] == "80000"


def test_a_batch_in_one_second_sorts_in_its_order() -> None:
    source = IdSource(highest)
    ids = [source.next(NOW) for _ in range(2000)]
    assert ids == sorted(set(ids))
    assert all(len(one) == 12 and set(one) <= set(ALPHABET) for one in ids)


def test_ids_never_step_back_with_the_clock() -> None:
    source = IdSource(lowest)
    ids = [source.next(NOW + timedelta(seconds=step)) for step in (0, 5, -60, 5, 6)]
    assert ids == sorted(set(ids))


def test_a_full_second_borrows_from_the_next() -> None:
    source = IdSource(highest)
    source.next(NOW)
    source._counter = 32**5 - 1
    after = source.next(NOW)
    assert after[:7] == encode(int(NOW.timestamp()) + 1, 7)


def test_each_second_starts_at_random() -> None:
    draws = iter([7, 3])
    source = IdSource(lambda below: next(draws))
    assert source.next(NOW)[7:] == "00007"
    assert source.next(NOW + timedelta(seconds=1))[7:] == "00003"


@pytest.mark.parametrize("text", ["1ngvj1k9f3qw", "A", "a_b-C", "x" * 64])
def test_any_id_of_the_allowed_letters_is_kept(text: str) -> None:
    assert is_id(text)


@pytest.mark.parametrize("text", ["", "a b", "x" * 65, "é", "a/b", "a\n", "٣"])
def test_other_text_is_no_id(text: str) -> None:
    assert not is_id(text)


@given(st.integers(0, 2**35 - 1), st.integers(0, 2**35 - 1))
def test_encoded_numbers_sort_as_numbers(one: int, other: int) -> None:
    assert (encode(one, 7) < encode(other, 7)) == (one < other)
