"""domains, tags and projects: what the caller sees by each of these words, and renaming one as a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import Struct
from pydantic import Field

from vault_memory.errors import InvalidRequest, VaultError
from vault_memory.index.stats import drift
from vault_memory.memory.filter import VISIBLE, Filter
from vault_memory.memory.model import RESERVED_PROJECT, Memory
from vault_memory.operations.context import Context
from vault_memory.operations.draft import cased
from vault_memory.operations.refs import why
from vault_memory.operations.request import Request


class _Words(Request):
    """Each word with how many memories bear it; or, with `rename` and `to`, a plan to rename or merge it."""

    rename: str | None = Field(None, description="The spelling to give up; exactly.")
    to: str | None = Field(None, description="What it becomes; a word that is in use is merged into.")
    execute: bool = Field(False, description="Carry the plan out; otherwise it is only shown.")
    reason: str | None = Field(None, max_length=2000, description="Why; goes to the history.")


class Domains(_Words):
    """The domains in use with counts, newest activity and spelling drift; `rename` and `to` plan a rename."""


class Tags(_Words):
    """The tags in use with counts, newest activity and spelling drift; `rename` and `to` plan a rename."""


class Projects(Request):
    """The projects that the caller sees, with counts."""


class Word(Struct, frozen=True):
    """One word: how many memories bear it, archived ones included, and when one of them last changed."""

    name: str
    count: int
    last_updated: datetime | None


class Words(Struct, frozen=True):
    """Words by count, then name; `drift` are spellings of one word. `plan` are the memories that a rename changes."""

    items: tuple[Word, ...]
    drift: tuple[tuple[str, ...], ...]
    plan: tuple[dict[str, str], ...] = ()
    executed: bool = False
    warnings: tuple[str, ...] = ()


class _Kind(Struct, frozen=True):
    name: str
    of: Callable[[Memory], Iterable[str]]
    renamed: Callable[[Memory, str, str], dict[str, Any]]


def domains(ctx: Context, request: Domains) -> Words:
    """The domains, or the plan of a rename; with `execute` it is carried out in one batch.

    Raises:
        InvalidRequest: only one of `rename` and `to`, or a domain that no memory has.
    """
    target = cased(request.to, ctx.config.domain_case) if request.to else None
    return _words(ctx, request, target, _DOMAIN)


def tags(ctx: Context, request: Tags) -> Words:
    """The front matter's tags, or the plan of a rename; `#tags` in a text are the person's and stay.

    Raises:
        InvalidRequest: only one of `rename` and `to`, or a tag that no memory has.
    """
    return _words(ctx, request, request.to, _TAG)


def projects(ctx: Context, request: Projects) -> Words:
    """The projects with memories that the caller sees; a bound caller sees its own and `global`."""
    ctx.vault.refresh()
    return _counted(_memories(ctx), _PROJECT)


_DOMAIN: Final = _Kind("domain", lambda m: (m.domain,) if m.domain else (), lambda m, old, new: {"domain": new})
_TAG: Final = _Kind(
    "tag",
    lambda m: m.tags,
    lambda m, old, new: {"tags": [*dict.fromkeys(new if tag == old else tag for tag in m.tags)]},
)
_PROJECT: Final = _Kind("project", lambda m: (m.project or RESERVED_PROJECT,), lambda m, old, new: {})


def _words(ctx: Context, request: _Words, target: str | None, kind: _Kind) -> Words:
    if (request.rename is None) != (not target):
        raise InvalidRequest.of("to", f"renaming takes both: rename (the {kind.name} now) and to (what it becomes)")
    ctx.vault.refresh()
    found = _memories(ctx)
    listed = _counted(found, kind)
    if request.rename is None or target is None:
        return listed
    bearing = [memory for memory in found if request.rename in kind.of(memory)]
    if not bearing:
        names = [word.name for word in listed.items]
        raise InvalidRequest.of("rename", f"no memory has the {kind.name} '{request.rename}'", allowed=names[:50])
    plan = tuple({"ref": m.ref, "path": m.path, "title": m.title} for m in bearing)
    if not request.execute:
        return Words(listed.items, listed.drift, plan)
    warnings = _renamed(ctx, request, bearing, kind, target)
    return Words(_counted(_memories(ctx), kind).items, listed.drift, plan, True, warnings)


def _renamed(ctx: Context, request: _Words, bearing: Sequence[Memory], kind: _Kind, target: str) -> tuple[str, ...]:
    assert request.rename is not None
    reason = request.reason or f"{kind.name} {request.rename} renamed to {target}"
    with ctx.vault.write(why(ctx, f"{kind.name}s", reason), ctx.now) as batch:
        for memory in bearing:
            try:
                batch.patch(memory.path, kind.renamed(memory, request.rename, target))
            except VaultError as error:
                batch.warnings.append(f"{memory.path}: {error.detail}")
    return tuple(batch.warnings)


def _memories(ctx: Context) -> list[Memory]:
    wanted = Filter(statuses=VISIBLE, expired=None)
    return [row.memory for row in ctx.vault.catalog.select(wanted, ctx.scope, now=ctx.now)]


def _counted(memories: Iterable[Memory], kind: _Kind) -> Words:
    counts: dict[str, int] = {}
    last: dict[str, datetime] = {}
    for memory in memories:
        for name in kind.of(memory):
            counts[name] = counts.get(name, 0) + 1
            times = [moment for moment in (last.get(name), memory.updated_at) if moment is not None]
            if times:
                last[name] = max(times)
    ordered = sorted(counts, key=lambda name: (-counts[name], name))
    return Words(tuple(Word(name, counts[name], last.get(name)) for name in ordered), drift(counts))
