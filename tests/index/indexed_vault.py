"""A catalog with its indexes and no note files: what the index tests record into and search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from vault_memory.files.lock import FileLock
from vault_memory.files.scan import Known
from vault_memory.files.stat import Stat
from vault_memory.index.apply import Applier
from vault_memory.index.candidates import CandidateSource, Sizes
from vault_memory.index.catalog import Catalog
from vault_memory.index.columns import Candidates
from vault_memory.index.derive import derive, fingerprint
from vault_memory.index.embed import Embedder, load_embedder
from vault_memory.index.rows import Record, record_of
from vault_memory.memory.filter import Filter
from vault_memory.memory.model import Memory
from vault_memory.memory.scope import UNBOUND, Scope

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
BOTH, KEYWORD, SEMANTIC = Sizes(), Sizes(60, 0), Sizes(0, 40)
ALL = Filter()
model = lru_cache(1)(load_embedder)


def memory(path: str, content: str, **values: Any) -> Memory:
    """A memory as parsing gives it; the file's name is the title unless another is given."""
    title = values.pop("title", path.rpartition("/")[2].removesuffix(".md"))
    return Memory(path, content, title=title, **values)


def record(note: Memory, embedder: Embedder | None) -> Record:
    """The record of a memory whose file holds nothing but its content."""
    file = Known(Stat(len(note.content), 0, 0), 0)
    return record_of(note, note.content.encode(), file, chunks=derive([note], embedder)[0])


def is_log(session: Any) -> bool:
    """The rule of the searches: six memories or more, most of them interactions."""
    return len(session) >= 6 and sum(kind == "interaction" for kind, _ in session) >= 0.8 * len(session)


@dataclass
class IndexedVault:
    """One process's view of a vault's index folder."""

    folder: Path
    embedder: Embedder | None = field(default_factory=lambda: model())
    boot: str = "one boot"

    def __post_init__(self) -> None:
        self.index = self.folder / "index"
        self.catalog = Catalog.open(self.index)
        print_of = fingerprint(self.embedder)
        width = 2 if self.embedder is None else self.embedder.token_type().itemsize
        self.catalog.expect(print_of, width)
        lock = FileLock(self.folder / "index.lock", wait_seconds=100)
        self.applier = Applier(self.catalog, self.index, lock, boot=self.boot)
        self.source = CandidateSource(self.catalog, self.index, lambda: self.embedder, is_log=is_log)

    def put(self, notes: Mapping[str, str] | list[Memory]) -> None:
        """Record notes, given as path → content or as memories, in one transaction."""
        if isinstance(notes, Mapping):
            notes = [memory(path, content) for path, content in notes.items()]
        self.catalog.record([record(note, self.embedder) for note in notes])

    def remove(self, *paths: str) -> None:
        """Record that notes are gone."""
        self.catalog.record([], paths)

    def gather(self, words: str, sizes: Sizes = BOTH, wanted: Filter = ALL, scope: Scope = UNBOUND) -> Candidates:
        """The candidates for words."""
        return self.source.gather(words, wanted, scope, now=NOW, sizes=sizes)

    def found(self, words: str, sizes: Sizes = BOTH, wanted: Filter = ALL, scope: Scope = UNBOUND) -> list[str]:
        """Paths in the lists' own order: by full text, else by vectors, each note once."""
        got = self.gather(words, sizes, wanted, scope)
        ranks = zip(got.text_rank.tolist(), got.vector_rank.tolist(), strict=True)
        placed = [
            ((text < 0, text), (near < 0, near), n) for n, (text, near) in enumerate(ranks) if max(text, near) > 0
        ]
        return list(dict.fromkeys(got.facts[n].path for *_, n in sorted(placed)))

    def values(self, words: str, sizes: Sizes = BOTH, wanted: Filter = ALL) -> list[tuple[Any, ...]]:
        """All that a rebuilt index must give again, bit for bit."""
        got = self.gather(words, sizes, wanted)
        return [
            (
                *(fact.ref, fact.number, fact.start, fact.end, fact.heading, fact.path),
                *(got.bm25[n], got.cosine[n], got.text_rank[n], got.vector_rank[n], got.term_hits[n].tolist()),
                got.token_ids[got.token_offsets[n] : got.token_offsets[n + 1]].tolist(),
                *(got.vectors[n].tobytes(), got.before[n].tobytes(), got.after[n].tobytes()),
                *(got.previous[n], got.next[n], got.session[n], got.query.terms.asked_idf.tolist()),
            )
            for n, fact in enumerate(got.facts)
        ]

    def close(self) -> None:
        """Close the catalog."""
        self.catalog.close()
