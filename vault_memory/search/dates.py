"""Dates that a query asks for, and how well a memory's day fits them. English expressions and ISO dates; pure.

The asker's clock and zone come as an argument. A month or weekday name that is also a word ("may", "march") counts only
where its neighbours make it a date.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

Grain = Literal["day", "span", "month", "year"]

_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTH_NUMBER: Final = (
    {name: n for n, name in enumerate(_MONTHS, 1)} | {name[:3]: n for n, name in enumerate(_MONTHS, 1)} | {"sept": 9}
)
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "a couple of": 2, "couple of": 2, "three": 3, "a few": 3, "few": 3, "four": 4,
    "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
_ALSO_WORDS: Final = frozenset({"may", "march", "mar", "jan", "sep", "dec"})
_MONTH: Final = "(?P<month>" + "|".join(sorted(_MONTH_NUMBER, key=len, reverse=True)) + r")\b\.?"
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?\b(?![:.]\d)"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)\b"
_COUNT: Final = r"(?P<count>\d{1,3}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True)) + ")"
_UNIT: Final = r"(?P<unit>day|week|month|year)s?"
_WEEKDAY: Final = "(?P<weekday>" + "|".join(_WEEKDAYS) + ")"
_BEFORE_MONTH: Final = re.compile(
    r"\b(?:in|of|during|early|late|mid|by|since|until|till|through|from|before|after|around|last|this|every|end|next)[\s-]+$"
)
_WEEK_OF: Final = re.compile(r"\bweek\s+(?:of|beginning|starting|from)\s+(?:the\s+)?$")
_LEAP_YEAR: Final = 2000
_LATER_DAYS: Final = 3
_EARLIEST, _LATEST = date(1, 1, 1), date(9999, 12, 31)


class DateHint(Struct, frozen=True):
    """A stretch of days that a query asks for: `first` to `last`, both included.

    Without a year (`any_year`) the stretch is written in a leap year and fits every year. `start` and `end` are where
    the expression stands in the query.
    """

    first: date
    last: date
    grain: Grain
    start: int
    end: int
    any_year: bool = False
    relative: bool = False
    """Reckoned from the asker's clock, so nothing may lie in it at all."""


def find(query: str, now: datetime) -> tuple[DateHint, ...]:
    """The dates that `query` asks for, in reading order, reckoned from the asker's clock `now` (zone-aware)."""
    text = query.lower()
    hints: list[DateHint] = []
    for pattern, build in _RULES:
        for match in pattern.finditer(text):
            if any(match.start() < hint.end and hint.start < match.end() for hint in hints):
                continue
            hints.extend(_placed(build(match, text, now.date()), match))
    hints.sort(key=lambda hint: (hint.start, hint.first))
    return _with_lone_year(hints)


def fit(days: Sequence[date | None], hints: Iterable[DateHint]) -> list[float]:
    """How well each day fits the best of `hints`, 0–1; 0 for an unknown day.

    1 inside the day, stretch or month asked for; .8 one to three days after a day or stretch (people tell afterwards);
    .4 in the same month as the day, or in the month after the month or day asked for; .5 anywhere in a year asked for.
    A hint reckoned from the clock that nothing fits falls back to the same month in any year.
    """
    best = [0.0] * len(days)
    for hint in hints:
        found = _fit_one(days, hint)
        if hint.relative and hint.grain == "month" and not any(found):
            found = _fit_one(days, _any_year(hint))
        best = [max(pair) for pair in zip(best, found, strict=True)]
    return best


def day_of(seconds: float, zone: tzinfo | None) -> date | None:
    """The day of a time in seconds since 1970 UTC on the asker's calendar; None for NaN or what no calendar holds."""
    if seconds != seconds:
        return None
    try:
        return datetime.fromtimestamp(seconds, zone or UTC).date()
    except (OverflowError, ValueError, OSError):
        return None


def _fit_one(days: Sequence[date | None], hint: DateHint) -> list[float]:
    if not hint.any_year:
        return [_closeness(day, hint) if day else 0.0 for day in days]
    known = {day: 0.0 for day in days if day}
    for day in known:
        years = (day.year - 1, day.year) if day.year > 1 else (day.year,)
        known[day] = max(_closeness(day, _in_year(hint, year)) for year in years)
    return [known[day] if day else 0.0 for day in days]


def _closeness(day: date, hint: DateHint) -> float:
    if hint.first <= day <= hint.last:
        return 0.5 if hint.grain == "year" else 1.0
    if hint.grain == "year":
        return 0.0
    if hint.grain != "month" and 0 < (day - hint.last).days <= _LATER_DAYS:
        return 0.8
    months_later = (day.year - hint.last.year) * 12 + day.month - hint.last.month
    same_month = hint.grain != "month" and (day.year, day.month) == (hint.first.year, hint.first.month)
    return 0.4 if same_month or (months_later == 0) or (months_later == 1 and hint.grain == "month") else 0.0


