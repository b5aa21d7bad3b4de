"""Which vault paths are safe by their text alone. Owns that rule; touches no disk (store.py checks what is there)."""

from __future__ import annotations

import re
import unicodedata
from typing import Final
from urllib.parse import unquote

NOTE_SUFFIX: Final = ".md"
MAX_NAME_BYTES: Final = 200
"""Of a new name without its suffix: file systems allow 255, temp names and sync tools want some of it."""

_DRIVE = re.compile(r"[A-Za-z]:(/|$)")
_HOME = re.compile(r"~[^/]*(/|$)")
_DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])\s*(\.|$)", re.IGNORECASE)
_SHORT_GIT = re.compile(r"git~[0-9]+$", re.IGNORECASE)
_NOT_PORTABLE = re.compile(r'[#|^\[\]:*?"<>%]')
# Printable ASCII but % : \ and no dot, tilde or space in front; searching for what is wrong would cost four times more.
_PLAIN = re.compile(r"[!-$&-\-/-9;-\[\]-}][ -$&-9;-\[\]-~]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_DECODINGS: Final = 6


def is_note_name(name: str) -> bool:
    """True for a file name that may be a note: it ends in `.md`, in any case."""
    return name.endswith(NOTE_SUFFIX) or name[-3:].lower() == NOTE_SUFFIX


def normal(path: str) -> str:
    """The path in the form that names it in the vault: Unicode NFC."""
    return path if path.isascii() else unicodedata.normalize("NFC", path)


def problem(path: str) -> str | None:
    """Why `path` must not be used as the vault path of a note, or None when its text is safe.

    The path is judged as written and after every round of percent-decoding, because some caller may decode it.
    """
    for _ in range(_DECODINGS):
        if reason := _literal_problem(path):
            return reason
        decoded = unquote(path)
        if decoded == path:
            return None
        path = decoded
    return "is percent-encoded too often"


def note_problem(path: str) -> str | None:
    """As `problem`, and the path must name a Markdown note."""
    return problem(path) or (None if is_note_name(path) else "is not a Markdown note (.md)")


def is_plain(name: str) -> bool:
    """True when one segment needs no closer look; most names are, and a scan asks ten thousand times."""
    return _PLAIN.fullmatch(name) is not None


def new_name_problem(name: str) -> str | None:
    """Why `name` (one segment) must not be given to a *new* file or folder, or None.

    Stricter than reading: the name must work on every system, in Obsidian links and beside sync tools.
    """
    stem = name.removesuffix(NOTE_SUFFIX)
    if not stem or stem[0] in "-. " or stem[-1] in ". " or name[-1] in ". ":
        return "starts or ends with a character that file names must not start or end with"
    if _NOT_PORTABLE.search(name):
        return 'holds one of # | ^ [ ] : * ? " < > %'
    if _DEVICE.match(name) or _SHORT_GIT.match(name):
        return "is a name that Windows keeps for itself"
    if len(stem.encode("utf-8", "surrogatepass")) > MAX_NAME_BYTES:
        return f"is longer than {MAX_NAME_BYTES} bytes"
    return None


def _literal_problem(path: str) -> str | None:
    if not path:
        return "is empty"
    if path[0] == "/" or _DRIVE.match(path):
        return "is absolute"
    if "\\" in path:
        return "holds a backslash"
    if _HOME.match(path) and "/" in path:
        return "starts in a home folder"
    if _CONTROL.search(path):
        return "holds a control character"
    return next((reason for segment in path.split("/") if (reason := _segment_problem(segment))), None)


def _segment_problem(segment: str) -> str | None:
    if not segment:
        return "holds an empty folder name"
    # HFS+ ignores zero-width characters in names, so that a hidden one in front of ".git" would still name it.
    visible = segment if segment.isascii() else "".join(c for c in segment if unicodedata.category(c) != "Cf")
    if visible.strip(" ").startswith("."):
        return "leads through a hidden file or folder"
    return None
