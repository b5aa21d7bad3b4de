"""Applying: elected, resumable, and able to start over from the rows without being asked."""

from __future__ import annotations

import multiprocessing
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.index.indexed_vault import ALL, BOTH, KEYWORD, NOW, SEMANTIC, IndexedVault, model
from tests.index.test_embed import small_model
from vault_memory.files.lock import FileLock
from vault_memory.index.apply_vectors import DEAD_ROWS
from vault_memory.index.candidates import Sizes
from vault_memory.index.derive import derive, fingerprint
from vault_memory.index.embed import load_embedder
from vault_memory.index.indexes import Indexes
from vault_memory.index.state import read_state
from vault_memory.index.text import TextReader, text_folder
from vault_memory.index.vectors import vector_file
from vault_memory.memory.scope import UNBOUND

WORDS = [f"quokka{n}" for n in range(30)]


def filled(folder: Path, *, boot: str = "one boot") -> IndexedVault:
    vault = IndexedVault(folder, boot=boot)
    vault.put({f"n{n}.md": f"about {word} and the sea" for n, word in enumerate(WORDS)})
    vault.applier.apply()
    return vault


def all_found(vault: IndexedVault) -> bool:
    by_words = all(vault.found(word, KEYWORD) == [f"n{n}.md"] for n, word in enumerate(WORDS))
    return by_words and len(vault.found("the sea", Sizes(0, 60))) == len(WORDS)


def state_of(vault: IndexedVault):  # type: ignore[no-untyped-def]
    with vault.catalog.reading() as sql:
        return read_state(sql)


def test_one_process_applies_and_the_others_go_on_without_waiting(tmp_path: Path) -> None:
    vault = IndexedVault(tmp_path)
    vault.put({"a.md": "walrus"})
    other = FileLock(tmp_path / "index.lock")
    assert other.try_acquire()
    assert not vault.applier.apply()
    assert vault.applier.pending() == 1
    assert vault.found("walrus") == ["a.md"]
    other.release()
    assert vault.applier.apply()
    assert vault.applier.pending() == 0


def test_applied_rows_give_up_their_copies_and_tombstones(tmp_path: Path) -> None:
    vault = filled(tmp_path)
    vault.remove("n3.md")
    vault.put({"n4.md": "changed"})
    vault.applier.apply()
    with vault.catalog.reading() as sql:
        assert sql.execute("SELECT count(*) FROM chunks WHERE vector IS NOT NULL").fetchone() == (0,)
        assert sql.execute("SELECT count(*) FROM chunks WHERE row IS NULL AND has_vector").fetchone() == (0,)
        assert sql.execute("SELECT count(*) FROM gone").fetchone() == (0,)


def test_an_index_from_nothing_is_committed_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vault_memory.index.apply_text.BATCH_CHUNKS", 7)
    monkeypatch.setattr("vault_memory.index.apply_vectors.BATCH_CHUNKS", 4)
    vault = filled(tmp_path)
    assert vault.applier.pending() == 0
    assert all_found(vault)


def break_meta(vault: IndexedVault) -> None:
    (text_folder(vault.index, state_of(vault).text_epoch) / "meta.json").write_text("{")


def other_schema(vault: IndexedVault) -> None:
    import tantivy

    folder = text_folder(vault.index, state_of(vault).text_epoch)
    shutil.rmtree(folder)
    folder.mkdir()
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", stored=True)
    tantivy.Index(builder.build(), str(folder))


def no_text(vault: IndexedVault) -> None:
    shutil.rmtree(vault.index / "tantivy")


def lost_segment(vault: IndexedVault) -> None:
    for file in text_folder(vault.index, state_of(vault).text_epoch).glob("*.term"):
        file.unlink()


@pytest.mark.parametrize("damage", [break_meta, other_schema, no_text, lost_segment])
def test_cc_02_a_damaged_or_foreign_text_index_is_rebuilt_without_being_asked(
    tmp_path: Path, damage: Callable[[IndexedVault], None]
) -> None:
    vault = filled(tmp_path)
    damage(vault)
    vault.close()
    again = IndexedVault(tmp_path)
    assert all_found(again), "the rows answer while the index is gone"
    again.applier.apply()
    assert again.applier.pending() == 0
    assert all_found(again)


def truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


