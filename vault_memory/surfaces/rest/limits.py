"""How often a caller may ask: a token bucket for each. Owns the counting; the clock is passed in."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

_MOST_CALLERS: Final = 10_000


class Rates:
    """Buckets that fill by `per_second` up to `burst`. For one event loop; not for several threads.

    Args:
        per_second: requests a caller may make for long; 0: as many as it likes.
        burst: requests it may make at once.
        clock: seconds that only ever grow.
    """

    def __init__(self, per_second: float, burst: float, clock: Callable[[], float]) -> None:
        self._per_second = per_second
        self._burst = burst
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def wait_seconds(self, who: str) -> int:
        """0 when `who` may go on, which counts as a request; else whole seconds to wait."""
        if self._per_second <= 0:
            return 0
        now = self._clock()
        left, at = self._buckets.pop(who, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._per_second)
        if len(self._buckets) >= _MOST_CALLERS:
            del self._buckets[next(iter(self._buckets))]  # the one that asked least recently
        self._buckets[who] = (left - 1 if left >= 1 else left, now)
        return 0 if left >= 1 else math.ceil((1 - left) / self._per_second)

    def forget(self, who: str) -> None:
        """Let `who` begin anew."""
        self._buckets.pop(who, None)
