"""Dates in queries, reckoned from the asker's clock and zone."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_memory.search import dates

NOW = datetime(2026, 12, 2, 9, tzinfo=UTC)  # a Wednesday


def asked(query: str, now: datetime = NOW) -> list[tuple[str, str, str]]:
    """Grain, first and last day of each date; a year that fits every year is written as ····."""
    found = []
    for hint in dates.find(query, now):
        first, last = hint.first.isoformat(), hint.last.isoformat()
        found.append((hint.grain, *(f"····{day[4:]}" if hint.any_year else day for day in (first, last))))
    return found


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("what happened on 2026-03-05?", ("day", "2026-03-05", "2026-03-05")),
        ("notes of 2026-03", ("month", "2026-03-01", "2026-03-31")),
        ("what did we decide on 5 March 2026", ("day", "2026-03-05", "2026-03-05")),
        ("what did we decide on March 5th, 2026", ("day", "2026-03-05", "2026-03-05")),
        ("on the 3rd of May", ("day", "····-05-03", "····-05-03")),
        ("on 10.01.2024", ("day", "2024-01-10", "2024-01-10")),
        ("deploys in March 2026", ("month", "2026-03-01", "2026-03-31")),
        ("deploys in December, 2025", ("month", "2025-12-01", "2025-12-31")),
        ("deploys in February", ("month", "····-02-01", "····-02-29")),
        ("what did we do last May?", ("month", "2026-05-01", "2026-05-31")),
        ("what did we do last December?", ("month", "2025-12-01", "2025-12-31")),
        ("what did we do this December?", ("month", "2026-12-01", "2026-12-31")),
        ("what broke yesterday", ("day", "2026-12-01", "2026-12-01")),
        ("the day before yesterday", ("day", "2026-11-30", "2026-11-30")),
        ("what have I done today", ("day", "2026-12-02", "2026-12-02")),
        ("3 days ago", ("day", "2026-11-29", "2026-11-29")),
        ("two weeks ago", ("span", "2026-11-15", "2026-11-21")),
        ("a month ago", ("month", "2026-11-01", "2026-11-30")),
        ("two years ago", ("year", "2024-01-01", "2024-12-31")),
        ("in the last two weeks", ("span", "2026-11-18", "2026-12-02")),
        ("last week", ("span", "2026-11-23", "2026-11-29")),
        ("this week", ("span", "2026-11-30", "2026-12-06")),
        ("last month", ("month", "2026-11-01", "2026-11-30")),
        ("last year", ("year", "2025-01-01", "2025-12-31")),
        ("on Friday", ("day", "2026-11-27", "2026-11-27")),
        ("last Wednesday", ("day", "2026-11-25", "2026-11-25")),
        ("last weekend", ("span", "2026-11-28", "2026-11-29")),
        ("the week of March 3, 2026", ("span", "2026-03-02", "2026-03-08")),
        ("the week of 2026-03-05", ("span", "2026-03-02", "2026-03-08")),
        ("in Q1 2026", ("span", "2026-01-01", "2026-03-31")),
        ("everything of 2025", ("year", "2025-01-01", "2025-12-31")),
    ],
)
def test_an_expression_is_one_stretch_of_days(query: str, expected: tuple[str, str, str]) -> None:
    assert asked(query) == [expected]


@pytest.mark.parametrize(
    "query",
    [
        "may I use the staging key", "march through the tests", "what may break", "mar the finish", "12:30",
        "version 1.10.2024b", "port 5433", "eu-west-1", "a few years ago", "31/31/2026", "2026-13-45",
        "100 requests per minute", "404", "release 2026-03-05-rc1", "sunday", "the second one", "",
    ],
)  # fmt: skip
def test_ordinary_words_are_no_dates(query: str) -> None:
    assert asked(query) == []


def test_a_slashed_date_is_read_both_ways_unless_only_one_is_a_day() -> None:
    assert [first for _, first, _ in asked("on 3/5/2026")] == ["2026-03-05", "2026-05-03"]
    assert asked("on 5/13/2026") == [("day", "2026-05-13", "2026-05-13")]


def test_a_year_elsewhere_in_the_query_belongs_to_the_day() -> None:
    assert asked("what happened on 5 May in the year 2023") == [("day", "2023-05-05", "2023-05-05")]


def test_yesterday_depends_on_the_askers_zone() -> None:
    tokyo = NOW.replace(hour=20).astimezone(timezone(timedelta(hours=9)))
    assert asked("yesterday", tokyo) == [("day", "2026-12-02", "2026-12-02")]


def test_a_memory_of_late_evening_belongs_to_the_askers_day() -> None:
    late = datetime(2026, 12, 1, 23, 30, tzinfo=UTC).timestamp()
    assert dates.day_of(late, UTC) == date(2026, 12, 1)
    assert dates.day_of(late, timezone(timedelta(hours=2))) == date(2026, 12, 2)
    assert dates.day_of(float("nan"), UTC) is None
    assert dates.day_of(1e18, UTC) is None


@pytest.mark.parametrize(
    ("query", "day", "fit"),
    [
        ("on 5 March 2026", date(2026, 3, 5), 1.0),
        ("on 5 March 2026", date(2026, 3, 7), 0.8),
        ("on 31 March 2026", date(2026, 4, 2), 0.8),
        ("on 5 March 2026", date(2026, 3, 20), 0.4),
        ("on 5 March 2026", date(2026, 3, 1), 0.4),
        ("on 5 March 2026", date(2025, 3, 5), 0.0),
        ("on 30 December", date(2024, 12, 30), 1.0),
        ("on 30 December", date(2025, 1, 2), 0.8),
        ("in December 2023", date(2023, 12, 9), 1.0),
        ("in December 2023", date(2024, 1, 9), 0.4),
        ("in December 2023", date(2024, 2, 9), 0.0),
        ("in 2023", date(2023, 7, 1), 0.5),
        ("in 2023", date(2022, 7, 1), 0.0),
    ],
)
def test_a_day_fits_the_better_the_nearer_it_follows(query: str, day: date, fit: float) -> None:
    assert dates.fit([day, None], dates.find(query, NOW)) == [fit, 0.0]


def test_last_may_falls_back_to_any_may_when_nothing_was_written_in_that_one() -> None:
    hints = dates.find("what did we do last May", NOW)
    assert dates.fit([date(2023, 5, 4)], hints) == [1.0]
    assert dates.fit([date(2023, 5, 4), date(2026, 5, 4)], hints) == [0.0, 1.0]


@settings(deadline=None)
@given(st.text(max_size=60), st.datetimes(timezones=st.just(UTC)))
def test_no_text_and_no_clock_makes_it_fail(query: str, now: datetime) -> None:
    hints = dates.find(query, now)
    assert all(0 <= hint.start < hint.end <= len(query.lower()) and hint.first <= hint.last for hint in hints)
    assert all(0 <= value <= 1 for value in dates.fit([date(2024, 2, 29), date(1, 1, 1), date.max, None], hints))


_PARTS = st.sampled_from(
    "last this on in may march 5 31 29 february 2023 2024 9999-12-31 1900-01-01 week of the two three days weeks "
    "months years ago friday weekend q4 yesterday december 12/12/2025 999 past".split()
)


@settings(deadline=None)
@given(st.lists(_PARTS, max_size=8), st.datetimes(timezones=st.just(UTC)))
def test_no_mixture_of_date_words_makes_it_fail(parts: list[str], now: datetime) -> None:
    hints = dates.find(" ".join(parts), now)
    assert all(0 <= value <= 1 for value in dates.fit([date(2024, 2, 29), date(1, 1, 1), date.max], hints))
