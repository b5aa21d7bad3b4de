"""Recognises notes that were moved by hand, so that what is kept by ref follows. Pure; remembers for two seconds.

A note with an id keeps its identity by the id. One without is the same note when its bytes left one path and came to
another, and nothing else left or came with them: events of one move may arrive apart, in either order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

WINDOW_SECONDS: Final = 2.0


class Sight(Struct, frozen=True):
    """A note without an id that left or came: its path, the revision of its bytes (never of an empty note)."""

    path: str
    revision: str


class Moves:
    """What left and came within the last two seconds."""

    def __init__(self) -> None:
        self._left: list[tuple[float, Sight]] = []
        self._came: list[tuple[float, Sight]] = []

    def see(self, left: Iterable[Sight], came: Iterable[Sight], now_seconds: float) -> Mapping[str, str]:
        """The moves (old path to new) that are complete with these sights; each is told once.

        Args:
            now_seconds: a clock that never goes back.
        """
        left, came = frozenset(left), frozenset(came)
        earlier_left = [
            (at, sight) for at, sight in _recent(self._left, now_seconds) if sight not in came
        ]  # it is back
        earlier_came = [
            (at, sight) for at, sight in _recent(self._came, now_seconds) if sight not in left
        ]  # gone again
        self._left = earlier_left + [(now_seconds, sight) for sight in left]
        self._came = earlier_came + [(now_seconds, sight) for sight in came]
        gone, new = _by_revision(self._left), _by_revision(self._came)
        moves = {
            gone[revision][0]: new[revision][0]
            for revision in sorted(gone.keys() & new.keys())
            if len(gone[revision]) == len(new[revision]) == 1 and gone[revision] != new[revision]
        }
        self._left = [(at, sight) for at, sight in self._left if sight.path not in moves]
        arrived = set(moves.values())
        self._came = [(at, sight) for at, sight in self._came if sight.path not in arrived]
        return moves


def _recent(sights: list[tuple[float, Sight]], now_seconds: float) -> list[tuple[float, Sight]]:
    return [(at, sight) for at, sight in sights if now_seconds - at <= WINDOW_SECONDS]


def _by_revision(sights: list[tuple[float, Sight]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for _, sight in sights:
        paths = found.setdefault(sight.revision, [])
        if sight.path not in paths:
            paths.append(sight.path)
    return found
