"""reindex: make the derived files anew from the notes, in whole or in part."""

from __future__ import annotations

import time
from collections.abc import Callable

from msgspec import Struct
from pydantic import Field

from vault_memory.operations.context import Context
from vault_memory.operations.request import Request

Progress = Callable[[str, int, int | None], None]
"""Told the step and how many of how many are done."""


class Reindex(Request):
    """Bring the indexes up to the notes; without options everything is made anew."""

    missing: bool = Field(False, description="Only what is missing: changed notes, chunks, pending changes.")
    text: bool = Field(False, description="Only the full-text index.")
    vectors: bool = Field(False, description="Only chunks and vectors (after another model was set).")
    lancedb: bool = Field(False, description="Also fill LanceDB, whatever the size of the vault.")


class Reindexed(Struct, frozen=True):
    """What the indexes hold now."""

    notes: int
    chunks: int
    lancedb_rows: int | None
    seconds: float


def reindex(ctx: Context, request: Reindex) -> Reindexed:
    """Read the notes and apply what they say to every index.

    Raises:
        VaultLocked: another process is applying for too long.
        StorageError: a folder cannot be read; the catalog keeps what it knew.
    """
    return reindexed(ctx, request, lambda step, done, total: None)


def reindexed(ctx: Context, request: Reindex, progress: Progress) -> Reindexed:
    """`reindex` with progress."""
    started = time.monotonic()
    vault = ctx.vault
    everything = not (request.missing or request.text or request.vectors)
    if everything:
        vault.catalog.begin_anew()
    else:
        vault.indexes.restart(text=request.text, chunks=request.vectors)
    vault.indexes.prepare()
    vault.look(None, progress=lambda done, total: progress("reading notes", done, total))
    vault.derive_pending(progress=lambda done, total: progress("making chunks", done, total))
    progress("applying", 0, None)
    vault.indexes.applier.apply(wait=True)
    counts = vault.catalog.stats(ctx.scope, now=ctx.now)
    rows = None
    if request.lancedb or vault.catalog.meta("chunk_count") >= ctx.config.index.lancedb_from:
        progress("filling LanceDB", 0, None)
        rows = vault.indexes.applier.fill_lancedb()
    return Reindexed(counts.total, int(vault.catalog.meta("chunk_count")), rows, round(time.monotonic() - started, 3))
