"""LanceDB: a second vector index for big vaults, filled from the catalog's rows and the vector file. Owns its folder.

It proposes chunks and scores nothing. lancedb and pyarrow are imported inside functions: they cost more than a second,
and only commands that live on, `reindex` and `--engine lancedb` may pay that. LanceDB never fsyncs, so after an unclean
end or a new boot its table is read in full before it is believed.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from vault_memory.index.numeric import Floats, Ints, NDArray, np
from vault_memory.index.record import set_meta
from vault_memory.index.state import IndexState, read_state
from vault_memory.index.vectors import map_rows

if TYPE_CHECKING:
    from vault_memory.index.catalog import Catalog

BATCH_CHUNKS: Final = 20_000
INDEX_FROM: Final = 20_000
"""Rows from which IvfFlat pays; below, LanceDB scans (measured: 8 ms against 171 at 100,000 rows, recall 1)."""
UNINDEXED_SHARE: Final = 0.2
MAX_UNFILLED: Final = 20_000
"""When more chunks than this are newer than the table, a scan of the vector file is the better search."""
_KEEP_VERSIONS: Final = timedelta(minutes=10)
"""Old versions are kept for readers that have them open."""
_TABLE: Final = "chunks"
_NEWER: Final = "generation > ? AND generation <= ? AND row IS NOT NULL"
_FAILURES: Final = (RuntimeError, ValueError, OSError)
"""What lancedb raises for a missing, damaged or foreign table."""


def lance_folder(folder: Path) -> Path:
    """Where the tables are."""
    return folder / "lancedb"


def fill_lance(catalog: Catalog, folder: Path, boot: str) -> int:
    """Bring the table up to the vector file, compact it and index it above a size; the number of its rows.

    The caller holds the index lock; `boot` tells this boot of the machine from others. A table that was left in the
    middle of a fill or that an earlier boot wrote is read first, and one that cannot be used is made anew.
    """
    if _current(catalog).lancedb_boot != boot:
        check_lance(catalog, folder)
    try:
        return _filled(catalog, folder, boot)
    except _FAILURES:
        if not _current(catalog).applied_lancedb:
            raise
    restart_lance(catalog, folder)
    return _filled(catalog, folder, boot)


def restart_lance(catalog: Catalog, folder: Path) -> None:
    """Delete the table; the next fill makes it anew."""
    with catalog.writing() as sql:
        set_meta(sql, {"applied_lancedb": 0, "lancedb_boot": ""})
    shutil.rmtree(lance_folder(folder), ignore_errors=True)


def check_lance(catalog: Catalog, folder: Path) -> bool:
    """Read the whole table and compare its keys with the catalog; False when it differed and was deleted."""
    with catalog.reading() as sql:
        state = read_state(sql)
        end = state.applied_lancedb
        applied = {chunk for (chunk,) in sql.execute(f"SELECT chunk FROM chunks WHERE {_NEWER}", (0, end))}
        later = {chunk for (chunk,) in sql.execute("SELECT chunk FROM chunks WHERE generation > ?", (end,))}
        gone = {chunk for (chunk,) in sql.execute("SELECT chunk FROM gone WHERE generation > ?", (end,))}
    if not state.applied_lancedb:
        return True
    try:
        found = _opened(folder).to_arrow()["chunk"].to_pylist()
    except _FAILURES:
        found = None
    if found is not None and len(set(found)) == len(found) and applied <= set(found) <= applied | later | gone:
        return True
    restart_lance(catalog, folder)
    return False


class LanceNear:
    """Proposes rows of the vector file for a query, see `columns.Near`. Keeps its table open."""

    def __init__(self, folder: Path, boot: str, *, at_least: int) -> None:
        self._folder = folder
        self._boot = boot
        self._at_least = at_least
        self._table: Any = None

    def __call__(self, sql: sqlite3.Connection, state: IndexState, query: Floats, wish: int) -> Sequence[int] | None:
        """Rows of about the `wish` nearest chunks and of all that are newer than the table; None: scan them all."""
        if not state.applied_lancedb or state.lancedb_boot != self._boot:
            return None
        if state.vector_rows < self._at_least or wish > MAX_UNFILLED:
            return None
        span = (state.applied_lancedb, state.applied_vectors)
        newer = sql.execute(f"SELECT row FROM chunks WHERE {_NEWER} LIMIT ?", (*span, MAX_UNFILLED)).fetchall()
        if len(newer) == MAX_UNFILLED:
            return None
        try:
            keys = self._nearest(query, wish)
        except _FAILURES:  # the search goes on without it; the next check deletes it
            self._table = None
            return None
        rows = sql.execute(
            "SELECT chunks.row FROM json_each(?) AS keys CROSS JOIN chunks ON chunks.chunk = keys.value"
            " WHERE chunks.row IS NOT NULL",
            (json.dumps(keys),),
        )
        return list(dict.fromkeys(row for (row,) in [*newer, *rows]))

    def _nearest(self, query: Floats, wish: int) -> list[int]:
        if self._table is None:
            self._table = _opened(self._folder)
        search = self._table.search(query).distance_type("cosine").nprobes(20)
        keys: list[int] = search.select(["chunk", "_distance"]).limit(wish).to_arrow()["chunk"].to_pylist()
        return keys


def _opened(folder: Path) -> Any:
    return _database(folder).open_table(_TABLE)


def _database(folder: Path) -> Any:
    os.environ.setdefault("LANCEDB_LOG", "error")  # else it writes warnings to stderr
    import lancedb

    return lancedb.connect(str(lance_folder(folder)), read_consistency_interval=timedelta(0))


def _current(catalog: Catalog) -> IndexState:
    with catalog.reading() as sql:
        return read_state(sql)


def _filled(catalog: Catalog, folder: Path, boot: str) -> int:
    catalog.set_meta(lancedb_boot="")
    # One view for all that follows: who makes the chunks anew takes no index lock, so it may happen at any time.
    with catalog.reading() as sql:
        state = read_state(sql)
        span = (state.applied_lancedb, state.applied_vectors)
        gone = sql.execute("SELECT chunk FROM gone WHERE generation > ?", span[:1]).fetchall()
        new = sql.execute(f"SELECT chunk, row FROM chunks WHERE {_NEWER} ORDER BY row", span).fetchall()
    if not state.dimensions:
        return 0  # no chunk has had a vector yet
    rows = map_rows(folder, state.vector_epoch, state.vector_rows, state.dimensions)
    if state.applied_lancedb:
        table = _opened(folder)
        _delete(table, [chunk for chunk, *_ in [*gone, *new]])
    else:
        table = _database(folder).create_table(_TABLE, schema=_schema(state.dimensions), mode="overwrite")
    for start in range(0, len(new), BATCH_CHUNKS):
        batch = np.array(new[start : start + BATCH_CHUNKS], np.int64)
        table.add(_batch(batch[:, 0], rows.vectors[batch[:, 1]]))
    _tended(table)
    with catalog.writing() as sql:
        if _same(state, read_state(sql)):
            set_meta(sql, {"applied_lancedb": state.applied_vectors, "lancedb_boot": boot})
    return int(table.count_rows())


def _same(one: IndexState, other: IndexState) -> bool:
    """Whether the chunks that were filled in are still those of the catalog."""
    names = ("born", "fingerprint", "applied_vectors", "vector_epoch", "applied_lancedb")
    return all(getattr(one, name) == getattr(other, name) for name in names)


def _schema(dimensions: int) -> Any:
    import pyarrow as pa

    return pa.schema([("chunk", pa.int64()), ("vector", pa.list_(pa.float32(), dimensions))])


def _batch(keys: Ints, vectors: NDArray[np.float32]) -> Any:
    import pyarrow as pa

    columns = [pa.array(keys), pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), vectors.shape[1])]
    return pa.Table.from_arrays(columns, schema=_schema(vectors.shape[1]))


def _delete(table: Any, keys: Iterable[int]) -> None:
    wanted = sorted(keys)
    for start in range(0, len(wanted), 1_000):
        table.delete(f"chunk IN ({', '.join(map(str, wanted[start : start + 1_000]))})")


def _tended(table: Any) -> None:
    """Compact, and index what is many."""
    table.optimize(cleanup_older_than=_KEEP_VERSIONS)
    count = table.count_rows()
    if count < INDEX_FROM:
        return
    names = [index.name for index in table.list_indices()]
    left = table.index_stats(names[0]).num_unindexed_rows if names else count
    if left > UNINDEXED_SHARE * count:
        from lancedb.index import IvfFlat

        config = IvfFlat(distance_type="cosine", num_partitions=max(1, round(count**0.5)))
        table.create_index("vector", config=config, replace=True)
