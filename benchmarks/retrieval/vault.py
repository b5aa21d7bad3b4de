"""A vault in memory that fills pools as the product does: Tantivy selects, BM25 scores, the model compares.

Stands in for the index layer so that a whole collection is measured in seconds; ranks nothing itself.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

import numpy as np
import tantivy
from numpy.typing import NDArray

from benchmarks.retrieval.data import Collection, Document
from vault_memory.index.analyse import analyse_query
from vault_memory.index.derive import derive
from vault_memory.index.embed import Embedder
from vault_memory.memory.chunk import label
from vault_memory.memory.model import Memory
from vault_memory.search.features import products
from vault_memory.search.pool import NONE, Pool, QueryNumbers
from vault_memory.search.query import search_words
from vault_memory.search.sessions import is_log, speaker_label

TEXT_POOL, VECTOR_POOL, SELECTED = 100, 60, 400
K1, B = 1.2, 0.75


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a vault knows about its notes besides their text, one entry a document."""

    importance: NDArray[np.float32]
    confidence: NDArray[np.float32]
    decayed: NDArray[np.float32]
    updated_at: NDArray[np.float64]

    @classmethod
    def default(cls, documents: Sequence[Document], now: float) -> Metadata:
        """Every field at its default, updated when created and never read since, so faded by its age."""
        count = len(documents)
        created = np.array([_seconds(document) for document in documents])
        age_days = np.nan_to_num((now - created) / 86400)
        confidence = np.full(count, 0.8, np.float32)
        faded = confidence * np.float32(0.5) ** (age_days / 30).astype(np.float32)
        return cls(np.full(count, 0.5, np.float32), confidence, faded, created)

    @classmethod
    def random(cls, documents: Sequence[Document], seed: int, now: float) -> Metadata:
        """Random importance, confidence, decay and update days."""
        draw = np.random.default_rng(seed)
        count = len(documents)
        confidence = draw.random(count, np.float32)
        updated = now - draw.random(count) * 730 * 86400
        decayed = confidence * np.float32(0.5) ** ((now - updated) / 86400 / 30).astype(np.float32)
        return cls(
            draw.random(count, np.float32), confidence, np.where(confidence >= 0.9, confidence, decayed), updated
        )


