"""prune and expire: what may leave, planned first and archived by default; only notes that the tool wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any, Final, Literal

from msgspec import Struct
from pydantic import Field

from vault_memory.errors import ConfirmationNeeded, InvalidRequest
from vault_memory.index.rows import Row
from vault_memory.memory.decay import SURE, days_between, decayed_confidence
from vault_memory.memory.filter import Filter
from vault_memory.memory.model import Memory
from vault_memory.operations.context import Context
from vault_memory.operations.filters import memory_types, several
from vault_memory.operations.refs import why
from vault_memory.operations.request import Request, Unit

Strategy = Literal["by_age", "by_importance", "by_count", "by_type", "by_decay", "compose"]
Predicate = Callable[[Memory], bool]
SAFE_SHARE: Final = 0.2
"""Archiving more than this share of what a caller sees wants the count to be confirmed."""


class Prune(Request):
    """Plan, or carry out, which memories leave; archived unless `hard`, and restorable."""

    strategy: Strategy = Field(description="by_age, by_importance, by_count, by_type, by_decay or compose.")
    strategies: list[Strategy] = Field([], description="For compose: memories that any of these selects.")
    max_age_days: float | None = Field(None, gt=0, description="by_age: older than this; without it nothing is old.")
    min_importance: Unit | None = Field(
        None, description="by_importance: less than this (0.5); others: keep from here on."
    )
    max_per_actor: int | None = Field(None, ge=1, description="by_count: keep so many of each actor (100).")
    memory_types: list[str] = Field([], description="by_type: these types; others: only these types.")
    half_life_days: float | None = Field(None, gt=0, description="by_decay: half-life instead of the setting.")
    prune_threshold: Unit | None = Field(None, description="by_decay: at or below this decayed confidence.")
    project: str | None = Field(None, description="Only this project.")
    actor: str | None = Field(None, description="Only this actor's memories.")
    execute: bool = Field(False, description="Carry the plan out; otherwise it is only shown.")
    hard: bool = Field(False, description="Delete softly instead of archiving.")
    confirm_count: int | None = Field(None, description="How many the plan named, when it is a large share.")


class Expire(Request):
    """Plan, or carry out, the archiving of what is past its expires_at."""

    execute: bool = Field(False, description="Carry the plan out; otherwise it is only shown.")


class Leaving(Struct, frozen=True):
    """A memory the plan names, why, and the score that decided."""

    ref: str
    path: str
    title: str
    reason: str
    score: float


class PrunePlan(Struct, frozen=True):
    """What would leave, or what left when `executed`."""

    would_prune: tuple[Leaving, ...]
    count: int
    considered: int
    executed: bool = False
    warnings: tuple[str, ...] = ()


def prune(ctx: Context, request: Prune) -> PrunePlan:
    """Plan by the strategy; with `execute` archive what the plan names.

    Pinned memories, anchors, memories of confidence 0.9 or more, notes made by hand and unreadable notes never leave.

    Raises:
        InvalidRequest: a strategy without what it needs.
        ConfirmationNeeded: several strategies or a large share, without the right `confirm_count`.
    """
    return pruned(ctx, request, None)


def pruned(ctx: Context, request: Prune, predicate: Predicate | None) -> PrunePlan:
    """`prune` with a further condition of the caller's own: only what it holds for may leave."""
    ctx.vault.refresh()
    rows = [row for row in _considered(ctx, request) if predicate is None or predicate(row.memory)]
    chosen = _chosen(ctx, request, rows)
    plan = PrunePlan(tuple(chosen), len(chosen), len(rows))
    if not request.execute or not chosen:
        return plan
    _confirm(request, plan)
    return _carried_out(ctx, plan, "deleted" if request.hard else "archived", "prune")


def expire(ctx: Context, request: Expire) -> PrunePlan:
    """Name what is past its expires_at; with `execute` archive it."""
    ctx.vault.refresh()
    wanted = Filter(statuses=("active",), expired=True)
    rows = list(ctx.vault.catalog.select(wanted, ctx.scope, now=ctx.now))
    chosen = [_leaving(row, f"expired {row.memory.expires_at:%Y-%m-%d}", 0.0) for row in rows]
    plan = PrunePlan(tuple(chosen), len(chosen), len(rows))
    return _carried_out(ctx, plan, "archived", "expire") if request.execute and chosen else plan


def _considered(ctx: Context, request: Prune) -> Iterable[Row]:
    wanted = Filter(statuses=("active",), project=request.project, actor=request.actor, expired=None)
    if request.strategy != "by_type" and request.memory_types:
        types = several("memory_types", ",".join(request.memory_types), memory_types(ctx.config))
        wanted = Filter(
            **{f: getattr(wanted, f) for f in ("statuses", "project", "actor", "expired")}, memory_types=types
        )
    rows = ctx.vault.catalog.select(wanted, ctx.scope, now=ctx.now)
    return [row for row in rows if _may_leave(row.memory)]


def _may_leave(memory: Memory) -> bool:
    protected = memory.pinned or memory.confidence >= SURE or memory.memory_type == "anchor"
    return memory.written_by_tool and not protected and not any(f.blocks_edit for f in memory.findings)


def _chosen(ctx: Context, request: Prune, rows: Sequence[Row]) -> list[Leaving]:
    if request.strategy != "compose":
        return _STRATEGIES[request.strategy](ctx, request, rows)
    if not request.strategies or "compose" in request.strategies:
        raise InvalidRequest.of("strategies", "name the strategies to compose", allowed=sorted(_STRATEGIES))
    found: dict[str, Leaving] = {}
    for name in request.strategies:
        for leaving in _STRATEGIES[name](ctx, request, rows):
            found.setdefault(leaving.path, leaving)
    return sorted(found.values(), key=lambda leaving: (leaving.score, leaving.ref))