def _in_year(hint: DateHint, year: int) -> DateHint:
    later = hint.last.year - hint.first.year
    return replace(
        hint, first=_moved(hint.first, year), last=_moved(hint.last, min(year + later, 9999)), any_year=False
    )


def _moved(day: date, year: int) -> date:
    """The day in another year; 29 February becomes 28 February where there is none."""
    try:
        return day.replace(year=year)
    except ValueError:
        return day.replace(year=year, day=28)


def _any_year(hint: DateHint) -> DateHint:
    first = hint.first.replace(year=_LEAP_YEAR)
    return replace(hint, first=first, last=_month_end(first), any_year=True, relative=False)


def _with_lone_year(hints: list[DateHint]) -> tuple[DateHint, ...]:
    """A year that stands alone belongs to the dates without one, when there are any ("the 5th of May … in 2023")."""
    years = [hint for hint in hints if hint.grain == "year" and not hint.relative]
    if not years or not any(hint.any_year for hint in hints):
        return tuple(hints)
    year = years[0].first.year
    rest = (hint for hint in hints if hint not in years)
    return tuple(_in_year(hint, year) if hint.any_year else hint for hint in rest)


def _placed(found: Iterable[tuple[date, date, Grain, bool, bool]], match: re.Match[str]) -> list[DateHint]:
    return [
        DateHint(first, last, grain, match.start(), match.end(), any_year, relative)
        for first, last, grain, any_year, relative in found
    ]


# ── rules: each turns a match into stretches (first, last, grain, any_year, relative), or none ──────────────────────

_Found = list[tuple[date, date, Grain, bool, bool]]
_Rule = Callable[[re.Match[str], str, date], _Found]


def _iso_day(match: re.Match[str], text: str, today: date) -> _Found:
    return _one_day(int(match["year"]), int(match["number"]), int(match["day"]), _asks_week(match, text))


def _slashed(match: re.Match[str], text: str, today: date) -> _Found:
    """`3/5/2026` is read both ways; `13.3.2026` only as it can be."""
    a, b, year = int(match["a"]), int(match["b"]), int(match["year"])
    ways = [(b, a)] if match["mark"] == "." else [(a, b), (b, a)]
    found = [hint for month, day in dict.fromkeys(ways) for hint in _one_day(year, month, day, week=False)]
    return found


def _iso_month(match: re.Match[str], text: str, today: date) -> _Found:
    number = int(match["number"])
    return _one_month(int(match["year"]), number) if 1 <= number <= 12 else []


def _named_day(match: re.Match[str], text: str, today: date) -> _Found:
    year = match["year"]
    return _one_day(
        int(year) if year else None, _MONTH_NUMBER[match["month"]], int(match["day"]), _asks_week(match, text)
    )


def _named_month(match: re.Match[str], text: str, today: date) -> _Found:
    number = _MONTH_NUMBER[match["month"]]
    if match["year"]:
        return _one_month(int(match["year"]), number)
    before = text[: match.start()]
    if which := re.search(r"\b(last|this|past)\s+$", before):
        year = today.year if number < today.month or (which[1] == "this" and number == today.month) else today.year - 1
        return [(*_month(year, number), "month", False, True)]
    if match["month"] in _ALSO_WORDS and not _BEFORE_MONTH.search(before):
        return []
    return _one_month(None, number)


def _quarter(match: re.Match[str], text: str, today: date) -> _Found:
    year, number = int(match["year"]), int(match["number"])
    return [(date(year, number * 3 - 2, 1), _month_end(date(year, number * 3, 1)), "span", False, False)]


def _near_today(match: re.Match[str], text: str, today: date) -> _Found:
    back = {"today": 0, "tonight": 0, "this morning": 0, "yesterday": 1, "last night": 1, "the day before yesterday": 2}
    day = _back(today, back[match[0]])
    return [(day, day, "day", False, True)]


def _ago(match: re.Match[str], text: str, today: date) -> _Found:
    """ "two weeks ago"; "a few years ago" says too little to prefer one year."""
    count = _count(match)
    if "few" in match["count"] and match["unit"] in ("month", "year"):
        return []
    if match["unit"] == "day":
        day = _back(today, count)
        return [(day, day, "day", False, True)]
    if match["unit"] == "week":
        middle = _back(today, 7 * count)
        return [(_back(middle, 3), _back(middle, -3), "span", False, True)]
    return _whole(match["unit"], today, count)


def _past(match: re.Match[str], text: str, today: date) -> _Found:
    """ "in the last two weeks": a stretch that ends today."""
    days = _count(match) * {"day": 1, "week": 7, "month": 31, "year": 366}[match["unit"]]
    return [(_back(today, days), today, "span", False, True)]


def _last_unit(match: re.Match[str], text: str, today: date) -> _Found:
    return _whole(match["unit"], today, 0 if match["which"] == "this" else 1)


