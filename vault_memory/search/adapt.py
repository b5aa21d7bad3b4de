"""From the index's candidates to the ranking's Pool: the same rows, plus what the request knows about each. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct, field

from vault_memory.config import Decay
from vault_memory.memory.decay import fading
from vault_memory.memory.times import time_of_text
from vault_memory.search.pool import NONE, Pool, QueryNumbers
from vault_memory.search.sessions import speaker_label

if TYPE_CHECKING:
    from vault_memory.index.columns import Candidates, Facts

_QUESTION_MARKS: Final = ("?", "？", "؟")
_CLOSING: Final = " \t\r\n\"'”’»)*_"
_VERIFICATION: Final = {"confirmed": 1, "contradicted": -1}


class Asked(Struct, frozen=True):
    """What a request knows besides its words.

    Attributes:
        now: the asker's clock, to whole days where ages count.
        decay: how confidence fades.
        accessed: last access by ref.
        project: the project the caller is bound to or filters by.
        url_key, site: of the page the caller is at.
        successors: note key of a superseded memory to that of its successor.
    """

    now: datetime
    decay: Decay = field(default_factory=Decay)
    accessed: Mapping[str, datetime] = field(default_factory=dict)
    project: str | None = None
    url_key: str | None = None
    site: str | None = None
    successors: Mapping[int, int] = field(default_factory=dict)


def numbers_of(candidates: Candidates) -> QueryNumbers:
    """The query as the ranking sees it."""
    query = candidates.query
    return QueryNumbers(
        query.terms.asked,
        query.terms.asked_idf.astype(np.float32),
        query.token_ids,
        query.token_idf.astype(np.float32),
        query.vector,
    )


def pool_of(candidates: Candidates, asked: Asked) -> Pool:
    """The candidates as a Pool, row by row in their order."""
    facts, c = candidates.facts, candidates
    count = len(facts)
    return Pool(
        chunk=np.fromiter((f.chunk for f in facts), np.int64, count),
        note=np.fromiter((f.note for f in facts), np.int64, count),
        number=np.fromiter((f.number for f in facts), np.int64, count),
        ref=tuple(f.ref for f in facts),
        bm25=c.bm25.astype(np.float32), text_rank=c.text_rank, cosine=c.cosine.astype(np.float32),
        vector_rank=c.vector_rank, term_hits=c.term_hits, vectors=c.vectors, token_ids=c.token_ids,
        token_offsets=c.token_offsets,
        question=np.fromiter((_asks(f.ending) for f in facts), bool, count),
        session=c.session, log=c.session != NONE, previous=c.previous, next=c.next,
        speaker=tuple(speaker_label(f.opening) or f.actor or "" for f in facts),
        created_at=np.fromiter((_seconds(f.created_at) for f in facts), np.float64, count),
        updated_at=np.fromiter((_seconds(f.updated_at) for f in facts), np.float64, count),
        importance=np.fromiter((f.importance for f in facts), np.float32, count),
        confidence=np.fromiter((f.confidence for f in facts), np.float32, count),
        decayed_confidence=np.fromiter((_faded(f, asked) for f in facts), np.float32, count),
        pinned=np.fromiter((bool(f.pinned) for f in facts), bool, count),
        verification=np.fromiter((_VERIFICATION.get(f.verification, 0) for f in facts), np.int64, count),
        url_match=np.fromiter((_url_match(f, asked) for f in facts), np.float32, count),
        project_match=np.fromiter((f.project is not None and f.project == asked.project for f in facts), bool, count),
        successor=np.fromiter((asked.successors.get(f.note, NONE) for f in facts), np.int64, count),
        before=c.before, after=c.after,
    )  # fmt: skip


def _asks(ending: str) -> bool:
    return ending.rstrip(_CLOSING).endswith(_QUESTION_MARKS)


def _seconds(text: str) -> float:
    return time_of_text(text).timestamp()


def _faded(facts: Facts, asked: Asked) -> float:
    if facts.pinned or facts.memory_type == "anchor":
        return facts.confidence
    times = [time_of_text(facts.updated_at), *filter(None, [asked.accessed.get(facts.ref)])]
    return facts.confidence * fading(facts.memory_type, facts.confidence, max(times), asked.now, asked.decay)


def _url_match(facts: Facts, asked: Asked) -> float:
    if asked.url_key is not None and facts.url_key == asked.url_key:
        return 1.0
    return 0.5 if asked.site is not None and facts.site == asked.site else 0.0
