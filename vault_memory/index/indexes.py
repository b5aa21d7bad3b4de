"""The searchable side of one open vault: the model, the chunks made with it, the candidates and the elected apply.

Owns their lifetime and when each is opened; what they do is theirs. Nothing here is imported by a plain read.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from vault_memory.errors import IndexUnavailable
from vault_memory.files.lock import FileLock
from vault_memory.index.apply import PENDING_CHANGES, PENDING_CHANGES_ONCE, Applier
from vault_memory.index.candidates import CandidateSource
from vault_memory.index.derive import ChunkData, derive, fingerprint
from vault_memory.index.embed import Embedder, load_embedder
from vault_memory.index.neighbours import LogRule

if TYPE_CHECKING:
    from vault_memory.index.catalog import Catalog
    from vault_memory.memory.model import Memory


class Indexes:
    """Model and indexes of the vault whose index folder is `folder`.

    Args:
        catalog: holds the rows that everything here is made from.
        folder: index/.
        model: a model2vec folder or hub id of the user's own settings; "" is the packaged model.
        is_log: which sessions count as logs.
    """

    def __init__(self, catalog: Catalog, folder: Path, *, model: str = "", is_log: LogRule = lambda _: False) -> None:
        self._catalog = catalog
        self._folder = folder
        self._model = model
        self._is_log = is_log
        self.model_problem = ""
        """Why there is no model; '' when there is one or nobody asked yet."""

    @cached_property
    def embedder(self) -> Embedder | None:
        """The model; None when it cannot be loaded, and then notes are found by their words only."""
        try:
            return load_embedder(self._model)
        except IndexUnavailable as error:
            self.model_problem = error.detail
            return None

    def derive(self, memories: Sequence[Memory]) -> list[tuple[ChunkData, ...]]:
        """The chunks of memories, under the fingerprint that the catalog expects from now on."""
        self._agree()
        return derive(memories, self.embedder)

    @cached_property
    def source(self) -> CandidateSource:
        """Answers queries with candidates."""
        return CandidateSource(self._catalog, self._folder, lambda: self.embedder, is_log=self._is_log)

    @cached_property
    def applier(self) -> Applier:
        """Brings Tantivy and the vector file up to the catalog."""
        return Applier(self._catalog, self._folder, FileLock(self._folder / "apply.lock", what="The index"))

    def apply_if_due(self, *, lives_on: bool) -> None:
        """Apply what is pending when it is worth it and nobody else does; a one-shot command bothers later."""
        if self.applier.pending() > (PENDING_CHANGES if lives_on else PENDING_CHANGES_ONCE):
            self.applier.apply()

    @cached_property
    def _agreed(self) -> bool:
        embedder = self.embedder
        width = 2 if embedder is None else embedder.token_type().itemsize
        self._catalog.expect(fingerprint(embedder), width)
        return True

    def _agree(self) -> None:
        _ = self._agreed
