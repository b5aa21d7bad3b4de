"""Runs `git log` and takes its output apart. Owns the format that makes that unambiguous, whatever messages contain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from vault_memory.files.git import Repository

_START: Final = "\x01"
_FORMAT: Final = "--format=%x01%H%x00%P%x00%at%x00%an%x00%B%x00"
_FIELDS: Final = 5
# -O cancels a diff.orderFile of the repository, which may not exist.
_OPTIONS: Final = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-show-signature", "-O/dev/null", "-z")


class Touched(Struct, frozen=True):
    """A file that a commit changed: git's status letter, its path from the top, and where a rename took it from."""

    status: str
    path: str
    source: str | None = None


class Logged(Struct, frozen=True):
    """One commit of a log."""

    commit: str
    parents: tuple[str, ...]
    at: int
    """Author time in seconds since the epoch."""
    author: str
    message: str
    files: tuple[Touched, ...]


def log(repository: Repository, *arguments: str) -> Iterator[Logged]:
    """The commits that `git log <arguments>` lists, each with its files if the arguments ask for `--name-status`."""
    output = repository.run("log", _FORMAT, *_OPTIONS, *arguments)
    return _commits(output.decode("utf-8", "surrogateescape"))


def _commits(text: str) -> Iterator[Logged]:
    words = iter(text.split("\0"))
    word = next(words, "")
    while word:
        head = [word.lstrip("\n").removeprefix(_START), *(next(words) for _ in range(_FIELDS - 1))]
        files: list[Touched] = []
        word = _after_blanks(words)
        while word and not word.startswith(_START):
            files.append(_touched(word.strip("\n"), words))
            word = _after_blanks(words)
        yield Logged(head[0], tuple(head[1].split()), int(head[2]), head[3], head[4], tuple(files))


def _touched(status: str, words: Iterator[str]) -> Touched:
    # A combined status of a merge (`MM`) has one path; `R100` and `C75` have two.
    if status[0] in "RC" and status[1:].isdigit():
        source = next(words)
        return Touched(status[0], next(words), source)
    return Touched(status[0], next(words))


def _after_blanks(words: Iterator[str]) -> str:
    return next((word for word in words if word.strip("\n")), "")
