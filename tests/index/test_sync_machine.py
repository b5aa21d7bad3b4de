"""Whatever is done to the files, and in whatever portions it is seen: a synced catalog equals one made from nothing."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.index.vaults import VaultOnDisk, by_words
from vault_memory.index import sync as sync_module
from vault_memory.index.catalog import Catalog
from vault_memory.index.rows import COLUMNS
from vault_memory.index.sync import Written

SECOND = 10**9
PATHS = ("a.md", "b.md", "sub/a.md", "sub/deep/c.md", "a (Conflicted copy X 202601010000).md")
TEXTS = (
    b"", b"one word", b"two word", b"[[a]] and [b](sub/a.md)\nsecond line", b"\xff\xfe", b"a\0b",
    b"---\nid: 1abc\ntags: [x]\n---\n#inline body", b"---\n: broken\n---\nx",
    b"---\nid: 1abc\ntitle: T\nproject: p\nactor: somebody\nupdated_at: 2026-01-01\n---\nother",
    b"<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n",
)  # fmt: skip
paths = st.sampled_from(PATHS)
texts = st.sampled_from(TEXTS)

_NOTE = ", ".join(f"notes.{c}" for c in COLUMNS if c not in ("note", "generation", "kind"))
CONTENTS = {
    "notes": f"SELECT {_NOTE} FROM notes",
    "kinds of notes": "SELECT path, k.status, k.project, k.actor, k.source FROM notes JOIN kinds AS k USING (kind)",
    "kinds": "SELECT status, memory_type, project, actor, source, agent, verification, notes FROM kinds",
    "tags": "SELECT path, tag, inline, t.kind = notes.kind FROM note_tags AS t JOIN notes USING (note)",
    "names": "SELECT path, name, key FROM note_names JOIN notes USING (note)",
    "links": "SELECT path, n, target, key, style, relation FROM note_links JOIN notes USING (note)",
    "findings": "SELECT * FROM findings",
    "left out": "SELECT * FROM left_out",
    "files": "SELECT path, size, mtime_ns, inode FROM files",
    "chunks": "SELECT path, n, heading, terms, length, tokens FROM chunks JOIN notes USING (note)",
    "terms": "SELECT * FROM terms",
    "tokens": "SELECT * FROM token_df",
    "sums": "SELECT key, value FROM meta WHERE key IN ('chunk_count', 'total_length')",
}


def contents(catalog: Catalog) -> dict[str, list[tuple[object, ...]]]:
    """Everything the catalog says about the vault, without the keys and counters that tell of its past."""
    with catalog.reading() as sql:
        return {name: sorted(sql.execute(query).fetchall(), key=repr) for name, query in CONTENTS.items()}


class SyncMachine(RuleBasedStateMachine):
    """Hands, tools, clocks and kills against one vault."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.vault = VaultOnDisk(self.folder / "vault", derive=by_words, gap_seconds=0)
        self.latest_scan_ns = 0
        self.tick = 0
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(sync_module, "BATCH", 2)

    def teardown(self) -> None:
        self.sync_all()
        self.patch.undo()
        self.vault.close()
        shutil.rmtree(self.folder)

    def _mtime(self) -> int:
        """A file time of now; no two are equal, as no two writes happen in one nanosecond."""
        self.tick += 1
        return self.vault.now_ns + self.tick

    @rule(path=paths, text=texts)
    def write(self, path: str, text: bytes) -> None:
        if (self.vault.root / path).is_symlink():
            (self.vault.root / path).unlink()
        self.vault.write(path, text, at_ns=self._mtime())

    @rule(path=paths)
    def rewrite_within_the_tick_of_a_coarse_clock(self, path: str) -> None:
        """The same size, mtime and inode: only a scan that was soon after the first write knows to look again."""
        place = self.vault.root / path
        if place.is_symlink() or not place.exists():
            return
        stat = place.stat()
        within_a_second = abs(self.vault.now_ns - stat.st_mtime_ns) < SECOND
        if not within_a_second or self.latest_scan_ns > stat.st_mtime_ns + SECOND:
            return  # a clock that was ahead at the scan hides the change from any tool
        data = place.read_bytes()
        with place.open("r+b") as file:
            file.write(bytes(reversed(data)))
        os.utime(place, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    @rule(path=paths)
    def touch(self, path: str) -> None:
        place = self.vault.root / path
        if place.exists() and not place.is_symlink():
            at = self._mtime()
            os.utime(place, ns=(at, at))

    @rule(path=paths)
    def remove(self, path: str) -> None:
        (self.vault.root / path).unlink(missing_ok=True)

    @rule(old=paths, new=paths)
    def move(self, old: str, new: str) -> None:
        if old != new and os.path.lexists(self.vault.root / old):
            self.vault.move(old, new)

    @rule(path=paths)
    def replace_by_a_symlink(self, path: str) -> None:
        place = self.vault.root / path
        if place.is_file() and not place.is_symlink():
            place.unlink()
            place.symlink_to(self.vault.root / "a.md" if path != "a.md" else self.folder)

    @rule(seconds=st.sampled_from([0.5, 1, 5, 3600, -3600]))
    def let_time_pass_or_jump(self, seconds: float) -> None:
        self.vault.now_ns += int(seconds * SECOND)
        self.vault.seconds += abs(seconds)

    @rule(path=paths, text=st.sampled_from([t for t in TEXTS if b"\0" not in t and b"\xff" not in t]))
    def write_as_the_tool(self, path: str, text: bytes) -> None:
        if (self.vault.root / path).is_symlink():
            return
        self.vault.write(path, text, at_ns=self._mtime())
        stat = self.vault.sync._reader.store.stat(path)
        self.vault.sync.record([Written(path, text, stat)])
        self.latest_scan_ns = max(self.latest_scan_ns, self.vault.now_ns)

    @rule(within=st.sets(st.sampled_from([*PATHS, "sub", "sub/deep", "nowhere"]), min_size=1))
    def sync_some(self, within: set[str]) -> None:
        self.vault.run(within)
        self.latest_scan_ns = max(self.latest_scan_ns, self.vault.now_ns)

    @rule()
    def sync_until_the_time_is_up(self) -> None:
        self.vault.run(budget_ms=0)
        self.latest_scan_ns = max(self.latest_scan_ns, self.vault.now_ns)

    @rule()
    def start_another_process(self) -> None:
        self.vault.close()
        self.vault.open()

    @rule()
    def sync_all(self) -> None:
        changes = self.vault.run()
        assert changes.complete
        self.latest_scan_ns = max(self.latest_scan_ns, self.vault.now_ns)
        found = contents(self.vault.catalog)
        expected = self._rebuilt()
        for name in CONTENTS:
            assert found[name] == expected[name], name

    def _rebuilt(self) -> dict[str, list[tuple[object, ...]]]:
        place = self.folder / "fresh"
        fresh = VaultOnDisk(self.vault.root, derive=by_words, now_ns=self.vault.now_ns, gap_seconds=0, index=place)
        fresh.run()
        expected = contents(fresh.catalog)
        fresh.close()
        shutil.rmtree(place)
        return expected

    @invariant()
    def every_pending_tombstone_is_of_a_chunk_that_is_gone(self) -> None:
        with self.vault.catalog.reading() as sql:
            both = sql.execute("SELECT count(*) FROM gone JOIN chunks USING (chunk)").fetchone()
            late = sql.execute(
                "SELECT count(*) FROM gone, meta WHERE key = 'generation' AND generation > value"
            ).fetchone()
        assert both == late == (0,)


TestSync = SyncMachine.TestCase
TestSync.settings = settings(
    max_examples=15, stateful_step_count=20, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
)
