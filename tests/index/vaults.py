"""A vault on disk with its catalog, as the tests of the index need it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vault_memory.files.ignore import Ignore
from vault_memory.files.scan import Known
from vault_memory.files.stat import Stat
from vault_memory.files.store import NoteStore
from vault_memory.index.catalog import Catalog
from vault_memory.index.derive import ChunkData
from vault_memory.index.provenance import Provenances
from vault_memory.index.read import Derive, Reader
from vault_memory.index.rows import Record, record_of
from vault_memory.index.sync import Changes, Sync
from vault_memory.index.usage import Usage
from vault_memory.memory.model import Memory, revision_of

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
NOW_NS = int(NOW.timestamp()) * 10**9


def record(
    path: str = "a.md", content: str = "text\n", *, chunks: Iterable[ChunkData] | None = None, **fields: Any
) -> Record:
    """A record of a memory with these fields, as a note last changed at NOW would give it."""
    data = content.encode()
    memory = Memory(path=path, content=content, revision=revision_of(data), **{"title": path, **fields})
    made = None if chunks is None else tuple(chunks)
    return record_of(memory, data, Known(Stat(len(data), NOW_NS, 1), NOW_NS + 10**10), chunks=made)


def chunk(*terms: str, n: int = 0, tokens: bytes | None = None, vector: bytes | None = None) -> ChunkData:
    """A chunk that holds these terms."""
    return ChunkData(n, 0, 0, "", " ".join(terms), len(terms), "", tokens, vector)


def by_words(memories: Iterable[Memory]) -> list[tuple[ChunkData, ...]]:
    """A plain `derive`: a chunk for each line, its terms the words, its token ids their lengths."""
    made = []
    for memory in memories:
        lines = memory.content.splitlines() or [""]
        tokens = [
            bytes(b for word in sorted({len(w) for w in line.split()}) for b in (word % 256, 0)) for line in lines
        ]
        made.append(tuple(chunk(*line.split(), n=n, tokens=tokens[n]) for n, line in enumerate(lines)))
    return made


@dataclass
class VaultOnDisk:
    """A vault below `root`, its catalog, and a clock that only the test moves."""

    root: Path
    derive: Derive | None = None
    provenances: Provenances | None = None
    now_ns: int = NOW_NS
    seconds: float = 0.0
    gap_seconds: float = 0.1
    index: Path = Path(".vault-memory", "index")
    """Where the catalog is, below the root unless absolute."""
    catalog: Catalog = field(init=False)
    usage: Usage = field(init=False)
    sync: Sync = field(init=False)

    def __post_init__(self) -> None:
        (self.root / ".vault-memory" / "state").mkdir(parents=True, exist_ok=True)
        self.open()

    def open(self) -> None:
        """Open catalog and usage, as a new process would."""
        self.usage = Usage(self.root / ".vault-memory" / "state" / "usage.sqlite")
        self.catalog = Catalog.open(self.root / self.index, usage=self.usage.path)
        reader = Reader(NoteStore(self.root), derive=self.derive, provenances=self.provenances)
        self.sync = Sync(
            reader,
            self.catalog,
            Ignore(self.root, []),
            self.usage,
            clock_ns=lambda: self.now_ns,
            steady_seconds=lambda: self.seconds,
            gap_seconds=self.gap_seconds,
        )

    def close(self) -> None:
        self.catalog.close()
        self.usage.close()

    def write(self, path: str, text: str | bytes, *, at_ns: int | None = None) -> None:
        """Write a file by hand, last changed at `at_ns` (by default: a minute ago)."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode() if isinstance(text, str) else text)
        at_ns = self.now_ns - 60 * 10**9 if at_ns is None else at_ns
        os.utime(place, ns=(at_ns, at_ns))

    def move(self, old: str, new: str) -> None:
        """Rename a file by hand."""
        (self.root / new).parent.mkdir(parents=True, exist_ok=True)
        (self.root / old).rename(self.root / new)

    def remove(self, path: str) -> None:
        """Delete a file by hand."""
        (self.root / path).unlink()

    def run(self, paths: Iterable[str] | None = None, **options: Any) -> Changes:
        """Sync."""
        return self.sync.run(None if paths is None else frozenset(paths), **options)
