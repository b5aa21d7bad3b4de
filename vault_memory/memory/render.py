"""New notes as bytes: fields in one order, defaults left out, the content byte for byte. Edits nothing that exists."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from vault_memory.memory.front_matter import split_text
from vault_memory.memory.model import EMPTY, FIELDS, RELATION_TYPES
from vault_memory.memory.scalars import check_text, entry_lines
from vault_memory.memory.values import reserved_names

_FIRST_NEWLINE: Final = re.compile("\r\n|\n|\r")
_TITLE_NEWLINES: Final = re.compile(r"\s*[\r\n\x85\u2028\u2029]\s*")
_ALWAYS: Final = frozenset({"version"})
"""Written even at the default: a note without a version is a person's, and prune leaves it alone."""


def render(
    fields: Mapping[str, Any],
    content: str,
    *,
    relations: Mapping[str, Collection[str]] = EMPTY,
    metadata: Mapping[str, Any] = EMPTY,
) -> bytes:
    """A new note. `parse(render(fields, content)).content == content` for every text.

    Args:
        fields: field values by name; those at their default are left out, unknown names are an error.
        content: the body, kept byte for byte.
        relations: relation type to targets, without brackets.
        metadata: a caller's own keys; those that equal a field's name go under a map `metadata:`.

    Raises:
        InvalidRequest: text that no file can hold, a number that is not finite, a value that is not JSON-compatible.
        KeyError: a name in `fields` that is not a field.
    """
    check_text(content, "content")
    newline = "\r\n" if (first := _FIRST_NEWLINE.search(content)) and first.group() == "\r\n" else "\n"
    pairs = [*_fields(fields), *_relations(relations), *_metadata(metadata, relations)]
    lines = "".join(entry_lines(name, value, newline) for name, value in pairs)
    if not lines and stands_alone(content):
        return content.encode()
    return f"---{newline}{lines}---{newline}{content}".encode()


def stands_alone(content: str) -> bool:
    """True when a file of this text alone is read as this content: no front matter, no byte-order mark."""
    parts = split_text(content)
    return parts.head == "" and (parts.finding is None or not parts.finding.blocks_edit)


def written(name: str, value: Any) -> Any:
    """A field's value as it is put on the line: titles on one line, sequences as lists, whole numbers as they are."""
    if name == "title" and isinstance(value, str):
        return _TITLE_NEWLINES.sub(" ", value.rstrip("\r\n"))
    if isinstance(value, (tuple, set, frozenset)):
        return list(value) if isinstance(value, tuple) else sorted(value)
    return value


def links(targets: Collection[str]) -> list[str]:
    """Relation targets as quoted wikilinks."""
    return [f"[[{target}]]" for target in targets]


def _fields(fields: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    if unknown := sorted(set(fields) - set(FIELDS)):
        raise KeyError(unknown[0])
    for name, field in FIELDS.items():
        value = fields.get(name)
        if value is None or (_is_default(value, field.default) and name not in _ALWAYS):
            continue
        yield name, written(name, value)


def _is_default(value: Any, default: Any) -> bool:
    return tuple(value) == default if isinstance(value, (list, tuple)) else bool(value == default)


def _relations(relations: Mapping[str, Collection[str]]) -> Iterator[tuple[str, Any]]:
    known = [name for name in RELATION_TYPES if name in relations]
    for name in (*known, *sorted(set(relations) - set(known))):
        if relations[name]:
            yield name, links(relations[name])


def _metadata(metadata: Mapping[str, Any], relations: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    reserved = reserved_names({*RELATION_TYPES, *relations})
    clashing = {name: value for name, value in metadata.items() if name in reserved}
    yield from ((name, value) for name, value in metadata.items() if name not in reserved)
    if clashing:
        yield "metadata", clashing
