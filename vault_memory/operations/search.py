"""search: find memories by meaning and words. Owns the request and the answer; the ranking is search/'s."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import Field

from vault_memory.errors import InvalidRequest
from vault_memory.index.candidates import Sizes
from vault_memory.memory.filter import Filter
from vault_memory.memory.model import Memory
from vault_memory.memory.urls import site_of, url_key
from vault_memory.operations.context import Context
from vault_memory.operations.request import MAX_PAGE, FilterRequest, Unit
from vault_memory.operations.views import accessed
from vault_memory.search.adapt import Asked, numbers_of, pool_of
from vault_memory.search.order import Ordered, order
from vault_memory.search.words import content_words

if TYPE_CHECKING:
    from vault_memory.index.columns import Candidates

Mode = Literal["hybrid", "keyword", "semantic"]
MatchSource = Literal["fts", "vec", "both", "session"]
_SIZES: Final = {"hybrid": Sizes(60, 40), "keyword": Sizes(100, 0), "semantic": Sizes(0, 100)}
_TEXTS_AHEAD: Final = 300


class Search(FilterRequest):
    """Find memories by meaning and words, best first."""

    query: str = Field(description="What to look for, in plain words.", json_schema_extra={"cli": {"positional": True}})
    mode: Mode = Field("hybrid", description="hybrid, keyword (words only) or semantic (meaning only).")
    limit: int = Field(10, ge=1, le=MAX_PAGE, description="How many hits.")
    offset: int = Field(0, ge=0, description="How many hits to skip.")
    cursor: str | None = Field(None, description="Where the page before ended.")
    min_score: Unit | None = Field(None, description="Leave out hits whose relevance is lower, 0 to 1.")
    include_archived: bool = Field(False, description="Also archived memories.")
    touch: bool = Field(True, description="Count the hits as accessed.")


@dataclass(frozen=True, slots=True)
class Hit:
    """One memory that matches. `score` orders, `relevance` (0–1) is evidence."""

    memory: Memory
    score: float
    relevance: float
    match_source: MatchSource
    fts_rank: int | None
    vec_distance: float | None
    matched_terms: tuple[str, ...]
    snippet: str


@dataclass(frozen=True, slots=True)
class IndexState:
    """How current the answer is: the catalog's generation, changes no index had applied, notes not searchable yet."""

    generation: int
    lag: int
    stale: int


@dataclass(frozen=True, slots=True)
class Hits:
    """A page of hits, best first; `total` counts what matched."""

    hits: tuple[Hit, ...]
    total: int
    limit: int
    offset: int
    has_more: bool
    index: IndexState
    dropped_by_min_score: int = 0
    warnings: tuple[str, ...] = ()


def search(ctx: Context, request: Search) -> Hits:
    """Search what the caller sees; active memories only, unless archived ones are asked for.

    Raises:
        InvalidRequest: a limit or status out of bounds.
    """
    freshness = ctx.vault.refresh(searchable=True)
    statuses = ("active", "archived") if request.include_archived else ("active",)
    found = ranked(ctx, request.query, request.filter(ctx, default=statuses), request.mode, url=request.url)
    offset = _offset(request)
    hits = found.hits
    dropped = 0
    if request.min_score is not None:
        kept = [hit for hit in hits if hit.relevance >= request.min_score]
        hits, dropped = kept, len(hits) - len(kept)
    page = tuple(verified(ctx, hits[offset : offset + request.limit]))
    answer = Hits(
        page, len(hits), request.limit, offset, offset + len(page) < len(hits), found.index, dropped, freshness.warnings
    )
    accessed(ctx, (hit.memory for hit in page), request.touch)
    ctx.vault.indexes.apply_if_due(lives_on=False)
    return answer


@dataclass(frozen=True, slots=True)
class Ranked:
    """All hits of a query, best first, and the state of the index they were found in."""

    hits: list[Hit]
    index: IndexState


def ranked(ctx: Context, query: str, wanted: Filter, mode: Mode = "hybrid", *, url: str | None = None) -> Ranked:
    """Every hit of the query's pool, ranked; texts are the recorded ones (see `verified`)."""
    words = " ".join(content_words(query))
    candidates = ctx.vault.indexes.candidates.gather(words, wanted, ctx.scope, now=ctx.now, sizes=_SIZES[mode])
    state = IndexState(candidates.generation, candidates.pending, candidates.underived)
    if not len(candidates):
        return Ranked([], state)
    pool = pool_of(candidates, _asked(ctx, candidates, url))
    embedder = ctx.vault.indexes.embedder()
    vectors = embedder.token_vectors if embedder else _no_vectors
    ordered = order(query, numbers_of(candidates), pool, vectors, ctx.config.ranking, ctx.now)
    notes = [int(pool.note[row]) for row in ordered.rows[:_TEXTS_AHEAD]]
    memories = {row.note: row.memory for row in ctx.vault.catalog.by_keys(notes, ctx.scope)}
    hits = [
        _hit(candidates, ordered, int(row), memories[int(pool.note[row])])
        for row in ordered.rows
        if int(pool.note[row]) in memories
    ]
    return Ranked(hits, state)


def verified(ctx: Context, hits: list[Hit]) -> list[Hit]:
    """The hits whose text is on disk now; what changed meanwhile is shown as it is, what is gone is left out."""
    shown = []
    for hit in hits:
        memory = ctx.vault.current(hit.memory, ctx.scope)
        if memory is not None and memory.status == hit.memory.status:
            shown.append(hit if memory is hit.memory else replace(hit, memory=memory, snippet=memory.content[:300]))
    return shown


def _hit(candidates: Candidates, ordered: Ordered, row: int, memory: Memory) -> Hit:
    facts = candidates.facts[row]
    by_text, by_vector = int(candidates.text_rank[row]), int(candidates.vector_rank[row])
    source: MatchSource = "session"
    if by_text > 0 or by_vector > 0:
        source = "both" if by_text > 0 and by_vector > 0 else "fts" if by_text > 0 else "vec"
    terms = candidates.query.terms.asked
    return Hit(
        memory=memory,
        score=round(float(ordered.scores[row]), 6),
        relevance=round(float(ordered.relevance[row]), 4),
        match_source=source,
        fts_rank=by_text if by_text > 0 else None,
        vec_distance=round(1 - float(candidates.cosine[row]), 6) if candidates.vectors[row].any() else None,
        matched_terms=tuple(term for n, term in enumerate(terms) if candidates.term_hits[row][n]),
        snippet=memory.content[facts.start : facts.end][:300],
    )


def _asked(ctx: Context, candidates: Candidates, url: str | None) -> Asked:
    accesses = ctx.vault.usage.get({facts.ref for facts in candidates.facts})
    project = ctx.scope.project
    return Asked(
        now=ctx.now,
        decay=ctx.config.decay,
        accessed={ref: access.last_accessed_at for ref, access in accesses.items() if access.last_accessed_at},
        project=project if isinstance(project, str) else None,
        url_key=url_key(url) if url else None,
        site=site_of(url) if url else None,
    )


def _offset(request: Search) -> int:
    if request.cursor is None:
        return request.offset
    if not request.cursor.isdigit():
        raise InvalidRequest.of("cursor", "is no cursor of this search", hint="pass the cursor of the page before")
    return int(request.cursor)


def _no_vectors(token_ids: Any) -> Any:
    import numpy as np

    return np.zeros((len(token_ids), 1), np.float32)
