"""How a query is answered: parsed, gathered, ranked, folded. What `search`, `recall`, packs and the gates share.

Owns the way from a text to ranked places; texts are the recorded ones, which the caller verifies before showing them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from vault_memory.index.candidates import Sizes
from vault_memory.index.rows import link_key
from vault_memory.memory.decay import decayed_confidence, hides
from vault_memory.memory.filter import Filter
from vault_memory.memory.model import Memory
from vault_memory.memory.urls import site_of, url_key
from vault_memory.operations.filters import memory_types
from vault_memory.search import diversify
from vault_memory.search.adapt import Asked, numbers_of, pool_of
from vault_memory.search.explain import Expected, Explanation, Outside, expected, explain
from vault_memory.search.order import Ordered, order
from vault_memory.search.pool import NONE, Pool, QueryNumbers
from vault_memory.search.query import ParsedQuery, parse, search_words
from vault_memory.search.snippet import Mark, Snippet, snippet
from vault_memory.search.spelling import allowed_edits, corrections

if TYPE_CHECKING:
    from vault_memory.index.columns import Candidates
    from vault_memory.operations.context import Context

Mode = Literal["hybrid", "keyword", "semantic"]
MatchSource = Literal["fts", "vec", "both", "session"]
SIZES: Final = {"hybrid": Sizes(100, 60), "keyword": Sizes(160, 0), "semantic": Sizes(0, 160)}
DEEPEST: Final = 1_000
"""Passages beyond this many are neither counted nor reached by paging; nobody reads so far."""
COUNTED_CHUNKS: Final = 2_000
"""Up to this size of a vault the total is always exact."""
_FOLDED_CHARS: Final = 4_000
_CORRECTED: Final = 5
"""A longer list of unknown words is another language, not a slip of the finger."""


class Found(Struct, frozen=True):
    """The answer of a query before it is shown: places are positions in the ranking, `places` lists those to show."""

    parsed: ParsedQuery
    generation: int
    lag: int
    stale: int
    places: tuple[int, ...] = ()
    total: int = 0
    """How many memories match, of the first thousand passages that hold a word of the query."""
    at_least: bool = False
    """There are more: a big vault is counted only for who reads so far, as counting costs more than ranking."""
    warnings: tuple[str, ...] = ()
    hidden_by_decay: int = 0
    _ranking: _Ranking | None = None

    def memory(self, place: int) -> Memory:
        """The recorded memory at a place."""
        return self._r.memories[place]

    def score(self, place: int) -> float:
        """What it was ordered by."""
        return round(float(self._r.ordered.scores[self._row(place)]), 6)

    def relevance(self, place: int) -> float:
        """How much of the query it meets, 0–1."""
        return round(float(self._r.ordered.relevance[self._row(place)]), 4)

    def text_rank(self, place: int) -> int | None:
        """Its place in the full-text list, from 1."""
        return _rank(self._r.candidates.text_rank[self._row(place)])

    def distance(self, place: int) -> float | None:
        """Cosine distance to the query; None without a vector."""
        row = self._row(place)
        has_vector = self._r.candidates.vectors[row].any()
        return round(1 - float(self._r.candidates.cosine[row]), 6) if has_vector else None

    def match_source(self, place: int) -> MatchSource:
        """Which list found it: words, vectors, both, or neither but a neighbour in its session."""
        row = self._row(place)
        by_text = _rank(self._r.candidates.text_rank[row])
        by_vector = _rank(self._r.candidates.vector_rank[row])
        if by_text and by_vector:
            return "both"
        return "fts" if by_text else "vec" if by_vector else "session"

    def terms(self, place: int) -> tuple[str, ...]:
        """The query's terms that it holds."""
        hits = self._r.candidates.term_hits[self._row(place)].tolist()
        return tuple(term for term, hit in zip(self._r.numbers.terms, hits, strict=True) if hit)

    def heading(self, place: int) -> str:
        """The heading that the matching passage stands under."""
        return self._r.candidates.facts[self._row(place)].heading

    def vector(self, place: int) -> Any:
        """The unit vector of the matching chunk, zeros without one."""
        return self._r.candidates.vectors[self._row(place)]

    def cosine_to(self, place: int) -> float:
        """Cosine between the query and the chunk."""
        return float(self._r.candidates.cosine[self._row(place)])

    def copy_of(self, place: int) -> int | None:
        """The place of the better hit that says the same."""
        original = self._r.copy_of[place]
        return None if original == NONE else original

    def passage(self, place: int, memory: Memory) -> Snippet:
        """The passage of the memory that holds the most of the query."""
        from vault_memory.index.analyse import locate

        facts, known = self._r.candidates.facts[self._row(place)], self.memory(place)
        within = (facts.start, facts.end) if memory.content == known.content else None
        weights = dict(zip(self._r.numbers.terms, self._r.numbers.term_idf.tolist(), strict=True))
        low, high = within or (0, len(memory.content))
        text = memory.content[low:high]
        marks = [
            Mark(low + start, low + end, term, weight)
            for term, weight in weights.items()
            for start, end in locate(text, [term])
        ]
        return snippet(memory.content, sorted(marks, key=lambda m: (m.start, m.end)), within=within)

    def explanation(self, place: int) -> Explanation:
        """Each feature's value and weight, in numbers and words."""
        r = self._r
        return explain(r.numbers, r.pool, r.ordered, r.weights, self._row(place))

    def expected(self, ctx: Context, ref: str, shown: list[str]) -> Expected:
        """Why the memory a caller expected is not among those shown."""
        from vault_memory.errors import VaultError
        from vault_memory.operations.refs import resolve

        try:
            memory = resolve(ctx, ref, deleted=True)
        except VaultError:
            return Expected(ref, "unknown", "There is no such memory, or this caller does not see it.")
        if self._ranking is None:
            return Expected(memory.ref, "not_selected", "Nothing matched this query at all.")
        r = self._r
        copies = {r.memories[n].ref: r.memories[o].ref for n, o in enumerate(r.copy_of) if o != NONE}
        outside = Outside(True, True, r.wanted.matches(memory, ctx.now))
        return expected(memory.ref, r.pool, r.ordered, r.weights, shown=shown, copy_of=copies, outside=outside)

    @property
    def _r(self) -> _Ranking:
        assert self._ranking is not None, "there are no places without a ranking"
        return self._ranking

    def _row(self, place: int) -> int:
        return int(self._r.rows[place])


