"""Makes planned commits: all of them in one `git fast-import`, from bytes, on a ref of our own.

Owns the stream and the two refs it touches. Work tree, index and other refs are never looked at; the branch moves in
one step and only from the commit that the plan was made for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from vault_memory.files.commits_plan import Planned
from vault_memory.files.git import TOOL_IDENTITY, GitError, Identity, Repository

PENDING_REF: Final = "refs/vault-memory/pending"
"""Keeps the new commits from being collected until the branch has them. Removed in the same step."""


def build(
    repository: Repository,
    base: str | None,
    planned: Sequence[Planned],
    modes: Mapping[str, str],
    identity: Identity | None,
) -> tuple[str, ...]:
    """Write these commits on top of `base` (None: the first commit) without moving the branch; their ids in order.

    Args:
        modes: the mode of paths that exist already; others become ordinary files.
        identity: the person's, None when there is none configured.

    Raises:
        GitError: git could not, or made fewer.
    """
    data = b"".join(_stream(repository.prefix, base, planned, modes, identity or TOOL_IDENTITY))
    output = repository.run("fast-import", "--quiet", "--force", "--done", data=data)
    commits = tuple(output.decode("ascii").split())
    if len(commits) != len(planned):
        raise GitError("fast-import", 0, f"made {len(commits)} of {len(planned)} commits")
    return commits


def advance(repository: Repository, branch: str, old: str | None, new: str, identity: Identity | None) -> None:
    """Move the branch from `old` (None: it must not exist) to `new` and drop our own ref, in one transaction.

    Raises:
        GitError: the branch is somewhere else by now, or locked.
    """
    zero = zero_id(repository)
    script = f"update {branch}\0{new}\0{old or zero}\0delete {PENDING_REF}\0{new}\0"
    message = "commit: vault-memory"
    repository.run(
        "update-ref", "-m", message, "--stdin", "-z", data=script.encode(), identity=identity or TOOL_IDENTITY
    )


def zero_id(repository: Repository) -> str:
    """The id that stands for 'no object' in this repository."""
    return "0" * (64 if repository.hash_name == "sha256" else 40)


def _stream(
    prefix: str, base: str | None, planned: Sequence[Planned], modes: Mapping[str, str], identity: Identity
) -> Iterator[bytes]:
    yield f"reset {PENDING_REF}\n".encode()
    yield f"from {base}\n\n".encode() if base else b"\n"
    for number, commit in enumerate(planned, start=1):
        stamp = f"{_clean(identity.name)} <{_clean(identity.email)}> {int(commit.at.timestamp())} +0000"
        message = commit.message.encode("utf-8", "replace")
        yield f"commit {PENDING_REF}\nmark :{number}\nauthor {stamp}\ncommitter {stamp}\n".encode()
        yield b"data %d\n%b\n" % (len(message), message)
        for path, data in commit.files.items():
            yield _file(f"{prefix}{path}", data, modes.get(path, "100644"))
        yield f"get-mark :{number}\n".encode()
    yield b"done\n"


def _file(name: str, data: bytes | None, mode: str) -> bytes:
    quoted = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    path = quoted.encode("utf-8", "surrogateescape")
    if data is None:
        return b'D "%b"\n' % path
    return b'M %b inline "%b"\ndata %d\n%b\n' % (mode.encode(), path, len(data), data)


def _clean(text: str) -> str:
    return "".join(c for c in text if c.isprintable() and c not in "<>").strip() or TOOL_IDENTITY.name
