"""Our own JSON: every note byte for byte, how it was used, and the files that notes link to. Loses nothing."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from vault_memory.formats.record import (
    Attachment,
    BadRecord,
    Bundle,
    Incoming,
    NotThisFormat,
    Outgoing,
    Usage,
    each,
    text_time,
    time_of,
)

FORMAT: Final = "vault-memory"
VERSION: Final = 1


def matches(document: Any) -> bool:
    """Whether a JSON document says that it is one of ours."""
    return isinstance(document, Mapping) and document.get("format") == FORMAT


def read(document: Any) -> Bundle:
    """The notes of an export.

    Raises:
        NotThisFormat: another format, or a version this program does not know.
    """
    if not matches(document) or document.get("version") != VERSION:
        raise NotThisFormat(f"must say format '{FORMAT}' and version {VERSION}")
    notes = document.get("memories")
    if not isinstance(notes, list):
        raise NotThisFormat("'memories' must be a list")
    files = [_attachment(item) for item in document.get("attachments") or ()]
    lost = tuple(f"attachment {number} cannot be read" for number, file in enumerate(files, 1) if file is None)
    return Bundle("json", each(notes, _note, ("path",)), tuple(file for file in files if file is not None), lost)


def write(notes: Iterable[Outgoing], exported_at: datetime, attachments: Iterable[Attachment] = ()) -> dict[str, Any]:
    """The document that `read` reads back."""
    files = [{"path": file.path, "base64": base64.b64encode(file.data).decode()} for file in attachments]
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "exported_at": text_time(exported_at),
        "memories": [_written(note) for note in notes],
    }
    return document | ({"attachments": files} if files else {})


def usage_of(record: Any) -> Usage:
    """The usage object of a record.

    Raises:
        BadRecord: it is no such object.
    """
    if record is None:
        return Usage()
    if not isinstance(record, Mapping) or not isinstance(record.get("access_count", 0), int):
        raise BadRecord("'usage' must be {last_accessed_at, access_count}")
    return Usage(time_of(record.get("last_accessed_at"), "last_accessed_at"), record.get("access_count", 0))


def written_usage(usage: Usage) -> dict[str, Any]:
    """The object that `usage_of` reads."""
    return {"last_accessed_at": text_time(usage.last_accessed_at), "access_count": usage.access_count}


def _note(record: Mapping[str, Any], name: str) -> Incoming:
    path, text = record.get("path"), record.get("text")
    if not isinstance(path, str) or not isinstance(text, str):
        raise BadRecord("needs 'path' and 'text'")
    try:
        raw = text.encode()
    except UnicodeEncodeError:
        raise BadRecord("'text' holds characters that no file can keep") from None
    return Incoming(name, raw=raw, path=path, usage=usage_of(record.get("usage")))


def _written(note: Outgoing) -> dict[str, Any]:
    record: dict[str, Any] = {"path": note.memory.path, "id": note.memory.id, "text": note.data.decode()}
    return record | ({"usage": written_usage(note.usage)} if note.usage.access_count else {})


def _attachment(item: Any) -> Attachment | None:
    try:
        return Attachment(str(item["path"]), base64.b64decode(item["base64"], validate=True))
    except (KeyError, TypeError, ValueError, binascii.Error):
        return None
