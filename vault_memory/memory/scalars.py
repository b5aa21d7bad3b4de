"""Values as YAML text that every reader understands alike. Pure; writes no keys and no lines.

What YAML 1.1, 1.2 or JSON would read as something other than text is quoted, as is everything a reader might fold.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from vault_memory.errors import InvalidRequest
from vault_memory.memory.moments import format_time

_SAFE: Final = re.compile(r"[^\W_](?:[\w ./+()@%&'=~$;!-]|:(?![ ,]|\Z))*")
"""Starts with a letter or digit, then characters without a meaning in flow or block text."""
_OTHER: Final = re.compile(
    r"""(?xi) ~|null|true|false|yes|no|on|off|y|n
    | [-+]?(?:0b[01_]+|0o?[0-7_]+|0x[0-9a-f_]+|[0-9][0-9_]*)                # whole numbers of both versions
    | [-+]?(?:[0-9][0-9_]*)?\.?[0-9_]*(?:e[-+]?[0-9]+)?                     # decimals
    | [-+]?\.?(?:inf|nan)|[-+]?infinity
    | [-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?                      # sexagesimal
    | [0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[ \t]*[t \t].*)?                     # dates and times
    """
)
_ESCAPED: Final = re.compile(r"[\x00-\x1f\"\\\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_SHORT: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def scalar(value: object) -> str:
    """One value on one line, fit for flow and block context.

    Raises:
        InvalidRequest: text that is not valid Unicode (a lone surrogate, NUL), or a number that is not finite.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _decimal(value)
    if isinstance(value, str):
        return text_scalar(value)
    raise InvalidRequest.of("value", f"cannot be written as YAML: {type(value).__name__}")


def text_scalar(text: str) -> str:
    """Text as a plain scalar where every reader takes it for that text, else in double quotes."""
    if _SAFE.fullmatch(text) and text[-1] != " " and not _OTHER.fullmatch(text) and " #" not in text:
        return text
    return double_quoted(text)


def double_quoted(text: str) -> str:
    """Text in double quotes; characters that YAML forbids or folds are escaped."""
    check_text(text, "value")
    return f'"{_ESCAPED.sub(_escape, text)}"'


def single_quoted(text: str) -> str | None:
    """Text in single quotes; None where it holds something that only double quotes can say."""
    if _ESCAPED.search(text.replace('"', "").replace("\\", "")):
        return None
    return "'" + text.replace("'", "''") + "'"


def check_text(text: str, field: str) -> str:
    """`text`, if a file can hold it.

    Raises:
        InvalidRequest: a lone surrogate or a NUL character.
    """
    if "\0" in text:
        raise InvalidRequest.of(field, "must not hold NUL characters")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidRequest.of(field, "must be valid Unicode text") from None
    return text


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    return _SHORT.get(character) or f"\\u{ord(character):04x}"


def _decimal(number: float) -> str:
    if number != number or number in (float("inf"), float("-inf")):
        raise InvalidRequest.of("value", "must be a finite number")
    text = format(Decimal(repr(number)), "f")
    return text if "." in text else f"{text}.0"


def flow(value: object) -> str:
    """Any JSON-compatible value on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(str(key))}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    return scalar(value)


def entry_lines(name: str, value: Any, newline: str = "\n", indent: str = "") -> str:
    """A whole `key: value` line."""
    return f"{indent}{scalar(name)}: {flow(value)}{newline}"
