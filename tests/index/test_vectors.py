"""The vector file and the scan over it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.index.vectors import (
    append_rows,
    best_first,
    checked,
    drop_others,
    exact_cosines,
    map_rows,
    packed,
    row_bytes,
    vector_file,
)

ROWS = np.arange(24, dtype=np.float32).reshape(6, 4)


def some(start: int, end: int) -> bytes:
    return packed([ROWS[start:end].tobytes()], range(start, end), 4)


def test_rows_come_back_as_they_were_appended(tmp_path: Path) -> None:
    crc = append_rows(tmp_path, "e", 0, 4, some(0, 2), 0)
    crc = append_rows(tmp_path, "e", 2, 4, some(2, 6), crc)
    assert np.array_equal(map_rows(tmp_path, "e", 6, 4).vectors, ROWS)
    assert map_rows(tmp_path, "e", 6, 4).kinds.tolist() == [0, 1, 2, 3, 4, 5]
    assert checked(tmp_path, "e", 6, 4, crc)


def test_what_a_killed_writer_left_behind_the_count_is_overwritten(tmp_path: Path) -> None:
    crc = append_rows(tmp_path, "e", 0, 4, some(0, 2), 0)
    append_rows(tmp_path, "e", 2, 4, b"\xff" * 50, crc)
    assert np.array_equal(map_rows(tmp_path, "e", 2, 4).vectors, ROWS[:2])
    crc = append_rows(tmp_path, "e", 2, 4, some(2, 3), crc)
    assert vector_file(tmp_path, "e").stat().st_size == 3 * row_bytes(4)
    assert checked(tmp_path, "e", 3, 4, crc)


def test_a_short_file_a_changed_byte_and_a_missing_file_are_noticed(tmp_path: Path) -> None:
    crc = append_rows(tmp_path, "e", 0, 4, some(0, 6), 0)
    file = vector_file(tmp_path, "e")
    data = file.read_bytes()
    file.write_bytes(data[:-1])
    with pytest.raises(ValueError, match="shorter"):
        map_rows(tmp_path, "e", 6, 4)
    assert not checked(tmp_path, "e", 6, 4, crc)
    file.write_bytes(data[:10] + b"\x01" + data[11:])
    assert not checked(tmp_path, "e", 6, 4, crc)
    file.unlink()
    assert not checked(tmp_path, "e", 6, 4, crc)
    with pytest.raises(FileNotFoundError):
        map_rows(tmp_path, "e", 6, 4)


def test_a_reader_keeps_an_old_epoch_that_was_dropped(tmp_path: Path) -> None:
    append_rows(tmp_path, "old", 0, 4, some(0, 6), 0)
    mapped = map_rows(tmp_path, "old", 6, 4)
    append_rows(tmp_path, "new", 0, 4, some(0, 1), 0)
    drop_others(tmp_path, "new")
    assert not vector_file(tmp_path, "old").exists()
    assert np.array_equal(mapped.vectors, ROWS)


@given(st.lists(st.sampled_from([-1.0, 0.0, 0.25, 0.5, 0.75, 1.0]), max_size=60), st.integers(1, 9))
def test_blocks_give_every_positive_score_once_best_first(values: list[float], first: int) -> None:
    scores = np.array(values, np.float32)
    blocks = list(best_first(scores, first))
    order = [place for block in blocks for place in block.tolist()]
    assert sorted(order) == [n for n, score in enumerate(values) if score > 0]
    assert [values[n] for n in order] == sorted((score for score in values if score > 0), reverse=True)


def test_an_exact_cosine_does_not_depend_on_where_a_row_lies() -> None:
    rng = np.random.default_rng(7)
    rows = rng.standard_normal((97, 256)).astype(np.float32)
    query = rng.standard_normal(256).astype(np.float32)
    together = exact_cosines(rows, query)
    shuffled = rng.permutation(97)
    assert np.array_equal(exact_cosines(rows[shuffled], query), together[shuffled])
    assert all(exact_cosines(rows[n : n + 1], query)[0] == together[n] for n in range(97))
