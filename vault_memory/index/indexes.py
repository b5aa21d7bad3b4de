"""Everything derived from the notes, as a vault uses it: the model, the chunks, the searches and the upkeep of one
process. Owns how these parts are put together and when an apply is due; each part's work is its own module's."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from vault_memory.index.apply import PENDING_CHANGES, PENDING_CHANGES_ONCE, Applier, Lock, boot_id
from vault_memory.index.apply_text import restart_text
from vault_memory.index.apply_vectors import restart_vectors
from vault_memory.index.candidates import CandidateSource
from vault_memory.index.derive import ChunkData, derive, fingerprint
from vault_memory.index.lance import LanceNear
from vault_memory.index.neighbours import LogRule
from vault_memory.index.record import forget_chunks, set_meta
from vault_memory.index.state import IndexState, read_state

if TYPE_CHECKING:
    from vault_memory.index.catalog import Catalog
    from vault_memory.index.embed import Embedder
    from vault_memory.memory.model import Memory

QUIET_SECONDS = 2.0
"""After so long without a write, whatever is pending is worth an apply to a process that lives on."""


class IndexStatus(Struct, frozen=True):
    """Where the indexes stand, for `status` and `doctor`.

    Attributes:
        fingerprint: what the chunks were made by.
        model: what they would be made by now; "" when there is no model.
        model_problem: why there is no model; "" when there is one.
        state: all counters, see `IndexState`.
        underived: notes whose chunks are still to be made.
        unembedded: chunks were made without the model, which they get when it is there again.
    """

    fingerprint: str
    model: str
    model_problem: str
    state: IndexState
    underived: int
    unembedded: bool


class Indexes:
    """The indexes of one vault in one process. Usable from several threads, not across fork.

    Args:
        catalog: the vault's catalog.
        folder: its index folder.
        lock: the index lock, which elects the process that applies.
        load: loads the model; may raise ModelUnavailable.
        is_log: which sessions are logs, see `neighbours`.
        lancedb_from: number of vectors from which LanceDB is asked first; 0: whenever it is filled.
        seconds: a clock that never goes back.
    """

    def __init__(
        self,
        catalog: Catalog,
        folder: Path,
        lock: Lock,
        load: Callable[[], Embedder],
        *,
        is_log: LogRule = lambda _: False,
        lancedb_from: int = 50_000,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._boot = boot_id()
        self._catalog = catalog
        self._load = load
        self._seconds = seconds
        self._loaded: Embedder | None = None
        self._problem = ""
        self.applier = Applier(catalog, folder, lock, boot=self._boot)
        near = LanceNear(folder, self._boot, at_least=lancedb_from)
        self.candidates = CandidateSource(catalog, folder, self.embedder, is_log=is_log, near=near)
        self._last_change = (0, seconds())

    def embedder(self) -> Embedder | None:
        """The model, loaded once; None when it cannot be: then texts are found by their words only."""
        from vault_memory.index.embed import ModelUnavailable

        if self._loaded is None and not self._problem:
            try:
                self._loaded = self._load()
            except ModelUnavailable as error:
                self._problem = error.detail
        return self._loaded

    def derive(self, memories: Sequence[Memory]) -> list[tuple[ChunkData, ...]]:
        """The chunks of each memory, as `Sync` records them."""
        embedder = self.embedder()
        if embedder is None:
            self._catalog.set_meta(unembedded=1)
        return derive(memories, embedder)

    def prepare(self) -> bool:
        """Make sure that all chunks are of this code and model; False when some must be made anew (`derive_pending`).

        Without a model the chunks that there are stay: what they say is right, and the model may come back.
        """
        embedder = self.embedder()
        with self._catalog.reading() as sql:
            state = read_state(sql)
        unembedded = bool(self._catalog.meta("unembedded"))
        if embedder is None and state.fingerprint:
            return True
        made_by = fingerprint(embedder)
        if state.fingerprint == made_by and not unembedded:
            return True
        with self._catalog.writing() as sql:
            width = state.token_bytes if embedder is None else embedder.token_type().itemsize
            forget_chunks(sql, made_by, width)
            set_meta(sql, {"unembedded": 0})
        return False

    def restart(self, *, text: bool, chunks: bool) -> None:
        """Let the full-text index, or all chunks and with them every index, be made anew by the next apply."""
        if text:
            restart_text(self._catalog)
        if chunks:
            restart_vectors(self._catalog)

    def apply_if_due(self, *, lives_on: bool) -> bool:
        """Apply when enough is pending (or, in a process that lives on, when it has been quiet); whether it was done.

        Call it after an answer. It never waits for another process.
        """
        with self._catalog.reading() as sql:
            state = read_state(sql)
        if self.candidates.vectors_lost:
            self.applier.check()
            return True
        if state.generation != self._last_change[0]:
            self._last_change = state.generation, self._seconds()
        quiet = lives_on and self._seconds() - self._last_change[1] >= QUIET_SECONDS
        least = 1 if quiet else PENDING_CHANGES if lives_on else PENDING_CHANGES_ONCE
        return state.pending >= least and self.applier.apply()

    def lancedb_lags(self) -> bool:
        """Whether the vector file has been quiet and holds what LanceDB does not, or LanceDB has to be read first."""
        with self._catalog.reading() as sql:
            state = read_state(sql)
        quiet = not state.pending and self._seconds() - self._last_change[1] >= QUIET_SECONDS
        behind = state.applied_lancedb < state.applied_vectors or state.lancedb_boot != self._boot
        return quiet and behind and bool(state.dimensions)

    def status(self) -> IndexStatus:
        """Where the indexes stand."""
        embedder = self.embedder()
        with self._catalog.reading() as sql:
            state = read_state(sql)
            underived = sql.execute("SELECT count(*) FROM notes WHERE derived = 0").fetchone()[0]
        return IndexStatus(
            state.fingerprint,
            embedder.fingerprint if embedder else "",
            self._problem,
            state,
            underived,
            bool(self._catalog.meta("unembedded")),
        )
