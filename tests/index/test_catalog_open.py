"""The catalog's file: thrown away when it is of no use, made again when removed, shared by threads and processes."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from tests.index.vaults import NOW, record
from vault_memory.errors import IndexUnavailable, VaultLocked
from vault_memory.index import database
from vault_memory.index.catalog import Catalog
from vault_memory.memory.filter import Filter
from vault_memory.memory.scope import UNBOUND


def test_what_was_recorded_is_there_after_opening_again(tmp_path: Path) -> None:
    catalog = Catalog.open(tmp_path)
    catalog.record([record("a.md")])
    born = catalog.meta("born")
    catalog.close()
    catalog = Catalog.open(tmp_path)
    assert catalog.paths(UNBOUND) == ["a.md"]
    assert catalog.meta("born") == born != ""
    catalog.close()


def test_a_catalog_of_another_schema_is_begun_anew(tmp_path: Path) -> None:
    catalog = Catalog.open(tmp_path)
    catalog.record([record("a.md")])
    with catalog.writing() as sql:
        sql.execute("PRAGMA user_version = 99")
    with sqlite3.connect(tmp_path / "catalog.sqlite") as sql:
        sql.execute("CREATE TABLE something_else (x)")
    sql.close()
    catalog.close()
    catalog = Catalog.open(tmp_path)
    assert catalog.paths(UNBOUND) == []
    with catalog.reading() as sql:
        assert sql.execute("SELECT 1 FROM sqlite_schema WHERE name = 'something_else'").fetchone() is None
    catalog.close()


def test_a_program_of_another_version_is_told_to_restart(catalog: Catalog) -> None:
    with catalog.writing() as sql:
        sql.execute("PRAGMA user_version = 99")
    with pytest.raises(IndexUnavailable, match="another version"):
        catalog.record([record("a.md")])


@pytest.mark.parametrize("damage", [b"no database", b"SQLite format 3\0" + b"\xff" * 5000, b""])
def test_a_damaged_file_is_begun_anew(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "catalog.sqlite").write_bytes(damage)
    catalog = Catalog.open(tmp_path)
    catalog.record([record("a.md")])
    assert catalog.paths(UNBOUND) == ["a.md"]
    catalog.close()


def test_a_removed_index_folder_is_made_again_under_a_running_process(tmp_path: Path) -> None:
    catalog = Catalog.open(tmp_path / "index")
    catalog.record([record("a.md")])
    born = catalog.meta("born")
    shutil.rmtree(tmp_path / "index")
    assert catalog.paths(UNBOUND) == []
    assert catalog.meta("born") != born
    catalog.record([record("b.md")])
    other = Catalog.open(tmp_path / "index")
    assert other.paths(UNBOUND) == ["b.md"]
    for each in (catalog, other):
        each.close()


def test_nothing_is_made_where_the_vault_is_gone(tmp_path: Path) -> None:
    catalog = Catalog.open(tmp_path / "vault" / ".vault-memory" / "index")
    shutil.rmtree(tmp_path / "vault")
    (tmp_path / "vault").mkdir()
    with pytest.raises(IndexUnavailable):
        catalog.paths(UNBOUND)
    assert list((tmp_path / "vault").iterdir()) == []
    catalog.close()


def test_threads_read_and_write_side_by_side(catalog: Catalog) -> None:
    def work(worker: int) -> int:
        for n in range(20):
            catalog.record([record(f"{worker}-{n}.md")])
            assert catalog.get(f"{worker}-{n}.md", UNBOUND) is not None
        return catalog.page(Filter(), UNBOUND, now=NOW).total

    with ThreadPoolExecutor(4) as pool:
        totals = list(pool.map(work, range(4)))
    assert max(totals) == catalog.generation == 80


def test_the_connections_of_ended_threads_are_closed(catalog: Catalog) -> None:
    for _ in range(5):
        thread = threading.Thread(target=catalog.paths, args=(UNBOUND,))
        thread.start()
        thread.join()
    assert len(catalog._database._connections) <= 2


def _record(folder: Path, worker: int) -> None:
    catalog = Catalog.open(folder)
    for n in range(30):
        catalog.record([record(f"{worker}-{n}.md"), record("shared.md", f"{worker} {n}")])
    catalog.close()


def test_processes_open_a_new_catalog_at_once_and_lose_no_generation(tmp_path: Path) -> None:
    context = get_context("spawn")
    workers = [context.Process(target=_record, args=(tmp_path / "index", worker)) for worker in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    catalog = Catalog.open(tmp_path / "index")
    assert catalog.generation == 180
    assert catalog.page(Filter(), UNBOUND, now=NOW).total == 91
    with catalog.reading() as sql:
        assert sql.execute("SELECT sum(notes) FROM kinds").fetchone() == (91,)
        assert sql.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    catalog.close()


def _open_many(folder: Path, barrier: Barrier) -> None:
    for n in range(20):
        barrier.wait()
        Catalog.open(folder / str(n)).close()


def test_processes_make_a_catalog_at_the_same_moment(tmp_path: Path) -> None:
    context = get_context("spawn")
    barrier = context.Barrier(3)
    workers = [context.Process(target=_open_many, args=(tmp_path, barrier)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]


def test_a_busy_catalog_is_reported_as_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_PRAGMAS", ("PRAGMA busy_timeout = 10",))
    catalog, other = Catalog.open(tmp_path), Catalog.open(tmp_path)
    with other.writing(), pytest.raises(VaultLocked):
        catalog.record([record("a.md")])
    assert catalog.paths(UNBOUND) == []
    for each in (catalog, other):
        each.close()


def test_one_view_lasts_over_several_reads(tmp_path: Path) -> None:
    catalog, other = Catalog.open(tmp_path), Catalog.open(tmp_path)
    catalog.record([record("a.md")])
    with catalog.reading():
        assert catalog.paths(UNBOUND) == ["a.md"]
        other.record([record("b.md")])
        assert catalog.paths(UNBOUND) == ["a.md"]
    assert catalog.paths(UNBOUND) == ["a.md", "b.md"]
    for each in (catalog, other):
        each.close()


def test_a_fork_must_open_its_own(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(RuntimeError, match="fork"):
        catalog.paths(UNBOUND)


def test_a_folder_that_cannot_be_made_is_an_unavailable_index(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(IndexUnavailable):
        Catalog.open(tmp_path / "file" / "index")
