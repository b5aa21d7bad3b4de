"""The catalog: everything known about the vault's notes, in one SQLite file that can be deleted at any time.

Owns the door to that file: what is recorded goes through `record` and its siblings, each one transaction; what is read
by or for a caller takes a `Scope`, so nothing outside it is ever seen, counted or hinted at. It reads no note.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any, Final

from vault_memory.errors import IndexUnavailable
from vault_memory.files.scan import Known
from vault_memory.index import known, lookup
from vault_memory.index.database import Database
from vault_memory.index.links import FoundLink, links_from, links_of, links_to
from vault_memory.index.page import Page, all_notes, page, rows_of
from vault_memory.index.record import Recording, forget_chunks, set_meta
from vault_memory.index.rows import BadFile, Identity, Record, Row, TimedNote
from vault_memory.index.stats import Stats, stats
from vault_memory.memory.filter import Filter
from vault_memory.memory.model import Finding
from vault_memory.memory.scope import Scope
from vault_memory.memory.times import time_text

if TYPE_CHECKING:
    from vault_memory.index.derive import ChunkData

FILE_NAME: Final = "catalog.sqlite"


class Catalog:
    """The catalog of one vault. Usable from several threads (each gets its own connection), not across fork."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(cls, folder: Path, *, usage: Path | None = None) -> Catalog:
        """The catalog in `folder` (made when missing, begun anew when damaged or of another schema).

        Args:
            folder: the vault's index folder.
            usage: the usage file, already made by `Usage`; without it nothing counts as ever accessed.

        Raises:
            IndexUnavailable: the folder cannot be written or read.
        """
        catalog = cls(Database(folder / FILE_NAME, usage))
        catalog._database.connection()
        return catalog

    def close(self) -> None:
        """Close the file; the object must not be used afterwards."""
        self._database.close()

    @property
    def path(self) -> Path:
        """The SQLite file."""
        return self._database.path

    def reading(self) -> AbstractContextManager[Connection]:
        """One unchanging view over several calls of this thread; for the sibling indexes also the connection."""
        return self._database.read()

    def writing(self) -> AbstractContextManager[Connection]:
        """A write transaction for the sibling indexes (applied generations, row numbers); see `Database.write`."""
        return self._database.write()

    # What is known of the vault as a whole: for upkeep, names no memory to a caller.

    def meta(self, key: str) -> Any:
        """A single value, see schema.META_START; None for an unknown key."""
        with self.reading() as sql:
            row = sql.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def set_meta(self, **values: str | int | float) -> None:
        """Set single values."""
        with self.writing() as sql:
            set_meta(sql, values)

    @property
    def generation(self) -> int:
        """The number of the last change."""
        return int(self.meta("generation"))

    def known(self, within: Collection[str] | None = None) -> dict[str, Known]:
        """What is known of the files at and below the paths `within` (None: of all), readable or not, by path."""
        with self.reading() as sql:
            return known.known_files(sql, within)

    def identities(self, paths: Iterable[str]) -> dict[str, Identity]:
        """Id and revision of each of `paths` that is a note."""
        with self.reading() as sql:
            return known.identities(sql, paths)

    def holds(self, ref: str) -> bool:
        """Whether a note has this ref."""
        with self.reading() as sql:
            return sql.execute("SELECT 1 FROM notes WHERE ref = ?", (ref,)).fetchone() is not None

    def timed(self, paths: Iterable[str]) -> list[TimedNote]:
        """Those of `paths` that are notes, as their effective times are judged."""
        with self.reading() as sql:
            return known.timed(sql, paths)

    def left_out(self) -> set[tuple[str, Finding]]:
        """What scans took for no note, with the reason."""
        with self.reading() as sql:
            return known.left_out(sql)

    def underived(self, limit: int) -> list[Row]:
        """Up to `limit` notes whose chunks are still to be made, oldest key first."""
        with self.reading() as sql:
            keys = sql.execute("SELECT note FROM notes WHERE derived = 0 ORDER BY note LIMIT ?", (limit,)).fetchall()
            return rows_of(sql, [key for (key,) in keys])

    def underived_count(self) -> int:
        """The number of notes whose chunks are still to be made."""
        with self.reading() as sql:
            return int(sql.execute("SELECT count(*) FROM notes WHERE derived = 0").fetchone()[0])

    def vocabulary(self, initial: str, shortest: int, longest: int) -> list[tuple[str, int]]:
        """The index terms that begin with `initial`, of so many characters, and how many chunks hold each.

        Words of the whole vault: they correct what a caller typed, and are never shown to it unless it finds something.
        """
        query = "SELECT term, df FROM terms WHERE term >= ? AND term < ? AND df > 0 AND length(term) BETWEEN ? AND ?"
        with self.reading() as sql:
            rows = sql.execute(query, (initial, initial + "\U0010ffff", shortest, longest))
            return [(term, df) for term, df in rows]

    # Changes. Each is one transaction.

    def record(
        self,
        records: Iterable[Record],
        removed: Iterable[str] = (),
        unreadable: Iterable[BadFile] = (),
        *,
        unless_changed: Mapping[str, Known | None] | None = None,
    ) -> int:
        """Make the notes, removals and unreadable files known, all at once; the generation of the last of them.

        Each note and each removal takes the next generation, in the given order (removals first).

        Args:
            unless_changed: what was known when the files were looked at. A path of which something else is known by
                now is left alone: another process has looked at it later, and nothing older may replace that.

        Raises:
            VaultLocked: another process has been writing for too long. Nothing was recorded.
            IndexUnavailable: the disk is full or the catalog was rebuilt by another version.
        """
        with self.writing() as sql:
            late = known.changed_since(sql, unless_changed or {})
            recording = Recording(sql)
            recording.remove(path for path in removed if path not in late)
            recording.set_aside(bad for bad in unreadable if bad.path not in late)
            recording.save(record for record in records if record.memory.path not in late)
            return recording.finish()

    def leave_out(self, findings: Iterable[tuple[str, Finding]], gone: Iterable[str]) -> None:
        """Remember what a scan took for no note and why; the paths `gone` are left out no more."""
        with self.writing() as sql:
            known.leave_out(sql, findings, gone)

    def touch(self, files: Mapping[str, Known], times: Mapping[str, tuple[datetime, datetime]] | None = None) -> int:
        """Note new numbers of files whose bytes are unchanged, and new effective (created, updated) times."""
        texts = {path: (time_text(created), time_text(updated)) for path, (created, updated) in (times or {}).items()}
        with self.writing() as sql:
            recording = Recording(sql)
            recording.touch(files, texts)
            return recording.finish()

    def derive(self, made: Iterable[tuple[Row, Sequence[ChunkData]]]) -> int:
        """Add the chunks of notes that `underived` gave; notes that changed since are left out.

        Raises:
            IndexUnavailable: the chunks were made by another model or version than those that the catalog holds.
        """
        with self.writing() as sql:
            recording = Recording(sql)
            current = "SELECT 1 FROM notes WHERE note = ? AND generation = ? AND derived = 0"
            fresh = {
                row.note: chunks for row, chunks in made if sql.execute(current, (row.note, row.generation)).fetchone()
            }
            if not all(map(recording.fits, fresh.values())):
                raise IndexUnavailable("another process indexes with another model", hint="restart this one")
            recording.derive(fresh)
            return recording.finish()

    def expect(self, fingerprint: str, token_bytes: int = 2) -> bool:
        """Make sure that all chunks are of this fingerprint; when they are not, they are dropped and True returned."""
        if self.meta("fingerprint") == fingerprint and self.meta("token_bytes") == token_bytes:
            return False
        with self.writing() as sql:
            forget_chunks(sql, fingerprint, token_bytes)
        return True

    def purge(self, path: str) -> int:
        """`record` the removal of a note and leave none of its text in the catalog's files.

        Raises:
            IndexUnavailable: a reader kept the write-ahead log, where the text still stands, from being emptied; the
                note itself is gone, and calling again finishes the work.
        """
        generation = self.record([], [path])
        busy, *_ = self._database.connection().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise IndexUnavailable("another process still reads the catalog's log", hint="purge again in a moment")
        return generation

    def begin_anew(self) -> None:
        """Forget everything, so that the next sync reads all notes.

        Raises:
            VaultLocked: another process keeps the catalog busy.
        """
        self._database.begin_anew()

    # Reads for a caller: never without a scope.

    def get(self, path: str, scope: Scope) -> Row | None:
        """The note at `path`, whatever its status."""
        return self._first(scope, "notes.path = ?", (path,))

    def by_id(self, id: str, scope: Scope) -> list[Row]:
        """All notes that hold the id, conflict copies last, then by path: the first one answers reads."""
        return self._rows(scope, "notes.ref = ? AND notes.id IS NOT NULL", (id,), "notes.conflict_copy, notes.path")

    def by_content(self, content_hash: str, scope: Scope) -> list[Row]:
        """All notes with exactly this content (SHA-256), whatever their status, by ref and path."""
        return self._rows(scope, "notes.content_hash = ?", (content_hash,), "notes.ref, notes.path")

    def by_name(self, name: str, scope: Scope) -> list[Row]:
        """All notes with exactly this title or alias that are not deleted, by ref and path."""
        where = "notes.note IN (SELECT note FROM note_names WHERE name = ?) AND notes.status <> 'deleted'"
        return self._rows(scope, where, (name,), "notes.ref, notes.path")

    def by_keys(self, notes: Sequence[int], scope: Scope) -> list[Row]:
        """The notes with these catalog keys, in the given order, without what is gone or out of scope."""
        with self.reading() as sql:
            return [row for row in rows_of(sql, list(notes)) if scope.sees(row.memory)]

    def source(self, path: str, scope: Scope) -> bytes | None:
        """The bytes of the file at `path` as they were recorded: the base of a three-way merge."""
        clause, params = scope.to_sql()
        with self.reading() as sql:
            query = f"SELECT head, content FROM notes WHERE path = ? AND {clause}"
            row = sql.execute(query, (path, *params)).fetchone()
        return (row[0] + row[1]).encode() if row else None

    def page(
        self, wanted: Filter, scope: Scope, *, now: datetime, sort: str = "created_at", limit: int = 10, offset: int = 0
    ) -> Page:
        """One page of the list, see `page.page`."""
        with self.reading() as sql:
            return page(sql, wanted, scope, now, sort, limit, offset)

    def select(self, wanted: Filter, scope: Scope, *, now: datetime, batch: int = 200) -> Iterator[Row]:
        """Every match, by ref; read in batches, so a match that changes meanwhile is given as it is then."""
        with self.reading() as sql:
            keys = all_notes(sql, wanted, scope, now)
        for start in range(0, len(keys), batch):
            yield from self.by_keys(keys[start : start + batch], scope)

    def links(self, path: str, scope: Scope) -> list[FoundLink]:
        """The links of the note at `path`, see `links.links_from`."""
        with self.reading() as sql:
            return links_from(sql, path, scope)

    def backlinks(self, path: str, scope: Scope) -> list[FoundLink]:
        """The links that lead to the note at `path`, see `links.links_to`."""
        with self.reading() as sql:
            return links_to(sql, path, scope)

    def links_of(self, relation: str, scope: Scope, *, limit: int) -> list[FoundLink]:
        """The first relations of one type between visible notes."""
        with self.reading() as sql:
            return links_of(sql, relation, scope, limit=limit)

    def paths(self, scope: Scope) -> list[str]:
        """The paths of all notes the scope sees, sorted: what links are resolved against."""
        clause, params = scope.to_sql()
        with self.reading() as sql:
            rows = sql.execute(f"SELECT path FROM notes WHERE {clause} ORDER BY path", params).fetchall()
        return [path for (path,) in rows]

    def nearest(self, text: str, scope: Scope, *, limit: int = 3) -> list[lookup.Hint]:
        """The memories whose ref, title, alias or file name looks most like `text`: hints for an error."""
        with self.reading() as sql:
            return lookup.nearest(sql, text, scope, limit)

    def findings(self, scope: Scope) -> list[lookup.FoundAt]:
        """What is odd about the notes the scope sees, by path; unreadable files only to who sees everything."""
        with self.reading() as sql:
            return lookup.findings(sql, scope)

    def stats(self, scope: Scope, *, now: datetime) -> Stats:
        """Counts of what the scope sees."""
        with self.reading() as sql:
            return stats(sql, scope, now)

    def _first(self, scope: Scope, where: str, params: tuple[str, ...]) -> Row | None:
        return next(iter(self._rows(scope, where, params, "notes.path")), None)

    def _rows(self, scope: Scope, where: str, params: tuple[str, ...], order: str) -> list[Row]:
        clause, scope_params = scope.to_sql()
        query = f"SELECT notes.note FROM notes WHERE {where} AND {clause} ORDER BY {order}"
        with self.reading() as sql:
            keys = [key for (key,) in sql.execute(query, (*params, *scope_params))]
            return rows_of(sql, keys)
