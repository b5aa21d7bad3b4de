"""history, diff and blame: what a note was, who changed it and why, from git or the kept versions. Reads only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from pydantic import Field
from pydantic.config import JsonDict

from vault_memory.errors import MemoryNotFound
from vault_memory.operations.context import Context
from vault_memory.operations.refs import resolve
from vault_memory.operations.request import Request

if TYPE_CHECKING:
    from vault_memory.files.history import BlamedLine, Version

_REF: JsonDict = {"cli": {"positional": True}}


class History(Request):
    """Who changed a memory, when and why, newest first."""

    ref: str = Field(description="Id, path or title.", json_schema_extra=_REF)
    limit: int = Field(20, ge=1, le=200, description="How many entries.")


class Diff(Request):
    """What changed in a memory between two versions."""

    ref: str = Field(description="Id, path or title.", json_schema_extra=_REF)
    since: str | None = Field(None, description="A commit or revision from history; by default the one before.")
    until: str | None = Field(None, description="A commit or revision; by default the note as it is now.")


class Blame(Request):
    """Who wrote each line of a memory."""

    ref: str = Field(description="Id, path or title.", json_schema_extra=_REF)


class Versions(Struct, frozen=True):
    """The versions of one memory, newest first."""

    ref: str
    path: str
    versions: tuple[Version, ...]
    warnings: tuple[str, ...] = ()


class Difference(Struct, frozen=True):
    """A unified diff of a note's text; empty when nothing differs."""

    ref: str
    text: str


class Blamed(Struct, frozen=True):
    """The lines of a note with the change that each comes from."""

    ref: str
    lines: tuple[BlamedLine, ...]


def history(ctx: Context, request: History) -> Versions:
    """The newest versions of a memory, deleted ones included.

    Raises:
        MemoryNotFound: no such memory.
    """
    memory = resolve(ctx, request.ref, deleted=True)
    versions = ctx.vault.history(memory.path, request.limit)
    waiting = ctx.vault.commits.waiting
    return Versions(memory.ref, memory.path, versions, (f"no commits now: {waiting}",) if waiting else ())


def diff(ctx: Context, request: Diff) -> Difference:
    """The difference between two versions of a memory.

    Raises:
        MemoryNotFound: no such memory or version.
    """
    from vault_memory.files.history import diff as text_diff

    memory = resolve(ctx, request.ref, deleted=True)
    new = _version(ctx, memory.path, request.until) if request.until else ctx.vault.store.read(memory.path)
    if request.since is not None:
        old = _version(ctx, memory.path, request.since)
    else:
        names = [v.commit or v.revision for v in ctx.vault.history(memory.path, 2)]
        old = _version(ctx, memory.path, names[1]) if len(names) > 1 and names[1] else b""
    return Difference(memory.ref, text_diff(old, new, request.since or "before", request.until or "now"))


def blame(ctx: Context, request: Blame) -> Blamed:
    """Each line of a memory with its last change.

    Raises:
        MemoryNotFound: no such memory, or no git to ask.
    """
    from vault_memory.files.history import blame as blamed

    memory = resolve(ctx, request.ref, deleted=True)
    ctx.vault.commits.flush()
    repository = ctx.vault.git.repository
    if repository is None:
        raise MemoryNotFound(f"nobody knows who wrote the lines: {ctx.vault.git.problem}")
    return Blamed(memory.ref, blamed(repository, memory.path))


def _version(ctx: Context, path: str, name: str) -> bytes:
    data = ctx.vault.version(path, name)
    if data is None:
        raise MemoryNotFound(f"there is no version '{name}' of {path}", hint="history lists them")
    return data
