"""Brings the catalog in step with the notes on disk: the only way in, for the watcher, writers, start-up and reindex.

Owns scan → diff → read → record, in batches. Events are hints: what counts is the difference between the disk and the
catalog, so a sync can be stopped anywhere and the next one goes on. It writes no note. A folder that cannot be read
raises; only what is seen to be absent twice is removed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field
from msgspec.structs import replace

from vault_memory.files.scan import GAP_SECONDS, MAX_NOTE_BYTES, Diff, Known, Scan, check_root, diff, scan, still_gone
from vault_memory.files.stat import Stat
from vault_memory.index.moves import Moves, Sight
from vault_memory.index.read import EMPTY_REVISION, Reader
from vault_memory.index.retime import retime
from vault_memory.index.rows import Identity, Record
from vault_memory.memory.model import Finding, Memory
from vault_memory.memory.scope import UNBOUND

if TYPE_CHECKING:
    from vault_memory.files.ignore import Ignore
    from vault_memory.index.catalog import Catalog
    from vault_memory.index.usage import Usage

Progress = Callable[[int, int], None]
"""Told how many of how many changed files are done."""

BATCH: Final = 256
MOST_BASES: Final = 50
"""When more notes than this changed, a checkout or a script did it, not a person whose edit a caller may cross."""


class Written(Struct, frozen=True):
    """A note that the caller has just written: its path, its bytes and the file's numbers afterwards."""

    path: str
    data: bytes
    stat: Stat


