"""Git and the whole product: operations under way, machines without an identity, clones, and reading without trace."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.files.git_vault import isolate, person_git
from tests.integration.product import Product, until
from vault_memory import open_vault
from vault_memory.errors import MalformedNote


@pytest.fixture(params=[False, True], ids=["alone", "watched"])
def make(make: Callable[..., Product], request: pytest.FixtureRequest) -> Callable[..., Product]:
    """Vaults on which nobody else is at work, and ones with a watcher in a process of its own."""

    def one(*arguments: Any, **more: Any) -> Product:
        product = make(*arguments, **more)
        if request.param:
            product.watch()
        return product

    return one


@pytest.mark.parametrize("operation", ["rebase", "merge", "cherry-pick"])
def test_gt_01_nothing_is_committed_while_git_is_at_something(make: Callable[..., Product], operation: str) -> None:
    product = make()
    root = product.root
    person_git(root, "config", "merge.vault-memory.driver", "false")  # the plain conflict, as without our driver
    (root / "plan.md").write_text("the plan\n")
    product.commit_all()
    person_git(root, "switch", "-q", "-c", "side")
    (root / "plan.md").write_text("the plan of the side\n")
    product.commit_all()
    person_git(root, "switch", "-q", "main")
    (root / "plan.md").write_text("the plan of the main line\n")
    product.commit_all()
    (root / ".git/info/attributes").write_text("*.md merge=text\n")
    product.git(operation, "side")
    before = person_git(root, "rev-list", "--all", "--count")
    with open_vault(root) as vm:
        written = vm.remember(content="Written while git waits for a person", title="Meanwhile")
        assert "conflict_markers" in {finding.code for finding in vm.get(refs=["plan.md"]).memories[0].findings}
        assert [hit.memory.path for hit in vm.search(query="plan side").hits] == ["plan.md"]
        with pytest.raises(MalformedNote):
            vm.update(ref="plan.md", content="over it")
        assert any("conflict" in check.detail for check in vm.doctor().checks)
    assert person_git(root, "rev-list", "--all", "--count") == before
    assert "Meanwhile" not in person_git(root, "diff", "--cached", "--name-only")
    (root / "plan.md").write_text("the plan of both\n")
    person_git(root, "add", "plan.md")
    person_git(root, *(["commit", "-q", "--no-edit"] if operation == "merge" else [operation, "--continue"]))
    with open_vault(root) as vm:
        vm.list()
    until(lambda: written.memory.path in commit_all_waiting(product))
    assert "<<<<<<<" not in person_git(root, "log", "-p", "--format=")


def commit_all_waiting(product: Product) -> str:
    with open_vault(product.root) as vm:
        vm._vault.commits.flush()
    return person_git(product.root, "-c", "core.quotePath=false", "ls-files")


@pytest.mark.parametrize("case", ["no identity", "no git", "no repository"])
def test_gt_02_a_write_is_safe_without_identity_git_or_repository(
    make: Callable[..., Product], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    import os
    import sys

    for name, value in isolate(tmp_path / "other home", dict(os.environ), identity=False).items():
        monkeypatch.setenv(name, value)
    settings = (tmp_path / "other home/.gitconfig").read_bytes()
    if case == "no git":
        monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    product = make(init=["--no-git"] if case == "no repository" else [])
    stored = product.ask("remember", "Ships sail at dawn")
    changed = product.ask("update", stored["memory"]["id"], "--content", "Ships sail at noon")
    assert changed["outcome"] == "updated"
    assert product.found("noon") == [stored["memory"]["path"]]
    assert (tmp_path / "other home/.gitconfig").read_bytes() == settings
    told = product.cli("doctor", ok=False).stdout
    versions = product.ask("history", stored["memory"]["id"])["versions"]
    assert len(versions) >= 2 if case == "no identity" else versions
    if case == "no identity":
        assert "commits are made as vault-memory" in told
        assert person_git(product.root, "log", "-1", "--format=%an").strip() == "vault-memory"
    else:
        assert "no commits:" in told


def test_gt_03_reading_leaves_no_trace_in_tracked_files(make: Callable[..., Product]) -> None:
    product = make()
    for n in range(30):
        (product.root / f"n{n}.md").write_text(f"# Note {n}\n\nabout topic {n}\n")
    product.commit_all()
    product.watch()
    before = person_git(product.root, "rev-list", "--count", "HEAD")
    with open_vault(product.root) as vm:
        for n in range(50):
            vm.search(query=f"topic {n % 30}")
        for n in range(20):
            vm.get(refs=[f"n{n}.md"])
        vm.context_pack(query="topic")
        vm.stats()
        note = product.root / "n3.md"
        note.write_bytes(note.read_bytes())
        assert vm.update(ref="n4.md", content=(product.root / "n4.md").read_text()).outcome == "unchanged"
    assert product.stop() == 0
    assert person_git(product.root, "status", "--porcelain") == ""
    assert person_git(product.root, "rev-list", "--count", "HEAD") == before


def test_pt_02_a_clone_is_no_older_or_newer_than_its_history(
    make: Callable[..., Product], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin = make(root=tmp_path / "origin")
    start = datetime.now(UTC).replace(microsecond=0) - timedelta(days=730)
    for n in range(10):
        stated = f"---\nupdated_at: {(start + timedelta(days=70 * n)).isoformat()}\n---\n" if n % 2 else ""
        (origin.root / f"n{n}.md").write_text(f"{stated}quartz {n}\n")
        at = (start + timedelta(days=70 * n)).isoformat()
        monkeypatch.setenv("GIT_AUTHOR_DATE", at), monkeypatch.setenv("GIT_COMMITTER_DATE", at)
        origin.commit_all(f"note {n}")
    monkeypatch.delenv("GIT_AUTHOR_DATE"), monkeypatch.delenv("GIT_COMMITTER_DATE")
    clone = tmp_path / "clone"
    person_git(tmp_path, "clone", "-q", str(origin.root), str(clone))
    week = datetime.now(UTC) - timedelta(days=7)
    with open_vault(clone) as vm:
        listed = [item.path for item in vm.list(sort="updated_at", limit=50, touch=False).items]
        assert listed == [f"n{n}.md" for n in reversed(range(10))]
        assert vm.list(updated_after=week, touch=False).total == 0
        assert [hit.memory.path for hit in vm.recent(limit=2).items] == ["n9.md", "n8.md"]
        (origin.root / "n4.md").write_text("quartz 4, now basalt\n")
        origin.commit_all("touched")
        person_git(clone, "pull", "-q", "--ff-only")
        assert [item.path for item in vm.list(updated_after=week, touch=False).items] == ["n4.md"]
