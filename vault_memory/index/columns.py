"""Everything the ranking asks about the candidates, in columns. Owns the shape `Candidates` and how it is filled from
the catalog, the vector file and the overlay; which chunks are candidates was decided before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from sqlite3 import Connection
from typing import Any, Final

from msgspec import Struct

from vault_memory.index.bm25 import WantedTerms
from vault_memory.index.neighbours import OPENING_CHARS, Session, Sessions
from vault_memory.index.numeric import Floats, Ints, NDArray, np
from vault_memory.index.retrieve import TextHit, VectorHit, shares_of
from vault_memory.index.selection import Selection
from vault_memory.index.state import IndexState
from vault_memory.index.vectors import exact_cosines

NONE: Final = -1
"""Stands for "no rank", "no session" and "no row" in integer columns."""
ENDING_CHARS: Final = 12


class QueryValues(Struct, frozen=True):
    """A query in numbers: its terms with their statistics, and its word pieces (doubles kept) with idf and vector.

    Without a model, or when nothing of the query is known to it: no pieces, a zero vector.
    """

    terms: WantedTerms
    token_ids: Ints
    token_idf: Floats
    vector: Floats


class Facts(Struct, frozen=True):
    """What the catalog knows of a candidate and its note; times are text as in the catalog."""

    chunk: int
    note: int
    number: int
    start: int
    end: int
    heading: str
    ref: str
    path: str
    revision: str
    memory_type: str
    status: str
    project: str | None
    actor: str | None
    session: str | None
    created_at: str
    updated_at: str
    importance: float
    confidence: float
    verification: str
    pinned: int
    url_key: str | None
    site: str | None
    opening: str
    """The first characters of the note's content: a leading `Name:` label stands here."""
    ending: str
    """The last characters of the chunk: a question mark stands here."""


class Candidates(Struct, frozen=True):
    """The candidates of one query, one row a chunk, by ref, then number.

    Attributes:
        query: the query in numbers.
        facts: the catalog's columns, one entry a row.
        bm25: exact BM25, 0 for a row that holds no term; shape (rows,).
        term_hits: which of `query.terms.asked` a row holds, itself or by a term that stands in; (rows, asked).
        text_rank, vector_rank: place in either list from 1, NONE when not in it.
        cosine: exact, 0 without a vector.
        vectors: unit vectors, zeros without one; (rows, dimensions).
        token_ids, token_offsets: unique token ids of row 0, then of row 1, …; where each row's begin, and their number.
        session: a number for each log that occurs, NONE for other rows: only logs have neighbours.
        previous, next: row of the nearest chunk of the memory before and after in the log, NONE when there is none.
        before, after: the vectors of those memories, whether they are rows or not; zeros when there is none.
        generation, pending: the last change seen, and how many changes the indexes had not applied by then.
        underived: notes that no search finds yet, as their chunks are still to be made.
    """

    query: QueryValues
    facts: tuple[Facts, ...]
    bm25: Floats
    term_hits: NDArray[np.bool_]
    text_rank: Ints
    vector_rank: Ints
    cosine: Floats
    vectors: Floats
    token_ids: Ints
    token_offsets: Ints
    session: Ints
    previous: Ints
    next: Ints
    before: Floats
    after: Floats
    generation: int
    pending: int
    underived: int

    def __len__(self) -> int:
        return len(self.facts)


class View(Struct, frozen=True):
    """One state of everything the columns are read from; valid within the catalog transaction of `sql`."""

    sql: Connection
    state: IndexState
    selection: Selection
    rows: Floats
    sessions: Sessions

    def vectors(self, places: Sequence[tuple[int | None, bytes | None]]) -> Floats:
        """The vectors of chunks given by (row number, pending vector); zeros for those with neither."""
        found = np.zeros((len(places), self.rows.shape[1]), np.float32)
        applied = [(n, row) for n, (row, _) in enumerate(places) if row is not None and row < len(self.rows)]
        if applied:
            found[[n for n, _ in applied]] = self.rows[[row for _, row in applied]]
        for n, (_, pending) in enumerate(places):
            if pending is not None and len(pending) == found.shape[1] * found.itemsize:
                found[n] = np.frombuffer(pending, "<f4")
        return found


_FACTS: Final = (
    "chunks.chunk, chunks.note, chunks.n, chunks.start, chunks.end, chunks.heading, notes.ref, notes.path,"
    " notes.revision, notes.memory_type, notes.status, notes.project, notes.actor, notes.session, notes.created_at,"
    " notes.updated_at, notes.importance, notes.confidence, notes.verification, notes.pinned, notes.url_key,"
    f" notes.site, substr(notes.content, 1, {OPENING_CHARS}),"
    f" substr(notes.content, max(chunks.end - {ENDING_CHARS}, chunks.start) + 1,"
    f" min({ENDING_CHARS}, chunks.end - chunks.start))"
)
_FACT_COUNT: Final = 24
_BESIDE: Final = "chunks.row, chunks.vector, chunks.tokens, chunks.terms, chunks.length"
_NEIGHBOUR: Final = "chunks.note, chunks.n, chunks.chunk, chunks.row, chunks.vector"

_Row = tuple[Facts, tuple[Any, ...]]
_Around = Mapping[int, tuple[int | None, int | None]]
"""Note → the note before and the note after it."""
_Place = tuple[int, int | None, bytes | None]
"""Chunk, row number, pending vector."""


