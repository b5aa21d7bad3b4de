"""Blocks as plain text for pipes and files: tab-separated rows, no headings, no colours."""

from __future__ import annotations

from collections.abc import Sequence

from vault_memory.surfaces.cli.blocks import Block, Card, Line, Raw, Table, one_line, safe


def render(blocks: Sequence[Block]) -> str:
    """The text of the blocks, each ending in a newline."""
    return "".join(_text(block) for block in blocks)


def _text(block: Block) -> str:
    match block:
        case Line():
            return safe(block.text) + "\n"
        case Table():
            return "".join("\t".join(one_line(cell) for cell in row) + "\n" for row in block.rows)
        case Card():
            return _card(block)
        case Raw():
            return _ended(safe(block.text))


def _card(card: Card) -> str:
    head = [safe(card.heading), *(f"{name}: {one_line(value)}" for name, value in card.fields.items())]
    return "\n".join(head) + "\n" + (f"\n{_ended(safe(card.text))}" if card.text else "")


def _ended(text: str) -> str:
    return text if text.endswith("\n") or not text else text + "\n"
