"""Brings the Tantivy index up to the catalog's chunks. Owns which rows go in and when its generation advances; the
caller holds the index lock. Reads recorded rows only, never a note."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vault_memory.index.record import set_meta
from vault_memory.index.state import IndexState, read_state
from vault_memory.index.text import TextDocument, TextReader, TextWriter, drop_others, text_folder

if TYPE_CHECKING:
    from vault_memory.index.catalog import Catalog

BATCH_CHUNKS: Final = 20_000
_DOCUMENTS: Final = (
    "SELECT chunks.chunk, notes.kind, chunks.terms, chunks.extra, chunks.note"
    " FROM chunks JOIN notes ON notes.note = chunks.note"
)


def apply_text(catalog: Catalog, folder: Path, fresh_epoch: str) -> None:
    """Apply everything that is recorded now, in batches that each end with a commit and the generation's advance.

    Raises:
        ValueError: the folder is damaged or was made by another version; `restart_text` begins it anew.
    """
    state = _current(catalog)
    if state.applied_text >= state.generation:
        return
    epoch = state.text_epoch if state.applied_text else fresh_epoch
    with TextWriter(text_folder(folder, epoch)) as writer:
        while state.applied_text < state.generation:
            done = _apply_batch(catalog, writer, state)
            advanced = _advance(catalog, state, done, epoch)
            if advanced is None:
                return
            state = advanced
    drop_others(folder, epoch)


def restart_text(catalog: Catalog) -> None:
    """Let the next apply build the index anew; until then all chunks are pending, and are found all the same."""
    with catalog.writing() as sql:
        set_meta(sql, {"applied_text": 0, "text_epoch": ""})


def check_text(catalog: Catalog, folder: Path) -> None:
    """Compare the documents with the applied chunks after an unclean end, and repair what differs.

    A missing document restarts the index; a document whose chunk is gone or that is there twice is put right.
    """
    state = _current(catalog)
    if not state.applied_text:
        return
    try:
        found = Counter(TextReader(text_folder(folder, state.text_epoch)).keys())
    except (ValueError, OSError):
        restart_text(catalog)
        return
    with catalog.reading() as sql:
        rows = sql.execute("SELECT chunk, generation FROM chunks").fetchall()
    known = {chunk for chunk, _ in rows}
    if any(chunk not in found for chunk, generation in rows if generation <= state.applied_text):
        restart_text(catalog)
        return
    doubled = [chunk for chunk, times in found.items() if times > 1 and chunk in known]
    stale = [chunk for chunk in found if chunk not in known]
    if doubled or stale:
        with TextWriter(text_folder(folder, state.text_epoch)) as writer, catalog.reading() as sql:
            writer.remove(doubled + stale)
            writer.add(document for chunk in doubled for document in _documents(sql, "chunks.chunk = ?", (chunk,)))
            writer.commit()


def _current(catalog: Catalog) -> IndexState:
    with catalog.reading() as sql:
        return read_state(sql)


def _apply_batch(catalog: Catalog, writer: TextWriter, state: IndexState) -> int:
    """Put one batch in and commit; the generation up to which it reaches."""
    with catalog.reading() as sql:
        end = batch_end(sql, state.applied_text, state.generation, BATCH_CHUNKS)
        span = (state.applied_text, end)
        if state.applied_text:
            gone = sql.execute("SELECT chunk FROM gone WHERE generation > ? AND generation <= ?", span)
            new = sql.execute("SELECT chunk FROM chunks WHERE generation > ? AND generation <= ?", span)
            writer.remove(chunk for rows in (gone, new) for (chunk,) in rows)
        writer.add(_documents(sql, "chunks.generation > ? AND chunks.generation <= ?", span))
    writer.commit()
    return end


def batch_end(sql: sqlite3.Connection, applied: int, generation: int, chunks: int) -> int:
    """The generation at which about `chunks` chunks after `applied` are reached; a note is never torn."""
    query = "SELECT generation FROM chunks WHERE generation > ? ORDER BY generation LIMIT 1 OFFSET ?"
    row = sql.execute(query, (applied, chunks)).fetchone()
    return min(int(row[0]), generation) if row else generation


def _documents(sql: sqlite3.Connection, where: str, params: Sequence[int]) -> Iterator[TextDocument]:
    tags: dict[int, list[str]] = {}
    query = f"SELECT note, tag FROM note_tags WHERE note IN (SELECT note FROM chunks WHERE {where}) ORDER BY note, tag"
    for note, tag in sql.execute(query, params):
        tags.setdefault(note, []).append(tag)
    for chunk, kind, terms, extra, note in sql.execute(f"{_DOCUMENTS} WHERE {where} ORDER BY chunks.chunk", params):
        yield TextDocument(chunk, kind, terms, extra, tuple(tags.get(note, ())))


def _advance(catalog: Catalog, state: IndexState, done: int, epoch: str) -> IndexState | None:
    """Record how far the index is; None when the chunks were dropped meanwhile, so that what was done is void."""
    with catalog.writing() as sql:
        now = read_state(sql)
        if (now.born, now.fingerprint, now.applied_text) != (state.born, state.fingerprint, state.applied_text):
            return None
        set_meta(sql, {"applied_text": done, "text_epoch": epoch})
        return read_state(sql)
