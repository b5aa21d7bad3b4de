"""Brings the vector file up to the catalog's chunks and keeps it compact. Owns row numbers and when the generation
advances; the caller holds the index lock. Reads recorded rows only, never a note."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from vault_memory.index.apply_text import batch_end
from vault_memory.index.numeric import np
from vault_memory.index.record import forget_chunks, set_meta
from vault_memory.index.state import IndexState, read_state
from vault_memory.index.vectors import append_rows, checked, drop_others, map_rows, packed

if TYPE_CHECKING:
    from vault_memory.index.catalog import Catalog

BATCH_CHUNKS: Final = 8_000
VECTOR_WIDTH: Final = 4
"""Bytes of a number in chunks.vector."""
DEAD_SHARE: Final = 0.2
"""The file is rewritten when more than this share of its rows belongs to no chunk."""
DEAD_ROWS: Final = 256
"""… and more than this many do."""
_PENDING: Final = (
    "SELECT chunks.chunk, chunks.vector, notes.kind FROM chunks JOIN notes ON notes.note = chunks.note"
    " WHERE chunks.generation > ? AND chunks.generation <= ? AND chunks.vector IS NOT NULL"
    " ORDER BY chunks.generation, chunks.chunk"
)


def apply_vectors(catalog: Catalog, folder: Path, fresh_epoch: str) -> None:
    """Append the vectors of everything recorded now, in batches; each is durable before its row numbers are recorded.

    Raises:
        ValueError: the file is shorter than recorded; `restart_vectors` begins it anew.
    """
    state = _current(catalog)
    while state.applied_vectors < state.generation:
        advanced = _apply_batch(catalog, folder, state, fresh_epoch)
        if advanced is None:
            return
        state = advanced
    if state.vector_epoch:
        drop_others(folder, state.vector_epoch)


def compact_vectors(catalog: Catalog, folder: Path, fresh_epoch: str, *, always: bool = False) -> bool:
    """Rewrite the file without dead rows when there are too many (or any, for a purge); whether it was done."""
    state = _current(catalog)
    with catalog.reading() as sql:
        live = sql.execute("SELECT chunk, row FROM chunks WHERE row IS NOT NULL ORDER BY row").fetchall()
    dead = state.vector_rows - len(live)
    if not dead or not (always or (dead > DEAD_ROWS and dead > DEAD_SHARE * state.vector_rows)):
        return False
    rows = map_rows(folder, state.vector_epoch, state.vector_rows, state.dimensions)
    crc = 0
    for start in range(0, len(live), BATCH_CHUNKS):
        kept = [row for _, row in live[start : start + BATCH_CHUNKS]]
        data = packed([rows.vectors[kept].tobytes()], rows.kinds[kept].tolist(), state.dimensions)
        crc = append_rows(folder, fresh_epoch, start, state.dimensions, data, crc)
    with catalog.writing() as sql:
        if not _same(state, read_state(sql)):
            return False
        # All rows move at once: a chunk that vanished meanwhile leaves a dead row behind.
        sql.executemany("UPDATE chunks SET row = ? WHERE chunk = ?", [(n, chunk) for n, (chunk, _) in enumerate(live)])
        set_meta(sql, {"vector_epoch": fresh_epoch if live else "", "vector_rows": len(live), "vector_crc": crc})
    drop_others(folder, fresh_epoch)
    return True


def check_vectors(catalog: Catalog, folder: Path) -> None:
    """Read the whole file after an unclean end; when it does not hold what was recorded, `restart_vectors`."""
    state = _current(catalog)
    rows = state.vector_rows if state.applied_vectors else 0
    if not checked(folder, state.vector_epoch, rows, state.dimensions, state.vector_crc):
        restart_vectors(catalog)


def restart_vectors(catalog: Catalog) -> None:
    """Let all chunks be made anew: vectors that the file has lost are nowhere else, and are made from the texts."""
    with catalog.writing() as sql:
        state = read_state(sql)
        forget_chunks(sql, state.fingerprint, state.token_bytes)


def _current(catalog: Catalog) -> IndexState:
    with catalog.reading() as sql:
        return read_state(sql)


def _same(one: IndexState, other: IndexState) -> bool:
    return (one.born, one.fingerprint, one.applied_vectors, one.vector_epoch) == (
        other.born,
        other.fingerprint,
        other.applied_vectors,
        other.vector_epoch,
    )


def _apply_batch(catalog: Catalog, folder: Path, state: IndexState, fresh_epoch: str) -> IndexState | None:
    """Append one batch and record it; None when the chunks were dropped meanwhile, so that what was done is void."""
    with catalog.reading() as sql:
        end = batch_end(sql, state.applied_vectors, state.generation, BATCH_CHUNKS)
        pending = sql.execute(_PENDING, (state.applied_vectors, end)).fetchall()
    anew = not (state.applied_vectors and state.vector_epoch)
    epoch = fresh_epoch if anew else state.vector_epoch
    rows, crc = (0, 0) if anew else (state.vector_rows, state.vector_crc)
    values: dict[str, int | str] = {"applied_vectors": end}
    if pending:
        dimensions = len(pending[0][1]) // VECTOR_WIDTH
        data = packed([vector for _, vector, _ in pending], [kind for *_, kind in pending], dimensions)
        crc = append_rows(folder, epoch, rows, dimensions, data, crc)
        values |= {"vector_epoch": epoch, "vector_crc": crc, "dimensions": dimensions}
    elif anew:
        values |= {"vector_epoch": "", "vector_crc": 0}
    values["vector_rows"] = rows + len(pending)
    with catalog.writing() as sql:
        if not _same(state, read_state(sql)):
            return None
        numbers = np.arange(rows, rows + len(pending)).tolist()
        placed = [(row, chunk) for row, (chunk, *_) in zip(numbers, pending, strict=True)]
        sql.executemany("UPDATE chunks SET row = ?, vector = NULL WHERE chunk = ?", placed)
        set_meta(sql, values)
        return read_state(sql)
