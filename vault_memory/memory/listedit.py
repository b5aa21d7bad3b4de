"""Edits of a list written with one item a line: only the lines of items that come or go change. Positions only."""

from __future__ import annotations

from collections.abc import Sequence

import yaml

from vault_memory.memory.spans import Slot, end_of_line, has_comment, refusal, start_of_line


def list_splices(slot: Slot, old: Sequence[str | None], new: Sequence[tuple[str, str]]) -> list[tuple[int, int, str]]:
    """The splices that turn a block list into the new one.

    Args:
        slot: the list's key; its value is a block sequence.
        old: what each item says, in order; None for an item that is no text.
        new: what each new item says, and how it is written.

    Raises:
        MalformedNote: a comment of a removed item, or between items that must be rewritten, would be lost.
    """
    wanted = [text for text, _ in new]
    kept = [text for text in old if text in wanted]
    if wanted[: len(kept)] == kept and None not in old and all(_single_line(slot, item) for item in slot.node.value):
        return _by_item(slot, old, new, len(kept))
    if has_comment(slot):
        raise refusal(f"a comment inside {slot.name} would be lost", slot.line)
    first = slot.node.value[0]
    lines = _line_end(slot).join(_prefix(slot, first) + text for _, text in new)
    return [(start_of_line(slot.block, slot.start), slot.end, lines)]


def _by_item(
    slot: Slot, old: Sequence[str | None], new: Sequence[tuple[str, str]], kept: int
) -> list[tuple[int, int, str]]:
    block, items = slot.block, slot.node.value
    wanted = {text for text, _ in new}
    splices: list[tuple[int, int, str]] = []
    for item, text in zip(items, old, strict=True):
        if text not in wanted:
            end = end_of_line(block, item.end_mark.index)
            if "#" in block[item.end_mark.index : end]:
                raise refusal(f"a comment inside {slot.name} would be lost", slot.line)
            splices.append((start_of_line(block, item.start_mark.index), end, ""))
    if added := new[kept:]:
        newline, last = _line_end(slot), end_of_line(block, items[-1].end_mark.index)
        lines = "".join(f"{_prefix(slot, items[0])}{text}{newline}" for _, text in added)
        splices.append((last, last, lines))
    return splices


def _single_line(slot: Slot, item: yaml.Node) -> bool:
    """True for `- text` on a line of its own."""
    if not isinstance(item, yaml.ScalarNode) or item.style in ("|", ">"):
        return False
    before = slot.block[start_of_line(slot.block, item.start_mark.index) : item.start_mark.index]
    same_line = item.end_mark.index <= end_of_line(slot.block, item.start_mark.index)
    return same_line and before.strip() == "-" and item.start_mark.index < item.end_mark.index


def _prefix(slot: Slot, item: yaml.Node) -> str:
    """The indentation and dash of the first item."""
    start = start_of_line(slot.block, slot.start)
    return (
        slot.block[start : slot.start] + "- "
        if item.start_mark.line != slot.node.start_mark.line
        else slot.block[start : item.start_mark.index]
    )


def _line_end(slot: Slot) -> str:
    line = slot.block[slot.line_start : end_of_line(slot.block, slot.line_start)]
    return line[len(line.rstrip("\r\n")) :] or "\n"
