"""Blocks for a person's terminal, with rich: tables, colours (unless NO_COLOR), the width of the window."""

from __future__ import annotations

import io
import shutil
from collections.abc import Mapping, Sequence
from typing import Final

from rich.console import Console, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from vault_memory.surfaces.cli.blocks import Block, Card, Line, Raw, Style, Table, one_line, safe

_STYLES: Final[Mapping[Style, str]] = {
    "plain": "", "good": "green", "caution": "yellow", "bad": "red", "faint": "dim", "strong": "bold",
}  # fmt: skip


def render(blocks: Sequence[Block], width: int | None = None) -> str:
    """The blocks as terminal text, `width` columns wide (default: the window)."""
    buffer = io.StringIO()
    columns = width or shutil.get_terminal_size().columns
    console = Console(file=buffer, force_terminal=True, width=columns, highlight=False, markup=False, emoji=False)
    for block in blocks:
        for part in _parts(block):
            console.print(part, soft_wrap=isinstance(block, Raw))
    return buffer.getvalue()


def _parts(block: Block) -> list[RenderableType]:
    match block:
        case Line():
            return [Text(safe(block.text), style=_STYLES[block.style])]
        case Table():
            return [_grid(block)]
        case Card():
            return _card(block)
        case Raw():
            return [Text(safe(block.text).rstrip("\n"))]


def _grid(table: Table) -> Grid:
    grid = Grid(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    last = len(table.columns) - 1
    for number, name in enumerate(table.columns):
        grid.add_column(Text(one_line(name)), no_wrap=True, overflow="ellipsis" if number == last else "fold")
    for row in table.rows:
        grid.add_row(*(Text(one_line(cell), style="cyan" if n == 0 else "") for n, cell in enumerate(row)))
    return grid


def _card(card: Card) -> list[RenderableType]:
    fields = Grid(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for name, value in card.fields.items():
        fields.add_row(Text(name, style="dim"), Text(one_line(value)))
    parts: list[RenderableType] = [Text(safe(card.heading), style="bold")]
    if card.fields:
        parts.append(fields)
    if card.text:
        parts += [Text(""), Text(safe(card.text).rstrip("\n")), Text("")]
    return parts