class _Ranking(Struct, frozen=True):
    candidates: Candidates
    numbers: QueryNumbers
    pool: Pool
    ordered: Ordered
    weights: Any
    wanted: Filter
    rows: tuple[int, ...]
    memories: tuple[Memory, ...]
    copy_of: tuple[int, ...] = field(default=())


def find(
    ctx: Context, query: str, wanted: Filter, mode: Mode = "hybrid", *, url: str | None = None, needed: int = 0
) -> Found:
    """What matches the query, best first.

    Args:
        needed: how many places will be shown. Beyond what the first candidates give, a wider pool is ranked and put
            behind them, so that the first pages never depend on how far a caller reads.
    """
    now = ctx.now.astimezone()
    parsed = parse(query, now)
    wanted, notes = _narrowed(ctx, parsed, wanted)
    words = search_words(parsed.text, now)
    candidates = _gathered(ctx, words, wanted, mode)
    if meant := _meant(ctx, candidates):
        candidates = _gathered(ctx, " ".join([words, *meant.values()]), wanted, mode)
        held = set(_held(candidates))  # of what this caller sees: no word of another project is ever named
        notes += [f"nothing holds '{w}'; '{other}' was looked for too" for w, other in meant.items() if other in held]
    state = candidates.generation, candidates.pending, candidates.underived
    warnings = (
        *notes,
        *(f"'{plain.piece}' was read as plain text: {plain.reason}" for plain in parsed.plain if plain.reason),
    )
    if not parsed.has_words:
        return Found(parsed, *state, warnings=(*warnings, "the query holds no word to look for"))
    if not len(candidates):
        return Found(parsed, *state, warnings=warnings)
    ranking = _ranked(ctx, parsed, candidates, wanted, url)
    places, hidden = _shown(ctx, ranking)
    total, full = len(places), int(candidates.text_rank.max()) >= SIZES[mode].text > 0
    counted = needed > len(places) or ctx.vault.catalog.meta("chunk_count") <= COUNTED_CHUNKS
    if full and counted:
        holding = ctx.vault.indexes.candidates.holding(words, wanted, ctx.scope, now=ctx.now, limit=DEEPEST)
        shown = {int(ranking.pool.note[ranking.rows[place]]) for place in places}
        total += sum(note not in shown for note in holding)
        if needed > len(places) and total > len(places):
            wide = ctx.vault.indexes.candidates.gather(
                words, wanted, ctx.scope, now=ctx.now, sizes=replace(SIZES[mode], text=DEEPEST)
            )
            first = [memory.path for place in places for memory in (ranking.memories[place],)]
            ranking = _ranked(ctx, parsed, wide, wanted, url)
            behind, hidden = _shown(ctx, ranking)
            places = _in_order(ranking, first, behind)
    return Found(parsed, *state, places, total, full and not counted, warnings, hidden, ranking)


