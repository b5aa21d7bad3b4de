"""Points in time as notes write them. Pure: no clock. A value without a zone is UTC, a date is midnight UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

_TIME: Final = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})"
    r"(?:(?:[Tt]|[ \t]+)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?[ \t]*(?:([Zz])|([+-])(\d{1,2}):?(\d{2})?)?)?",
    re.ASCII,
)


class ImpossibleTime(ValueError):
    """Written like a date, but there is no such day or hour."""


def parse_time(text: str) -> datetime | None:
    """The moment in UTC that ISO 8601 text or a YAML timestamp names; None when the text is not written like one.

    Raises:
        ImpossibleTime: written like one, but no such moment exists (`2024-02-30`).
    """
    match = _TIME.fullmatch(text.strip())
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, _, sign, zone_hours, zone_minutes = match.groups()
    micros = int((fraction or "0")[:6].ljust(6, "0"))
    offset = timedelta(hours=int(zone_hours or 0), minutes=int(zone_minutes or 0))
    try:
        zone = UTC if not offset else timezone(-offset if sign == "-" else offset)
        moment = datetime(
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0), micros, zone
        )
        return moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ImpossibleTime(str(error)) from error


def format_time(moment: datetime) -> str:
    """ISO 8601 in UTC with `Z`, seconds, and microseconds only where there are any; naive counts as UTC."""
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"
