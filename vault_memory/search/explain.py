"""Why a hit stands where it stands, and why an expected memory does not: numbers and sentences from the same values
that ranked. Pure; it ranks nothing itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from vault_memory.search import adjust
from vault_memory.search.rank import signed
from vault_memory.search.relevance import NOTHING, WEAK

if TYPE_CHECKING:
    from vault_memory.config import Ranking
    from vault_memory.search.order import Ordered
    from vault_memory.search.pool import Floats, Ints, Pool, QueryNumbers

Stage = Literal[
    "shown", "unknown", "hidden", "filtered", "not_selected", "no_match", "below_min_score", "folded", "ranked_lower"
]

_MEANING: Final[Mapping[str, str]] = {
    "bm25": "holds the query's words (share of the best keyword score)",
    "maxsim": "has a near partner for each word of the query, rare words first",
    "cosine": "is near to the query as a whole",
    "window": "answers the query together with what was said just before",
    "context": "stands in a part of the conversation that fits the query",
    "neighbours": "is near to the query together with its two neighbours",
    "session": "belongs to a conversation whose best memories fit",
    "answer": "follows a question that fits the query",
    "feedback": "is like the best memories of a first look",
    "name": "was said by somebody whom the query names",
    "date": "was written when the query asks for",
    "question": "only asks something",
}
_SIGNALS: Final[Mapping[str, str]] = {
    "importance": "its importance",
    "confidence": "its confidence",
    "decay": "how long it has not been used",
    "pinned": "it is pinned",
    "recency": "it changed lately",
    "url": "it belongs to the page or site",
    "project": "it belongs to the project",
    "verification": "it was confirmed or contradicted",
}
_LEAST: Final = 5e-4
"""Smaller contributions are not worth a sentence."""


class Part(Struct, frozen=True):
    """One feature of a hit: value × weight = contribution, and what it means."""

    name: str
    value: float
    weight: float
    contribution: float
    meaning: str


class Explanation(Struct, frozen=True):
    """A hit's score in parts: `score = base × factor`, base = sum of the parts' contributions (see `adjust` below 0).

    Attributes:
        parts: every feature, in the order of the formula.
        adjustments: every signal about the note; their sum, cut to −1…1, times the bound is factor − 1.
        relevance: share of the query that it really meets; `weak` when a nonsense query may reach as much.
        met, missed: the query's terms that it holds, and those that it does not.
        sentences: the same in words, what counted most first.
    """

    ref: str
    score: float
    base: float
    factor: float
    parts: tuple[Part, ...]
    adjustments: tuple[Part, ...]
    relevance: float
    weak: bool
    met: tuple[str, ...]
    missed: tuple[str, ...]
    sentences: tuple[str, ...]


class Outside(Struct, frozen=True):
    """What the caller found out about an expected memory that is not among the candidates."""

    exists: bool
    visible: bool = True
    """In the caller's scope."""
    passes: bool = True
    """Let through by the filters of the search."""
    bm25: float | None = None
    cosine: float | None = None
    """Best of its chunks for this query; None when it has none (no word of the query, no vector)."""


class Expected(Struct, frozen=True):
    """Where an expected memory fell out, and why, in words; `rank` counts from 1 where it has one."""

    ref: str
    stage: Stage
    reason: str
    rank: int | None = None


def explain(query: QueryNumbers, pool: Pool, ordered: Ordered, weights: Ranking, row: int) -> Explanation:
    """The explanation of one row of the pool."""
    parts = _parts(ordered, weights, row)
    signals = _signals(ordered, weights, row)
    base = sum(part.contribution for part in parts)
    relevance = float(ordered.relevance[row])
    held = {term for term, hit in zip(query.terms, pool.term_hits[row].tolist(), strict=True) if hit}
    return Explanation(
        ref=pool.ref[row],
        score=float(ordered.scores[row]),
        base=base,
        factor=float(ordered.factors[row]),
        parts=parts,
        adjustments=signals,
        relevance=relevance,
        weak=relevance < WEAK,
        met=tuple(term for term in query.terms if term in held),
        missed=tuple(term for term in query.terms if term not in held),
        sentences=_sentences(parts, signals, relevance),
    )


