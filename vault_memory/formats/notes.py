"""A folder (or a zip) of notes, byte for byte, with the files they link to and a list of how they were used."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from vault_memory.formats.native import usage_of, written_usage
from vault_memory.formats.record import Attachment, BadRecord, Bundle, Incoming, NotThisFormat, Outgoing, Usage
from vault_memory.memory.links import links

USAGE_FILE: Final = "vault-memory-usage.json"
"""Beside the notes: when each was last read, by path."""
MAX_FILE_BYTES: Final = 200_000_000


def matches(place: Path) -> bool:
    """Whether it is a folder or zip that holds notes."""
    return any(name.lower().endswith(".md") for name, _ in _files(place))


def read(place: Path) -> Bundle:
    """Every note of the folder and every file that a note links to.

    Raises:
        NotThisFormat: there are no notes.
    """
    files = dict(_files(place))
    notes = {name: load() for name, load in files.items() if name.lower().endswith(".md")}
    if not notes:
        raise NotThisFormat(f"{place} holds no notes")
    usage, warnings = _usages(files[USAGE_FILE]() if USAGE_FILE in files else None)
    records = tuple(Incoming(name, raw=data, path=name, usage=usage.get(name, Usage())) for name, data in notes.items())
    others = {name for name in files if name not in notes and name != USAGE_FILE}
    names = by_name(others)
    texts = ((name, data.decode(errors="replace")) for name, data in notes.items())
    wanted = sorted({found for name, text in texts for found in linked(text, name, others, names)})
    attachments = tuple(Attachment(name, files[name]()) for name in wanted)
    return Bundle("notes", records, attachments, warnings)


def by_name(files: Iterable[str]) -> dict[str, str]:
    """Paths by file name; of several files of one name the one nearest to the top."""
    ordered = sorted(files, key=lambda path: (path.count("/"), path), reverse=True)
    return {file.rpartition("/")[2]: file for file in ordered}


def linked(text: str, note: str, known: Collection[str], names: Mapping[str, str]) -> Iterator[str]:
    """The files of `known` that a note's text links to: beside it, from the top, or anywhere by a name alone."""
    folder = note.rpartition("/")[0]
    for link in links(text):
        if link.target.lower().endswith(".md") or "." not in link.target.rpartition("/")[2]:
            continue
        places = (os.path.normpath(os.path.join(folder, link.target)), os.path.normpath(link.target))  # noqa: PTH118
        found = next((place for place in places if place in known), names.get(link.target))
        if found is not None:
            yield found


def usage_document(notes: Iterable[Outgoing]) -> dict[str, Any]:
    """The content of USAGE_FILE: usage by path, of the notes that were ever read."""
    return {note.memory.path: written_usage(note.usage) for note in notes if note.usage.access_count}


def _files(place: Path) -> Iterator[tuple[str, Any]]:
    """Path and loader of every file that is not hidden."""
    if place.is_dir():
        for path in sorted(place.rglob("*")):
            name = path.relative_to(place).as_posix()
            if path.is_file() and not path.is_symlink() and not _hidden(name):
                yield name, path.read_bytes
    elif zipfile.is_zipfile(place):
        with zipfile.ZipFile(place) as archive:
            for item in sorted(archive.infolist(), key=lambda item: item.filename):
                if not item.is_dir() and not _hidden(item.filename) and item.file_size <= MAX_FILE_BYTES:
                    yield item.filename, lambda name=item.filename: _unzipped(place, name)


def _unzipped(place: Path, name: str) -> bytes:
    with zipfile.ZipFile(place) as archive:
        return archive.read(name)


def _hidden(name: str) -> bool:
    return any(part.startswith(".") for part in name.split("/"))


def _usages(data: bytes | None) -> tuple[dict[str, Usage], tuple[str, ...]]:
    try:
        document = json.loads(data) if data is not None else {}
        items = document.items() if isinstance(document, Mapping) else ()
        return {str(path): usage_of(item) for path, item in items}, ()
    except (ValueError, BadRecord) as error:
        return {}, (f"{USAGE_FILE} cannot be read, accesses are not taken over: {error}",)