class MemoryVault:
    """One collection, indexed."""

    def __init__(self, collection: Collection, embedder: Embedder, metadata: Metadata) -> None:
        self.documents = collection.documents
        self.embedder = embedder
        self.metadata = metadata
        memories = [_memory(document) for document in self.documents]
        derived = derive(memories, embedder)
        self.texts = [
            f"{label(memory, chunk.n)}\n{memory.content[chunk.start : chunk.end]}"
            for memory, parts in zip(memories, derived, strict=True)
            for chunk in parts
        ]
        self.chunks = [chunk for parts in derived for chunk in parts]
        self.note = np.array([n for n, parts in enumerate(derived) for _ in parts])
        self.number = np.array([chunk.n for chunk in self.chunks])
        self._index_text()
        self._index_vectors()
        self._index_sessions()

    def _index_text(self) -> None:
        self.bags = [Counter(chunk.terms.split()) for chunk in self.chunks]
        self.length = np.array([chunk.length for chunk in self.chunks], float)
        self.df = Counter(term for bag in self.bags for term in bag)
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("terms", tokenizer_name="whitespace")
        builder.add_integer_field("row", stored=True)
        self.schema = builder.build()
        index = tantivy.Index(self.schema)
        writer = index.writer(heap_size=50_000_000, num_threads=1)
        for row, chunk in enumerate(self.chunks):
            writer.add_document(tantivy.Document(terms=chunk.terms, row=row))
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        self.searcher = index.searcher()

    def _index_vectors(self) -> None:
        kind, width = self.embedder.token_type, self.embedder.dimensions
        self.tokens = [np.frombuffer(chunk.tokens or b"", kind).astype(np.int64) for chunk in self.chunks]
        self.vectors = np.stack([np.frombuffer(chunk.vector or bytes(4 * width), np.float32) for chunk in self.chunks])
        self.token_df = np.bincount(np.concatenate(self.tokens), minlength=len(self.embedder.table))

    def _index_sessions(self) -> None:
        """Neighbours and logs by document, as rows of the nearest chunk."""
        known = {name: n for n, name in enumerate(dict.fromkeys(doc.session for doc in self.documents if doc.session))}
        self.session = np.array([known.get(doc.session, NONE) for doc in self.documents])
        self.speaker = [speaker_label(doc.body) for doc in self.documents]
        self.log = np.zeros(len(self.documents), bool)
        members: dict[int, list[int]] = {}
        for n, session in enumerate(self.session):
            members.setdefault(int(session), []).append(n)
        first = np.searchsorted(self.note, np.arange(len(self.documents)))
        last = np.searchsorted(self.note, np.arange(len(self.documents)), "right") - 1
        self.previous, self.next = (np.full(len(self.documents), NONE) for _ in range(2))
        for session, notes in members.items():
            if session == NONE:
                continue
            self.log[notes] = is_log(len(notes), sum(bool(self.speaker[n]) for n in notes))
            for a, b in pairwise(notes):
                self.previous[b], self.next[a] = last[a], first[b]

    def bm25(self, terms: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Exact BM25 of the rows."""
        count, average = len(self.bags), self.length.mean()
        scores = np.zeros(len(rows))
        for n, row in enumerate(rows):
            norm = K1 * (1 - B + B * self.length[row] / average)
            bag = self.bags[row]
            scores[n] = sum(idf(count, self.df[t]) * bag[t] * (K1 + 1) / (bag[t] + norm) for t in terms if t in bag)
        return scores.astype(np.float32)

    def select(self, terms: Sequence[str], limit: int = SELECTED) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Tantivy's best rows and its scores."""
        if not terms:
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        each = [(tantivy.Occur.Should, tantivy.Query.term_query(self.schema, "terms", term)) for term in terms]
        hits = self.searcher.search(tantivy.Query.boolean_query(each), limit).hits
        rows = [self.searcher.doc(address)["row"][0] for _, address in hits]
        return np.array(rows, np.int64), np.array([score for score, _ in hits], np.float32)

    def notes(self, rows: Sequence[int]) -> list[int]:
        """The documents of ranked chunks, each once, at the place of its best chunk."""
        return list(dict.fromkeys(self.note[list(rows)].tolist()))

    def numbers(self, text: str, now: datetime) -> QueryNumbers:
        """The query as the indexes see it."""
        words = search_words(text, now)
        terms = analyse_query(words)
        ids = np.array(self.embedder.tokenise([words])[0], np.int64)
        count = len(self.chunks)
        term_idf = np.array([idf(count, self.df[term]) for term in terms], np.float32)
        token_idf = np.array([idf(count, self.token_df[token]) for token in ids], np.float32)
        return QueryNumbers(tuple(terms), term_idf, ids, token_idf, self.embedder.encode(words))

    def pool(self, query: QueryNumbers) -> Pool:
        """The candidates of a query."""
        rows, _ = self.select(query.terms)
        exact = self.bm25(query.terms, rows)
        best = rows[np.lexsort((rows, -exact))][:TEXT_POOL]
        cosines = products(self.vectors, query.vector)
        nearest = np.lexsort((np.arange(len(cosines)), -cosines))[:VECTOR_POOL]
        nearest = nearest[cosines[nearest] > 0]
        found = np.union1d(best, nearest).astype(np.int64)
        notes = self.note[found]
        around = np.concatenate([found, self.previous[notes][self.log[notes]], self.next[notes][self.log[notes]]])
        chosen = np.unique(around[around != NONE])
        return self._columns(query, chosen, best, nearest, cosines)

    def _columns(
        self,
        query: QueryNumbers,
        rows: NDArray[np.int64],
        best: NDArray[np.int64],
        nearest: NDArray[np.int64],
        cosines: NDArray[np.float32],
    ) -> Pool:
        notes = self.note[rows]
        place = {int(row): n for n, row in enumerate(rows)}
        tokens = [self.tokens[row] for row in rows]
        data = self.metadata
        hits = np.array([[term in self.bags[row] for term in query.terms] for row in rows], bool)
        zero = np.zeros(len(rows), np.float32)
        return Pool(
            chunk=rows, note=notes, number=self.number[rows], ref=tuple(self.documents[n].ref for n in notes),
            bm25=self.bm25(query.terms, rows), text_rank=_ranks(rows, best), cosine=cosines[rows],
            vector_rank=_ranks(rows, nearest), term_hits=hits.reshape(len(rows), len(query.terms)),
            vectors=self.vectors[rows], token_ids=np.concatenate(tokens) if tokens else np.zeros(0, np.int64),
            token_offsets=np.concatenate([[0], np.cumsum([len(ids) for ids in tokens])]).astype(np.int64),
            question=np.array([self.documents[n].body.rstrip().endswith("?") for n in notes], bool),
            session=self.session[notes], log=self.log[notes],
            previous=np.array([place.get(int(row), NONE) for row in self.previous[notes]], np.int64),
            next=np.array([place.get(int(row), NONE) for row in self.next[notes]], np.int64),
            speaker=tuple(self.speaker[n] for n in notes),
            created_at=np.array([_seconds(self.documents[n]) for n in notes]), updated_at=data.updated_at[notes],
            importance=data.importance[notes], confidence=data.confidence[notes],
            decayed_confidence=data.decayed[notes], pinned=zero.astype(bool), verification=zero.astype(np.int64),
            url_match=zero, project_match=zero.astype(bool), successor=np.full(len(rows), NONE),
            before=self._vectors_at(self.previous[notes]), after=self._vectors_at(self.next[notes]),
        )  # fmt: skip

    def _vectors_at(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        return np.where((rows != NONE)[:, None], self.vectors[rows], np.float32(0))


def idf(count: int, df: int) -> float:
    """Rarity of what `df` of `count` chunks hold."""
    return math.log(1 + (count - df + 0.5) / (df + 0.5))


def _memory(document: Document) -> Memory:
    """The note that remembering the document would give; its automatic title begins its body."""
    title = document.title or document.body[:80]
    return Memory(path=f"{document.ref}.md", title=title, content=document.body, session=document.session or None)


def _ranks(rows: NDArray[np.int64], ranked: NDArray[np.int64]) -> NDArray[np.int64]:
    place = {int(row): n for n, row in enumerate(ranked, 1)}
    return np.array([place.get(int(row), NONE) for row in rows], np.int64)


def _seconds(document: Document) -> float:
    return document.created_at.timestamp() if document.created_at else math.nan
