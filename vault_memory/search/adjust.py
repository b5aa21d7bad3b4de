"""What the vault knows about a note, as a small factor on its score. Bounded: it reorders near-equals, no more.

Each signal lies in −1…1 and is 0 for a note at its defaults; the weighted sum is cut to −1…1 and scaled by the setting
`ranking.adjustment` (default .15), so all of them together move a score by at most that share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from vault_memory.search.pool import Floats, Pool

WEIGHTS: Final[Mapping[str, float]] = {
    "importance": 0.2,
    "confidence": 0.1,
    "decay": 0.1,
    "pinned": 0.2,
    "recency": 0.1,
    "url": 0.8,
    "project": 0.2,
    "verification": 0.5,
}
"""Share of the bound that each signal may use."""
_DEFAULT_IMPORTANCE: Final = 0.5
_DEFAULT_CONFIDENCE: Final = 0.8
_RECENT_DAYS: Final = 14.0
_DAY: Final = 86_400.0


def signals(pool: Pool, now: float) -> dict[str, Floats]:
    """The signals in the order of `WEIGHTS`, one entry a row; `now` in seconds since 1970 UTC, ages in whole days."""
    days = np.floor(np.maximum(now - np.where(np.isnan(pool.updated_at), -np.inf, pool.updated_at), 0) / _DAY)
    kept = pool.decayed_confidence / np.maximum(pool.confidence, 1e-9)
    found = {
        "importance": _around(pool.importance, _DEFAULT_IMPORTANCE),
        "confidence": _around(pool.confidence, _DEFAULT_CONFIDENCE),
        "decay": np.where(pool.confidence > 0, np.minimum(kept, 1) - 1, 0),
        "pinned": pool.pinned,
        "recency": 0.5 ** (days / _RECENT_DAYS),
        "url": pool.url_match,
        "project": pool.project_match,
        "verification": pool.verification,
    }
    return {name: np.asarray(values, np.float32) for name, values in found.items()}


def factors(found: Mapping[str, Floats], bound: float) -> NDArray[np.float64]:
    """What each score is multiplied by: 1 − bound … 1 + bound."""
    total = sum((WEIGHTS[name] * values.astype(np.float64) for name, values in found.items()), start=np.float64(0))
    result: NDArray[np.float64] = 1 + bound * np.clip(total, -1, 1)
    return result


def adjusted(scores: NDArray[np.float64], by: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores times factors; a score below 0 moves the same way as one above."""
    return np.where(scores >= 0, scores * by, scores * (2 - by))


def _around(values: Floats, middle: float) -> Floats:
    """0 at `middle`, 1 at 1, −1 at 0, straight in between."""
    return np.where(values >= middle, (values - middle) / (1 - middle), (values - middle) / middle)
