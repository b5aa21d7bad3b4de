"""What a process does that lives on: it ends when told to, with nothing left over, and tends what grows."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.files.git_vault import person_git
from tests.integration.product import PROGRAM, Product, until
from vault_memory import open_vault
from vault_memory.errors import RevisionConflict
from vault_memory.files import git_upkeep
from vault_memory.files.lease import Lease
from vault_memory.files.lock import lock_descriptor
from vault_memory.upkeep import Upkeep

INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}  # fmt: skip


@pytest.fixture
def product(make: Callable[..., Product]) -> Product:
    return make()


def test_cc_03_a_field_patch_merges_with_an_edit_by_hand_that_a_look_has_recorded(product: Product) -> None:
    with open_vault(product.root) as vm:
        read = vm.remember(content="one\ntwo\n", title="Plan")
        note = product.root / read.memory.path
        note.write_text(note.read_text() + "do not ship on friday\n")
        vm.list()
        note.write_text(note.read_text() + "nor on monday\n")
        vm.list()
        merged = vm.update(ref=read.memory.id, importance=0.9, if_revision=read.revision)
        assert merged.outcome == "updated"
        assert "friday\nnor on monday\n" in note.read_text()
        note.write_text(note.read_text().replace("importance: 0.9", "importance: 0.2"))
        vm.list()
        with pytest.raises(RevisionConflict):
            vm.update(ref=read.memory.id, importance=0.5, if_revision=merged.revision)


def test_a_checkout_of_many_notes_keeps_no_bases(product: Product) -> None:
    for n in range(60):
        (product.root / f"n{n}.md").write_text("before\n")
    with open_vault(product.root) as vm:
        vm.list()
        for n in range(60):
            (product.root / f"n{n}.md").write_text("after\n")
        vm.list()
        assert not list(vm._vault.versions.list("n1.md"))


def test_a_question_leaves_a_first_index_to_the_process_that_is_at_it(product: Product) -> None:
    (product.root / "quick.md").write_text("quartz\n")
    lease = Lease(product.root / ".vault-memory/state/watcher.lease")
    assert lease.take()
    with open_vault(product.root) as vm:
        lease.beat(0, left=6_000)
        busy = vm.search(query="quartz")
        assert busy.hits == ()
        assert any("indexing: 6000 notes to go" in warning for warning in busy.warnings)
        lease.beat(0)
        assert [hit.memory.path for hit in vm.search(query="quartz").hits] == ["quick.md"]
    lease.release()


def test_bases_go_after_a_week_and_commits_get_an_index(product: Product, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_upkeep, "NEW_COMMITS", 3)
    for n in range(4):
        (product.root / "a.md").write_text(f"text {n}\n")
        product.commit_all()
    now = [datetime.now(UTC)]
    with open_vault(product.root, clock=lambda: now[0]) as vm:
        vault = vm._vault
        vm.list()
        (product.root / "a.md").write_text("by hand\n")
        vm.list()
        assert len(vault.versions.list("a.md")) == 1
        upkeep = Upkeep(vault, watch=False)
        assert vault.lease.take()
        upkeep._chores()
        assert len(vault.versions.list("a.md")) == 1
        assert (product.root / ".git/objects/info/commit-graphs").is_dir()
        now[0] += timedelta(days=8)
        upkeep._chores()
        assert not vault.versions.list("a.md")
        assert vault.catalog.meta("commits_indexed") == 5
        vault.lease.release()


def test_watching_a_small_vault_never_loads_lancedb(product: Product) -> None:
    (product.root / "by hand.md").write_text("# By hand\n\napricots ripen in June\n")
    product.watch()
    with open_vault(product.root) as vm:
        catalog = vm._vault.catalog
        until(lambda: catalog.generation and catalog.meta("applied_vectors") == catalog.generation)
        time.sleep(1.5)  # two ticks
        assert not catalog.meta("applied_lancedb")
    assert product.watcher is not None
    assert "lancedb" not in Path(f"/proc/{product.watcher.pid}/maps").read_text()


@pytest.mark.parametrize("filled_before", [False, True])
def test_watch_keeps_lancedb_filled_and_ends_on_sigterm_with_everything_committed(
    product: Product, filled_before: bool
) -> None:
    if filled_before:
        (product.root / "first.md").write_text("plums\n")
        product.cli("reindex", "--lancedb")
    else:
        (product.root / ".vault-memory/config.toml").write_text("[index]\nlancedb_from = 1\n")
    product.watch()
    product.cli("remember", "Deploys go through fly.io")
    (product.root / "by hand.md").write_text("# By hand\n\napricots ripen in June\n")
    until(lambda: product.found("apricots") == ["by hand.md"])
    with open_vault(product.root) as vm:
        until(lambda: vm._vault.catalog.meta("applied_lancedb") == vm._vault.catalog.generation, 60)
        vm.remember(content="The last word before the end, with a port 5433")
        assert vm._vault.commits.waiting == ""
    assert product.stop() == 0
    assert "5433" in person_git(product.root, "log", "-p", "--format=%s")
    by_hand = {"first.md", '"by hand.md"', ".vault-memory/config.toml"}
    assert {line[3:] for line in product.git("status", "--porcelain").stdout.splitlines()} <= by_hand
    with (product.root / ".vault-memory/state/vault.lock").open("ab") as lock:
        assert lock_descriptor(lock.fileno())


def test_mc_04_an_mcp_server_ends_on_sigterm_with_its_writes_committed(product: Product, tmp_path: Path) -> None:
    arguments = ["mcp", "--vault", str(product.root), "--project", "*"]
    server = subprocess.Popen(
        [*PROGRAM, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert server.stdin is not None
    assert server.stdout is not None
    call = {"name": "remember", "arguments": {"content": "marzipan is made of almonds and sugar"}}
    for message in (
        INITIALIZE,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ):
        server.stdin.write(json.dumps(message) + "\n")
        server.stdin.flush()
    assert json.loads(server.stdout.readline())["id"] == 1
    assert "stored" in server.stdout.readline()
    server.send_signal(signal.SIGTERM)
    assert server.wait(timeout=20) == 0
    assert "Traceback" not in server.communicate()[1]
    assert "marzipan" in person_git(product.root, "log", "-p", "--format=%s")


def test_after_a_switch_only_notes_that_the_branches_hold_or_date_otherwise_are_judged_anew(product: Product) -> None:
    for name in ("same", "other", "dated"):
        (product.root / f"{name}.md").write_text(f"{name}\n")
    product.commit_all()
    person_git(product.root, "switch", "-q", "-c", "side")
    (product.root / "other.md").write_text("otherwise\n")
    (product.root / "dated.md").write_text("changed and\n")
    product.commit_all()
    (product.root / "dated.md").write_text("dated\n")
    product.commit_all("changed back: the same bytes, of another date")
    with open_vault(product.root) as vm:
        vm.list()
        judged = vm._vault.sync._reader.provenances
        side = judged.head
        person_git(product.root, "switch", "-q", "main")
        assert judged.changed_since(side) == {"other.md", "dated.md"}
        vm.list()
        main = judged.head
        person_git(product.root, "commit", "-q", "--amend", "-m", "another parent for nothing else")
        assert judged.changed_since(main) == set()
        assert judged.changed_since("0" * 40) is None