def flipped(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[5_000] ^= 0xFF
    file.write_bytes(bytes(data))


@pytest.mark.parametrize("damage", [truncated, flipped, Path.unlink], ids=["truncated", "flipped", "deleted"])
def test_cc_02_a_damaged_vector_file_is_noticed_after_a_new_boot_and_made_anew(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    vault = filled(tmp_path)
    damage(vector_file(vault.index, state_of(vault).vector_epoch))
    vault.close()
    again = IndexedVault(tmp_path, boot="another boot")
    again.put({"new.md": "something else"})
    again.applier.apply()
    derive_pending(again)
    again.applier.apply()
    again.remove("new.md")
    assert all_found(again)


def derive_pending(vault: IndexedVault) -> None:
    while rows := vault.catalog.underived(100):
        made = derive([row.memory for row in rows], vault.embedder)
        vault.catalog.derive(list(zip(rows, made, strict=True)))


@pytest.mark.parametrize("damage", [truncated, Path.unlink], ids=["truncated", "deleted"])
def test_a_search_that_meets_a_lost_vector_file_answers_by_words(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    filled(tmp_path).close()
    vault = IndexedVault(tmp_path)
    damage(vector_file(vault.index, state_of(vault).vector_epoch))
    assert vault.found(WORDS[7], BOTH)[0] == "n7.md"
    indexes = Indexes(vault.catalog, vault.index, FileLock(tmp_path / "index.lock"), model)
    indexes.candidates.gather("sea", ALL, UNBOUND, now=NOW)
    assert indexes.apply_if_due(lives_on=False), "what a search has noticed is repaired after its answer"
    derive_pending(vault)
    assert all_found(vault)


def test_the_vector_file_is_rewritten_when_much_of_it_is_dead_and_readers_go_on(tmp_path: Path) -> None:
    vault, reader = IndexedVault(tmp_path), IndexedVault(tmp_path)
    count = DEAD_ROWS + 200
    vault.put({f"n{n}.md": f"note of number {n}" for n in range(count)})
    vault.applier.apply()
    before = state_of(vault)
    assert len(reader.found("note of number", SEMANTIC)) == 40
    vault.remove(*(f"n{n}.md" for n in range(DEAD_ROWS + 1)))
    vault.applier.apply()
    after = state_of(vault)
    assert (before.vector_rows, after.vector_rows) == (count, count - DEAD_ROWS - 1)
    assert after.vector_epoch != before.vector_epoch
    assert not vector_file(vault.index, before.vector_epoch).exists()
    fresh = IndexedVault(tmp_path / "fresh")
    fresh.put({f"n{n}.md": f"note of number {n}" for n in range(DEAD_ROWS + 1, count)})
    fresh.applier.apply()
    assert reader.values("note of number 300") == fresh.values("note of number 300")


def test_stale_and_doubled_documents_of_an_unclean_end_are_put_right(tmp_path: Path) -> None:
    from vault_memory.index.text import TextDocument, TextWriter

    vault = filled(tmp_path)
    folder = text_folder(vault.index, state_of(vault).text_epoch)
    with TextWriter(folder) as writer:
        writer.add([TextDocument(9_999, 1, "about quokka1", ""), TextDocument(1, 1, "about quokka0 and the sea", "")])
        writer.commit()
    assert all_found(vault), "readers drop what the catalog does not know"
    vault.applier.check()
    assert sorted(TextReader(folder).keys()) == list(range(1, len(WORDS) + 1))
    assert all_found(vault)


def test_documents_that_a_lost_commit_took_along_bring_a_rebuild(tmp_path: Path) -> None:
    from vault_memory.index.text import TextWriter

    vault = filled(tmp_path)
    with TextWriter(text_folder(vault.index, state_of(vault).text_epoch)) as writer:
        writer.remove([5, 6])
        writer.commit()
    vault.close()
    again = IndexedVault(tmp_path, boot="another boot")
    again.put({"new.md": "something else"})
    again.applier.apply()
    again.remove("new.md")
    assert all_found(again)


def test_a_purge_leaves_no_trace_of_a_removed_note(tmp_path: Path) -> None:
    vault = filled(tmp_path)
    vault.put({"secret.md": "xylophonist"})
    vault.applier.apply()
    gone = np.asarray(model().encode("secret\nxylophonist"), "<f4").tobytes()
    assert any(gone in file.read_bytes() for file in vault.index.glob("vec-*"))
    vault.catalog.purge("secret.md")
    vault.applier.apply(purge=True)
    vault.close()
    for file in (file for file in vault.index.rglob("*") if file.is_file()):
        assert b"xylophonist" not in file.read_bytes(), file
        assert gone not in file.read_bytes(), file


def test_em_01_another_model_replaces_all_vectors_and_two_are_never_mixed(tmp_path: Path) -> None:
    vault = filled(tmp_path)
    other = load_embedder(str(small_model(tmp_path / "b", 64)))
    old = Indexes(vault.catalog, vault.index, FileLock(tmp_path / "index.lock"), model)
    new = Indexes(vault.catalog, vault.index, FileLock(tmp_path / "index.lock"), lambda: other)
    assert old.prepare()
    status = new.status()
    assert (status.fingerprint, status.model) == (fingerprint(model()), other.fingerprint)
    assert not new.prepare()
    vault.embedder = other
    vault.put({"n0.md": "about quokka0 and the sea"})  # recorded by the new model while the rest waits
    derive_pending(vault)
    assert new.prepare()
    vault.applier.apply()
    assert all_found(vault)
    assert state_of(vault).dimensions == 64
    vault.embedder = model()  # a process that still has the old model: by words, never by vectors of the other
    assert vault.found("the sea", SEMANTIC) == []
    assert vault.found("quokka3", BOTH) == ["n3.md"]
    vault.put({"late.md": "written by the old process"})
    assert vault.catalog.underived_count() == 1, "its vector is not taken"
    assert not old.prepare()
    derive_pending(vault)
    vault.applier.apply()
    vault.remove("late.md")
    assert all_found(vault)


def test_without_a_model_notes_are_found_by_words_and_get_vectors_when_it_is_back(tmp_path: Path) -> None:
    def missing():  # type: ignore[no-untyped-def]
        return load_embedder(str(tmp_path / "nowhere"))

    vault = filled(tmp_path)
    without = Indexes(vault.catalog, vault.index, FileLock(tmp_path / "index.lock"), missing)
    assert without.prepare()
    assert "there is no folder" in without.status().model_problem
    vault.embedder = without.embedder()
    (chunks,) = without.derive([])[:1] or [()]
    assert chunks == ()
    assert vault.found("quokka5", BOTH) == ["n5.md"]
    assert without.status().unembedded
    again = Indexes(vault.catalog, vault.index, FileLock(tmp_path / "index.lock"), model)
    assert not again.prepare()
    vault.embedder = model()
    derive_pending(vault)
    assert again.prepare()
    assert all_found(vault)


def test_an_apply_is_due_by_number_or_by_quiet(tmp_path: Path) -> None:
    clock = [0.0]
    vault = IndexedVault(tmp_path)
    indexes = Indexes(vault.catalog, vault.index, FileLock(tmp_path / "index.lock"), model, seconds=lambda: clock[0])
    vault.put({"a.md": "one"})
    assert not indexes.apply_if_due(lives_on=False)
    assert not indexes.apply_if_due(lives_on=True)
    clock[0] = 3
    assert not indexes.apply_if_due(lives_on=False)
    assert indexes.apply_if_due(lives_on=True)
    vault.put({f"n{n}.md": "many" for n in range(256)})
    assert not indexes.apply_if_due(lives_on=False)
    assert indexes.apply_if_due(lives_on=True)


def _write_and_search(folder: str, name: str, others: list[str], start, failures) -> None:  # type: ignore[no-untyped-def]
    vault = IndexedVault(Path(folder))
    start.wait()
    for n in range(15):
        path = f"{name}{n}.md"
        vault.put({path: f"{name}word{n} is here"})
        if vault.found(f"{name}word{n}", KEYWORD) != [path]:
            failures.put(f"{path} not found at once by its writer")
        for other in others:
            found = vault.found(f"{other}word{n // 2}", KEYWORD)
            if found not in ([], [f"{other}{n // 2}.md"]):
                failures.put(f"{name} found {found} for {other}")
        if n % 4 == 3:
            vault.applier.apply()
    vault.close()


@pytest.mark.parametrize("count", [2, 4])
def test_processes_that_write_and_search_see_each_write_at_once_and_once(tmp_path: Path, count: int) -> None:
    spawn = multiprocessing.get_context("spawn")
    IndexedVault(tmp_path).close()
    names = [f"p{n}x" for n in range(count)]
    failures = spawn.Queue()
    start = spawn.Barrier(count)
    workers = [
        spawn.Process(
            target=_write_and_search, args=(str(tmp_path), name, [o for o in names if o != name], start, failures)
        )
        for name in names
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(100)
        assert worker.exitcode == 0
    assert failures.empty(), failures.get()
    vault = IndexedVault(tmp_path)
    for _ in range(2):
        for name in names:
            for n in range(15):
                assert vault.found(f"{name}word{n}", KEYWORD) == [f"{name}{n}.md"]
        vault.applier.apply()
