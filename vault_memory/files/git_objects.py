"""Reads what commits hold: tree entries and blobs, many in one process. Owns reading; it writes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from vault_memory.files.git import GitError, Repository

_ARGUMENT_BYTES: Final = 24_000
"""Of paths on one command line: Windows allows 32,000 in all."""


class TreeEntry(Struct, frozen=True):
    """A file as a commit or an index holds it; `mode` is git's octal text, `blob` the object id."""

    mode: str
    blob: str

    @property
    def is_file(self) -> bool:
        """True for an ordinary file, False for a symlink or a submodule."""
        return self.mode.startswith("100")


def entries(repository: Repository, commit: str | None, paths: Iterable[str]) -> dict[str, TreeEntry]:
    """The entries of these vault paths in a commit; a path that it does not hold is left out.

    A commit that does not exist (any more) holds nothing, as does None.
    """
    found: dict[str, TreeEntry] = {}
    if commit is None:
        return found
    for part in portions(repository, paths):
        listing = repository.run("ls-tree", "-z", "--full-tree", commit, "--", *part, allowed=(0, 128))
        found.update(_parsed(repository, listing))
    return found


def all_entries(repository: Repository, commit: str | None) -> dict[str, TreeEntry]:
    """Every file below the vault in a commit, by vault path, in one pass."""
    if commit is None:
        return {}
    below = ["--", repository.prefix] if repository.prefix else []
    return dict(_parsed(repository, repository.run("ls-tree", "-r", "-z", "--full-tree", commit, *below)))


def differing(repository: Repository, one: str, other: str) -> set[str]:
    """The vault paths that two commits do not hold alike.

    Raises:
        GitError: one of them is gone.
    """
    below = ["--", repository.prefix] if repository.prefix else []
    listing = repository.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", one, other, *below)
    names = (name for name in listing.decode("utf-8", "surrogateescape").split("\0") if name)
    return {name.removeprefix(repository.prefix) for name in names}


def index_entries(repository: Repository, paths: Iterable[str]) -> dict[str, TreeEntry | None]:
    """The entries of these vault paths in the person's index; None marks a path with an unmerged entry."""
    found: dict[str, TreeEntry | None] = {}
    for part in portions(repository, paths):
        for record in _records(repository.run("ls-files", "-s", "-z", "--", *part)):
            (mode, blob, stage), path = record
            found[path.removeprefix(repository.prefix)] = TreeEntry(mode, blob) if stage == "0" else None
    return found


def blobs(repository: Repository, names: Sequence[str]) -> dict[str, bytes]:
    """The bytes of blobs by name (an object id, or `commit:path-from-top`); what is no blob is left out."""
    usable = [name for name in names if "\n" not in name]
    if not usable:
        return {}
    data = "".join(f"{name}\n" for name in usable).encode("utf-8", "surrogateescape")
    return dict(_contents(usable, repository.run("cat-file", "--batch", data=data)))


def blob_at(repository: Repository, commit: str, path: str) -> bytes | None:
    """The bytes of a vault path in a commit, None when it is not there."""
    try:
        return repository.run("cat-file", "blob", f"{commit}:{repository.prefix}{path}")
    except GitError:
        return None


def portions(repository: Repository, paths: Iterable[str]) -> Iterator[list[str]]:
    """Tree paths of vault paths, in lists that fit on a command line."""
    part: list[str] = []
    size = 0
    for path in paths:
        name = f"{repository.prefix}{path}"
        size += len(name) * 4
        if part and size > _ARGUMENT_BYTES:
            yield part
            part, size = [], len(name) * 4
        part.append(name)
    if part:
        yield part


def _parsed(repository: Repository, listing: bytes) -> Iterator[tuple[str, TreeEntry]]:
    for (mode, _, blob), path in _records(listing):
        yield path.removeprefix(repository.prefix), TreeEntry(mode, blob)


def _records(listing: bytes) -> Iterator[tuple[list[str], str]]:
    """`a b c TAB path` records of `-z` output."""
    for record in listing.decode("utf-8", "surrogateescape").split("\0"):
        if record:
            head, _, path = record.partition("\t")
            yield head.split(" "), path


def _contents(names: Sequence[str], output: bytes) -> Iterator[tuple[str, bytes]]:
    """The answers of `cat-file --batch`: `<id> blob <size> LF <bytes> LF`, or a line that ends in `missing`."""
    at = 0
    for name in names:
        end = output.index(b"\n", at)
        words = output[at:end].split(b" ")
        at = end + 1
        if len(words) != 3 or words[1] not in (b"blob", b"tree", b"commit", b"tag"):
            continue
        size = int(words[2])
        if words[1] == b"blob":
            yield name, output[at : at + size]
        at += size + 1


def blob_of(found: Mapping[str, TreeEntry], path: str) -> str | None:
    """The blob id of a path in a listing, None when it is not listed."""
    entry = found.get(path)
    return entry.blob if entry else None
