"""Usage: local state that survives rebuilds, follows a note and can be purged."""

from __future__ import annotations

import shutil
from datetime import timedelta
from multiprocessing import get_context
from pathlib import Path

from tests.index.vaults import NOW, VaultOnDisk
from vault_memory.index.usage import Access, Usage
from vault_memory.memory.filter import Filter
from vault_memory.memory.scope import UNBOUND


def test_accesses_add_up_and_the_latest_time_stands(tmp_path: Path) -> None:
    usage = Usage(tmp_path / "usage.sqlite")
    usage.record(["a", "b"], NOW)
    usage.record(["a"], NOW - timedelta(days=3))
    usage.add({"b": Access(NOW + timedelta(days=1), 5), "never": Access()})
    assert usage.get(["a", "b", "never"]) == {"a": Access(NOW, 2), "b": Access(NOW + timedelta(days=1), 6)}
    usage.close()


def test_usage_follows_a_ref_and_joins_what_the_new_one_has(tmp_path: Path) -> None:
    usage = Usage(tmp_path / "usage.sqlite")
    usage.record(["old", "new"], NOW)
    usage.move({"old": "new", "unknown": "other"})
    assert usage.get(["old", "new", "other"]) == {"new": Access(NOW, 2)}
    usage.close()


def test_a_purged_ref_is_nowhere_in_the_file(tmp_path: Path) -> None:
    usage = Usage(tmp_path / "usage.sqlite")
    usage.record([f"ref-{n}" for n in range(200)], NOW)
    usage.record(["heliotrope-diary.md"], NOW)
    usage.purge(["heliotrope-diary.md"])
    usage.close()
    assert all(b"heliotrope" not in place.read_bytes() for place in tmp_path.iterdir())


def test_a_damaged_file_is_kept_beside_and_begun_anew(tmp_path: Path) -> None:
    place = tmp_path / "usage.sqlite"
    place.write_bytes(b"not a database at all" * 100)
    usage = Usage(place)
    usage.record(["a"], NOW)
    assert usage.get(["a"]) == {"a": Access(NOW, 1)}
    assert (tmp_path / "usage.sqlite.damaged").read_bytes().startswith(b"not a database")
    usage.close()


def _count(path: Path) -> None:
    usage = Usage(path)
    for _ in range(50):
        usage.record(["a"], NOW)
    usage.close()


def test_processes_count_together(tmp_path: Path) -> None:
    place = tmp_path / "usage.sqlite"
    context = get_context("spawn")
    workers = [context.Process(target=_count, args=(place,)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    usage = Usage(place)
    assert usage.get(["a"])["a"].access_count == 100
    usage.close()


def test_usage_survives_the_index(vault: VaultOnDisk) -> None:
    vault.write("a.md", "text")
    vault.run()
    vault.usage.record(["a.md"], NOW)
    vault.close()
    shutil.rmtree(vault.root / ".vault-memory" / "index")
    vault.open()
    vault.run()
    row = vault.catalog.page(Filter(), UNBOUND, now=NOW, sort="last_accessed_at").items[0]
    assert (row.last_accessed_at, row.access_count) == (NOW, 1)
