"""What can be odd about a note, each as a `Finding` with line and reason. Owns codes and words; judges no fields."""

from __future__ import annotations

import re
from typing import Final

import yaml

from vault_memory.memory.model import Finding

_NEWLINES: Final = re.compile("\r\n|\n|\r")
_OURS: Final = re.compile(r"^<{7}(?:[ \r]|$)", re.MULTILINE)
_BETWEEN: Final = re.compile(r"^={7}\r?$", re.MULTILINE)
_THEIRS: Final = re.compile(r"^>{7}(?:[ \r]|$)", re.MULTILINE)


def line_at(text: str, index: int) -> int:
    """The line of a character, counted from 1."""
    return 1 + sum(1 for _ in _NEWLINES.finditer(text, 0, max(index, 0)))


def never_closed() -> Finding:
    """A first `---` line without a second one: a rule, or front matter that lost its end."""
    return Finding("never_closed", "the block that starts with --- is never closed; all of it is read as text", 1)


def not_a_mapping() -> Finding:
    """Text between two rules that is YAML of some other shape, most often a letterhead."""
    return Finding("not_a_mapping", "the text between the first two --- lines is no list of properties", 1)


def malformed(error: Exception, block: str) -> Finding:
    """YAML that cannot be read; the line is the parser's, counted in the note."""
    line, problem = None, "its YAML cannot be read"
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        line = line_at(block, mark.index) + 1 if mark is not None else None
        problem = error.problem or problem
    elif isinstance(error, yaml.reader.ReaderError):
        line = line_at(block, _character(block, error.position)) + 1
        problem = "a character that YAML does not allow"
    return Finding("malformed_yaml", f"malformed front matter: {problem}", line, blocks_edit=True)


def _character(text: str, byte: int) -> int:
    """libyaml counts a reader error's position in bytes of UTF-8."""
    return len(text.encode("utf-8", "surrogatepass")[:byte].decode("utf-8", "ignore"))


def duplicate_key(name: str, line: int, first_line: int) -> Finding:
    """The same key twice: we read the first, other readers the last, so nobody edits it by tool."""
    reason = f"the key {name} stands here again; the value of line {first_line} is read"
    return Finding("duplicate_key", reason, line, blocks_edit=True)


def alias_limit(name: str, line: int) -> Finding:
    """Anchors and aliases that unfold to more than anyone wrote by hand."""
    return Finding("alias_limit", f"{name} unfolds to too many values", line, blocks_edit=True)


def conflict_markers(text: str) -> Finding | None:
    """The finding for git's conflict markers at line starts, in their order, anywhere in the note; else None.

    Code blocks count too: a conflict inside one looks the same as an example of one, and the safe answer is no edit.
    """
    if "<<<<<<<" not in text:
        return None
    ours = _OURS.search(text)
    between = _BETWEEN.search(text, ours.end()) if ours else None
    if ours is None or between is None or _THEIRS.search(text, between.end()) is None:
        return None
    line = line_at(text, ours.start())
    return Finding("conflict_markers", "unresolved git conflict: settle it in an editor", line, blocks_edit=True)
