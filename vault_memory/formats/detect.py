"""Which format a file, folder or document is in, and reading it. Knows all formats; converts nothing itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from vault_memory.formats import actor, memai, memstack, native, notes, server_memory
from vault_memory.formats.record import Bundle, NotThisFormat

FORMATS: Final = ("json", "notes", "memstack", "memai", "actor", "server-memory")
INLINE: Final = ("json", "memstack", "server-memory")
"""The formats that a message can carry."""

_TEXTS: Final[Mapping[str, Callable[[Any], Bundle]]] = {"json": native.read, "memstack": memstack.read}
_PLACES: Final[Mapping[str, Callable[[Path], Bundle]]] = {"notes": notes.read, "memai": memai.read, "actor": actor.read}


def read_place(place: Path, form: str | None = None) -> Bundle:
    """What a file or folder holds; its format is recognised when none is named.

    Raises:
        NotThisFormat: it cannot be read as that format, or as any.
        OSError: it cannot be read at all.
    """
    if form is not None and form in _PLACES:
        return _PLACES[form](place)
    if form is None and (place.is_dir() or place.suffix.lower() == ".zip"):
        return actor.read(place) if place.is_dir() and actor.matches(place) else notes.read(place)
    if form is None and memai.matches(place):
        return memai.read(place)
    try:
        return read_text(place.read_text("utf-8-sig"), form)
    except UnicodeDecodeError as error:
        raise NotThisFormat(f"{place} is no text: {error}") from error


def read_text(text: str, form: str | None = None) -> Bundle:
    """What a text holds.

    Raises:
        NotThisFormat: it cannot be read as that format, or as any.
    """
    if form == "server-memory" or (form is None and server_memory.matches(text)):
        return server_memory.read(text)
    try:
        document = json.loads(text)
    except ValueError as error:
        raise NotThisFormat(f"no JSON: {error}") from error
    return read_document(document, form)


def read_document(document: Any, form: str | None = None) -> Bundle:
    """What a JSON document holds.

    Raises:
        NotThisFormat: it is none of the formats.
    """
    if form is None:
        form = "json" if native.matches(document) else "memstack" if memstack.matches(document) else None
    if form is None or form not in _TEXTS:
        raise NotThisFormat("the format was not recognised; name it (" + ", ".join(FORMATS) + ")")
    return _TEXTS[form](document)
