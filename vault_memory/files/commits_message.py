"""The words of a commit and what can be read back from them. Pure: text in, text out.

Owns the trailers `Memory-Agent`, `Memory-Session` and `Memory-Operation`. In a commit of several operations each
`Memory-Operation` is followed by a path, so that one operation can be told from its neighbours.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from msgspec import Struct

from vault_memory.files.queue import Change

AGENT: Final = "Memory-Agent"
SESSION: Final = "Memory-Session"
OPERATION: Final = "Memory-Operation"
_VALUE_LIMIT: Final = 200
_TRAILER: Final = re.compile(r"(Memory-(?:Agent|Session|Operation)): (.*)")
_ALL_PATHS: Final = ""


class Trailers(Struct, frozen=True):
    """What a commit says of its origin; all empty for a person's own commit."""

    agent: str | None = None
    session: str | None = None
    operations: tuple[tuple[str, str], ...] = ()
    """(path, operation) pairs; the path is '' when the whole commit is that operation's."""

    def operation_of(self, path: str) -> str | None:
        """The operation that changed `path` in this commit."""
        found = dict(self.operations)
        return found.get(path, found.get(_ALL_PATHS))


def tool_message(changes: Sequence[Change]) -> str:
    """The message of a commit that holds these changes of one agent and session."""
    paragraphs = [_subject(changes), _reasons(changes), _trailers(changes)]
    return "\n\n".join(part for part in paragraphs if part) + "\n"


def person_message(paths: Sequence[str]) -> str:
    """The message of a commit that saves a person's edits before the tool changes the same notes."""
    named = _stem(paths[0]) if len(paths) == 1 else f"{len(paths)} notes"
    return f"Edited by hand: {named}\n"


def read_trailers(message: str) -> Trailers:
    """The trailers of a commit message: those of its last paragraph only, as git defines them."""
    last = message.strip().rpartition("\n\n")[2]
    found = [(match[1], match[2].strip()) for match in map(_TRAILER.fullmatch, last.splitlines()) if match]
    first: Mapping[str, str] = dict(reversed(found))
    operations = tuple(_operation(value) for key, value in found if key == OPERATION)
    return Trailers(first.get(AGENT), first.get(SESSION), operations)


def summary(message: str) -> str:
    """The first line of a message."""
    return message.strip().partition("\n")[0]


def one_line(text: str) -> str:
    """Text as a trailer can carry it: on one line, without control characters, at most 200 characters."""
    printable = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(printable.split())[:_VALUE_LIMIT]


def operation_token(operation: str) -> str:
    """An operation's id without blanks, so that a path can follow it."""
    return one_line(operation).replace(" ", "-") or "write"


def _subject(changes: Sequence[Change]) -> str:
    names = Counter(_verb(change) for change in changes)
    kept = [change for change in changes if change.after is not None] or list(changes)
    if len(names) == 1 and len(kept) == 1:
        return f"{_verb(kept[0])}: {_stem(kept[0].path)}"
    return ", ".join(f"{name} {count} note{'s' if count > 1 else ''}" for name, count in names.items())


def _verb(change: Change) -> str:
    token = operation_token(change.operation)
    return token.rpartition("-")[0] or token


def _stem(path: str) -> str:
    return one_line(PurePosixPath(path).stem)


def _reasons(changes: Sequence[Change]) -> str:
    reasons = dict.fromkeys(change.reason.strip() for change in changes if change.reason.strip())
    if len(reasons) <= 1:
        return "".join(reasons)
    lines = dict.fromkeys(f"- {_stem(c.path)}: {one_line(c.reason)}" for c in changes if c.reason.strip())
    return "\n".join(lines)


def _trailers(changes: Sequence[Change]) -> str:
    first = changes[0]
    lines = [f"{key}: {one_line(value)}" for key, value in ((AGENT, first.agent), (SESSION, first.session)) if value]
    operations = dict.fromkeys(operation_token(change.operation) for change in changes)
    if len(operations) == 1:
        lines.append(f"{OPERATION}: {next(iter(operations))}")
    else:
        lines += [f"{OPERATION}: {operation_token(change.operation)} {_written(change.path)}" for change in changes]
    return "\n".join(lines)


def _written(path: str) -> str:
    plain = path.isprintable() and path == path.strip() and not path.startswith('"')
    return path if plain else json.dumps(path, ensure_ascii=True)


def _operation(value: str) -> tuple[str, str]:
    name, _, path = value.partition(" ")
    if path.startswith('"'):
        try:
            path = str(json.loads(path))
        except ValueError:
            path = _ALL_PATHS
    return path, name
