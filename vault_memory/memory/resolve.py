"""Which file a link means, by Obsidian's rules, from an index of paths that is passed in. Pure; reads no text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from vault_memory.memory.link_text import LinkStyle
from vault_memory.memory.slug import fold


class PathIndex(Protocol):
    """The vault's paths, asked by folded text (`fold`: NFC, case-folded)."""

    def exact(self, key: str) -> str | None:
        """The path that folds to `key`; the smallest if there are several."""

    def named(self, key: str) -> Sequence[str]:
        """The paths whose last part folds to `key`."""

    def titled(self, key: str) -> Sequence[str]:
        """The paths of notes with a title or alias that folds to `key`."""


class LinkIndex:
    """A PathIndex in memory.

    Args:
        paths: every file that a link can mean, with extension.
        names: title or alias to the paths of notes that have it.
    """

    def __init__(self, paths: Iterable[str], names: Mapping[str, Iterable[str]] | None = None) -> None:
        self._paths: dict[str, str] = {}
        self._named: dict[str, list[str]] = {}
        self._titled: dict[str, set[str]] = {}
        for path in sorted(paths):
            key = fold(path)
            self._paths.setdefault(key, path)
            self._named.setdefault(key.rpartition("/")[2], []).append(path)
        for name, holders in (names or {}).items():
            self._titled.setdefault(fold(name), set()).update(holders)

    def exact(self, key: str) -> str | None:
        return self._paths.get(key)

    def named(self, key: str) -> Sequence[str]:
        return self._named.get(key, ())

    def titled(self, key: str) -> Sequence[str]:
        return sorted(self._titled.get(key, ()))


class MovedIndex:
    """Another index as it will be once `moves` (old path to new) are done."""

    def __init__(self, index: PathIndex, moves: Mapping[str, str]) -> None:
        self._index = index
        self._moves = moves
        self._new = LinkIndex(moves.values())

    def exact(self, key: str) -> str | None:
        if (new := self._new.exact(key)) is not None:
            return new
        old = self._index.exact(key)
        return None if old is None or old in self._moves else old

    def named(self, key: str) -> Sequence[str]:
        staying = [path for path in self._index.named(key) if path not in self._moves]
        return sorted({*staying, *self._new.named(key)})

    def titled(self, key: str) -> Sequence[str]:
        return sorted({self._moves.get(path, path) for path in self._index.titled(key)})


def resolve(
    target: str, from_path: str, index: PathIndex, *, style: LinkStyle = "wiki", by_title: bool = False
) -> str | None:
    """The path that a link's target means, seen from the note at `from_path`; None when nothing fits.

    Tried in order, without regard to case, with and without `.md`: `/x` from the vault's root, `./x` and `../x` from
    the note's folder; a Markdown link from the note's folder first; the vault path; the end of a path, where a file
    beside the note goes first, then the shortest path, then the smallest. With `by_title` a title or alias that
    only one note has is the last resort. Nothing above the root is ever found.
    """
    target = target.strip()
    if not target:
        return None
    for path in _candidates(target, _folder(from_path), style):
        if (found := _with_or_without_extension(path, index)) is not None:
            return found
    if target[0] not in "/." and (found := _by_ending(target, from_path, index)) is not None:
        return found
    holders = index.titled(fold(target)) if by_title else ()
    return holders[0] if len(holders) == 1 else None


def _candidates(target: str, folder: str, style: LinkStyle) -> Iterator[str]:
    if target.startswith("/"):
        places = [target[1:]]
    elif target.startswith(("./", "../")):
        places = [f"{folder}/{target}"]
    else:
        places = [f"{folder}/{target}", target] if style == "markdown" else [target]
    for place in places:
        if (path := plain_path(place)) is not None:
            yield path


def plain_path(path: str) -> str | None:
    """A vault path without `.` and `..`; None when it leads above the root or names nothing."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts) or None


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _with_or_without_extension(path: str, index: PathIndex) -> str | None:
    key = fold(path)
    return index.exact(key) or index.exact(f"{key}.md")


def _by_ending(target: str, from_path: str, index: PathIndex) -> str | None:
    key = fold(target)
    folder = _folder(from_path)
    for ending in (key, f"{key}.md"):
        paths = index.named(ending.rpartition("/")[2])
        fitting = [path for path in paths if f"/{fold(path)}".endswith(f"/{ending}")]
        if fitting:
            return min(fitting, key=lambda path: (_folder(path) != folder, len(path), path))
    return None
