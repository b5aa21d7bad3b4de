"""What was recorded is found at once, in every process, whatever the indexes have applied."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.index.indexed_vault import KEYWORD, NOW, SEMANTIC, IndexedVault, memory
from vault_memory.memory.filter import Filter
from vault_memory.memory.scope import UNBOUND, Scope

NOTES = {
    "port.md": "Postgres for billing listens on 5433",
    "fish.md": "The aquarium needs fresh water every week",
    "deploy.md": "We deploy with fly.io on Fridays",
}


@pytest.mark.parametrize("applied", [False, True], ids=["pending", "applied"])
def test_a_note_is_found_by_its_words_and_by_its_meaning(tmp_path: Path, applied: bool) -> None:
    vault = IndexedVault(tmp_path)
    vault.put(NOTES)
    if applied:
        assert vault.applier.apply()
        assert vault.applier.pending() == 0
    assert vault.found("billing 5433", KEYWORD) == ["port.md"]
    assert vault.found("PostgreSQL invoices", SEMANTIC)[0] == "port.md"
    assert vault.found("fish tank", SEMANTIC)[0] == "fish.md"


def test_changed_and_removed_notes_are_hidden_in_the_index_before_it_has_applied_them(tmp_path: Path) -> None:
    vault = IndexedVault(tmp_path)
    vault.put(NOTES)
    vault.applier.apply()
    vault.put({"port.md": "Redis holds the sessions"})
    vault.remove("fish.md")
    for _ in range(2):
        assert vault.found("billing 5433", KEYWORD) == []
        assert vault.found("aquarium", KEYWORD) == []
        assert vault.found("redis sessions", KEYWORD) == ["port.md"]
        assert "fish.md" not in vault.found("fish tank", SEMANTIC)
        vault.applier.apply()


def test_another_reader_sees_every_write_in_its_next_search(tmp_path: Path) -> None:
    writer, reader = IndexedVault(tmp_path), IndexedVault(tmp_path)
    for n in range(12):
        writer.put({f"n{n}.md": f"the marker word zebra{n} stands here"})
        if n % 5 == 4:
            writer.applier.apply()
        assert reader.found(f"zebra{n}", KEYWORD) == [f"n{n}.md"]
        assert reader.found(f"the marker word zebra{n}", SEMANTIC)[0].startswith("n")
        if n % 3 == 2:
            writer.remove(f"n{n}.md")
            assert reader.found(f"zebra{n}", KEYWORD) == []


def test_statistics_are_exact_while_chunks_are_pending(tmp_path: Path) -> None:
    vault, fresh = IndexedVault(tmp_path / "a"), IndexedVault(tmp_path / "b")
    vault.put(NOTES)
    vault.applier.apply()
    vault.put({f"n{n}.md": "water on Fridays" for n in range(5)})
    vault.remove("deploy.md")
    fresh.put({path: text for path, text in NOTES.items() if path != "deploy.md"})
    fresh.put({f"n{n}.md": "water on Fridays" for n in range(5)})
    fresh.applier.apply()
    for words in ("water", "fridays billing", "on"):
        assert vault.values(words) == fresh.values(words)


def test_scope_and_filters_hold_for_pending_and_applied_chunks_alike(tmp_path: Path) -> None:
    vault = IndexedVault(tmp_path)
    notes = [
        memory("a.md", "kiwi one", project="acme", tags=("fruit", "two words")),
        memory("b.md", "kiwi two", project="beta"),
        memory("c.md", "kiwi three", actor="ann"),
        memory("d.md", "kiwi four", status="archived"),
        memory("e.md", "kiwi five", session="s1"),
    ]
    for _ in range(2):
        vault.put(notes)
        assert sorted(vault.found("kiwi", KEYWORD, Filter(), Scope("acme", None))) == ["a.md", "d.md", "e.md"]
        assert vault.found("kiwi", SEMANTIC, Filter(), Scope("acme", "ann")) == ["c.md"]
        assert vault.found("kiwi", KEYWORD, Filter(statuses=("active",)), Scope(None, None)) == ["e.md"]
        assert vault.found("kiwi", KEYWORD, Filter(tag="two words")) == ["a.md"]
        assert vault.found("kiwi", SEMANTIC, Filter(tags=("fruit", "none"))) == ["a.md"]
        assert vault.found("kiwi", KEYWORD, Filter(session="s1")) == ["e.md"]
        assert vault.found("kiwi", SEMANTIC, Filter(session="none")) == []
        assert vault.found("kiwi", KEYWORD, Filter(q="four")) == ["d.md"]
        vault.applier.apply()


def test_a_narrow_filter_starves_no_list(tmp_path: Path) -> None:
    vault = IndexedVault(tmp_path)
    many = [memory(f"n{n:04}.md", f"walnut cake number {n}") for n in range(1_500)]
    few = [memory(f"z{n}.md", "walnut " + "and other things " * 9, tags=("rare",), project="p") for n in range(3)]
    vault.put(many + few)
    for _ in range(2):
        for wanted in (Filter(tag="rare"), Filter(project="p"), Filter(q="other things")):
            assert sorted(vault.found("walnut cake", KEYWORD, wanted)) == ["z0.md", "z1.md", "z2.md"]
            assert sorted(vault.found("walnut cake", SEMANTIC, wanted)) == ["z0.md", "z1.md", "z2.md"]
        vault.applier.apply()


def test_equal_notes_beyond_the_lists_length_are_cut_by_ref_and_not_by_chance(tmp_path: Path) -> None:
    forward, backward = IndexedVault(tmp_path / "a"), IndexedVault(tmp_path / "b")
    paths = [f"n{n:04}.md" for n in range(500)]
    forward.put([memory(path, "the same walnut", title="same") for path in paths])
    backward.put([memory(path, "the same walnut", title="same") for path in reversed(paths)])
    for vault in (forward, backward):
        vault.applier.apply()
        assert vault.found("walnut", KEYWORD) == paths[:60]
        assert vault.found("walnut", SEMANTIC) == paths[:40]


def test_a_word_that_no_note_holds_finds_terms_that_contain_it(tmp_path: Path) -> None:
    vault = IndexedVault(tmp_path)
    vault.put(
        {"a.md": "authentication by oauth tokens", "b.md": "unrelated text", "c.md": "commit 9fceb02d0ae598e95dc9"}
    )
    for _ in range(2):
        assert vault.found("auth", KEYWORD) == ["a.md"]
        assert vault.found("9fceb02", KEYWORD) == ["c.md"]
        assert vault.found("zq", KEYWORD) == []
        vault.applier.apply()


def test_neighbours_of_a_log_join_the_candidates(tmp_path: Path) -> None:
    vault = IndexedVault(tmp_path)
    turns = [
        memory(f"t{n}.md", text, title="", session="chat", memory_type="interaction", id=f"id{n}")
        for n, text in enumerate(["hello", "what is new", "the xylophone broke", "oh no", "so sad", "bye"])
    ]
    work = [memory(f"w{n}.md", f"decision {n}", session="work") for n in range(8)]
    vault.put(turns + work)
    for _ in range(2):
        got = vault.gather("xylophone", KEYWORD)
        assert [fact.path for fact in got.facts] == ["t1.md", "t2.md", "t3.md"]
        assert got.previous.tolist() == [-1, 0, 1]
        assert got.next.tolist() == [1, 2, -1]
        assert got.before.any(axis=1).tolist() == [True, True, True]
        assert got.session.tolist() == [0, 0, 0]
        assert vault.gather("decision", KEYWORD).session.tolist() == [-1] * 8
        vault.applier.apply()


def test_a_note_that_expires_between_two_searches_is_no_neighbour_any_more(tmp_path: Path) -> None:
    vault = IndexedVault(tmp_path)
    texts = ["hello", "what is new", "the xylophone broke", "oh no", "so sad", "bye", "and again"]
    until = [NOW + timedelta(hours=1) if n == 1 else None for n in range(len(texts))]
    vault.put([
        memory(f"t{n}.md", text, session="chat", memory_type="interaction", id=f"id{n}", expires_at=until[n])
        for n, text in enumerate(texts)
    ])  # fmt: skip

    def candidates(hours: int) -> list[str]:
        moment = NOW + timedelta(hours=hours)
        got = vault.source.gather("xylophone", Filter(), UNBOUND, now=moment, sizes=KEYWORD)
        return [fact.path for fact in got.facts]

    assert candidates(0) == ["t1.md", "t2.md", "t3.md"]
    assert candidates(1) == candidates(2) == ["t0.md", "t2.md", "t3.md"]
    assert candidates(0) == ["t1.md", "t2.md", "t3.md"]


def test_notes_of_one_id_come_by_path_whatever_was_recorded_first(tmp_path: Path) -> None:
    found = []
    for number, paths in enumerate([("b.md", "a.md"), ("a.md", "b.md")]):
        vault = IndexedVault(tmp_path / str(number))
        for path in paths:
            vault.put([memory(path, "walnut cake", id="same")])
        vault.applier.apply()
        found.append((vault.found("walnut", KEYWORD), vault.found("walnut", SEMANTIC)))
        vault.close()
    assert found == [(["a.md", "b.md"], ["a.md", "b.md"])] * 2
