"""Permanent ids that sort by creation. Clock and randomness are passed in; owns the counter within a second."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Final

ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32 in lower case: its order is ASCII order, so ids sort as text."""
TIME_DIGITS: Final = 7
COUNTER_DIGITS: Final = 5

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_COUNTERS: Final = 32**COUNTER_DIGITS


def is_id(text: str) -> bool:
    """True for any id that a note may carry; ids from elsewhere are accepted and kept."""
    return _ID.fullmatch(text) is not None


def encode(number: int, digits: int) -> str:
    """`number` in Crockford base 32, padded with zeros to `digits`."""
    text = ""
    for _ in range(digits):
        number, rest = divmod(number, 32)
        text = ALPHABET[rest] + text
    return text


class IdSource:
    """Makes ids of 12 characters: 7 of the second, 5 that start at random in each second and count up.

    A batch sorts in its order, also when the clock steps back: time never runs backwards here. Not thread-safe; the
    vault lock is held wherever it is asked.

    Args:
        randbelow: a random whole number from 0 to below its argument, such as `secrets.randbelow`.
    """

    def __init__(self, randbelow: Callable[[int], int]) -> None:
        self._randbelow = randbelow
        self._second = -1
        self._counter = 0

    def next(self, now: datetime) -> str:
        """The next id; `now` is the time of the write."""
        second = max(int(now.timestamp()), 0)
        if second > self._second:
            self._start(second)
        else:
            self._counter += 1
            if self._counter >= _COUNTERS:
                self._start(self._second + 1)
        return encode(self._second, TIME_DIGITS) + encode(self._counter, COUNTER_DIGITS)

    def _start(self, second: int) -> None:
        """Begin a second in the lower half of the counters, so that a long batch has room to count."""
        self._second = second
        self._counter = self._randbelow(_COUNTERS // 2)
