"""What is recorded: rows, generations, exact statistics, tombstones; all of a transaction or nothing."""

from __future__ import annotations

import sqlite3
import struct
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.index.vaults import NOW, chunk, record
from vault_memory.files.scan import Known
from vault_memory.files.stat import Stat
from vault_memory.index.catalog import Catalog
from vault_memory.index.rows import BadFile, Record
from vault_memory.memory.model import Finding
from vault_memory.memory.scope import UNBOUND


def table(catalog: Catalog, query: str) -> list[tuple[object, ...]]:
    with catalog.reading() as sql:
        return sql.execute(query).fetchall()


def test_each_note_and_each_removal_takes_the_next_generation(catalog: Catalog) -> None:
    assert catalog.record([record("a.md"), record("b.md")]) == 2
    assert [catalog.get(p, UNBOUND).generation for p in ("a.md", "b.md")] == [1, 2]  # type: ignore[union-attr]
    assert catalog.record([record("a.md", "other")], ["b.md"]) == 4
    assert catalog.get("a.md", UNBOUND).generation == 4  # type: ignore[union-attr]
    assert catalog.record([], ["never-there.md"]) == 4
    assert catalog.generation == 4


def test_a_note_keeps_its_key_and_chunks_never_do(catalog: Catalog) -> None:
    catalog.record([record("a.md", chunks=[chunk("x")])])
    note, key = table(catalog, "SELECT note, chunk FROM chunks")[0]
    catalog.record([record("a.md", "new", chunks=[chunk("x")])])
    catalog.record([], ["a.md"])
    catalog.record([record("a.md", chunks=[chunk("x")])])
    again, new_key = table(catalog, "SELECT note, chunk FROM chunks")[0]
    assert again != note
    assert new_key > key + 1


def test_replaced_and_removed_chunks_leave_tombstones_with_the_generation_of_the_change(catalog: Catalog) -> None:
    catalog.record([record(p, chunks=[chunk("x", n=0), chunk("y", n=1)]) for p in ("a.md", "b.md", "c.md")])
    with catalog.writing() as sql:
        sql.execute("UPDATE chunks SET row = chunk * 10")
    catalog.record([record("new.md"), record("b.md", "other", chunks=[chunk("z")])], ["a.md"])
    graves = table(catalog, "SELECT path, row, generation FROM gone ORDER BY chunk")
    assert graves == [("a.md", 10, 4), ("a.md", 20, 4), ("b.md", 30, 6), ("b.md", 40, 6)]
    assert table(catalog, "SELECT generation FROM chunks WHERE terms = 'z'") == [(6,)]


words = st.sampled_from(["red", "green", "blue", "grey"])
chunk_lists = st.lists(st.lists(words, max_size=4), max_size=3)
steps = st.lists(
    st.lists(st.tuples(st.sampled_from("abcd"), st.none() | chunk_lists), min_size=1, max_size=4),
    min_size=1,
    max_size=6,
)


def chunked(path: str, lists: list[list[str]]) -> Record:
    made = []
    for n, terms in enumerate(lists):
        ids = sorted({len(term) for term in terms})
        made.append(chunk(*terms, n=n, tokens=struct.pack(f"<{len(ids)}H", *ids)))
    return record(f"{path}.md", chunks=made)


@given(steps=steps)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
def test_statistics_are_those_of_the_chunks_that_exist(
    catalog: Catalog, steps: list[list[tuple[str, list[list[str]] | None]]]
) -> None:
    for step in steps:
        removed = [f"{path}.md" for path, lists in step if lists is None]
        catalog.record([chunked(path, lists) for path, lists in step if lists is not None], removed)
    bags = [str(terms).split() for (terms,) in table(catalog, "SELECT terms FROM chunks")]
    frequencies = Counter(term for bag in bags for term in set(bag))
    assert dict(table(catalog, "SELECT term, df FROM terms")) == frequencies  # type: ignore[arg-type]
    lengths = Counter(n for bag in bags for n in {len(term) for term in bag})
    assert dict(table(catalog, "SELECT token, df FROM token_df")) == lengths  # type: ignore[arg-type]
    assert catalog.meta("chunk_count") == len(bags)
    assert catalog.meta("total_length") == sum(map(len, bags))


def test_token_ids_of_four_bytes_are_counted_as_such(catalog: Catalog) -> None:
    catalog.expect("a model with many tokens", token_bytes=4)
    catalog.record([record(chunks=[chunk("x", tokens=struct.pack("<2I", 7, 70_000))])])
    assert table(catalog, "SELECT * FROM token_df") == [(7, 1), (70_000, 1)]


def test_a_failure_in_the_middle_records_nothing(catalog: Catalog) -> None:
    catalog.record([record("a.md", chunks=[chunk("x")])])
    with catalog.reading() as sql:
        before = list(sql.iterdump())
    broken = record("c.md", chunks=[replace(chunk("y"), heading=None)])  # type: ignore[type-var]
    with pytest.raises(sqlite3.IntegrityError):
        catalog.record([record("a.md", "other"), record("b.md"), broken], ["a.md"])
    with catalog.reading() as sql:
        assert list(sql.iterdump()) == before


def test_of_two_records_for_one_path_the_last_counts(catalog: Catalog) -> None:
    catalog.record([record("a.md", "first"), record("a.md", "second")])
    assert catalog.source("a.md", UNBOUND) == b"second"