def columns_of(
    view: View, query: QueryValues, by_text: Sequence[TextHit], by_vector: Sequence[VectorHit]
) -> Candidates:
    """The candidates' columns: both lists, and the neighbours of what they hold in logs."""
    keys = dict.fromkeys([*(hit.chunk for hit in by_text), *(hit.chunk for hit in by_vector)])
    rows = _read(view, keys)
    names = [facts.session for facts, _ in rows if facts.session is not None]
    logs = {name: s for name, s in view.sessions.get(view.sql, view.state, view.selection, names).items() if s.log}
    around = {note: pair for log in logs.values() for note, pair in log.around().items()}
    ends = _ends(view, rows, around)
    wanted = {place[0] for place in _nearest([facts.note for facts, _ in rows], around, ends) if place}
    rows += _read(view, sorted(wanted - keys.keys()))
    rows.sort(key=lambda row: (row[0].ref, row[0].path, row[0].number))
    return _filled(view, query, rows, by_text, by_vector, logs, around, ends)


def _read(view: View, keys: Iterable[int]) -> list[_Row]:
    found = view.selection.rows(view.sql, f"{_FACTS}, {_BESIDE}", keys)
    return [(Facts(*row[:_FACT_COUNT]), row[_FACT_COUNT:]) for row in found]


def _ends(view: View, rows: Sequence[_Row], around: _Around) -> dict[int, tuple[_Place, _Place]]:
    """The first and the last chunk of the notes next to the rows in their logs, and of those next to these."""
    first = {note for facts, _ in rows for note in around.get(facts.note, ()) if note is not None}
    second = {note for near in first for note in around[near] if note is not None}
    found: dict[int, tuple[_Place, _Place]] = {}
    columns = view.selection.rows(view.sql, _NEIGHBOUR, sorted(first | second), key="note")
    for note, _, *place in sorted(columns, key=lambda row: row[:2]):
        here = (place[0], place[1], place[2])
        found[note] = (found[note][0] if note in found else here, here)
    return found


def _nearest(notes: Sequence[int], around: _Around, ends: Mapping[int, tuple[_Place, _Place]]) -> list[_Place | None]:
    """For each note the last chunk of the note before it, then for each note the first chunk of the note after it."""
    before: list[_Place | None] = []
    after: list[_Place | None] = []
    for note in notes:
        previous, following = around.get(note, (None, None))
        before.append(ends[previous][1] if previous is not None and previous in ends else None)
        after.append(ends[following][0] if following is not None and following in ends else None)
    return before + after


def _filled(
    view: View,
    query: QueryValues,
    rows: Sequence[_Row],
    by_text: Sequence[TextHit],
    by_vector: Sequence[VectorHit],
    logs: Mapping[str, Session],
    around: _Around,
    ends: Mapping[int, tuple[_Place, _Place]],
) -> Candidates:
    facts = tuple(fact for fact, _ in rows)
    keys = [fact.chunk for fact in facts]
    shares = _shares(query.terms, rows, by_text)
    vectors = view.vectors([(row, pending) for _, (row, pending, *_) in rows])
    nearest = _nearest([fact.note for fact in facts], around, ends)
    beside = view.vectors([place[1:] if place else (None, None) for place in nearest])
    place_of = {key: n for n, key in enumerate(keys)}
    neighbour = _ints([place_of.get(place[0], NONE) if place else NONE for place in nearest])
    tokens, offsets = _tokens(view, [row[2] or b"" for _, row in rows])
    number = {name: n for n, name in enumerate(sorted(logs))}
    count = len(rows)
    return Candidates(
        query=query,
        facts=facts,
        bm25=shares.sum(axis=1).astype(np.float32),
        term_hits=shares > 0,
        text_rank=_ranks(keys, [hit.chunk for hit in by_text]),
        vector_rank=_ranks(keys, [hit.chunk for hit in by_vector]),
        cosine=_cosines(vectors, query.vector),
        vectors=vectors,
        token_ids=tokens,
        token_offsets=offsets,
        session=_ints([number.get(fact.session or "", NONE) for fact in facts]),
        previous=neighbour[:count],
        next=neighbour[count:],
        before=beside[:count],
        after=beside[count:],
        generation=view.state.generation,
        pending=view.state.pending,
        underived=view.sql.execute("SELECT count(*) FROM notes WHERE derived = 0").fetchone()[0],
    )


def _shares(terms: WantedTerms, rows: Sequence[_Row], by_text: Sequence[TextHit]) -> NDArray[np.float64]:
    """What each asked term adds to each row's BM25: as the list found it, counted now for the other rows."""
    known = {hit.chunk: hit.shares for hit in by_text}
    bags = {fact.chunk: (row[3], row[4]) for fact, row in rows if fact.chunk not in known}
    known |= shares_of(terms, bags)
    return np.array([known[fact.chunk] for fact, _ in rows], np.float64).reshape(len(rows), len(terms.asked))


def _tokens(view: View, data: Sequence[bytes]) -> tuple[Ints, Ints]:
    width = view.state.token_bytes
    ends = np.cumsum([0, *map(len, data)]) // width
    return np.frombuffer(b"".join(data), f"<u{width}").astype(np.int64), ends.astype(np.int64)


def _cosines(vectors: Floats, query: Floats) -> Floats:
    if vectors.shape[1] != len(query):
        return np.zeros(len(vectors), np.float32)
    return exact_cosines(vectors, query)


def _ranks(keys: Sequence[int], ordered: Sequence[int]) -> Ints:
    rank = {key: n for n, key in enumerate(ordered, 1)}
    return _ints([rank.get(key, NONE) for key in keys])


def _ints(values: Sequence[int]) -> Ints:
    return np.array(values, np.int64)


Near = Callable[[Connection, IndexState, Floats, int], Sequence[int] | None]
"""Proposes rows of the vector file for a query vector and a number of wanted rows; None: scan them all."""
