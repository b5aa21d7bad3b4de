"""Times: sortable text, and which time of many is in force."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.memory.times import Provenance, effective_times, time_of_ns, time_of_text, time_text

moments = st.datetimes(timezones=st.just(UTC))


@given(moments, moments)
def test_texts_sort_as_their_times_and_come_back(one: datetime, other: datetime) -> None:
    assert (time_text(one) < time_text(other)) == (one < other)
    assert time_of_text(time_text(one)) == one
    assert len(time_text(one)) == len("2026-11-30T19:02:11.000000Z")


def test_any_zone_is_told_in_utc() -> None:
    zone = timezone(timedelta(hours=2))
    assert time_text(datetime(2026, 4, 5, 9, 30, tzinfo=zone)) == "2026-04-05T07:30:00.000000Z"


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "1970-01-01T00:00:00.000000Z"),
        (1_999, "1970-01-01T00:00:00.000001Z"),
        (-1, "1969-12-31T23:59:59.999999Z"),
        (10**30, "9999-12-31T23:59:59.999999Z"),
        (-(10**30), "0001-01-01T00:00:00.000000Z"),
    ],
)
def test_file_times_become_utc_and_never_raise(ns: int, text: str) -> None:
    assert time_text(time_of_ns(ns)) == text


EARLY, MIDDLE, LATE = (datetime(2026, month, 1, tzinfo=UTC) for month in (1, 2, 3))
CLEAN = Provenance(True, True, EARLY, MIDDLE)
MODIFIED = Provenance(True, False, EARLY, MIDDLE)
NEW = Provenance(True)


@pytest.mark.parametrize(
    ("provenance", "stated", "mtime", "created", "updated"),
    [
        (Provenance(), None, LATE, LATE, LATE),
        (Provenance(), EARLY, LATE, EARLY, EARLY),
        (CLEAN, None, LATE, EARLY, MIDDLE),  # a clone does not look modified today
        (CLEAN, LATE, EARLY, LATE, LATE),
        (CLEAN, EARLY, LATE, EARLY, MIDDLE),
        (MODIFIED, None, LATE, EARLY, LATE),
        (MODIFIED, LATE, MIDDLE, LATE, LATE),
        (NEW, None, LATE, LATE, LATE),
        (NEW, EARLY, LATE, EARLY, LATE),
    ],
)
def test_effective_times_follow_front_matter_commits_and_mtime(
    provenance: Provenance, stated: datetime | None, mtime: datetime, created: datetime, updated: datetime
) -> None:
    assert effective_times(stated, stated, mtime, provenance) == (created, updated)