def _weekday(match: re.Match[str], text: str, today: date) -> _Found:
    """The last such day before today ("on Friday", "last Friday"); today only for "this …"."""
    back = (today.weekday() - _WEEKDAYS.index(match["weekday"])) % 7
    if not back and match["which"] != "this":
        back = 7
    day = _back(today, back)
    return [(day, day, "day", False, True)]


def _weekend(match: re.Match[str], text: str, today: date) -> _Found:
    saturday = _back(today, (today.weekday() - 5) % 7)
    if match["which"] == "last" and today.weekday() >= 5:
        saturday = _back(saturday, 7)
    return [(saturday, _back(saturday, -1), "span", False, True)]


def _lone_year(match: re.Match[str], text: str, today: date) -> _Found:
    year = int(match["year"])
    return [(date(year, 1, 1), date(year, 12, 31), "year", False, False)]


def _one_day(year: int | None, month: int, day: int, week: bool) -> _Found:
    try:
        found = date(year or _LEAP_YEAR, month, day)
    except ValueError:
        return []
    if not week:
        return [(found, found, "day", year is None, False)]
    if year is None:
        return [(found, _back(found, -6), "span", True, False)]
    monday = _back(found, found.weekday())
    return [(monday, _back(monday, -6), "span", False, False)]


def _one_month(year: int | None, number: int) -> _Found:
    return [(*_month(year or _LEAP_YEAR, number), "month", year is None, False)]


def _whole(unit: str, today: date, back: int) -> _Found:
    """The calendar week (from Monday), month or year that lies `back` before today's."""
    if unit == "week":
        monday = _back(today, today.weekday() + 7 * back)
        return [(monday, _back(monday, -6), "span", False, True)]
    if unit == "month":
        months = today.year * 12 + today.month - 1 - back
        return [(*_month(max(months // 12, 1), months % 12 + 1), "month", False, True)]
    if unit == "year":
        year = max(today.year - back, 1)
        return [(date(year, 1, 1), date(year, 12, 31), "year", False, True)]
    day = _back(today, back)
    return [(day, day, "day", False, True)]


def _asks_week(match: re.Match[str], text: str) -> bool:
    return bool(_WEEK_OF.search(text[: match.start()]))


def _count(match: re.Match[str]) -> int:
    word = match["count"]
    return int(word) if word.isdigit() else _NUMBERS[word]


def _month(year: int, number: int) -> tuple[date, date]:
    first = date(year, number, 1)
    return first, _month_end(first)


def _month_end(day: date) -> date:
    return _LATEST if (day.year, day.month) == (9999, 12) else _back(_next_month(day), 1)


def _next_month(day: date) -> date:
    return date(day.year + day.month // 12, day.month % 12 + 1, 1)


def _back(day: date, days: int) -> date:
    """`day` minus `days`, held inside the calendar."""
    try:
        return day - timedelta(days=days)
    except OverflowError:
        return _EARLIEST if days > 0 else _LATEST


def _rule(pattern: str, build: _Rule) -> tuple[re.Pattern[str], _Rule]:
    return re.compile(rf"(?<![\w/-]){pattern}"), build


_RULES: Final = (
    _rule(r"(?P<year>(?:19|20)\d\d)-(?P<number>\d\d)-(?P<day>\d\d)(?![\d-])", _iso_day),
    _rule(r"(?P<a>\d{1,2})(?P<mark>[./])(?P<b>\d{1,2})(?P=mark)(?P<year>(?:19|20)\d\d)\b", _slashed),
    _rule(r"(?P<year>(?:19|20)\d\d)-(?P<number>\d\d)(?![\d-])", _iso_month),
    _rule(rf"{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+(?:of\s+)?{_YEAR})?", _named_day),
    _rule(rf"{_MONTH}\s+(?:the\s+)?{_DAY}(?:,?\s+(?:of\s+)?{_YEAR})?", _named_day),
    _rule(rf"{_MONTH}(?:,?\s+(?:of\s+)?{_YEAR})?", _named_month),
    _rule(r"q(?P<number>[1-4])[\s/-]+(?P<year>(?:19|20)\d\d)\b", _quarter),
    _rule(r"(?:today|tonight|this morning|yesterday|last night|the day before yesterday)\b", _near_today),
    _rule(rf"{_COUNT}\s+{_UNIT}\s+(?:ago|earlier|back)\b", _ago),
    _rule(rf"(?:last|past|previous)\s+{_COUNT}\s+{_UNIT}\b", _past),
    _rule(r"(?P<which>last|past|previous|this)\s+(?P<unit>week|month|year)\b", _last_unit),
    _rule(r"(?P<which>last|past|this|the|over the)\s+weekend\b", _weekend),
    _rule(rf"(?:(?P<which>last|past|this|on)\s+){_WEEKDAY}\b", _weekday),
    _rule(rf"{_YEAR}(?![-/]?\w)", _lone_year),
)
