"""The boundary between the indexes and the ranking: a query in numbers and the candidates in columns.

Owns the shapes only. Whoever fills them reads the indexes; nothing here, and nothing that takes a `Pool`, does any I/O
or reads a clock. A row is one chunk of one note, so a long note may have several rows; rows of one note need not be
adjacent, and their order carries no meaning (the ranking breaks ties by `ref`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct, field

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]

NONE = -1
"""Stands for "no row", "no session" and "no rank" in the integer columns."""


class TokenVectors(Protocol):
    """Gives the model's token vectors for unique token ids: float32 (k, dimensions), each of unit length or zero.

    Only the asked rows may be touched: normalising the whole table costs more than a search.
    """

    def __call__(self, token_ids: Ints, /) -> Floats: ...


class QueryNumbers(Struct, frozen=True):
    """A query as the indexes see it. All idf values are `ln(1 + (N − df + .5) / (df + .5))` over the vault's chunks.

    Attributes:
        terms: the analysed terms of the full-text query, without question words, in query order, no doubles.
        term_idf: idf of each term over chunks, shape (terms,); an unknown term has df 0.
        token_ids: the model's word pieces of the words outside the question words, in query order, doubles kept,
            without the unknown token; shape (tokens,).
        token_idf: idf of each of `token_ids` over the chunks' token sets, shape (tokens,).
        vector: the query's unit vector (from the words outside the question words), or all zeros when nothing of it can
            be embedded; shape (dimensions,).
    """

    terms: tuple[str, ...]
    term_idf: Floats
    token_ids: Ints
    token_idf: Floats
    vector: Floats


class Pool(Struct, frozen=True):
    """The candidates of one query: top chunks by BM25 ∪ top chunks by cosine ∪ their session neighbours.

    Filters and scope were applied when the candidates were selected, to neighbours too. All columns have one entry a
    row unless their shape says otherwise. `chunk` is unique.

    Identity:
        chunk: key of the chunk in the catalog.
        note: key of the note in the catalog; the rows of one note share it.
        number: position of the chunk in its note, from 0.
        ref: id, or path of a note without one; ties are broken by it.

    How the row was found (a session neighbour has neither rank):
        bm25: exact BM25 over the catalog's statistics, for every row that holds a query term, 0 otherwise.
        text_rank: place in the full-text list from 1, `NONE` when not in it.
        cosine: dot product of the query's and the chunk's unit vectors, 0 without a vector.
        vector_rank: place in the vector list from 1, `NONE` when not in it.
        term_hits: which of `QueryNumbers.terms` the row holds, bool, shape (rows, terms).

    What it says:
        vectors: unit vectors, float32 (rows, dimensions); all zeros without one.
        token_ids: unique token ids of row 0, then of row 1, …; without the unknown token.
        token_offsets: where each row's ids begin in `token_ids`, and the total as last entry: shape (rows + 1,).
        question: the chunk ends with a question mark (`?`, `？`, `؟`), closing quotes and spaces aside.

    Who and when:
        session: a small integer for each session that occurs, `NONE` without one.
        log: the row's session is a log (see `search.sessions`), so that its neighbours count.
        previous, next: row of the memory before and after this one in its session by (created_at, id), the nearest
            chunk of it; `NONE` when there is none or it is not among the rows.
        before, after: unit vectors of those neighbours even when they are not among the rows, zeros when there is
            none, float32 (rows, dimensions). May be left out (None): then the neighbours among the rows count.
        speaker: who says it, as written: the leading `Name:` label of the body, else the actor, else "".
        created_at, updated_at: seconds since 1970-01-01 UTC, NaN when unknown.

    What the vault knows about the note (bounded adjustments):
        importance, confidence, decayed_confidence: 0–1.
        pinned: kept at hand by a person.
        verification: 1 confirmed, 0 unverified, −1 contradicted.
        url_match: 1 the URL asked for, .5 the same site, 0 otherwise or when none was asked for.
        project_match: belongs to the project asked for (a global note does not); all False when none is bound.
        successor: note key of the memory that supersedes it, `NONE` for a current one.
    """

    chunk: Ints
    note: Ints
    number: Ints
    ref: tuple[str, ...]

    bm25: Floats
    text_rank: Ints
    cosine: Floats
    vector_rank: Ints
    term_hits: Flags

    vectors: Floats
    token_ids: Ints
    token_offsets: Ints
    question: Flags

    session: Ints
    log: Flags
    previous: Ints
    next: Ints
    speaker: tuple[str, ...]
    created_at: NDArray[np.float64]
    updated_at: NDArray[np.float64]

    importance: Floats
    confidence: Floats
    decayed_confidence: Floats
    pinned: Flags
    verification: Ints
    url_match: Floats
    project_match: Flags
    successor: Ints

    before: Floats | None = field(default=None)
    after: Floats | None = field(default=None)

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.ref)
