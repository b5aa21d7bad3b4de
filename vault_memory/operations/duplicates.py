"""find_duplicates: pairs of memories that may say the same, with what differs. Changes nothing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Final, Literal

from msgspec import Struct
from pydantic import Field

from vault_memory.index.pairs import near_pairs
from vault_memory.memory.duplicates import difference, judge, likeness, only_spelling
from vault_memory.memory.model import Memory
from vault_memory.memory.words import tokens, without_filler
from vault_memory.operations.context import Context
from vault_memory.operations.request import MAX_PAGE, FilterRequest, Unit

PairKind = Literal["duplicate", "spelling", "changed", "likely", "ambiguous"]
_RANK: Final = {"duplicate": 0, "spelling": 1, "likely": 2, "changed": 3, "ambiguous": 4}
_JUDGED: Final = 2_000
_LONG: Final = 4_000
_SIGNS: Final = re.compile(r"[\W_]+")


class FindDuplicates(FilterRequest):
    """Pairs of memories that may say the same."""

    threshold: Unit | None = Field(
        None, description="Least cosine of a pair (default: the vault's distinct_threshold)."
    )
    limit: int = Field(20, ge=1, le=MAX_PAGE, description="How many pairs.")
    offset: int = Field(0, ge=0, description="How many to skip.")


class DuplicatePair(Struct, frozen=True):
    """Two memories, the older first.

    `kind`: the same (duplicate), the same but for spelling, likely the same, a changed fact, or ambiguous. `overlap` is
    the share of words that both have, 0 to 1.
    """

    kind: PairKind
    older: Memory
    newer: Memory
    cosine: float | None
    overlap: float
    differs: str


class DuplicatePairs(Struct, frozen=True):
    """A page of pairs, surest first; `total` counts those that were judged."""

    items: tuple[DuplicatePair, ...]
    total: int
    limit: int
    offset: int
    has_more: bool
    warnings: tuple[str, ...] = ()


def find_duplicates(ctx: Context, request: FindDuplicates) -> DuplicatePairs:
    """Compare the memories that match with each other; pairs of different actors or projects are no pairs.

    Raises:
        InvalidRequest: an unknown status, type or source.
    """
    freshness = ctx.vault.refresh(searchable=True)
    wanted = request.filter(ctx, default=("active",))
    threshold = request.threshold if request.threshold is not None else ctx.config.curation.distinct_threshold
    near = near_pairs(
        ctx.vault.catalog, ctx.vault.folders.index, wanted, ctx.scope, now=ctx.now, threshold=threshold, limit=_JUDGED
    )
    rows = {row.note: row.memory for row in ctx.vault.catalog.select(wanted, ctx.scope, now=ctx.now)}
    cosines = {(pair.one, pair.other): pair.cosine for pair in near.pairs}
    keys = dict.fromkeys((*_alike(rows), *cosines))
    found = [
        pair
        for one, other in keys
        if one in rows and other in rows and _comparable(rows[one], rows[other])
        if (pair := _pair(ctx, rows[one], rows[other], cosines.get((one, other))))
    ]
    found.sort(key=lambda pair: (_RANK[pair.kind], -(pair.cosine or 0.0), pair.older.ref, pair.newer.ref))
    page = tuple(found[request.offset : request.offset + request.limit])
    more = request.offset + len(page) < len(found)
    return DuplicatePairs(page, len(found), request.limit, request.offset, more, (*freshness.warnings, *_limits(near)))


def _limits(near: object) -> tuple[str, ...]:
    total, left_out = getattr(near, "total", 0), getattr(near, "left_out", 0)
    said = []
    if total > _JUDGED:
        said.append(f"{total:,} pairs lie close; the nearest {_JUDGED:,} were judged, a filter narrows them")
    if left_out:
        said.append(f"the vault is large: the oldest {left_out:,} passages were compared by their words only")
    return tuple(said)


def _alike(rows: dict[int, Memory]) -> Iterable[tuple[int, int]]:
    """Notes that are equal letter by letter, whatever vectors say: also without a model."""
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for note, memory in rows.items():
        if letters := _SIGNS.sub("", without_filler(memory.content[:_LONG]).lower()):
            groups[letters].append(note)
    for notes in groups.values():
        first, *others = sorted(notes)
        yield from ((first, other) for other in others)


def _comparable(one: Memory, other: Memory) -> bool:
    return one.actor == other.actor and (one.project == other.project or None in (one.project, other.project))


def _pair(ctx: Context, one: Memory, other: Memory, cosine: float | None) -> DuplicatePair | None:
    older, newer = sorted((one, other), key=lambda m: (m.created_at.timestamp() if m.created_at else 0.0, m.ref))
    before, after = tokens(older.content[:_LONG]), tokens(newer.content[:_LONG])
    differs = difference(before, after)
    verdict = judge(newer.content, older.content, cosine=cosine)
    kind: PairKind
    if verdict.same:
        kind, differs = "duplicate", ""
    elif only_spelling(after, before):
        kind = "spelling"
    elif differs:
        kind = "changed"
    elif cosine is not None:
        kind = "likely" if cosine >= ctx.config.curation.duplicate_threshold else "ambiguous"
    else:
        return None
    return DuplicatePair(
        kind, older, newer, None if cosine is None else round(cosine, 4), likeness(before, after), differs
    )
