"""recall: what applies here, by page, topic and recency; and the plain orders recent and related."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, Literal

from msgspec import Struct
from pydantic import Field

from vault_memory.memory.decay import days_between
from vault_memory.memory.filter import Filter
from vault_memory.memory.model import Memory
from vault_memory.memory.urls import site_of, url_key
from vault_memory.operations.context import Context
from vault_memory.operations.request import MAX_PAGE, FilterRequest
from vault_memory.operations.views import accessed
from vault_memory.search.words import content_words

Strategy = Literal["hybrid", "recent", "important", "semantic"]
SAME_URL, SAME_SITE, PER_TERM, FRESH_DAYS = 50, 25, 8, 10
_WORD: Final = re.compile(r"[^\W_]+")
_NEARBY: Final = 100


class Recall(FilterRequest):
    """Bring up what applies here: the page, the project, the topic."""

    query: str | None = Field(None, description="The topic.", json_schema_extra={"cli": {"positional": True}})
    strategy: Strategy = Field("hybrid", description="hybrid, recent, important or semantic.")
    limit: int = Field(10, ge=1, le=MAX_PAGE, description="How many memories.")
    max_chars: int = Field(8000, ge=200, le=100_000, description="How much text; the first memory is always whole.")
    touch: bool = Field(True, description="Count them as accessed.")


class Recalled(Struct, frozen=True):
    """One memory and why it came up."""

    memory: Memory
    score: float
    why: str


class Recollection(Struct, frozen=True):
    """What applies, best first; `fallback` when nothing matched the query and the most important stand in."""

    items: tuple[Recalled, ...]
    strategy: Strategy
    fallback: bool = False
    warnings: tuple[str, ...] = ()


def recall(ctx: Context, request: Recall) -> Recollection:
    """Recall by the strategy; without a query and a url the newest come.

    Score of `hybrid` (the actor's formula): +50 the same URL, +25 the same site, +8 for each query term that begins a
    word of title, content, tags or type, and up to 10 for a recent update (10 minus days).

    Raises:
        InvalidRequest: an unknown status or type.
    """
    freshness = ctx.vault.refresh(searchable=bool(request.query))
    wanted = request.filter(ctx, default=("active",))
    strategy: Strategy = request.strategy if request.query or request.url else "recent"
    if request.strategy == "important":
        strategy = "important"
    found, fallback = _found(ctx, request, wanted, strategy), False
    if not found and request.query:
        found, fallback = important(ctx, wanted, request.limit), True
    items = tuple(_within(found[: request.limit], request.max_chars))
    accessed(ctx, (item.memory for item in items), request.touch)
    return Recollection(items, strategy, fallback, freshness.warnings)


def _found(ctx: Context, request: Recall, wanted: Filter, strategy: Strategy) -> list[Recalled]:
    if strategy == "recent":
        return recent(ctx, wanted, request.limit)
    if strategy == "important":
        return important(ctx, wanted, request.limit)
    if strategy == "semantic":
        return _semantic(ctx, request.query or "", wanted)
    return _scored(ctx, request, wanted)


def recent(ctx: Context, wanted: Filter, limit: int) -> list[Recalled]:
    """The newest by creation; never by similarity."""
    page = ctx.vault.catalog.page(wanted, ctx.scope, now=ctx.now, sort="created_at", limit=min(limit, MAX_PAGE))
    return [Recalled(row.memory, 0.0, "recent") for row in page.items]


def important(ctx: Context, wanted: Filter, limit: int) -> list[Recalled]:
    """The most important, then the newest, of the last hundred and of everything above the default importance."""
    from msgspec.structs import replace

    catalog = ctx.vault.catalog
    rows = {
        row.memory.path: row.memory
        for condition in (replace(wanted, min_importance=0.51), wanted)
        for row in catalog.page(condition, ctx.scope, now=ctx.now, sort="updated_at", limit=MAX_PAGE).items
    }
    ordered = sorted(rows.values(), key=lambda m: (-m.importance, -_stamp(m), m.ref))
    return [Recalled(memory, memory.importance, "important") for memory in ordered[:limit]]


def _semantic(ctx: Context, query: str, wanted: Filter) -> list[Recalled]:
    from vault_memory.operations.searching import find

    found = find(ctx, query, wanted, "semantic")
    return [Recalled(found.memory(n), found.score(n), f"similar ({found.relevance(n):.2f})") for n in found.places]


def _scored(ctx: Context, request: Recall, wanted: Filter) -> list[Recalled]:
    terms = [word.lower() for word in content_words(request.query or "")]
    scored = [_score(ctx, memory, terms, request.url) for memory in _candidates(ctx, request, wanted)]
    matching = [item for item in scored if item.why]
    return sorted(matching, key=lambda item: (-item.score, item.memory.ref))


def _candidates(ctx: Context, request: Recall, wanted: Filter) -> Iterable[Memory]:
    """Whatever may score: the page's memories, the site's, those the search finds, and the newest."""
    from msgspec.structs import replace

    from vault_memory.operations.searching import find

    catalog, found = ctx.vault.catalog, dict[str, Memory]()
    anywhere = replace(wanted, url=None)
    filters = [replace(anywhere, site=site_of(request.url)), wanted] if request.url else []
    for condition in [*filters, anywhere]:
        page = catalog.page(condition, ctx.scope, now=ctx.now, sort="updated_at", limit=_NEARBY)
        found |= {row.memory.path: row.memory for row in page.items}
    if request.query:
        similar = find(ctx, request.query, anywhere)
        found |= {similar.memory(n).path: similar.memory(n) for n in similar.places}
    return found.values()


def _score(ctx: Context, memory: Memory, terms: list[str], url: str | None) -> Recalled:
    reasons, score = [], 0.0
    if url and memory.url and url_key(memory.url) == url_key(url):
        score, reasons = score + SAME_URL, ["same page"]
    elif url and memory.url and site_of(memory.url) == site_of(url):
        score, reasons = score + SAME_SITE, ["same site"]
    text = " ".join((memory.title, memory.content, *memory.tags, memory.memory_type)).lower()
    words = set(_WORD.findall(text))
    matched = [term for term in dict.fromkeys(terms) if any(word.startswith(term) for word in words)]
    if matched:
        score += PER_TERM * len(matched)
        reasons.append("mentions " + ", ".join(matched))
    score += max(0.0, FRESH_DAYS - days_between(memory.updated_at, ctx.now))
    return Recalled(memory, round(score, 3), "; ".join(reasons))


def _within(items: list[Recalled], max_chars: int) -> Iterable[Recalled]:
    used = 0
    for n, item in enumerate(items):
        used += len(item.memory.content)
        if n and used > max_chars:
            return
        yield item


def _stamp(memory: Memory) -> float:
    return memory.updated_at.timestamp() if memory.updated_at else 0.0
