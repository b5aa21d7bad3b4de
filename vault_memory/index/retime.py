"""Effective times when HEAD has moved: notes whose bytes are unchanged may be older or newer than they were.

Owns that adjustment. It reads the catalog, where all bytes are, and no file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from vault_memory.index.provenance import Provenances
from vault_memory.memory.times import effective_times, time_of_ns

if TYPE_CHECKING:
    from vault_memory.index.catalog import Catalog

_BATCH: Final = 500


def retime(catalog: Catalog, provenances: Provenances) -> bool:
    """Judge the times of all notes by HEAD as it is now; whether it had moved since the last time."""
    head = provenances.head
    before = str(catalog.meta("head"))
    if head == before:
        return False
    changed = provenances.changed_since(before)
    paths = sorted(catalog.known() if changed is None else changed)
    for start in range(0, len(paths), _BATCH):
        _retime(catalog, provenances, paths[start : start + _BATCH])
    catalog.set_meta(head=head, dates=provenances.settle())
    return True


def _retime(catalog: Catalog, provenances: Provenances, paths: Sequence[str]) -> None:
    times = {}
    for note in catalog.timed(paths):
        mtime = time_of_ns(note.mtime_ns)
        provenance = provenances.of(note.path, note.data)
        new = effective_times(note.stated_created, note.stated_updated, mtime, provenance)
        if new != (note.created_at, note.updated_at):
            times[note.path] = new
    if times:
        catalog.touch({}, times)
