"""search: find memories by meaning and words. Owns the request and the answer; the ranking is search/'s."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace
from pydantic import Field

from vault_memory.errors import InvalidRequest
from vault_memory.memory.model import Memory
from vault_memory.operations.anchors import anchors_for
from vault_memory.operations.context import Context
from vault_memory.operations.request import MAX_PAGE, FilterRequest, Unit
from vault_memory.operations.searching import Found, Mode, find
from vault_memory.operations.views import accessed
from vault_memory.search.explain import Expected, Explanation
from vault_memory.search.relevance import WEAK

if TYPE_CHECKING:
    from vault_memory.operations.searching import MatchSource


class Search(FilterRequest):
    """Find memories by meaning and words, best first.

    The query is plain text. "A phrase" in quotes must stand there word for word, -word must not; tag:, type:,
    project:, path:, after: and before: narrow the search.
    """

    query: str = Field(description="What to look for, in plain words.", json_schema_extra={"cli": {"positional": True}})
    mode: Mode = Field("hybrid", description="hybrid, keyword (words only) or semantic (meaning only).")
    limit: int = Field(10, ge=1, le=MAX_PAGE, description="How many hits.")
    offset: int = Field(0, ge=0, description="How many hits to skip.")
    cursor: str | None = Field(None, description="Where the page before ended.")
    min_score: Unit | None = Field(None, description="Leave out hits whose relevance is lower, 0 to 1.")
    include_archived: bool = Field(False, description="Also archived memories.")
    stacks: list[str] = Field([], description="Technologies whose anchors apply.")
    explain: bool = Field(False, description="Say of each hit what counted how much.")
    expected: str | None = Field(None, description="With explain: say why this memory is not among the hits.")
    touch: bool = Field(True, description="Count the hits as accessed.")


class Hit(Struct, frozen=True):
    """One memory that matches. `score` orders, `relevance` (0–1) is evidence."""

    memory: Memory
    score: float
    relevance: float
    match_source: MatchSource
    fts_rank: int | None
    vec_distance: float | None
    matched_terms: tuple[str, ...]
    snippet: str
    marks: tuple[tuple[int, int], ...]
    """What to emphasise in the snippet: half-open spans of characters."""
    position: tuple[int, int]
    """Where the snippet stands in the content."""
    heading: str = ""
    weak: bool = False
    """A nonsense query may reach as much relevance."""
    copy_of: str | None = None
    """Ref of the better hit that says the same."""
    why: Explanation | None = None


class IndexState(Struct, frozen=True):
    """How current the answer is: the catalog's generation, changes no index had applied, notes not searchable yet."""

    generation: int
    lag: int
    stale: int


class Hits(Struct, frozen=True):
    """A page of hits, best first; `total` counts what matched. Anchors stand beside the hits and never count."""

    hits: tuple[Hit, ...]
    total: int
    limit: int
    offset: int
    has_more: bool
    cursor: str | None
    index: IndexState
    total_at_least: bool = False
    """More match than `total` says: a big vault is counted only for who reads so far."""
    anchors: tuple[Memory, ...] = ()
    dropped_by_min_score: int = 0
    hidden_by_decay: int = 0
    expected: Expected | None = None
    warnings: tuple[str, ...] = ()


def search(ctx: Context, request: Search) -> Hits:
    """Search what the caller sees; active memories only, unless archived ones are asked for.

    Raises:
        InvalidRequest: a limit, status or cursor out of bounds.
    """
    offset, asked_at = _page_start(ctx, request)
    ctx = replace(ctx, now=asked_at)
    freshness = ctx.vault.refresh(searchable=True)
    statuses = ("active", "archived") if request.include_archived else ("active",)
    wanted = request.filter(ctx, default=statuses)
    needed = offset + request.limit
    found = find(ctx, request.query, wanted, request.mode, url=request.url, needed=needed)
    places = [n for n in found.places if request.min_score is None or found.relevance(n) >= request.min_score]
    page = tuple(hit for n in places[offset : offset + request.limit] if (hit := _hit(ctx, found, n, request.explain)))
    dropped = len(found.places) - len(places)
    has_more = needed < found.total - dropped or found.at_least
    answer = Hits(
        hits=page,
        total=max(found.total - dropped, len(places)),
        limit=request.limit,
        offset=offset,
        has_more=has_more,
        cursor=f"{needed}@{asked_at.isoformat()}" if has_more else None,
        total_at_least=found.at_least,
        index=IndexState(found.generation, found.lag, found.stale),
        anchors=anchors_for(ctx, request.stacks),
        dropped_by_min_score=dropped,
        hidden_by_decay=found.hidden_by_decay,
        expected=found.expected(ctx, request.expected, [hit.memory.ref for hit in page]) if request.expected else None,
        warnings=(*found.warnings, *freshness.warnings),
    )
    accessed(ctx, (hit.memory for hit in page), request.touch)
    if not freshness.watched:
        ctx.vault.indexes.apply_if_due(lives_on=False)
    return answer


def _hit(ctx: Context, found: Found, place: int, explained: bool) -> Hit | None:
    """The hit as its file has it now; None when it is gone or no longer what was asked for."""
    recorded = found.memory(place)
    memory = ctx.vault.current(recorded, ctx.scope)
    if memory is None or memory.status != recorded.status:
        return None
    passage = found.passage(place, memory)
    original = found.copy_of(place)
    return Hit(
        memory=memory,
        score=found.score(place),
        relevance=found.relevance(place),
        match_source=found.match_source(place),
        fts_rank=found.text_rank(place),
        vec_distance=found.distance(place),
        matched_terms=found.terms(place),
        snippet=passage.text,
        marks=passage.marks,
        position=(passage.start, passage.end),
        heading=found.heading(place),
        weak=found.relevance(place) < WEAK,
        copy_of=None if original is None else found.memory(original).ref,
        why=found.explanation(place) if explained else None,
    )


def _page_start(ctx: Context, request: Search) -> tuple[int, Any]:
    """Offset and clock of the page: a cursor carries the first page's clock, so that ages do not move between pages."""
    from datetime import datetime

    if request.cursor is None:
        return request.offset, ctx.now
    offset, _, moment = request.cursor.partition("@")
    try:
        return int(offset), datetime.fromisoformat(moment)
    except ValueError:
        raise InvalidRequest.of(
            "cursor", "is no cursor of this search", hint="pass the one of the page before"
        ) from None