class Changes(Struct, frozen=True):
    """What a sync found and recorded; paths are sorted.

    Attributes:
        added, changed, removed: notes whose bytes are new, other, gone.
        moved: old path to new, of notes moved by hand (they are among removed and added too).
        unreadable: files that could not be read as notes; the reasons are among the catalog's findings.
        done, total: how many of the files that differ were looked at; fewer when the time was up.
        generation: the catalog's generation afterwards.
        folders: the folders walked, for the watcher.
        leftovers: hidden files of killed writers, see `NoteStore.recover`.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    moved: Mapping[str, str] = field(default_factory=dict)
    unreadable: tuple[str, ...] = ()
    done: int = 0
    total: int = 0
    generation: int = 0
    folders: tuple[str, ...] = ()
    leftovers: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """True when the catalog is in step; False when the time was up before."""
        return self.done >= self.total


class Sync:
    """The way of one vault's notes into its catalog. Not for several threads at once; several processes may.

    Args:
        reader: reads the notes.
        catalog: takes them in.
        ignore: what is no note.
        usage: follows a note that is moved by hand.
        max_bytes: larger files are no notes.
        clock_ns: the time as file times tell it.
        steady_seconds: a clock that never goes back.
        gap_seconds: how long a note may be away while an editor saves it.
        on_replaced: told the path and the recorded bytes of each note that somebody else changed, when there are few,
            before the catalog forgets them.
    """

    def __init__(
        self,
        reader: Reader,
        catalog: Catalog,
        ignore: Ignore,
        usage: Usage | None = None,
        *,
        max_bytes: int = MAX_NOTE_BYTES,
        clock_ns: Callable[[], int] = time.time_ns,
        steady_seconds: Callable[[], float] = time.monotonic,
        gap_seconds: float = GAP_SECONDS,
        on_replaced: Callable[[str, bytes], None] | None = None,
    ) -> None:
        self._on_replaced = on_replaced
        self._reader = reader
        self._catalog = catalog
        self._ignore = ignore
        self._usage = usage
        self._max_bytes = max_bytes
        self._clock_ns = clock_ns
        self._steady_seconds = steady_seconds
        self._gap_seconds = gap_seconds
        self._moves = Moves()

    def run(
        self, paths: Collection[str] | None = None, *, budget_ms: float | None = None, progress: Progress | None = None
    ) -> Changes:
        """Bring the notes at and below `paths` (None: all) into the catalog.

        Args:
            budget_ms: begin no further batch after so much time; what is left is found again by the next call.
            progress: told after each batch.

        Raises:
            VaultNotFound: the vault's folder is gone. Nothing is removed from the catalog.
            StorageError: a folder cannot be read. Nothing is removed.
            VaultLocked: another process keeps the catalog busy.
        """
        end = None if budget_ms is None else self._steady_seconds() + budget_ms / 1000
        check_root(str(self._reader.store.root))
        known = self._catalog.known(paths)
        seen = self._scan(paths)
        found = diff(seen, known)
        if found.removed:
            seen, found = self._looked_again(seen, found, known)
        again = {path for path in found.changed if known[path].stat == seen.files[path]}
        work = _Work(found, self._catalog.identities(found.removed), again)
        for files, removed in work.batches(seen):
            self._batch(work, files, removed, known)
            if progress:
                progress(work.done, work.total)
            if end is not None and self._steady_seconds() >= end:
                break
        self._leave_out(seen, work.refused)
        moved = self._follow(work)
        if work.complete:
            retime(self._catalog, self._reader.provenances)
        return work.changes(seen, moved, self._catalog.generation)

    def record(self, written: Sequence[Written], removed: Collection[str] = ()) -> tuple[int, list[Memory]]:
        """Record what the caller itself has just written and removed, without a look at the disk.

        Returns:
            The catalog's generation and the memories with their effective times, in the given order.
        """
        now_ns = self._clock_ns()
        records = self._reader.records([(w.path, w.data, Known(w.stat, now_ns)) for w in written])
        before = self._catalog.identities([w.path for w in written]) if self._usage else {}
        generation = self._catalog.record(records, removed)
        self._move_usage(_new_refs(before, records))
        return generation, [record.timed for record in records]

    def derive_pending(self, *, budget_ms: float | None = None, progress: Progress | None = None) -> int:
        """Make the chunks of notes that were recorded without them; how many are left when the time is up."""
        end = None if budget_ms is None else self._steady_seconds() + budget_ms / 1000
        total = left = self._catalog.underived_count()
        while left and self._reader.derive is not None:
            rows = self._catalog.underived(BATCH)
            chunks = self._reader.derive([row.memory for row in rows])
            self._catalog.derive(list(zip(rows, chunks, strict=True)))
            left = self._catalog.underived_count()
            if progress:
                progress(max(total - left, 0), total)
            if end is not None and self._steady_seconds() >= end:
                break
        return left

    def _batch(
        self, work: _Work, files: Mapping[str, Known], removed: Sequence[str], known: Mapping[str, Known]
    ) -> None:
        """Record one batch in one transaction, unless somebody has looked at a file later than our scan."""
        before = self._catalog.identities(files)
        batch = self._reader.read(files, {path: identity.revision for path, identity in before.items()})
        asked = {path: known.get(path) for path in (*files, *removed)}
        if len(work.found.changed) <= MOST_BASES:
            self._tell_replaced(batch.records, before)
        if batch.records or batch.bad or removed:
            self._catalog.record(batch.records, removed, batch.bad, unless_changed=asked)
        if batch.untouched:
            times = {record.memory.path: record.times for record in batch.untouched}
            self._catalog.touch({record.memory.path: record.file for record in batch.untouched}, times)
        work.took(batch.records, before)
        work.bad += [bad.path for bad in batch.bad]
        work.refused += batch.refused
        work.done += len(files) + len(removed)

    def _tell_replaced(self, records: Sequence[Record], before: Mapping[str, Identity]) -> None:
        for record in records:
            path = record.memory.path
            old = self._catalog.source(path, UNBOUND) if self._on_replaced and path in before else None
            if self._on_replaced and old is not None:
                self._on_replaced(path, old)

    def _scan(self, paths: Collection[str] | None) -> Scan:
        root = self._reader.store.root
        return scan(root, self._ignore, paths, max_bytes=self._max_bytes, now_ns=self._clock_ns())

    def _looked_again(self, seen: Scan, found: Diff, known: Mapping[str, Known]) -> tuple[Scan, Diff]:
        """Believe an absence only after a second look; what is back is read, what is no note any more is removed."""
        gone = still_gone(self._reader.store.root, found.removed, pause_seconds=self._gap_seconds)
        back = frozenset(found.removed) - gone
        if not back:
            return seen, found
        again = self._scan(back)
        findings = {*again.findings, *(pair for pair in seen.findings if pair[0] not in again.files)}
        seen = replace(seen, files={**seen.files, **again.files}, findings=tuple(findings))
        return seen, diff(seen, known)

    def _leave_out(self, seen: Scan, refused: Sequence[tuple[str, Finding]]) -> None:
        """Replace what was said of files that are no notes, in the part of the vault that was looked at."""
        now = {*seen.findings, *refused}
        before = {pair for pair in self._catalog.left_out() if seen.covers(pair[0])}
        if before != now:
            self._catalog.leave_out(sorted(now, key=lambda pair: (pair[0], pair[1].code)), {path for path, _ in before})

    def _follow(self, work: _Work) -> Mapping[str, str]:
        """The moves by hand, old path to new; usage follows them, and notes that were given or rid of an id."""
        moves = self._moves.see(work.left(), work.came(), self._steady_seconds())
        self._move_usage({**work.new_refs, **moves})
        return {**moves, **work.moved_by_id()}

    def _move_usage(self, refs: Mapping[str, str]) -> None:
        if self._usage is not None and refs:
            self._usage.move({old: new for old, new in refs.items() if not self._catalog.holds(old)})


class _Work(Struct):
    """The files of one run that differ, and what came of them so far."""

    found: Diff
    gone: Mapping[str, Identity]
    """What was known of the removed notes."""
    again: Collection[str] = ()
    """Files that look as they are known, but were written so shortly before their scan that they are read again.

    They come last and may be left to the next run: else each run of a big checkout would begin with those of the one
    before it.
    """
    done: int = 0
    records: dict[str, Identity] = field(default_factory=dict)
    new_refs: dict[str, str] = field(default_factory=dict)
    bad: list[str] = field(default_factory=list)
    refused: list[tuple[str, Finding]] = field(default_factory=list)

    @property
    def total(self) -> int:
        return len(self.found.added) + len(self.found.changed) + len(self.found.removed)

    @property
    def complete(self) -> bool:
        """Whether everything was looked at that must be."""
        return self.done >= self.total - len(self.again)

    def batches(self, seen: Scan) -> Iterator[tuple[dict[str, Known], Sequence[str]]]:
        """Files to read, and paths to remove: these come with the first batch, so that a move is one change."""
        removed = self.found.removed
        paths = [*self.found.added, *sorted(self.found.changed, key=self.again.__contains__)]
        for start in range(0, len(paths) or bool(removed), BATCH):
            batch = paths[start : start + BATCH]
            yield {path: Known(seen.files[path], seen.scanned_ns) for path in batch}, removed if start == 0 else ()

    def took(self, records: Sequence[Record], before: Mapping[str, Identity]) -> None:
        """Note what was recorded, and what had been known under the same paths."""
        self.records |= {record.memory.path: Identity.of(record.memory) for record in records}
        self.new_refs |= _new_refs(before, records)

    def left(self) -> list[Sight]:
        """Notes without an id that are gone."""
        return [Sight(path, identity.revision) for path, identity in self.gone.items() if _tells(identity)]

    def came(self) -> list[Sight]:
        """Notes without an id that are new."""
        added = frozenset(self.found.added)
        here = [(path, identity) for path, identity in self.records.items() if path in added]
        return [Sight(path, identity.revision) for path, identity in here if _tells(identity)]

    def moved_by_id(self) -> dict[str, str]:
        """Old path to new of notes whose id went from one path to another; of several the smallest."""
        new: dict[str, str] = {}
        for path in sorted(self.found.added, reverse=True):
            if (identity := self.records.get(path)) and identity.id:
                new[identity.id] = path
        return {path: new[identity.id] for path, identity in self.gone.items() if identity.id and identity.id in new}

    def changes(self, seen: Scan, moved: Mapping[str, str], generation: int) -> Changes:
        """The report."""
        return Changes(
            added=tuple(path for path in self.found.added if path in self.records),
            changed=tuple(path for path in self.found.changed if path in self.records),
            removed=self.found.removed,
            moved=moved,
            unreadable=tuple(sorted({*self.bad, *(path for path, _ in self.refused)})),
            done=self.done,
            total=self.done if self.complete else self.total,
            generation=generation,
            folders=seen.folders,
            leftovers=seen.leftovers,
        )


def _tells(identity: Identity) -> bool:
    """Whether equal bytes say that it is the same note: not with an id, which says it better, nor of an empty file."""
    return identity.id is None and identity.revision != EMPTY_REVISION


def _new_refs(before: Mapping[str, Identity], records: Sequence[Record]) -> dict[str, str]:
    """Old ref to new of notes whose ref changed in place: they were given, rid of, or given another id."""
    refs = {}
    for record in records:
        old = before.get(record.memory.path)
        if old is not None and old.ref(record.memory.path) != record.memory.ref:
            refs[old.ref(record.memory.path)] = record.memory.ref
    return refs