def _in_order(ranking: _Ranking, first: list[str], places: tuple[int, ...]) -> tuple[int, ...]:
    """The places with those of the paths `first` in front, in that order."""
    of_path = {ranking.memories[place].path: place for place in places}
    front = [of_path[path] for path in first if path in of_path]
    return (*front, *(place for place in places if place not in set(front)))


def _gathered(ctx: Context, words: str, wanted: Filter, mode: Mode) -> Candidates:
    return ctx.vault.indexes.candidates.gather(words, wanted, ctx.scope, now=ctx.now, sizes=SIZES[mode])


def _held(candidates: Candidates) -> list[str]:
    """The query's terms that some candidate holds."""
    return [term for n, term in enumerate(candidates.query.terms.asked) if candidates.term_hits[:, n].any()]


def _meant(ctx: Context, candidates: Candidates) -> dict[str, str]:
    """For each query term that nothing in the vault holds, the term that it may be a misspelling of, if any."""
    terms = candidates.query.terms
    unknown = [term for term, group in zip(terms.asked, terms.groups, strict=True) if not group and allowed_edits(term)]
    meant = {}
    for term in unknown[:_CORRECTED]:
        edits = allowed_edits(term)
        known = ctx.vault.catalog.vocabulary(term[0], len(term) - edits, len(term) + edits)
        if near := corrections(term, known, limit=1):
            meant[term] = near[0]
    return meant


def _ranked(ctx: Context, parsed: ParsedQuery, candidates: Candidates, wanted: Filter, url: str | None) -> _Ranking:
    pool = pool_of(candidates, _asked(ctx, candidates, url))
    numbers = numbers_of(candidates)
    embedder = ctx.vault.indexes.embedder()
    vectors = embedder.token_vectors if embedder else _no_vectors
    ordered = order(parsed.text, numbers, pool, vectors, ctx.config.ranking, ctx.now.astimezone())
    recorded = ctx.vault.catalog.by_keys([int(pool.note[row]) for row in ordered.rows], ctx.scope)
    known = {row.note: row.memory for row in recorded}
    kept = [int(row) for row in ordered.rows if int(pool.note[row]) in known]
    kept = [row for row in kept if _passes(parsed, known[int(pool.note[row])])]
    memories = tuple(known[int(pool.note[row])] for row in kept)
    copies = diversify.copies([memory.content[:_FOLDED_CHARS] for memory in memories], candidates.vectors[kept])
    return _Ranking(
        candidates, numbers, pool, ordered, ctx.config.ranking, wanted, tuple(kept), memories, tuple(copies)
    )


