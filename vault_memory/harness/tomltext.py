"""Edits of TOML text that touch nothing but the named table.

Owns how a table is appended and cut out with everything around it kept byte for byte; each edit is read back and
compared. Pure text in, text out; it must not read files or know any client.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from vault_memory.harness.jsontext import BrokenText, EntryExists


def parse(text: str) -> dict[str, Any]:
    """The data of `text`.

    Raises:
        BrokenText: not valid TOML; names line and reason.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"^(.*?) \(at line (\d+)", str(error))
        raise BrokenText(found[1] if found else str(error), int(found[2]) if found else text.count("\n") + 1) from None


def find(data: Mapping[str, Any], path: Sequence[str]) -> Any | None:
    """The value at `path`, or None."""
    value: Any = data
    for key in path:
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return value


def put(text: str, path: Sequence[str], table: Mapping[str, Any]) -> str:
    """`text` with `[path]` holding `table` appended at its end, after one blank line.

    Raises:
        EntryExists: the path is taken, or an inline table stands in the way.
        BrokenText: the text is not valid TOML.
    """
    before = parse(text)
    if find(before, path) is not None:
        raise EntryExists(f"{'.'.join(path)} is already there")
    newline = "\r\n" if "\r\n" in text else "\n"
    lead = "" if not text else newline if text.endswith("\n") else newline * 2
    result = text + lead + _rendered(path, table).replace("\n", newline)
    try:
        after = parse(result)
    except BrokenText as error:
        raise EntryExists(f"[{'.'.join(path)}] cannot be added after what is there ({error.reason})") from None
    if _without(after, path) != _without(before, path):
        raise EntryExists(f"[{'.'.join(path)}] would change other settings")
    return result


def remove(text: str, path: Sequence[str]) -> str:
    """`text` without the table at `path` and its sub-tables; comments that follow it stay. Absent: unchanged.

    Raises:
        BrokenText: the text is not valid TOML, or the entry cannot be taken out without changing something else.
    """
    before = parse(text)
    if find(before, path) is None:
        return text
    for result in (_cut_tables(text, path), _dropped(text, path)):
        try:
            if _without(parse(result), path) == _without(before, path) and find(parse(result), path) is None:
                return result
        except BrokenText:
            continue
    raise BrokenText(f"{'.'.join(path)} cannot be taken out safely; remove it by hand", 1)


def _rendered(path: Sequence[str], table: Mapping[str, Any]) -> str:
    import tomlkit

    document: dict[str, Any] = dict(table)
    for key in reversed(path):
        document = {key: document}
    return tomlkit.dumps(document)


def _cut_tables(text: str, path: Sequence[str]) -> str:
    """`text` without the lines from each header at or below `path` to the last line that belongs to it."""
    kept: list[str] = []
    held: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        if (header := _header(line)) is not None:
            ours = list(header[: len(path)]) == list(path)
            if ours and not inside and kept and not kept[-1].strip():
                kept.pop()
            if not ours and inside:
                kept += held
            inside, held = ours, []
            if ours:
                continue
        if not inside:
            kept.append(line)
        elif line.strip() and not line.lstrip().startswith("#"):
            held = []
        else:
            held.append(line)
    return "".join(kept + held)


def _header(line: str) -> tuple[str, ...] | None:
    """The keys of a table header line, or None for any other line."""
    if not line.lstrip().startswith("["):
        return None
    try:
        data: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return None
    keys: list[str] = []
    while data:
        if isinstance(data, list):
            data = data[0]
            continue
        key = next(iter(data))
        keys.append(key)
        data = data[key]
    return tuple(keys)


def _dropped(text: str, path: Sequence[str]) -> str:
    """The entry deleted through the style-keeping parser: for inline and dotted spellings."""
    import tomlkit

    document: Any = tomlkit.parse(text)
    parent = document
    for key in path[:-1]:
        parent = parent[key]
    del parent[path[-1]]
    return tomlkit.dumps(document)


def _without(data: Mapping[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """`data` without the value at `path`; parents that become empty go too, so that a spelling does not matter."""
    key, rest = path[0], path[1:]
    result = dict(data)
    if not rest:
        result.pop(key, None)
    elif isinstance(result.get(key), Mapping):
        below = _without(result[key], rest)
        if below:
            result[key] = below
        else:
            result.pop(key)
    return result
