"""LanceDB proposes, the catalog decides: the same lists as the scan, whatever its table holds."""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
from pathlib import Path

import pytest

from tests.index.indexed_vault import ALL, NOW, SEMANTIC, IndexedVault, memory, model
from vault_memory.files.lock import FileLock
from vault_memory.index import lance
from vault_memory.index.apply import Applier
from vault_memory.index.apply_vectors import restart_vectors
from vault_memory.index.candidates import CandidateSource
from vault_memory.index.lance import LanceNear, check_lance, lance_folder
from vault_memory.memory.filter import Filter
from vault_memory.memory.scope import UNBOUND

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
TOPICS = ("sea and ships", "deploys on friday", "the garden pond", "postgres ports", "music at night")


def with_lance(vault: IndexedVault) -> CandidateSource:
    near = LanceNear(vault.index, "one boot", at_least=0)
    return CandidateSource(vault.catalog, vault.index, model, near=near)


def same_lists(vault: IndexedVault, wanted: Filter = ALL) -> bool:
    plain, lance = vault.source, with_lance(vault)
    for words in (*TOPICS, "ships in the garden at night"):
        one = plain.gather(words, wanted, UNBOUND, now=NOW, sizes=SEMANTIC)
        two = lance.gather(words, wanted, UNBOUND, now=NOW, sizes=SEMANTIC)
        if [f.chunk for f in one.facts] != [f.chunk for f in two.facts] or one.cosine.tolist() != two.cosine.tolist():
            return False
    return True


def table_keys(vault: IndexedVault) -> list[int]:
    import lancedb

    keys: list[int] = (
        lancedb.connect(str(lance_folder(vault.index))).open_table("chunks").to_arrow()["chunk"].to_pylist()
    )
    return sorted(keys)


def zero(vault: IndexedVault) -> None:
    """What a power cut leaves of files that were never synced."""
    for file in lance_folder(vault.index).rglob("data/*.lance"):
        file.write_bytes(b"\0" * file.stat().st_size)


def filled(folder: Path) -> IndexedVault:
    vault = IndexedVault(folder)
    vault.put(
        [memory(f"n{n:03}.md", f"{TOPICS[n % 5]} number {n}", tags=("odd",) if n % 50 == 1 else ()) for n in range(300)]
    )
    assert vault.applier.fill_lancedb() == 300
    return vault


def test_the_lists_are_those_of_the_scan_also_for_what_came_after_the_fill(tmp_path: Path) -> None:
    vault = filled(tmp_path)
    assert same_lists(vault)
    assert same_lists(vault, Filter(tag="odd")), "a narrow filter starves nothing"
    vault.put({f"n{n:03}.md": f"changed ships {n}" for n in range(0, 40)})
    vault.remove(*(f"n{n:03}.md" for n in range(100, 140)))
    assert same_lists(vault)
    vault.applier.apply()
    assert same_lists(vault)
    assert vault.applier.fill_lancedb() == 260
    assert same_lists(vault)
    with vault.catalog.reading() as sql:
        assert table_keys(vault) == [key for (key,) in sql.execute("SELECT chunk FROM chunks ORDER BY chunk")]


def test_a_table_of_another_boot_is_not_believed_before_it_was_read(tmp_path: Path) -> None:
    vault = filled(tmp_path)
    zero(vault)
    other = LanceNear(vault.index, "another boot", at_least=0)
    source = CandidateSource(vault.catalog, vault.index, model, near=other)
    assert source.gather("ships", ALL, UNBOUND, now=NOW, sizes=SEMANTIC).facts
    again = Applier(vault.catalog, vault.index, FileLock(tmp_path / "index.lock"), boot="another boot")
    assert again.fill_lancedb() == 300
    assert len(table_keys(vault)) == 300


def test_a_damaged_table_is_passed_over_and_made_anew(tmp_path: Path) -> None:
    vault = filled(tmp_path)
    zero(vault)
    assert same_lists(vault)
    assert not check_lance(vault.catalog, vault.index)
    assert vault.applier.fill_lancedb() == 300
    assert same_lists(vault)


def test_a_vault_without_vectors_needs_no_table(tmp_path: Path) -> None:
    vault = IndexedVault(tmp_path, embedder=None)
    vault.put({"a.md": "words only"})
    assert vault.applier.fill_lancedb() == 0
    assert vault.found("words") == ["a.md"]


def test_a_doubled_row_is_found_by_the_check(tmp_path: Path) -> None:
    import lancedb

    vault = filled(tmp_path)
    assert check_lance(vault.catalog, vault.index)
    table = lancedb.connect(str(lance_folder(vault.index))).open_table("chunks")
    table.add(table.to_arrow().slice(0, 2))
    assert same_lists(vault), "each chunk once, even so"
    assert not check_lance(vault.catalog, vault.index)


def test_chunks_made_anew_during_a_fill_leave_nothing_to_be_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = IndexedVault(tmp_path)
    vault.put({f"n{n}.md": f"{TOPICS[n % 5]} number {n}" for n in range(30)})
    tended = lance._tended

    def and_meanwhile(table: object) -> None:
        tended(table)
        restart_vectors(vault.catalog)

    monkeypatch.setattr(lance, "_tended", and_meanwhile)
    vault.applier.fill_lancedb()
    assert vault.catalog.meta("applied_lancedb") == 0
    monkeypatch.undo()
    vault.put({f"n{n}.md": f"{TOPICS[n % 5]} number {n}" for n in range(20)})
    assert vault.applier.fill_lancedb() == 20
    assert same_lists(vault)


def _fill(folder: str, start) -> None:  # type: ignore[no-untyped-def]
    vault = IndexedVault(Path(folder))
    start.wait()
    vault.put({f"n{n}.md": f"{TOPICS[n % 5]} number {n}" for n in range(30)})
    vault.applier.fill_lancedb()
    vault.close()


def test_cc_04_four_processes_that_index_the_same_notes_leave_one_row_each(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    IndexedVault(tmp_path).close()
    start = spawn.Barrier(4)
    workers = [spawn.Process(target=_fill, args=(str(tmp_path), start)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(110)
        assert worker.exitcode == 0
    vault = IndexedVault(tmp_path)
    vault.applier.fill_lancedb()
    assert len(table_keys(vault)) == vault.catalog.meta("chunk_count") == 30
    assert same_lists(vault)
    assert len(vault.found("number")) == len(set(vault.found("number"))) == 30
    vault.remove("n7.md")
    assert "n7.md" not in vault.found("number 7")
    assert vault.applier.fill_lancedb() == 29


def test_nothing_of_it_is_imported_before_it_is_used() -> None:
    code = (
        "import vault_memory.index.indexes, vault_memory.index.lance, sys, json;"
        "print(json.dumps([m for m in ('lancedb', 'pyarrow', 'model2vec', 'mcp', 'pydantic') if m in sys.modules]))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(shown.stdout) == []
