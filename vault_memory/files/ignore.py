"""Which files and folders of a vault are not notes: hidden ones, well-known clutter, the config's globs, .gitignore.

Owns the rules only; it walks nothing. Patterns mean what they mean to git (the pathspec library).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vault_memory.errors import NotAllowed
from vault_memory.files.atomic import read_file
from vault_memory.files.paths import is_note_name

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

GITIGNORE: Final = ".gitignore"
CLUTTER: Final = frozenset({"node_modules"})


class Patterns:
    """The lines of one ignore file, judged like git does: the last one that matches decides."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = [line for line in lines if _matters(line)]
        self._rules: tuple[GitIgnoreSpec, Callable[[str], object]] | None = None

    def __bool__(self) -> bool:
        return bool(self._lines)

    def verdict(self, path: str) -> bool | None:
        """True to ignore, False to keep in spite of a rule further up, None when no line matches.

        `path` is relative to the folder of the ignore file; a folder's ends in `/`.
        """
        spec, matches_any = self._compiled()
        return spec.check_file(path).include if matches_any(path) else None

    def _compiled(self) -> tuple[GitIgnoreSpec, Callable[[str], object]]:
        """The exact rules, and one expression that is cheap to ask first: most paths match no line at all."""
        if self._rules is None:
            from pathspec import GitIgnoreSpec

            spec = GitIgnoreSpec.from_lines(self._lines)
            sources = [pattern.regex.pattern for pattern in spec.patterns if pattern.regex is not None]
            named = re.compile(r"\(\?P<\w+>")
            either = re.compile("|".join(f"(?:{named.sub('(?:', source)})" for source in sources))
            self._rules = spec, either.match
        return self._rules


class Ignore:
    """The ignore rules of one vault.

    Args:
        root: the vault's folder.
        globs: patterns of the vault's config, as in a .gitignore at the root.
        own: vault paths of notes and folders that `init` wrote (Home.md, templates): no memories of anybody.
    """

    def __init__(self, root: Path, globs: Collection[str] = (), own: Collection[str] = ()) -> None:
        self._root = str(root.resolve())
        places = frozenset() if any(glob.startswith("!") for glob in globs) else frozenset(filter(_is_place, globs))
        self._globs = Patterns(glob for glob in globs if glob not in places)
        self._own = frozenset(path.strip("/") for path in (*own, *places))
        self._files: dict[str, tuple[tuple[int, int], Patterns]] = {}

    def ignored(self, path: str, *, folder: bool = False) -> bool:
        """True when the note or folder, or a folder on its way, is left out; reads the .gitignore files on its way."""
        *parents, name = path.split("/")
        here = ""
        for parent in parents:
            self.load(here)
            here += parent + "/"
            if self.folder(here):
                return True
        self.load(here)
        return self.folder(f"{here}{name}/") if folder else not is_note_name(name) or self.note(here, name)

    def folder(self, path: str) -> bool:
        """True for a folder (vault path with `/` at the end) to leave out, given that its parents are not."""
        name = path[path.rfind("/", 0, -1) + 1 : -1]
        if name[0] == "." or name in CLUTTER or path[:-1] in self._own:
            return True
        return self._judged(path, self._chain(path[: -len(name) - 1]))

    def note(self, folder: str, name: str) -> bool:
        """True for a note to leave out, given that its folder (`""` or with `/` at the end) is not."""
        if name[0] == ".":
            return True
        path = folder + name
        return path in self._own or self._judged(path, self._chain(folder))

    def notes_of(self, folder: str) -> Callable[[str], bool] | None:
        """`note` for the visible names of one folder, its rules looked up once; None when it leaves nothing out."""
        own = {path[len(folder) :] for path in self._own if path.startswith(folder)}
        chain = self._chain(folder)
        if not own and not chain and not self._globs:
            return None
        return lambda name: name in own or self._judged(folder + name, chain)

    def load(self, folder: str) -> None:
        """Read the .gitignore of a folder (`""` or with `/` at the end) when it is new or changed."""
        place = f"{self._root}/{folder}{GITIGNORE}"
        try:
            stat = os.lstat(place)
            seen = (stat.st_mtime_ns, stat.st_size)
            known = self._files.get(folder)
            if known is None or known[0] != seen:
                self._files[folder] = (seen, _read(place))
        except (OSError, NotAllowed):  # none, or none that git would read either: no rules
            self._files.pop(folder, None)

    def forget(self, folder: str) -> None:
        """Drop the rules of a folder that has no .gitignore (any more)."""
        self._files.pop(folder, None)

    def _chain(self, folder: str) -> list[tuple[Patterns, int]]:
        """The ignore files that speak of a folder's entries, nearest first, each with the length of its own path."""
        chain = []
        while self._files:
            known = self._files.get(folder)
            if known is not None and known[1]:
                chain.append((known[1], len(folder)))
            if not folder:
                break
            folder = folder[: folder.rfind("/", 0, -1) + 1]
        return chain

    def _judged(self, path: str, chain: list[tuple[Patterns, int]]) -> bool:
        """The verdict of the nearest ignore file with an opinion; the config's globs may leave out what it keeps."""
        if self._globs and self._globs.verdict(path):
            return True
        for patterns, start in chain:
            verdict = patterns.verdict(path[start:])
            if verdict is not None:
                return verdict
        return False


def _is_place(glob: str) -> bool:
    """True for a pattern that names one place, such as `/Home.md`: comparing it needs no pattern library."""
    return glob.startswith("/") and not set(glob) & set("*?[]\\!") and glob == glob.strip()


def _matters(line: str) -> bool:
    """False for comments, blanks and patterns that only hidden paths can match: those are left out anyway.

    Most vaults have no other lines, and then pathspec (20 ms of import) is never loaded.
    """
    line = line.strip()
    if not line or line[0] == "#":
        return False
    return not any(segment.startswith(".") for segment in line.lstrip("!").split("/"))


def _read(place: str) -> Patterns:
    return Patterns(read_file(place).decode("utf-8", "replace").splitlines())
