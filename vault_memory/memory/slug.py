"""File names for new notes: readable, portable, unique in their folder. Pure; touches no disk.

The rules are those of docs/note-format.md: NFC, at most 200 bytes before `.md`, nothing that a file system, a
wikilink or a sync service trips over.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from datetime import datetime
from itertools import count
from typing import Final

MAX_BYTES: Final = 200
"""Of UTF-8 before `.md`; leaves room in 255 for temporary and conflict-copy suffixes."""
EMPTY_SLUG: Final = "note"
GLOBAL_FOLDER: Final = "global"
ACTORS_FOLDER: Final = "actors"
MONTHLY_TYPES: Final = frozenset({"interaction"})

_FORBIDDEN: Final = re.compile(r'[#|^\[\]\\/:*?"<>%\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]')
_DEVICES: Final = re.compile(r"(?i)(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?:[ .].*)?")
_APOSTROPHES: Final = re.compile(r"(?<=\w)['’ʼ](?=\w)")
_JOINERS: Final = "\u200c\u200d"
_TAGS: Final = ("\U000e0020", "\U000e007f")
_KEPT_PUNCTUATION: Final = "_+"


def slug(title: str) -> str:
    """The readable part of a file name: lower case, words joined by hyphens, any script, emoji kept; never empty.

    At most `MAX_BYTES` of UTF-8, cut between grapheme clusters.
    """
    text = unicodedata.normalize("NFC", _APOSTROPHES.sub("", title).lower())
    words = "".join(character if _is_kept(character) else " " for character in text).split()
    joined = "-".join(filter(None, (word.strip(_JOINERS) for word in words)))
    return clean_name(unicodedata.normalize("NFC", joined))


def _is_kept(character: str) -> bool:
    """Letters, marks, digits, symbols beyond ASCII (emoji) with their joiners; all punctuation parts words."""
    if character.isalnum() or character in _KEPT_PUNCTUATION:
        return True
    if character in _JOINERS or _TAGS[0] <= character <= _TAGS[1]:
        return True
    category = unicodedata.category(character)
    return category[0] == "M" or (category[0] == "S" and not character.isascii())


def clean_name(text: str, *, max_bytes: int = MAX_BYTES) -> str:
    """`text` as a name that is allowed everywhere, without `.md`; spelling and case stay where they can."""
    name = _FORBIDDEN.sub("-", unicodedata.normalize("NFC", text))
    name = " ".join(name.split()).strip("-. ") if name.strip() else ""
    name = cut(name, max_bytes - len("-note")).rstrip("-. ") if len(name.encode()) > max_bytes else name
    if not name:
        return EMPTY_SLUG
    return f"{name}-{EMPTY_SLUG}" if _DEVICES.fullmatch(name) else name


def cut(text: str, max_bytes: int) -> str:
    """The longest start of `text` within `max_bytes` of UTF-8 that splits no grapheme cluster (UAX #29).

    A first cluster that alone is too long (a letter under hundreds of marks) is cut between code points.
    """
    if len(text.encode()) <= max_bytes:
        return text
    from wcwidth import iter_graphemes  # only needed here, and its tables take a moment to load

    size, length = 0, 0
    for cluster in iter_graphemes(text):
        size += len(cluster.encode())
        if size > max_bytes:
            break
        length += len(cluster)
    return text[:length] or text.encode()[:max_bytes].decode("utf-8", "ignore")


def fold(name: str) -> str:
    """What two names share that a file system without case cannot keep apart."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def file_name(title: str, taken: Collection[str]) -> str:
    """The name of a new note, with `.md`: the slug, else the slug and ` 2`, ` 3` … until it is free.

    Args:
        title: the note's title.
        taken: names in its folder, with `.md`; compared without regard to case.
    """
    return free_name(slug(title), taken)


def free_name(stem: str, taken: Collection[str]) -> str:
    """`stem` with `.md`, numbered if that name is taken."""
    used = {fold(name) for name in taken}
    return next(name for name in numbered(stem) if fold(name) not in used)


def numbered(stem: str) -> Iterator[str]:
    """`stem` with `.md`, then numbered from 2, without end: the names a new note may try."""
    yield f"{stem}.md"
    for number in count(2):
        suffix = f" {number}"
        yield f"{cut(stem, MAX_BYTES - len(suffix)).rstrip('-. ')}{suffix}.md"


def memory_folder(
    *,
    memory_type: str,
    project: str | None = None,
    actor: str | None = None,
    created_at: datetime | None = None,
    root: str = "memories",
) -> str:
    """The vault folder of a new memory: `<root>/[actors/<actor>/]<project or global>/<memory_type>`.

    Interactions come by the hundred, so theirs is one folder a month (by `created_at`).
    """
    owner = [ACTORS_FOLDER, slug(actor)] if actor is not None else []
    month = [f"{created_at:%Y-%m}"] if memory_type in MONTHLY_TYPES and created_at is not None else []
    place = slug(project) if project is not None else GLOBAL_FOLDER
    return "/".join([root, *owner, place, clean_name(memory_type), *month])


def memory_path(folder: str, title: str, taken: Collection[str]) -> str:
    """The vault path of a new memory in `folder`, where the names `taken` exist."""
    return f"{folder}/{file_name(title, taken)}"
