"""A marked block in a Markdown file that people own: put in, found, taken out.

Owns the two marker lines. Pure text in, text out; it must not read files or know what the block says.
"""

from __future__ import annotations

from vault_memory.harness.jsontext import BrokenText, EntryExists

BEGIN = "<!-- vault-memory:begin -->"
END = "<!-- vault-memory:end -->"


def find(text: str) -> str | None:
    """The text between the markers without the line ends beside them, or None when there is no block.

    Raises:
        BrokenText: a marker without its partner, or more than one block.
    """
    span = _span(text)
    if span is None:
        return None
    inner = text[span[0] + len(BEGIN) : span[1] - len(END)]
    return inner.strip("\r\n").replace("\r\n", "\n")


def put(text: str, block: str) -> str:
    """`text` with the marked block at its end, one blank line before it.

    Raises:
        EntryExists: there is a block already.
        BrokenText: broken markers.
    """
    if _span(text) is not None:
        raise EntryExists("a vault-memory block is already there")
    newline = "\r\n" if "\r\n" in text else "\n"
    body = newline.join([BEGIN, *block.strip("\n").split("\n"), END]) + newline
    if not text:
        return body
    return text + (newline if text.endswith("\n") else newline * 2) + body


def remove(text: str) -> str:
    """`text` without the block and without the blank line that set it apart; without a block unchanged.

    Raises:
        BrokenText: broken markers.
    """
    span = _span(text)
    if span is None:
        return text
    head, tail = text[: span[0]], _after_line_end(text[span[1] :])
    blank = head[: -len("\r\n")] if head.endswith("\r\n") else head[:-1]
    return (blank if blank.endswith("\n") else head) + tail


def _after_line_end(text: str) -> str:
    return text.removeprefix("\r").removeprefix("\n") if text.startswith(("\r\n", "\n")) else text


def _span(text: str) -> tuple[int, int] | None:
    starts, ends = text.count(BEGIN), text.count(END)
    if (starts, ends) == (0, 0):
        return None
    start, end = text.find(BEGIN), text.find(END)
    if (starts, ends) != (1, 1) or end < start:
        line = text.count("\n", 0, max(start, end, 0)) + 1
        raise BrokenText("the vault-memory markers do not pair up; remove them by hand", line)
    return start, end + len(END)