def test_a_file_without_text_takes_the_place_of_the_note_and_is_named(catalog: Catalog) -> None:
    catalog.record([record("a.md", chunks=[chunk("x")])])
    known = Known(Stat(3, 5, 7), 11)
    bad = BadFile("a.md", known, Finding("not_text", "is no text"))
    catalog.record([], [], [bad])
    assert catalog.get("a.md", UNBOUND) is None
    assert catalog.known() == {"a.md": known}
    assert [(f.path, f.finding.code) for f in catalog.findings(UNBOUND)] == [("a.md", "not_text")]
    assert len(table(catalog, "SELECT * FROM gone")) == 1
    catalog.record([record("a.md")])
    assert catalog.findings(UNBOUND) == []


def test_an_older_look_at_a_file_never_replaces_a_newer_one(catalog: Catalog) -> None:
    catalog.record([record("a.md", "as scanned"), record("b.md"), record("c.md")])
    scan = dict(catalog.known())
    newer = replace(record("a.md", "written meanwhile"), file=Known(Stat(9, 9, 9), 99))
    catalog.record([newer, record("d.md", "created meanwhile")])
    asked = {path: scan.get(path) for path in ("a.md", "b.md", "d.md")}
    catalog.record([record("a.md", "stale"), record("b.md", "read")], ["d.md"], unless_changed=asked)
    texts = {path: catalog.source(path, UNBOUND) for path in ("a.md", "b.md", "d.md")}
    assert texts == {"a.md": b"written meanwhile", "b.md": b"read", "d.md": b"created meanwhile"}


def test_notes_recorded_without_chunks_wait_for_them(catalog: Catalog) -> None:
    catalog.record([record("a.md"), record("b.md"), record("c.md", chunks=[])])
    assert catalog.underived_count() == 2
    rows = catalog.underived(10)
    assert [row.memory.path for row in rows] == ["a.md", "b.md"]
    catalog.record([record("b.md", "changed meanwhile")])
    catalog.derive([(row, [chunk(row.memory.path)]) for row in rows])
    assert table(catalog, "SELECT terms FROM chunks") == [("a.md",)]
    assert [row.memory.path for row in catalog.underived(10)] == ["b.md"]
    assert catalog.meta("chunk_count") == 1


def test_another_fingerprint_drops_every_chunk_and_all_statistics(catalog: Catalog) -> None:
    assert catalog.expect("one") is True
    catalog.record([record("a.md", chunks=[chunk("x", tokens=b"\x05\x00")])])
    catalog.set_meta(applied_text=1, applied_vectors=1)
    assert catalog.expect("one") is False
    assert catalog.expect("two") is True
    for name in ("chunks", "terms", "token_df", "gone"):
        assert table(catalog, f"SELECT * FROM {name}") == []
    assert [catalog.meta(k) for k in ("chunk_count", "total_length", "applied_text", "applied_vectors")] == [0, 0, 0, 0]
    assert catalog.underived_count() == 1


def test_touching_changes_times_and_numbers_and_nothing_else(catalog: Catalog) -> None:
    catalog.record([record("a.md", chunks=[chunk("x")])])
    before = catalog.get("a.md", UNBOUND)
    later = NOW.replace(hour=13)
    known = Known(Stat(1, 2, 3), 4)
    assert catalog.touch({"a.md": known}, {"a.md": (NOW, later)}) == 2
    after = catalog.get("a.md", UNBOUND)
    assert before is not None
    assert after is not None
    assert after.memory == replace(before.memory, updated_at=later)
    assert catalog.known()["a.md"] == known
    assert catalog.touch({}, {"a.md": (NOW, later)}) == 2


def test_a_purged_text_is_in_none_of_the_catalogs_files(catalog: Catalog, tmp_path: Path) -> None:
    secret = "heliotrope-secret-" * 40
    catalog.record([record(f"n{n}.md", f"plain text {n}\n" * 30) for n in range(50)])
    catalog.record([record("a.md", secret, title=secret, tags=(secret,), chunks=[chunk("heliotrope-secret-")])])
    catalog.record([record("a.md", f"{secret} twice", chunks=[chunk("heliotrope-secret-")])])
    assert holders(tmp_path) != []
    catalog.purge("a.md")
    assert holders(tmp_path) == []


def holders(folder: Path) -> list[str]:
    files = [place for place in folder.rglob("*") if place.is_file()]
    return [place.name for place in files if b"heliotrope" in place.read_bytes()]


def test_tallies_of_kinds_are_exact_after_changes_of_kind(catalog: Catalog) -> None:
    catalog.record([record(f"n{n}.md", status="active", project="p") for n in range(3)])
    catalog.record([record("n0.md", status="deleted", project="p"), record("n1.md", status="active")], ["n2.md"])
    counted = table(catalog, "SELECT status, project, notes FROM kinds ORDER BY 1, 2")
    assert counted == [("active", None, 1), ("deleted", "p", 1)]


def test_foreign_rows_are_refused_by_the_schema(catalog: Catalog) -> None:
    with pytest.raises(sqlite3.IntegrityError), catalog.writing() as sql:
        sql.execute("INSERT INTO note_tags VALUES ('x', 999, 0, 1)")
