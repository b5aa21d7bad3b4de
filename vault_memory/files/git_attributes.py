"""How git would store a note: which notes it must not be handed raw, and where line endings are turned.

Owns the reading of attributes and ignore rules. Filters are commands from the vault's own config and are never run, so
a path with one stays out of our commits: raw bytes could put in the clear what the filter would have encrypted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from vault_memory.files.git import Repository
from vault_memory.files.git_objects import TreeEntry, blobs

_CONVERTING: Final = ("filter", "working-tree-encoding", "ident")
_ATTRIBUTES: Final = (*_CONVERTING, "text", "eol")
_OFF: Final = ("unspecified", "unset")


class Storage(Struct, frozen=True):
    """What git's rules say about some paths."""

    refused: Mapping[str, str]
    """Path to the reason why our commits must leave it alone."""
    normalised: frozenset[str]
    """Paths whose CRLF become LF in the repository."""

    def stored(self, path: str, data: bytes) -> bytes:
        """The bytes as the repository holds them."""
        return data.replace(b"\r\n", b"\n") if path in self.normalised else data


def storage(
    repository: Repository, tracked: Mapping[str, TreeEntry], contents: Mapping[str, Iterable[bytes | None]]
) -> Storage:
    """The rules for these vault paths.

    Args:
        tracked: what HEAD holds of them.
        contents: path to the bytes that are to be stored for it.
    """
    attributes = _attributes(repository, contents)
    refused = {path: reason for path in contents if (reason := _refusal(repository, path, tracked, attributes[path]))}
    fresh = [path for path in contents if path not in tracked and path not in refused]
    refused |= dict.fromkeys(_ignored(repository, fresh), "git ignores it")
    with_crlf = [p for p, versions in contents.items() if any(b"\r\n" in data for data in versions if data)]
    return Storage(refused, frozenset(_turned(repository, with_crlf, tracked, attributes)))


def _attributes(repository: Repository, paths: Iterable[str]) -> dict[str, dict[str, str]]:
    names = [f"{repository.prefix}{path}" for path in paths]
    answer: dict[str, dict[str, str]] = {name.removeprefix(repository.prefix): {} for name in names}
    output = repository.run("check-attr", "-z", "--stdin", *_ATTRIBUTES, data=_list(names))
    words = output.decode("utf-8", "surrogateescape").split("\0")
    for name, attribute, value in zip(words[::3], words[1::3], words[2::3], strict=False):
        answer[name.removeprefix(repository.prefix)][attribute] = value
    return answer


def _refusal(repository: Repository, path: str, tracked: Mapping[str, TreeEntry], attributes: Mapping[str, str]) -> str:
    entry = tracked.get(path)
    if entry and not entry.is_file:
        return "git holds a link or a submodule there"
    if inner := _inner_repository(repository.root, path):
        return f"it lies in the repository {inner}"
    active = [name for name in _CONVERTING if attributes.get(name, "unset") not in _OFF]
    return f"git is to convert it ({active[0]} in .gitattributes)" if active else ""


def _inner_repository(root: Path, path: str) -> str:
    parts = path.split("/")[:-1]
    folders = ["/".join(parts[: n + 1]) for n in range(len(parts))]
    return next((folder for folder in folders if (root / folder / ".git").exists()), "")


def _ignored(repository: Repository, paths: list[str]) -> list[str]:
    if not paths:
        return []
    start = f"./{repository.prefix}"  # a name that begins with a colon would be taken for a pattern
    names = _list(f"{start}{path}" for path in paths)
    output = repository.run("check-ignore", "-z", "--stdin", data=names, allowed=(0, 1), literal=False)
    return [name.removeprefix(start) for name in _words(output)]


def _turned(
    repository: Repository,
    paths: list[str],
    tracked: Mapping[str, TreeEntry],
    attributes: Mapping[str, Mapping[str, str]],
) -> list[str]:
    """Paths whose line endings git would turn (gitattributes 'text', 'eol'; core.autocrlf), by its rule that a file
    which is in the repository with CRLF stays so under 'auto'."""
    if not paths:
        return []
    default = "auto" if repository.config("core.autocrlf") in ("true", "input") else "unset"
    kinds = {path: _text_kind(attributes[path], default) for path in paths}
    unsure = [path for path in paths if kinds[path] == "auto" and path in tracked]
    held = blobs(repository, [tracked[path].blob for path in unsure])
    with_crlf = {path for path in unsure if b"\r\n" in held.get(tracked[path].blob, b"")}
    return [path for path in paths if kinds[path] != "unset" and path not in with_crlf]


def _text_kind(attributes: Mapping[str, str], default: str) -> str:
    text = attributes.get("text", "unspecified")
    if text == "unspecified":
        return "set" if attributes.get("eol", "unspecified") not in ("unspecified", "unset") else default
    return text


def _list(names: Iterable[str]) -> bytes:
    return "".join(f"{name}\0" for name in names).encode("utf-8", "surrogateescape")


def _words(output: bytes) -> list[str]:
    return [word for word in output.decode("utf-8", "surrogateescape").split("\0") if word]
