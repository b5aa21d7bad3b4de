"""From files to records: reads, parses, derives and judges the times of notes that a sync found to be different.

Owns the order of these steps. It changes nothing; what cannot be read becomes a finding and never stops the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field

from vault_memory.errors import NotAllowed, StorageError
from vault_memory.files.scan import Known
from vault_memory.index.provenance import NoRepository, Provenances
from vault_memory.index.rows import BadFile, Record, record_of
from vault_memory.memory.model import MEMORY_TYPES, RELATION_TYPES, Finding, Memory, revision_of

if TYPE_CHECKING:
    from vault_memory.files.store import NoteStore
    from vault_memory.index.derive import ChunkData

Derive = Callable[[Sequence[Memory]], Sequence[Sequence["ChunkData"]]]
"""Makes the chunks of each memory, in order (see `index.derive`)."""


class Vocabulary(Struct, frozen=True):
    """The words of the vault: built-in ones and those its config adds."""

    relation_types: tuple[str, ...] = RELATION_TYPES
    memory_types: tuple[str, ...] = MEMORY_TYPES


class Batch(Struct):
    """What some files turned out to be. A file that is gone by now is in none of these."""

    records: list[Record] = field(default_factory=list)
    """Notes whose bytes are not those that are known."""
    untouched: list[Record] = field(default_factory=list)
    """Notes whose bytes are known; only the file's numbers, and times that follow from them, are new."""
    bad: list[BadFile] = field(default_factory=list)
    """Files that hold no text."""
    refused: list[tuple[str, Finding]] = field(default_factory=list)
    """Files that could not be opened; what is known of them stays."""


class Reader:
    """Reads the notes of one vault."""

    def __init__(
        self,
        store: NoteStore,
        *,
        vocabulary: Vocabulary | None = None,
        provenances: Provenances | None = None,
        derive: Derive | None = None,
    ) -> None:
        self.store = store
        self.provenances = provenances or NoRepository()
        self.derive = derive
        self._vocabulary = vocabulary or Vocabulary()

    def read(self, files: Mapping[str, Known], revisions: Mapping[str, str]) -> Batch:
        """Look at `files` (as the scan saw them before), of which `revisions` are known."""
        from vault_memory.memory.markdown import UnreadableNote

        batch = Batch()
        parsed: list[tuple[Memory, bytes, Known]] = []
        for path, file in files.items():
            try:
                data = self.store.read(path)
                memory = self._parsed(path, data)
            except FileNotFoundError:
                continue
            except (StorageError, NotAllowed) as error:
                batch.refused.append((path, Finding("unreadable", error.detail)))
            except UnreadableNote as error:
                batch.bad.append(BadFile(path, file, Finding("not_text", str(error))))
            else:
                if revisions.get(path) == memory.revision:
                    batch.untouched.append(self._record(memory, data, file))
                else:
                    parsed.append((memory, data, file))
        batch.records = self._derived(parsed)
        return batch

    def records(self, files: Sequence[tuple[str, bytes, Known]]) -> list[Record]:
        """The records of bytes at hand, in order.

        Raises:
            UnreadableNote: one of them is no text.
        """
        return self._derived([(self._parsed(path, data), data, file) for path, data, file in files])

    def _derived(self, parsed: Sequence[tuple[Memory, bytes, Known]]) -> list[Record]:
        if self.derive is None or not parsed:
            return [self._record(*item) for item in parsed]
        chunks = self.derive([memory for memory, _, _ in parsed])
        return [self._record(*item, tuple(made)) for item, made in zip(parsed, chunks, strict=True)]

    def _record(self, memory: Memory, data: bytes, file: Known, chunks: tuple[ChunkData, ...] | None = None) -> Record:
        return record_of(memory, data, file, self.provenances.of(memory.path, data), chunks=chunks)

    def _parsed(self, path: str, data: bytes) -> Memory:
        from vault_memory.memory.markdown import parse  # a question about unchanged notes needs no YAML

        words = self._vocabulary
        return parse(data, path, relation_types=words.relation_types, memory_types=words.memory_types)


EMPTY_REVISION = revision_of(b"")
"""The revision of an empty file, which is no sign of anything."""
