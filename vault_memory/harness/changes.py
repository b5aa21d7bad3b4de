"""What is done to one settings file: five kinds of change, each with its way back.

A change is a value that can be written down in a receipt and read again. Pure text in, text out; it must not read or
write files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from msgspec import Struct
from msgspec.structs import asdict, replace

from vault_memory.harness import blocktext, jsontext, tomltext
from vault_memory.harness.jsontext import EntryExists


class Change(Protocol):
    """One change to the text of one file; `apply` followed by `revert` gives back what was there."""

    kind: ClassVar[str]

    def against(self, text: str) -> Change:
        """The change with what it must remember about `text`, the state before it."""
        ...

    def apply(self, text: str) -> str:
        """The text with the change; raises EntryExists or BrokenText and then nothing may be written."""
        ...

    def revert(self, text: str) -> str:
        """The text without our entry, whoever changed what else meanwhile; raises BrokenText."""
        ...

    def present(self, text: str) -> bool:
        """True when an entry of ours stands in the text."""
        ...

    def describe(self) -> str:
        """What the change adds, in one line for a plan."""
        ...


class JsonEntry(Struct, frozen=True):
    """A value at a path of a JSON file. `keep` counts the leading keys that were there before.

    With `default` a value that is there already is left alone, whatever it is, and stays when we leave.
    """

    path: tuple[str, ...]
    value: Any
    comments: bool = False
    keep: int = 0
    default: bool = False
    kind: ClassVar[str] = "json_entry"

    def against(self, text: str) -> JsonEntry:
        return replace(self, keep=_depth(text, self.path, self.comments))

    def apply(self, text: str) -> str:
        if self.default and self.present(text):
            return text
        return jsontext.put(text, self.path, self.value, comments=self.comments)

    def revert(self, text: str) -> str:
        if not text.strip() or self.keep >= len(self.path):
            return text
        return jsontext.remove(text, self.path, comments=self.comments, keep=self.keep)

    def present(self, text: str) -> bool:
        return bool(text.strip()) and jsontext.find(jsontext.parse(text, comments=self.comments), self.path) is not None

    def describe(self) -> str:
        return f"set {'.'.join(self.path)} = {json.dumps(self.value, ensure_ascii=False)}"


class JsonItem(Struct, frozen=True):
    """One item of a list in a JSON file, found again by `mark`: a text inside one of its string values."""

    path: tuple[str, ...]
    value: Any
    mark: str
    comments: bool = False
    keep: int = 0
    kind: ClassVar[str] = "json_item"

    def against(self, text: str) -> JsonItem:
        return replace(self, keep=_depth(text, self.path, self.comments))

    def apply(self, text: str) -> str:
        if self.present(text):
            raise EntryExists(f"{'.'.join(self.path)} already holds an item with “{self.mark}”")
        return jsontext.add(text, self.path, self.value, comments=self.comments)

    def revert(self, text: str) -> str:
        while (at := self._where(text)) is not None:
            text = jsontext.remove(text, at, comments=self.comments, keep=self.keep)
        return text

    def present(self, text: str) -> bool:
        return self._where(text) is not None

    def describe(self) -> str:
        return f"add to {'.'.join(self.path)}: {json.dumps(self.value, ensure_ascii=False)}"

    def _where(self, text: str) -> tuple[jsontext.Key, ...] | None:
        """The path of what carries the mark: the whole item, or only our part where a person added their own to it."""
        if not text.strip():
            return None
        node = jsontext.find(jsontext.parse(text, comments=self.comments), self.path)
        if node is None or not isinstance(node.value, list):
            return None
        for number, item in enumerate(node.value):
            if (below := _marked(item, self.mark)) is not None:
                return (*self.path, number, *below)
        return None


class TomlTable(Struct, frozen=True):
    """A table of a TOML file."""

    path: tuple[str, ...]
    table: Mapping[str, Any]
    kind: ClassVar[str] = "toml_table"

    def against(self, text: str) -> TomlTable:
        return self

    def apply(self, text: str) -> str:
        return tomltext.put(text, self.path, self.table)

    def revert(self, text: str) -> str:
        return tomltext.remove(text, self.path)

    def present(self, text: str) -> bool:
        return tomltext.find(tomltext.parse(text), self.path) is not None

    def describe(self) -> str:
        return f"add the table [{'.'.join(self.path)}] = {json.dumps(self.table, ensure_ascii=False)}"


class Block(Struct, frozen=True):
    """A marked block of a Markdown file. Several clients may share a file; they share its block then."""

    text: str
    kind: ClassVar[str] = "block"

    def against(self, text: str) -> Block:
        return self

    def apply(self, text: str) -> str:
        if blocktext.find(text) == self.text.strip("\n"):
            return text
        return blocktext.put(text, self.text)

    def revert(self, text: str) -> str:
        return blocktext.remove(text)

    def present(self, text: str) -> bool:
        return blocktext.find(text) is not None

    def describe(self) -> str:
        return f"add a marked block of {len(self.text.splitlines())} lines"


class WholeFile(Struct, frozen=True):
    """A file that is all ours. One that a person changed since stays when we leave."""

    text: str
    kind: ClassVar[str] = "whole_file"

    def against(self, text: str) -> WholeFile:
        return self

    def apply(self, text: str) -> str:
        if text and text != self.text:
            raise EntryExists("the file is already there")
        return self.text

    def revert(self, text: str) -> str:
        return "" if text == self.text else text

    def present(self, text: str) -> bool:
        return text == self.text

    def describe(self) -> str:
        return f"write the file ({len(self.text.splitlines())} lines)"


_KINDS: Mapping[str, Callable[..., Change]] = {
    kind.kind: kind for kind in (JsonEntry, JsonItem, TomlTable, Block, WholeFile)
}


def to_json(change: Change) -> dict[str, Any]:
    """The change as JSON-compatible data."""
    return {"kind": change.kind} | asdict(change)  # type: ignore[arg-type]  # every kind is a struct


def from_json(data: Mapping[str, Any]) -> Change:
    """The change that `to_json` wrote.

    Raises:
        KeyError, TypeError: not written by `to_json`.
    """
    values = {key: tuple(value) if key == "path" else value for key, value in data.items() if key != "kind"}
    return _KINDS[data["kind"]](**values)


def _depth(text: str, path: Sequence[str], comments: bool) -> int:
    """How many leading keys of `path` exist in `text`."""
    if not text.strip():
        return 0
    root = jsontext.parse(text, comments=comments)
    return max(n for n in range(len(path) + 1) if jsontext.find(root, path[:n]) is not None)


def _marked(item: Any, mark: str) -> tuple[jsontext.Key, ...] | None:
    """Where in a list item the mark stands: () for the whole item, a path into an inner list that holds others too."""
    if isinstance(item, str):
        return () if mark in item else None
    if not isinstance(item, dict):
        return None
    for key, value in item.items():
        inner = value if isinstance(value, list) else [value]
        for number, part in enumerate(inner):
            if _marked(part, mark) is not None:
                return (key, number) if len(inner) > 1 else ()
    return None
