"""How confidence fades with disuse. Pure formulas over days; nothing is ever written because of them.

Source: the exponential half-life of the actor's decay engine, `confidence × 0.5^(days / half_life_days)`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from vault_memory.config import Decay
from vault_memory.memory.model import Memory

SURE: Final = 0.9
"""Confidence from which a memory no longer fades."""
_DAY_SECONDS: Final = 86_400


def days_between(earlier: datetime | None, now: datetime) -> float:
    """Days from `earlier` to `now`, never negative: a time in the future (clock skew, a typed date) counts as now."""
    if earlier is None:
        return 0.0
    return max(0.0, (now - earlier).total_seconds() / _DAY_SECONDS)


def exempt(memory: Memory) -> bool:
    """True for memories that never fade: sure ones, pinned ones and anchors."""
    return memory.confidence >= SURE or memory.pinned or memory.memory_type == "anchor"


def decay_factor(memory: Memory, last_accessed_at: datetime | None, now: datetime, settings: Decay) -> float:
    """The factor in [0, 1] by which confidence has faded, from the later of the last update and the last access.

    A memory without any time counts as fresh (1.0).
    """
    if exempt(memory):
        return 1.0
    times = [t for t in (memory.updated_at, last_accessed_at) if t is not None]
    return fading(memory.memory_type, memory.confidence, max(times, default=None), now, settings)


def fading(memory_type: str, confidence: float, used_at: datetime | None, now: datetime, settings: Decay) -> float:
    """The factor in [0, 1] for a memory of which only this much is known; `used_at`: its last update or access."""
    half_life = settings.half_life_days_by_type.get(memory_type, settings.half_life_days)
    if confidence >= SURE or half_life <= 0:
        return 1.0
    return float(0.5 ** (days_between(used_at, now) / half_life))


def decayed_confidence(memory: Memory, last_accessed_at: datetime | None, now: datetime, settings: Decay) -> float:
    """`confidence × decay_factor`, in [0, 1]."""
    return memory.confidence * decay_factor(memory, last_accessed_at, now, settings)


def decayed_importance(memory: Memory, last_accessed_at: datetime | None, now: datetime, settings: Decay) -> float:
    """Importance faded alike, never below `min_importance` so that nothing is shown as worth nothing."""
    faded = memory.importance * decay_factor(memory, last_accessed_at, now, settings)
    return max(faded, min(settings.min_importance, memory.importance))


def hides(memory: Memory, faded_confidence: float, settings: Decay) -> bool:
    """Whether a memory has faded out of results.

    With `auto` only memories of an actor fade out: what people wrote for themselves is never hidden.
    """
    if settings.enabled == "off" or exempt(memory):
        return False
    applies = settings.enabled == "on" or memory.actor is not None
    return applies and faded_confidence <= settings.prune_threshold