def expected(
    ref: str,
    pool: Pool,
    ordered: Ordered,
    weights: Ranking,
    *,
    shown: Collection[str],
    min_score: float | None = None,
    copy_of: Mapping[str, str] | None = None,
    outside: Outside | None = None,
) -> Expected:
    """Why the memory `ref` is not among the `shown` refs of the answer: the first stage at which it fell out.

    Args:
        ref, pool, ordered, weights: the memory, and the search as it was ranked.
        shown: refs on the page.
        min_score: the least relevance asked for.
        copy_of: refs of near-copies to that of the hit they repeat.
        outside: what is known of it when it is not among the candidates.
    """
    rows = [row for row in range(len(pool)) if pool.ref[row] == ref]
    if not rows:
        return _outside(ref, pool, outside or Outside(exists=False))
    place = {pool.ref[row]: n for n, row in enumerate(ordered.rows.tolist(), 1)}
    row = max(rows, key=lambda row: float(ordered.scores[row]))
    relevance = float(ordered.relevance[row])
    if ref not in place:
        return Expected(ref, "no_match", f"It meets {relevance:.1%} of the query, which is noise (≤ {NOTHING:.0%}).")
    if ref in shown:
        return Expected(ref, "shown", f"It is among the answers, in place {place[ref]}.", place[ref])
    if min_score is not None and relevance < min_score:
        reason = f"Its relevance is {relevance:.2f}; at least {min_score:.2f} was asked for."
        return Expected(ref, "below_min_score", reason, place[ref])
    if copy_of and ref in copy_of:
        return Expected(ref, "folded", f"It says nothing that {copy_of[ref]} does not say.", place[ref])
    last = next((other for other in ordered.rows.tolist()[::-1] if pool.ref[other] in shown), None)
    return Expected(ref, "ranked_lower", _lower(ordered, weights, row, last, place[ref]), place[ref])


def _parts(ordered: Ordered, weights: Ranking, row: int) -> tuple[Part, ...]:
    found = []
    for name, weight in signed(weights).items():
        value = float(getattr(ordered.features, name)[row])
        found.append(Part(name, value, weight, value * weight, _MEANING[name]))
    return tuple(found)


def _signals(ordered: Ordered, weights: Ranking, row: int) -> tuple[Part, ...]:
    found = []
    for name, values in ordered.signals.items():
        value, weight = float(values[row]), adjust.WEIGHTS[name] * weights.adjustment
        found.append(Part(name, value, weight, value * weight, _SIGNALS[name]))
    return tuple(found)


def _sentences(parts: Collection[Part], signals: Collection[Part], relevance: float) -> tuple[str, ...]:
    counted = sorted((p for p in parts if abs(p.contribution) > _LEAST), key=lambda p: -abs(p.contribution))
    found = [f"It {p.meaning}: {p.value:.2f} × {p.weight:+.2f} = {p.contribution:+.3f}." for p in counted]
    moved = sorted((s for s in signals if abs(s.contribution) > _LEAST), key=lambda s: -abs(s.contribution))
    found += [f"Because of {s.meaning}: {s.contribution:+.1%}." for s in moved]
    weak = ", which is weak evidence" if relevance < WEAK else ""
    return (*found, f"It meets {relevance:.0%} of the query by rarity{weak}.")


def _outside(ref: str, pool: Pool, known: Outside) -> Expected:
    if not known.exists:
        return Expected(ref, "unknown", "There is no such memory.")
    if not known.visible:
        return Expected(ref, "hidden", "It lies outside of what this caller sees (project or actor).")
    if not known.passes:
        return Expected(ref, "filtered", "A filter of this search leaves it out (status, type, tag, date, …).")
    by_words = _against("keyword score", known.bm25, pool.bm25, pool.text_rank, "holds none of the query's words")
    by_meaning = _against("cosine", known.cosine, pool.cosine, pool.vector_rank, "has no vector")
    return Expected(ref, "not_selected", f"It was no candidate: it {by_words}, and it {by_meaning}.")


def _against(what: str, value: float | None, values: Floats, ranks: Ints, none: str) -> str:
    listed = values[ranks > 0]
    if value is None:
        return none
    if not len(listed):
        return f"has a {what} of {value:.2f}, and that list is empty"
    return f"has a {what} of {value:.2f} where the last of {len(listed)} candidates has {float(listed.min()):.2f}"


def _lower(ordered: Ordered, weights: Ranking, row: int, last: int | None, rank: int) -> str:
    if last is None:
        return f"It is in place {rank}, beyond this page."
    ours, theirs = _parts(ordered, weights, row), _parts(ordered, weights, last)
    lost = [(t.contribution - o.contribution, o) for o, t in zip(ours, theirs, strict=True)]
    most = sorted((item for item in lost if item[0] > _LEAST), key=lambda item: -item[0])[:2]
    why = " and ".join(f"{part.name} (−{gap:.2f}: {part.meaning})" for gap, part in most)
    scores = f"{float(ordered.scores[row]):.2f} against {float(ordered.scores[last]):.2f} of the last one shown"
    return f"It is in place {rank} with {scores}" + (f"; it lost most by {why}." if why else ".")
