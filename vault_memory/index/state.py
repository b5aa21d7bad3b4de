"""Where the indexes stand: the single values of the catalog's `meta` table, read together. Owns their names and types;
what an index does about them is its own affair."""

from __future__ import annotations

import sqlite3

from msgspec import Struct


class IndexState(Struct, frozen=True):
    """One reading of `meta`, consistent within the reader's transaction.

    Attributes:
        born: tells this catalog from the one before it, when the file was deleted and made anew.
        generation: the last change recorded.
        chunk_count, total_length: N of the statistics and the sum of all lengths.
        fingerprint: what the chunks were made by; "" before any were.
        applied_text, applied_vectors, applied_lancedb: the generation up to which each index is complete; 0: the index
            holds nothing that counts and is begun anew.
        text_epoch, vector_epoch: which Tantivy folder and which vector file are current; "" for none.
        vector_rows: rows of the vector file that count; bytes beyond them are ignored.
        vector_crc: CRC-32 of those rows.
        dimensions: width of a row.
        lancedb_boot: the boot during which LanceDB was last filled or read in full; "" while a fill is under way.
        clean: the boot during which the last apply ended in good order; "" while one is under way.
    """

    born: str = ""
    generation: int = 0
    chunk_count: int = 0
    total_length: int = 0
    token_bytes: int = 2
    fingerprint: str = ""
    applied_text: int = 0
    applied_vectors: int = 0
    applied_lancedb: int = 0
    text_epoch: str = ""
    vector_epoch: str = ""
    vector_rows: int = 0
    vector_crc: int = 0
    dimensions: int = 0
    lancedb_boot: str = ""
    clean: str = ""

    @property
    def pending(self) -> int:
        """Changes that some index of every search has yet to apply; counts generations, not chunks."""
        return self.generation - min(self.applied_text, self.applied_vectors)


_NAMES = IndexState.__struct_fields__
_QUERY = f"SELECT key, value FROM meta WHERE key IN ({', '.join('?' * len(_NAMES))})"
"""By name: what else `meta` holds can be large, and this is read for every search."""


def read_state(connection: sqlite3.Connection) -> IndexState:
    """The state as this connection's transaction sees it."""
    return IndexState(**dict(connection.execute(_QUERY, _NAMES)))