def _shown(ctx: Context, ranking: _Ranking) -> tuple[tuple[int, ...], int]:
    """The places to show, copies directly behind what they repeat, and how many faded out of sight.

    Anchors head an answer and are no hits, unless they are asked for by their type.
    """
    accesses = ctx.vault.usage.get({memory.ref for memory in ranking.memories if memory.actor is not None})
    faded = set()
    for place, memory in enumerate(ranking.memories):
        access = accesses.get(memory.ref)
        left = decayed_confidence(memory, access.last_accessed_at if access else None, ctx.now, ctx.config.decay)
        if hides(memory, left, ctx.config.decay):
            faded.add(place)
    order_ = diversify.folded(len(ranking.memories), ranking.copy_of)
    anchors = (
        set()
        if "anchor" in ranking.wanted.memory_types
        else {place for place, memory in enumerate(ranking.memories) if memory.memory_type == "anchor"}
    )
    return tuple(place for place in order_ if place not in faded | anchors), len(faded)


def _narrowed(ctx: Context, parsed: ParsedQuery, wanted: Filter) -> tuple[Filter, list[str]]:
    """The filter with what the query's marks ask for, and what could not be followed."""
    changes: dict[str, Any] = {}
    notes = []
    if parsed.tags:
        changes["tags"] = (*wanted.tags, *parsed.tags)
    known = set(memory_types(ctx.config))
    types = tuple(name for name in parsed.types if name in known)
    notes += [f"'type:{name}' is no memory type of this vault" for name in parsed.types if name not in known]
    if types:
        changes["memory_types"] = types
    if parsed.projects:
        changes["project"] = parsed.projects[0]
    if parsed.paths:
        changes["path"] = parsed.paths[0]
    if parsed.after:
        changes["created_after"] = _midnight(parsed.after, ctx.now)
    if parsed.before:
        changes["created_before"] = _midnight(parsed.before, ctx.now)
    return replace(wanted, **changes) if changes else wanted, notes


def _midnight(day: date, now: datetime) -> datetime:
    return datetime.combine(day, time(), now.astimezone().tzinfo)


def _passes(parsed: ParsedQuery, memory: Memory) -> bool:
    """Whether phrases stand in the memory word for word, and excluded words do not."""
    if not parsed.phrases and not parsed.excluded:
        return True
    text = " ".join(f"{memory.title}\n{memory.content}".split()).casefold()
    if any(" ".join(phrase.split()).casefold() not in text for phrase in parsed.phrases):
        return False
    from vault_memory.index.analyse import analyse, analyse_query

    return not parsed.excluded or set(analyse(text)).isdisjoint(t for w in parsed.excluded for t in analyse_query(w))


def _asked(ctx: Context, candidates: Candidates, url: str | None) -> Asked:
    accesses = ctx.vault.usage.get({facts.ref for facts in candidates.facts})
    last: Mapping[str, datetime] = {ref: a.last_accessed_at for ref, a in accesses.items() if a.last_accessed_at}
    project = ctx.scope.project
    return Asked(
        now=ctx.now,
        decay=ctx.config.decay,
        accessed=last,
        project=project if isinstance(project, str) else None,
        url_key=url_key(url) if url else None,
        site=site_of(url) if url else None,
        successors=_successors(ctx, candidates),
    )


def _successors(ctx: Context, candidates: Candidates) -> dict[int, int]:
    """Note keys of superseded candidates to those of their successors, where both are candidates."""
    archived = {facts.path: facts.note for facts in candidates.facts if facts.status == "archived"}
    if not archived:
        return {}
    named = {link_key(facts.path): facts.note for facts in candidates.facts}
    return {
        note: named[link_key(link.target)]
        for path, note in archived.items()
        for link in ctx.vault.catalog.links(path, ctx.scope)
        if link.relation == "superseded_by" and link_key(link.target) in named
    }


def _rank(value: Any) -> int | None:
    return int(value) if value > 0 else None


def _no_vectors(token_ids: Any) -> Any:
    import numpy as np

    return np.zeros((len(token_ids), 1), np.float32)