def _by_age(ctx: Context, request: Prune, rows: Sequence[Row]) -> list[Leaving]:
    if request.max_age_days is None:
        return []
    oldest = ctx.now - timedelta(days=request.max_age_days)
    old = [r for r in rows if r.memory.created_at is not None and r.memory.created_at < oldest and _light(request, r)]
    ages = [(days_between(row.memory.created_at, ctx.now), row) for row in old]
    return [
        _leaving(row, f"{age:.0f} days old", -age) for age, row in sorted(ages, key=lambda p: (-p[0], p[1].memory.ref))
    ]


def _by_importance(ctx: Context, request: Prune, rows: Sequence[Row]) -> list[Leaving]:
    least = 0.5 if request.min_importance is None else request.min_importance
    low = sorted((r for r in rows if r.memory.importance < least), key=lambda r: (r.memory.importance, r.memory.ref))
    return [_leaving(r, f"importance {r.memory.importance:g} is below {least:g}", r.memory.importance) for r in low]


def _by_count(ctx: Context, request: Prune, rows: Sequence[Row]) -> list[Leaving]:
    most = request.max_per_actor or 100
    owned: dict[str | None, list[Row]] = {}
    for row in rows:
        owned.setdefault(row.memory.actor, []).append(row)
    excess: list[Row] = []
    for mine in owned.values():
        excess += sorted(mine, key=lambda r: (-r.memory.importance, -_created(r), r.memory.ref))[most:]
    excess.sort(key=lambda r: (r.memory.importance, _created(r), r.memory.ref))
    return [_leaving(row, f"beyond {most} of its actor", row.memory.importance) for row in excess]


def _by_type(ctx: Context, request: Prune, rows: Sequence[Row]) -> list[Leaving]:
    if not request.memory_types:
        raise InvalidRequest.of("memory_types", "name the types that leave")
    types = several("memory_types", ",".join(request.memory_types), memory_types(ctx.config))
    return [_leaving(row, f"type {row.memory.memory_type}", 0.0) for row in rows if row.memory.memory_type in types]


def _by_decay(ctx: Context, request: Prune, rows: Sequence[Row]) -> list[Leaving]:
    """Faded memories, then, of each actor with too many, the lowest decayed first and the oldest of those."""
    from msgspec.structs import replace

    settings = ctx.config.decay
    if request.half_life_days is not None:
        settings = replace(settings, half_life_days=request.half_life_days, half_life_days_by_type={})
    threshold = settings.prune_threshold if request.prune_threshold is None else request.prune_threshold
    scored = [(decayed_confidence(r.memory, r.last_accessed_at, ctx.now, settings), r) for r in rows]
    scored.sort(key=lambda pair: (pair[0], _created(pair[1]), pair[1].memory.ref))
    chosen = [_leaving(r, f"faded to {s:.3f}", s) for s, r in scored if s <= threshold and _light(request, r)]
    gone = {leaving.path for leaving in chosen}
    for actor in sorted({r.memory.actor for _, r in scored if r.memory.actor is not None}):
        kept = [(s, r) for s, r in scored if r.memory.actor == actor and r.memory.path not in gone]
        excess = max(0, len(kept) - settings.max_memories_per_user)
        chosen += [_leaving(r, f"beyond {settings.max_memories_per_user} of its actor", s) for s, r in kept[:excess]]
    return chosen


_STRATEGIES: Final[dict[str, Callable[[Context, Prune, Sequence[Row]], list[Leaving]]]] = {
    "by_age": _by_age,
    "by_importance": _by_importance,
    "by_count": _by_count,
    "by_type": _by_type,
    "by_decay": _by_decay,
}


def _light(request: Prune, row: Row) -> bool:
    """Whether the memory is below the importance that protects it, when one was given."""
    return request.min_importance is None or row.memory.importance < request.min_importance


def _created(row: Row) -> float:
    return row.memory.created_at.timestamp() if row.memory.created_at else 0.0


def _leaving(row: Row, reason: str, score: float) -> Leaving:
    return Leaving(row.memory.ref, row.memory.path, row.memory.title, reason, round(score, 6))


def _confirm(request: Prune, plan: PrunePlan) -> None:
    large = plan.count > SAFE_SHARE * plan.considered and plan.considered >= 5
    if (large or request.strategy == "compose") and request.confirm_count != plan.count:
        raise ConfirmationNeeded(
            f"this would take {plan.count} of {plan.considered} memories",
            hint=f"to go on, repeat with confirm_count={plan.count}",
            plan=[{"ref": item.ref, "title": item.title, "reason": item.reason} for item in plan.would_prune],
        )


def _carried_out(ctx: Context, plan: PrunePlan, status: str, operation: str) -> PrunePlan:
    from vault_memory.errors import VaultError

    done: list[Leaving] = []
    with ctx.vault.write(why(ctx, operation), ctx.now) as batch:
        for leaving in plan.would_prune:
            try:
                memory: Any = batch.patch(leaving.path, {"status": status}).memory
            except VaultError as error:
                batch.warnings.append(f"{leaving.path}: {error.detail}")
            else:
                done.append(leaving) if memory else None
    return PrunePlan(tuple(done), len(done), plan.considered, True, tuple(batch.warnings))
