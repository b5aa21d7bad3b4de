"""Writes changes into the catalog: rows, tombstones and exact statistics, all inside the caller's transaction.

Owns every statement that changes a note's rows. Statistics are kept by differences, summed over the transaction: what
replaced and removed chunks counted is subtracted, what new ones count is added.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from vault_memory.files.scan import Known
from vault_memory.index.rows import COLUMNS, BadFile, Record, link_key, links_of, note_values
from vault_memory.memory.model import Finding, Memory
from vault_memory.memory.slug import fold

if TYPE_CHECKING:
    from vault_memory.index.derive import ChunkData

Connection = sqlite3.Connection
Kind = tuple[str | None, ...]

KIND_COLUMNS: Final = ("status", "memory_type", "project", "actor", "source", "agent", "verification")
_kind_values: Final = attrgetter(*KIND_COLUMNS)
_BATCH: Final = 500
_TOKEN_TYPES: Final = {2: "H", 4: "I"}
_INSERT_NOTE: Final = f"INSERT INTO notes ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"
_UPSERT_FILE: Final = "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?)"
_INSERT_CHUNK: Final = (
    "INSERT INTO chunks (note, n, start, end, heading, terms, length, extra, tokens, vector, has_vector, generation)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_COUNT_TERM: Final = (
    "INSERT INTO terms VALUES (?, ?) ON CONFLICT DO UPDATE SET df = df + excluded.df",
    "DELETE FROM terms WHERE term = ? AND df <= 0",
)
_COUNT_TOKEN: Final = (
    "INSERT INTO token_df VALUES (?, ?) ON CONFLICT DO UPDATE SET df = df + excluded.df",
    "DELETE FROM token_df WHERE token = ? AND df <= 0",
)
_COUNT_KIND: Final = (
    "UPDATE kinds SET notes = notes + ?2 WHERE kind = ?1",
    "DELETE FROM kinds WHERE kind = ? AND notes <= 0",
)


class Recording:
    """One transaction's changes. Call the verbs in any order, then `finish` once."""

    def __init__(self, connection: Connection) -> None:
        self._sql = connection
        self.generation: int = _meta(connection, "generation")
        """The last generation given out."""
        self._token_type = _TOKEN_TYPES[_meta(connection, "token_bytes")]
        self._fingerprint = connection.execute("SELECT value FROM meta WHERE key = 'fingerprint'").fetchone()[0]
        self._terms: Counter[str] = Counter()
        self._tokens: Counter[int] = Counter()
        self._chunks = 0
        self._length = 0
        self._kinds: Counter[int] = Counter()
        self._kind_keys: dict[Kind, int] = {}

    def save(self, records: Iterable[Record]) -> None:
        """Record notes, replacing what was recorded under their paths; of several for one path the last counts."""
        wanted = list({record.memory.path: self._fitting(record) for record in records}.values())
        for start in range(0, len(wanted), _BATCH):
            batch = wanted[start : start + _BATCH]
            paths = [record.memory.path for record in batch]
            keys = self._cleared(paths, self.generation)
            self._sql.executemany("DELETE FROM findings WHERE path = ?", [(path,) for path in paths])
            self._insert(batch, keys)

    def remove(self, paths: Iterable[str]) -> None:
        """Forget the files and their notes; unknown paths are no error."""
        for path in sorted(set(paths)):
            if self._cleared([path], self.generation):
                self.generation += 1
            self._forget_file(path)

    def set_aside(self, files: Iterable[BadFile]) -> None:
        """Remember files that are no readable notes; notes that stood under their paths are gone."""
        for bad in files:
            if self._cleared([bad.path], self.generation):
                self.generation += 1
            self._forget_file(bad.path)
            self._sql.execute(_UPSERT_FILE, _file_values(bad.path, bad.file))
            self._sql.executemany(_INSERT_FINDING, _finding_values(bad.path, (bad.finding,)))

    def touch(self, files: Mapping[str, Known], times: Mapping[str, tuple[str, str]]) -> None:
        """Note new file numbers of unchanged bytes, and new effective (created_at, updated_at) of notes."""
        self._sql.executemany(_UPSERT_FILE, [_file_values(path, file) for path, file in files.items()])
        for path, (created, updated) in times.items():
            changed = self._sql.execute(
                "UPDATE notes SET created_at = ?, updated_at = ?, generation = ? WHERE path = ?"
                " AND (created_at, updated_at) IS NOT (?, ?)",
                (created, updated, self.generation + 1, path, created, updated),
            )
            self.generation += changed.rowcount

    def derive(self, made: Mapping[int, Sequence[ChunkData]]) -> None:
        """Give notes (by key) the chunks they were recorded without; each takes a new generation."""
        for note, chunks in made.items():
            self.generation += 1
            self._sql.execute("UPDATE notes SET derived = 1, generation = ? WHERE note = ?", (self.generation, note))
            self._insert_chunks([(note, self.generation, chunks)])

    def finish(self) -> int:
        """Write the statistics and the counter; the generation of the last change."""
        for counts, statements in (
            (self._terms, _COUNT_TERM),
            (self._tokens, _COUNT_TOKEN),
            (self._kinds, _COUNT_KIND),
        ):
            self._settle(counts, *statements)
        added = {"chunk_count": self._chunks, "total_length": self._length}
        self._sql.executemany(
            "UPDATE meta SET value = value + ? WHERE key = ?", [(n, key) for key, n in added.items() if n]
        )
        self._sql.execute("UPDATE meta SET value = ? WHERE key = 'generation'", (self.generation,))
        return self.generation

    def fits(self, chunks: Sequence[ChunkData]) -> bool:
        """Whether chunks were made by the code and model of those that the catalog holds: two are never mixed."""
        return all(chunk.made_by in ("", self._fingerprint) for chunk in chunks)

    def _fitting(self, record: Record) -> Record:
        return record if record.chunks is None or self.fits(record.chunks) else replace(record, chunks=None)

    def _settle(self, counts: Counter[Any], add: str, drop: str) -> None:
        """Add the differences; what nothing counts for any more leaves no trace."""
        self._sql.executemany(add, sorted((key, n) for key, n in counts.items() if n))
        self._sql.executemany(drop, [(key,) for key, n in counts.items() if n < 0])

    def _cleared(self, paths: Sequence[str], generation: int) -> dict[str, int]:
        """Delete the notes at `paths`, their statistics subtracted and their chunks entombed; path → note key.

        The n-th path's tombstones take `generation` + n + 1: that of the record which replaces it.
        """
        places = {path: n for n, path in enumerate(paths)}
        marks = ", ".join("?" * len(paths))
        old = self._sql.execute(f"SELECT path, note, kind FROM notes WHERE path IN ({marks})", paths).fetchall()
        if not old:
            return {}
        for path, note, kind in old:
            self._kinds[kind] -= 1
            self._bury(path, note, generation + places[path] + 1)
        self._sql.executemany("DELETE FROM notes WHERE note = ?", [(note,) for _, note, _ in old])
        return {path: note for path, note, _ in old}

    def _bury(self, path: str, note: int, generation: int) -> None:
        graves = []
        query = "SELECT chunk, row, terms, tokens, length FROM chunks WHERE note = ?"
        for chunk, row, terms, tokens, length in self._sql.execute(query, (note,)):
            self._count(terms, tokens, length, -1)
            graves.append((chunk, path, row, generation))
        self._sql.executemany("INSERT INTO gone VALUES (?, ?, ?, ?)", graves)

    def _insert(self, batch: Sequence[Record], keys: Mapping[str, int]) -> None:
        key = self._next_note()
        notes: list[tuple[Any, ...]] = []
        details = _Details()
        chunks: list[tuple[int, int, Sequence[ChunkData]]] = []
        for record in batch:
            self.generation += 1
            note = keys.get(record.memory.path)
            if note is None:
                note, key = key, key + 1
            kind = self._kind(record.memory)
            notes.append(note_values(record, note, self.generation, kind))
            details.add(record, note, kind)
            if record.chunks:
                chunks.append((note, self.generation, record.chunks))
        self._sql.executemany(_INSERT_NOTE, notes)
        details.insert(self._sql)
        self._insert_chunks(chunks)

    def _insert_chunks(self, notes: Iterable[tuple[int, int, Sequence[ChunkData]]]) -> None:
        rows = []
        for note, generation, chunks in notes:
            for c in chunks:
                self._count(c.terms, c.tokens, c.length, 1)
                where = (note, c.n, c.start, c.end, c.heading)
                has_vector = c.vector is not None
                rows.append((*where, c.terms, c.length, c.extra, c.tokens, c.vector, has_vector, generation))
        self._sql.executemany(_INSERT_CHUNK, rows)

    def _count(self, terms: str, tokens: bytes | None, length: int, sign: int) -> None:
        self._chunks += sign
        self._length += sign * length
        for term in set(terms.split()):
            self._terms[term] += sign
        if tokens:
            for token in set(array(self._token_type, tokens)):
                self._tokens[token] += sign

    def _kind(self, memory: Memory) -> int:
        """Key of the memory's row in `kinds`, made when the combination is new; the note is counted."""
        values: Kind = _kind_values(memory)
        key = self._kind_keys.get(values)
        if key is None:
            same = " AND ".join(f"{column} IS ?" for column in KIND_COLUMNS)
            found = self._sql.execute(f"SELECT kind FROM kinds WHERE {same}", values).fetchone()
            if found is None:
                columns = ", ".join(KIND_COLUMNS)
                marks = ", ".join("?" * len(values))
                found = self._sql.execute(
                    f"INSERT INTO kinds ({columns}, notes) VALUES ({marks}, 0) RETURNING kind", values
                ).fetchone()
            key = self._kind_keys[values] = int(found[0])
        self._kinds[key] += 1
        return key

    def _next_note(self) -> int:
        row = self._sql.execute("SELECT seq FROM sqlite_sequence WHERE name = 'notes'").fetchone()
        return int(row[0]) + 1 if row else 1

    def _forget_file(self, path: str) -> None:
        self._sql.execute("DELETE FROM files WHERE path = ?", (path,))
        self._sql.execute("DELETE FROM findings WHERE path = ?", (path,))


