"""YAML nodes to values: typed for our fields, as written for a person's own keys. Owns no files, no defaults."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

import yaml

from vault_memory.memory.ids import is_id
from vault_memory.memory.model import FIELDS, FLAGS, RESERVED_PROJECT, Field
from vault_memory.memory.moments import ImpossibleTime, parse_time

MAX_VALUES: Final = 20_000
"""How many values one key may unfold to; beyond it anchors and aliases were used as a bomb."""
MAX_DEPTH: Final = 64

_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLS: Final = MappingProxyType({"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False})
_CORE: Final = MappingProxyType(
    {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
)
_NUMBER: Final = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?", re.ASCII)
_WHOLE: Final = re.compile(r"\d{1,15}", re.ASCII)
_PROJECT: Final = re.compile(r"[^\W_][\w.-]{0,99}")
_BARE_LINK: Final = re.compile(r"\[\[[^\[\]\r\n]+\]\]")
_NEWLINES: Final = re.compile(r"\s*[\r\n\x85\u2028\u2029]\s*")
_EXACT_INTEGER: Final = 2**53


class BadValue(ValueError):
    """A value outside its field's type, vocabulary or bounds: kept in the file, read as the default."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class TooMany(ValueError):
    """A value that unfolds beyond `MAX_VALUES` or nests beyond `MAX_DEPTH`."""


def is_null(node: yaml.Node) -> bool:
    """True for an absent value, `~` or `null`, unquoted."""
    return isinstance(node, yaml.ScalarNode) and not node.style and node.value in _NULLS and node.tag != "!"


def bare_link(node: yaml.Node, source: str) -> str | None:
    """`[[X]]` written without quotes, which YAML takes for a list in a list; None for anything else."""
    if not (isinstance(node, yaml.SequenceNode) and node.flow_style):
        return None
    text = source[node.start_mark.index : node.end_mark.index]
    return text if _BARE_LINK.fullmatch(text) else None


def text_of(node: yaml.Node, source: str) -> str | None:
    """The text of a scalar as typed; None for null.

    Raises:
        BadValue: a list or a mapping.
    """
    if is_null(node):
        return None
    if isinstance(node, yaml.ScalarNode):
        return str(node.value)
    if (link := bare_link(node, source)) is not None:
        return link
    raise BadValue("wrong_type", "must be text")


def texts_of(node: yaml.Node, source: str, separator: re.Pattern[str] | None = None) -> tuple[str, ...]:
    """The texts of a list, or of one scalar (cut at `separator` when given); empty items are left out, doubles too."""
    if isinstance(node, yaml.SequenceNode) and bare_link(node, source) is None:
        items = [_item(item, source) for item in node.value]
    else:
        text = text_of(node, source) or ""
        items = [part.strip() for part in separator.split(text)] if separator else [text]
    return tuple(dict.fromkeys(item for item in items if item))


def _item(node: yaml.Node, source: str) -> str:
    if isinstance(node, yaml.ScalarNode):
        return str(node.value)
    if (link := bare_link(node, source)) is not None:
        return link
    raise BadValue("wrong_type", "must be a list of texts")


def _number(text: str, field: Field) -> float:
    if not _NUMBER.fullmatch(text):
        raise BadValue("out_of_bounds", f"must be a number from {field.low:g} to {field.high:g}")
    number = float(text)
    if not (field.low or 0) <= number <= (field.high or 0):
        raise BadValue("out_of_bounds", f"must be from {field.low:g} to {field.high:g}")
    return number


def _integer(text: str, field: Field) -> int:
    if not _WHOLE.fullmatch(text) or int(text) < (field.low or 0):
        raise BadValue("out_of_bounds", f"must be a whole number, at least {field.low:g}")
    return int(text)


def _bool(text: str, _: Field) -> bool:
    if (value := _BOOLS.get(text.lower())) is None:
        raise BadValue("out_of_vocabulary", "must be true or false")
    return value


def _choice(text: str, field: Field) -> str:
    if text not in field.choices:
        raise BadValue("out_of_vocabulary", f"must be one of {', '.join(field.choices)}")
    return text


def _datetime(text: str, _: Field) -> datetime:
    try:
        moment = parse_time(text)
    except ImpossibleTime as error:
        raise BadValue("impossible_date", f"no such date: {text}") from error
    if moment is None:
        raise BadValue("out_of_bounds", "must be a date or a time (ISO 8601)")
    return moment


def _text(text: str, field: Field) -> str | None:
    if field.name == "title":
        return _NEWLINES.sub(" ", text.rstrip("\r\n"))
    if field.name == "id" and not is_id(text):
        raise BadValue("bad_id", "must be 1 to 64 letters, digits, hyphens or underscores")
    if field.name == "project":
        return _project(text)
    return text or None


