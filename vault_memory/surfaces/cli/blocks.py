"""The few shapes that answers are shown in; how they look is decided by `plain` and `terminal`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from msgspec import Struct, field

Style = Literal["plain", "good", "caution", "bad", "faint", "strong"]


class Line(Struct, frozen=True):
    """One line of text."""

    text: str
    style: Style = "plain"


class Table(Struct, frozen=True):
    """Rows under headings; the last column takes what room is left."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Card(Struct, frozen=True):
    """One thing in full: a heading, its fields, and a text that is shown as it is."""

    heading: str
    fields: Mapping[str, str] = field(default_factory=dict)
    text: str = ""


class Raw(Struct, frozen=True):
    """Text that is the answer itself, shown character for character (controls excepted)."""

    text: str


Block: TypeAlias = Line | Table | Card | Raw

_UNSAFE: Final = {code: None for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"}


def safe(text: str) -> str:
    """`text` without control characters: what a note holds must not move the cursor or recolour the terminal."""
    return text.translate(_UNSAFE)


def one_line(text: str) -> str:
    """`text` on one line, for a table cell."""
    return " ".join(safe(text).split())
