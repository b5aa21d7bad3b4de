"""doctor and status through the command line: what they see, what they mend, and the exit code that tells."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import pytest

from tests.files.git_vault import person_git
from tests.integration.product import Product
from vault_memory.files import githooks

SECRET = "ghp_" + "a8Kd93mLqP02xZtYvB47cNwR61sHfJ5uEoGi"


@pytest.fixture
def product(make: Callable[..., Product]) -> Product:
    return make()


def lines(product: Product, *options: str, code: int = 0) -> list[str]:
    done = product.cli("doctor", *options, ok=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_a_sound_vault_has_no_problem(product: Product) -> None:
    product.cli("remember", "Deploys go through fly.io")
    shown = lines(product)
    assert shown[-1] == "no problems"
    assert {line[0] for line in shown[:-1] if not line.startswith(" ")} <= {"✓", "!"}


def test_what_is_wrong_with_a_note_is_named_with_its_line(product: Product) -> None:
    (product.root / "b.md").write_text("---\ntitle: [x\n---\ny\n")
    (product.root / "c.md").write_text("text\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n")
    report = product.ask("status")  # a report, not a verdict: its exit code is 0
    assert {finding["path"] for finding in report["findings"]} == {"b.md", "c.md"}
    shown = "\n".join(lines(product, code=3))
    assert "✗ notes        b.md:3:" in shown
    assert "✗ notes        c.md:2:" in shown
    assert "2 to mend" in shown


def test_secrets_are_found_in_notes_and_in_their_history_and_never_shown(product: Product) -> None:
    (product.root / "old.md").write_text(f"key {SECRET}\n")
    product.commit_all()
    (product.root / "old.md").write_text("key is in the safe\n")
    (product.root / "new.md").write_text(f"one\ntwo {SECRET}\n")
    assert not any(line[2:9] == "secrets" for line in lines(product))
    shown = "\n".join(lines(product, "--secrets", code=3))
    assert "new.md:2:" in shown
    assert "old.md" not in shown
    shown = "\n".join(lines(product, "--secrets", "--history", "--actor", "*", code=3))
    assert "an earlier text of old.md (line 1)" in shown
    assert SECRET not in shown


def test_fix_removes_a_lock_that_git_left_over_and_sets_the_merge_driver_up(product: Product) -> None:
    lock = product.root / ".git" / "index.lock"
    lock.write_bytes(b"")
    old = time.time() - 7200
    os.utime(lock, (old, old))
    person_git(product.root, "config", "--unset", "merge.vault-memory.driver")
    assert "left over" in "\n".join(lines(product, code=3))
    lines(product, "--fix")
    assert not lock.exists()
    assert "git-merge" in person_git(product.root, "config", "merge.vault-memory.driver")


def test_half_of_the_hooks_are_a_problem_and_none_are_not(product: Product) -> None:
    assert "not installed" in "\n".join(lines(product))
    product.cli("init", str(product.root), "--git-hooks")
    assert "✓ git hooks    in place" in lines(product)
    (product.root / ".git" / "hooks" / githooks.HOOKS[0]).unlink()
    assert f"✗ git hooks    {githooks.HOOKS[0]} missing" in "\n".join(lines(product, code=3))


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every folder")
def test_a_folder_that_cannot_be_read_is_named_with_a_way_out(product: Product) -> None:
    folder = product.root / "private"
    folder.mkdir()
    folder.chmod(0)
    try:
        assert "notes.ignore" in "\n".join(lines(product, code=3))
    finally:
        folder.chmod(0o755)


def test_status_tells_of_every_part(product: Product) -> None:
    product.cli("remember", "Deploys go through fly.io")
    shown = product.cli("status").stdout
    assert all(f"✓ {part}" in shown for part in ("notes", "index", "watcher", "git"))


def test_a_connected_agent_whose_command_is_gone_is_a_problem(product: Product) -> None:
    product.cli("connect", "cursor", "--force", "--no-check", "--yes")
    assert "✓ Cursor       connected" in lines(product)
    receipts = list((product.root.parent / "home").rglob("cursor*.json"))
    text = next(r for r in receipts if "connections" in str(r)).read_text()
    assert "vault" in text
    product.cli("connect", "cursor", "--force", "--no-check", "--yes", "--profile", "full")
    settings = next(r for r in (product.root.parent / "home" / ".cursor").glob("mcp.json"))
    settings.write_text("{}")
    assert "✗ Cursor" in "\n".join(lines(product, code=3))


def test_a_command_in_a_listed_repository_speaks_for_its_project(product: Product) -> None:
    work = product.root.parent / "work"
    work.mkdir()
    person_git(work, "init", "-q", "-b", "main")
    (work / "x").write_text("x")
    person_git(work, "add", "x"), person_git(work, "commit", "-q", "-m", "x")
    vault = ("--vault", str(product.root))
    product.cli("remember", "A fact of everybody", *vault, at=work)
    product.cli("project", "bind", "widgets", *vault, at=work)
    product.cli("remember", "Widgets are made of brass", *vault, at=work)
    product.cli("remember", "Gadgets are made of tin", "--project", "gadgets")

    def contents(*options: str) -> set[str]:
        import json

        document = json.loads(product.cli("list", *options, "--json", *vault, at=work).stdout)
        return {item["content"].split()[0] for item in document["items"]}

    assert contents() == {"A", "Widgets"}
    assert contents("--project", "*") == {"A", "Widgets", "Gadgets"}
    assert {item["project"] for item in product.ask("list")["items"]} == {None, "widgets", "gadgets"}