def _project(text: str) -> str | None:
    if text == RESERVED_PROJECT:
        return None
    if not _PROJECT.fullmatch(text):
        raise BadValue("out_of_vocabulary", "must be a slug (letters, digits, dots, hyphens)")
    return text


_SCALARS: Final[Mapping[str, Callable[[str, Field], Any]]] = MappingProxyType(
    {"text": _text, "number": _number, "integer": _integer, "bool": _bool, "choice": _choice, "datetime": _datetime}
)
_SEPARATORS: Final = MappingProxyType(
    {
        "tags": re.compile(r"[,\s]+"),
        "aliases": re.compile(","),
        "stacks": re.compile(","),
        "flags": re.compile(","),
    }
)


def field_value(field: Field, node: yaml.Node, source: str) -> Any:
    """The value a node gives to a field; None when it is null.

    Raises:
        BadValue: outside the field's type, vocabulary or bounds.
    """
    if field.kind == "list":
        return _list(field, node, source)
    text = text_of(node, source)
    return None if text is None else _SCALARS[field.kind](text, field)


def _list(field: Field, node: yaml.Node, source: str) -> tuple[str, ...]:
    found = texts_of(node, source, _SEPARATORS.get(field.name))
    if field.name == "tags":
        bare = (tag.strip().lstrip("#") for tag in found)
        return tuple(dict.fromkeys(tag for tag in bare if tag))
    if field.name == "flags" and not set(found) <= set(FLAGS):
        raise BadValue("out_of_vocabulary", f"must be among {', '.join(FLAGS)}")
    return found


def link_targets(node: yaml.Node, source: str) -> tuple[str, ...]:
    """The targets of a relation, without brackets, in file order.

    Raises:
        BadValue: neither a text nor a list of texts.
    """
    return tuple(dict.fromkeys(filter(None, map(bare_target, texts_of(node, source)))))


def bare_target(text: str) -> str:
    """`[[target|alias]]` without brackets and alias; other text as it is."""
    inner = text.strip()
    if inner.startswith("[[") and inner.endswith("]]"):
        inner = inner[2:-2].split("|", 1)[0]
    return inner.strip()


def own_value(node: yaml.Node, source: str) -> Any:
    """A person's own value: JSON-compatible, text as typed except null, true, false and numbers that print back.

    Raises:
        TooMany: more values than anyone writes by hand, or endless nesting.
    """
    return _Unfolding(source).value(node, 0)


class _Unfolding:
    """Counts the values while one key unfolds, so that aliases cannot multiply without bound."""

    __slots__ = ("_left", "_source")

    def __init__(self, source: str) -> None:
        self._left = MAX_VALUES
        self._source = source

    def value(self, node: yaml.Node, depth: int) -> Any:
        self._left -= 1
        if self._left < 0 or depth > MAX_DEPTH:
            raise TooMany
        if isinstance(node, yaml.ScalarNode):
            return plain_value(node)
        if isinstance(node, yaml.SequenceNode):
            link = bare_link(node, self._source)
            return link if link is not None else [self.value(item, depth + 1) for item in node.value]
        return {self._key(key, depth): self.value(value, depth + 1) for key, value in reversed(node.value)}

    def _key(self, node: yaml.Node, depth: int) -> str:
        if isinstance(node, yaml.ScalarNode):
            return str(node.value)
        return repr(self.value(node, depth + 1))


def plain_value(node: yaml.ScalarNode) -> str | int | float | bool | None:
    """The value of one scalar under the rule for a person's own keys."""
    text = str(node.value)
    if node.style or node.tag != "tag:yaml.org,2002:str":
        return text
    if text in _NULLS:
        return None
    if (flag := _CORE.get(text)) is not None:
        return flag
    return _printed_back(text)


def _printed_back(text: str) -> str | int | float:
    """A number only if it prints back as written and JavaScript can hold it: everything else stays text."""
    if len(text) > 24 or not _NUMBER.fullmatch(text):
        return text
    if text.lstrip("-").isdigit():
        whole = int(text)
        return whole if str(whole) == text and abs(whole) <= _EXACT_INTEGER else text
    number = float(text)
    return number if repr(number) == text else text


def read_value(name: str, node: yaml.Node, source: str, relation_types: Collection[str]) -> Any:
    """The value of a front-matter key under the rules of its kind: field, relation, or a person's own.

    Raises:
        BadValue, TooMany: as the kind's own reader says.
    """
    if name in FIELDS:
        return field_value(FIELDS[name], node, source)
    if name in relation_types:
        return link_targets(node, source)
    return own_value(node, source)


def reserved_names(relation_types: Collection[str]) -> frozenset[str]:
    """Names that a person's own key cannot have at the top level: fields, relations and `metadata` itself."""
    return frozenset(FIELDS) | frozenset(relation_types) | {"metadata"}
