"""merge joins without losing text; find_duplicates names pairs and what differs, and changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from vault_memory import init_vault, open_vault
from vault_memory.errors import InvalidRequest
from vault_memory.surfaces.python import VaultMemory


@pytest.fixture
def vm(tmp_path: Path) -> Iterator[VaultMemory]:
    init_vault(tmp_path)
    with open_vault(tmp_path, environ={}, actor="*") as opened:
        yield opened


def test_merge_takes_the_most_important_as_base_and_archives_the_others(vm: VaultMemory) -> None:
    low = vm.remember(content="Caches are warm", tags=["a", "b"], importance=0.2).memory
    high = vm.remember(content="Queues are long", tags=["b", "c"], importance=0.9).memory
    merged = vm.merge(refs=[low.id, high.id]).memory
    assert merged.id == high.id
    assert merged.content == "Queues are long\n\n---\n\nCaches are warm\n"
    assert merged.tags == ("b", "c", "a")
    assert len(merged.relations["merged_from"]) == 1
    assert vm.get(refs=[low.id]).memories[0].status == "archived"


def test_merge_does_not_append_a_repetition(vm: VaultMemory) -> None:
    one = vm.remember(content="Caches are warm").memory
    two = vm.remember(content="caches are warm.", on_duplicate="keep_both").memory
    assert vm.merge(refs=[one.id, two.id]).memory.content == "Caches are warm"


def test_merge_refuses_one_memory_and_memories_of_two_owners(vm: VaultMemory) -> None:
    one = vm.remember(content="Caches are warm", actor="a").memory
    two = vm.remember(content="Queues are long", actor="b").memory
    for refs in ([one.id, one.id], [one.id, two.id]):
        with pytest.raises(InvalidRequest):
            vm.merge(refs=refs)


def test_pairs_are_named_with_what_differs_and_nothing_changes(vm: VaultMemory) -> None:
    for text in (
        "Ticket PROJ-1042 tracks the login bug", "Ticket proj-1042 tracks the login bug",
        "Rate limit is 100 requests", "Rate limit is 1000 requests", "Lions sleep", "lions sleep.",
        "Unrelated whales sing",
    ):  # fmt: skip
        vm.remember(content=text, on_duplicate="keep_both")
    before = vm._vault.catalog.generation
    found = vm.find_duplicates(threshold=0.8).items
    kinds = {(pair.kind, pair.differs) for pair in found}
    assert ("duplicate", "") in kinds
    assert ("spelling", "the identifier differs: PROJ-1042 → proj-1042") in kinds
    assert ("changed", "the number differs: 100 → 1000") in kinds
    assert not any("whales" in pair.older.content + pair.newer.content for pair in found)
    assert all(0 <= pair.overlap <= 1 for pair in found)
    assert vm._vault.catalog.generation == before


def test_memories_of_different_actors_are_no_pair(vm: VaultMemory) -> None:
    for actor in ("a", "b"):
        vm.remember(content="Lions sleep", actor=actor)
    assert vm.find_duplicates().total == 0
