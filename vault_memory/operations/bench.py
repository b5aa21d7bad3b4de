"""bench: how well search finds what is in this vault, so that people can see what a setting does. Changes nothing."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable
from typing import Any, Final

from msgspec import Struct
from pydantic import Field
from pydantic.config import JsonDict

from vault_memory.errors import InvalidRequest
from vault_memory.memory.filter import Filter
from vault_memory.operations.context import Context
from vault_memory.operations.refs import resolve
from vault_memory.operations.request import Request
from vault_memory.operations.searching import Mode, find

DEPTHS: Final = (1, 5, 10)
_HIDDEN: JsonDict = {"cli": {"hidden": True}}


class Bench(Request):
    """Measure search on this vault: titles and headings as queries, or queries of your own."""

    queries: list[dict[str, Any]] | None = Field(
        None, description="Each {query, expected: [refs]}; by default titles and headings.", json_schema_extra=_HIDDEN
    )
    sample: int = Field(200, ge=1, le=5000, description="How many titles and headings.")
    seed: int = Field(1, ge=0, description="Which of them.")
    mode: Mode = Field("hybrid", description="hybrid, keyword or semantic.")


class Measured(Struct, frozen=True):
    """Shares of the queries whose expected memory is among the first 1, 5 and 10; MRR@10; milliseconds a query."""

    queries: int
    recall_at_1: float
    recall_at_5: float
    recall_at_10: float
    mrr_at_10: float
    ms_p50: float
    ms_p95: float
    missed: tuple[str, ...]
    """Up to ten queries that found nothing expected."""


def bench(ctx: Context, request: Bench) -> Measured:
    """Run the queries and say how often and how high the expected memory came.

    Raises:
        InvalidRequest: a query without text or expectation, or a vault with nothing to ask for.
    """
    ctx.vault.refresh(searchable=True, budget_ms=60_000)
    pairs = _given(ctx, request.queries) if request.queries is not None else _own(ctx, request)
    if not pairs:
        raise InvalidRequest.of("queries", "there is nothing to ask for")
    places, spent, missed = [], [], []
    for query, expected in pairs:
        started = time.perf_counter()
        found = find(ctx, query, Filter(statuses=("active",)), request.mode)
        spent.append(1000 * (time.perf_counter() - started))
        paths = [found.memory(place).path for place in found.places[: DEPTHS[-1]]]
        place = next((n for n, path in enumerate(paths, 1) if path in expected), 0)
        places.append(place)
        if not place:
            missed.append(query)
    return _measured(places, sorted(spent), missed)


def _own(ctx: Context, request: Bench) -> list[tuple[str, set[str]]]:
    """Titles and headings of a sample, each expecting the notes that carry it."""
    wanted: dict[str, set[str]] = {}
    for row in ctx.vault.catalog.select(Filter(statuses=("active",)), ctx.scope, now=ctx.now):
        for text in {row.memory.title, *_headings(row.memory.content)}:
            if text.strip():
                wanted.setdefault(text.strip(), set()).add(row.memory.path)
    texts = sorted(wanted)
    chosen = random.Random(request.seed).sample(texts, min(request.sample, len(texts)))
    return [(text, wanted[text]) for text in chosen]


def _headings(content: str) -> Iterable[str]:
    return (line.lstrip("#").strip() for line in content.splitlines() if line.startswith("#") and " " in line)


def _given(ctx: Context, queries: list[dict[str, Any]]) -> list[tuple[str, set[str]]]:
    pairs = []
    for number, item in enumerate(queries, 1):
        query, expected = item.get("query"), item.get("expected")
        refs = [expected] if isinstance(expected, str) else expected
        if not isinstance(query, str) or not query.strip() or not isinstance(refs, list) or not refs:
            raise InvalidRequest.of("queries", f"number {number} needs query and expected")
        pairs.append((query, {resolve(ctx, str(ref)).path for ref in refs}))
    return pairs


def _measured(places: list[int], spent: list[float], missed: list[str]) -> Measured:
    count = len(places)
    first, five, ten = (round(sum(0 < place <= depth for place in places) / count, 4) for depth in DEPTHS)
    mrr = sum(1 / place for place in places if place) / count
    middle, high = spent[count // 2], spent[int(0.95 * (count - 1))]
    return Measured(count, first, five, ten, round(mrr, 4), round(middle, 2), round(high, 2), tuple(missed[:10]))
