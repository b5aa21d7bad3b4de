"""What may leave: planned as it is carried out, never the protected, always to be had back."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from tests.operations.conftest import Clock
from vault_memory.errors import ConfirmationNeeded, InvalidRequest
from vault_memory.surfaces.python import VaultMemory


def fill(vm: VaultMemory, root: Path, clock: Clock) -> dict[str, list[str]]:
    """LC-02's vault: pinned, faded, faded but read, expired and fresh ones, a hand-made note and a malformed one."""
    old, made = clock.now - timedelta(days=400), dict[str, list[str]]()
    groups = {
        "pinned": {"pinned": True, "created_at": old, "importance": 0.1},
        "faded": {"created_at": old, "importance": 0.2},
        "read": {"created_at": old, "importance": 0.2},
        "expired": {"expires_at": clock.now - timedelta(days=1)},
        "fresh": {},
    }
    for name, fields in groups.items():
        items = [{"content": f"{name} fact number {n}", **fields} for n in range(10 if name == "fresh" else 5)]
        answer = vm.remember_many(memories=items, on_duplicate="keep_both", force=True)
        made[name] = [result.memory.id for result in answer.results]
    for name in ("pinned", "faded", "read"):
        for ref in made[name]:
            note = root / vm.get(refs=[ref], touch=False).memories[0].path
            note.write_text(note.read_text().replace("updated_at: ", f"updated_at: {old:%Y-%m-%dT%H:%M:%SZ} # was "))
            stamp = old.timestamp()
            os.utime(note, (stamp, stamp))
    for ref in made["read"]:
        vm.touch(ref=ref)
    (root / "README.md").write_text("# Not a memory of the tool\n")
    (root / "bad.md").write_text("---\ntitle: a: b\n---\nunreadable head\n")
    return made


def test_lc_02_the_plan_is_what_the_run_takes_and_all_comes_back(vm: VaultMemory, root: Path, clock: Clock) -> None:
    made = fill(vm, root, clock)
    plan = vm.prune(strategy="by_decay")
    assert sorted(item.ref for item in plan.would_prune) == sorted(made["faded"])
    assert all(item.score <= 0.05 for item in plan.would_prune)
    assert vm.list(status="archived").total == 0
    done = vm.prune(strategy="by_decay", execute=True)
    assert [item.ref for item in done.would_prune] == [item.ref for item in plan.would_prune]
    assert {item.ref for item in vm.list(status="archived", limit=100).items} == set(made["faded"])
    assert not {hit.memory.ref for hit in vm.search(query="faded fact number", limit=50).hits} & set(made["faded"])
    for ref in made["faded"]:
        assert vm.restore(ref=ref).memory.id == ref
    assert (root / "README.md").read_text() == "# Not a memory of the tool\n"
    assert (root / "bad.md").read_text() == "---\ntitle: a: b\n---\nunreadable head\n"


def test_several_strategies_at_once_and_large_shares_want_the_count(vm: VaultMemory, root: Path, clock: Clock) -> None:
    made = fill(vm, root, clock)
    with pytest.raises(InvalidRequest):
        vm.prune(strategy="compose", execute=True)
    with pytest.raises(ConfirmationNeeded) as asked:
        vm.prune(strategy="compose", strategies=["by_decay", "by_importance"], execute=True)
    count = len(asked.value.extra["plan"])
    assert count == len(made["faded"]) + len(made["read"])
    with pytest.raises(ConfirmationNeeded):
        vm.prune(strategy="by_importance", min_importance=0.9, execute=True)
    done = vm.prune(
        strategy="compose", strategies=["by_decay", "by_importance"], execute=True, confirm_count=count, hard=True
    )
    assert done.count == count
    assert vm.list(status="deleted").total == count


@pytest.mark.parametrize("strategy", ["by_age", "by_count"])
def test_without_their_measure_strategies_take_nothing(vm: VaultMemory, strategy: str) -> None:
    vm.remember(content="a fact to keep")
    assert vm.prune(strategy=strategy).count == 0


def test_what_has_expired_is_named_and_then_archived(vm: VaultMemory, root: Path, clock: Clock) -> None:
    made = fill(vm, root, clock)
    assert sorted(item.ref for item in vm.expire().would_prune) == sorted(made["expired"])
    assert vm.list(status="archived").total == 0
    assert vm.expire(execute=True).count == 5
    assert vm.expire().count == 0


def test_lc_01_times_to_come_count_as_now(vm: VaultMemory, root: Path, clock: Clock) -> None:
    ages = {"now": 0, "old": -30, "soon": 10, "far": 3650}
    for name, days in ages.items():
        when = clock.now + timedelta(days=days)
        (root / f"{name}.md").write_text(
            f"---\nid: {name}1\ncreated_at: {when:%Y-%m-%dT%H:%M:%SZ}\nupdated_at: {when:%Y-%m-%dT%H:%M:%SZ}\n"
            f"confidence: 0.8\nversion: 1\n---\nmarzipan recipe {name}\n"
        )
        os.utime(root / f"{name}.md", ((clock.now - timedelta(days=60)).timestamp(),) * 2)
    (root / "ancient.md").write_text("---\nid: ancient1\ncreated: 0001-01-01\n---\nmarzipan recipe ancient\n")
    (root / "undated.md").write_text("marzipan recipe undated\n")
    views = {item.ref: item for item in vm.list(limit=50, touch=False).items}
    factors = {ref: item.decayed_confidence / item.confidence for ref, item in views.items()}
    assert all(0 <= factor <= 1 for factor in factors.values())
    assert factors["soon1"] == factors["far1"] == 1
    assert factors["now1"] == pytest.approx(1, abs=1e-4)
    assert factors["old1"] == pytest.approx(0.5, abs=0.02)
    assert len(vm.search(query="marzipan recipe").hits) == 6
    assert vm.prune(strategy="by_decay").count == 0
    assert any("time to come" in check.detail for check in vm.doctor().checks)


def test_the_plain_orders_do_not_follow_likeness(vm: VaultMemory) -> None:
    first = vm.remember(content="Deploys go through fly.io").memory
    second = vm.remember(content="Rate limit is 100 per minute").memory
    vm.relate(from_ref=second.id, to_ref=first.id)
    assert [item.ref for item in vm.recent().items] == [second.id, first.id]
    assert [item.ref for item in vm.timeline().items] == [first.id, second.id]
    assert [(n.memory.id, n.how) for n in vm.related(ref=first.id).neighbours] == [(second.id, "relates_to")]
    assert vm.touch(ref=first.id).access_count == 1
    drawn = vm.graph()
    assert [(e.source, e.target, e.relation_type) for e in drawn.edges] == [(second.id, first.id, "relates_to")]
    assert {node.ref for node in vm.graph(ref=first.id, depth=1).nodes} == {first.id, second.id}