_INSERT_FINDING: Final = "INSERT INTO findings VALUES (?, ?, ?, ?, ?, ?)"


class _Details:
    """The rows of the tables beside `notes`, gathered for a batch."""

    def __init__(self) -> None:
        self._files: list[tuple[Any, ...]] = []
        self._tags: list[tuple[str, int, bool, int]] = []
        self._names: list[tuple[str, int, str]] = []
        self._links: list[tuple[Any, ...]] = []
        self._findings: list[tuple[Any, ...]] = []

    def add(self, record: Record, note: int, kind: int) -> None:
        memory = record.memory
        self._files.append(_file_values(memory.path, record.file))
        tags = dict.fromkeys(memory.inline_tags, True) | dict.fromkeys(memory.tags, False)
        self._tags.extend((tag, note, inline, kind) for tag, inline in tags.items())
        self._names.extend((name, note, fold(name)) for name in {memory.title, *memory.aliases})
        for n, link in enumerate(links_of(memory)):
            self._links.append((note, n, link.target, link_key(link.target), link.style, link.relation))
        self._findings.extend(_finding_values(memory.path, memory.findings))

    def insert(self, sql: Connection) -> None:
        sql.executemany(_UPSERT_FILE, self._files)
        sql.executemany("INSERT INTO note_tags VALUES (?, ?, ?, ?)", self._tags)
        sql.executemany("INSERT INTO note_names VALUES (?, ?, ?)", self._names)
        sql.executemany("INSERT INTO note_links VALUES (?, ?, ?, ?, ?, ?)", self._links)
        sql.executemany(_INSERT_FINDING, self._findings)


def forget_chunks(connection: Connection, fingerprint: str, token_bytes: int) -> None:
    """Drop all chunks and statistics, because another fingerprint would make others; notes wait to be derived anew."""
    for table in ("chunks", "terms", "token_df", "gone"):
        connection.execute(f"DELETE FROM {table}")
    connection.execute("UPDATE notes SET derived = 0")
    zero = ("chunk_count", "total_length", "applied_text", "applied_vectors", "applied_lancedb")
    connection.executemany("UPDATE meta SET value = 0 WHERE key = ?", [(key,) for key in zero])
    set_meta(connection, {"fingerprint": fingerprint, "token_bytes": token_bytes})


def set_meta(connection: Connection, values: Mapping[str, Any]) -> None:
    """Set single values of `meta`."""
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())


def _meta(connection: Connection, key: str) -> int:
    return int(connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()[0])


def _file_values(path: str, file: Known) -> tuple[Any, ...]:
    return path, file.stat.size, file.stat.mtime_ns, file.stat.inode, file.scanned_ns


def _finding_values(path: str, findings: Collection[Finding]) -> Iterator[tuple[Any, ...]]:
    for n, finding in enumerate(findings):
        yield path, n, finding.code, finding.reason, finding.line, finding.blocks_edit
