"""The git hooks with the real git and the real program: what they keep in step, and what they keep out."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.files.git_vault import person_git
from tests.integration.product import Product, until
from vault_memory.files.githooks import HOOKS

SECRET = "ghp_" + "a8Kd93mLqP02xZtYvB47cNwR61sHfJ5uEoGi"


@pytest.fixture
def product(make: Callable[..., Product]) -> Product:
    return make(init=["--git-hooks"])


def known_titles(product: Product) -> set[str]:
    """What the catalog knows without a look at the disk."""
    from vault_memory import open_vault
    from vault_memory.memory.scope import UNBOUND

    with open_vault(product.root) as vm:
        return set(vm._vault.catalog.paths(UNBOUND))


def test_a_pull_is_in_the_index_before_anybody_asks(product: Product, tmp_path: Path) -> None:
    product.cli("list")
    clone = tmp_path / "clone"
    person_git(product.root, "clone", "-q", str(product.root), str(clone))
    (clone / "from afar.md").write_text("# From afar\n\nwritten on the other machine\n")
    person_git(clone, "add", "-A"), person_git(clone, "commit", "-q", "-m", "afar", "--no-verify")
    assert "from afar.md" not in known_titles(product)
    person_git(product.root, "pull", "-q", "--ff-only", str(clone), "main")
    until(lambda: "from afar.md" in known_titles(product))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n", "bad.md:2:"),
        ("---\ntitle: [unclosed\n---\nx\n", "bad.md"),
        (f"deploy with {SECRET}\n", "bad.md:1: it looks like a secret"),
    ],
)
def test_a_note_that_must_not_be_committed_is_named(product: Product, text: str, reason: str) -> None:
    (product.root / "bad.md").write_text(text)
    person_git(product.root, "add", "bad.md")
    done = product.git("commit", "-m", "by hand")
    assert done.returncode != 0
    assert reason in done.stderr
    assert SECRET not in done.stderr + done.stdout
    assert product.git("commit", "-m", "by hand", "--no-verify").returncode == 0


def test_a_commit_of_one_file_is_judged_by_what_it_commits(product: Product) -> None:
    """`git commit FILE` uses an index of its own, which the hook is told of."""
    (product.root / "good.md").write_text("fine\n")
    person_git(product.root, "add", "good.md"), person_git(product.root, "commit", "-q", "-m", "good")
    (product.root / "good.md").write_text("fine, and more\n")
    (product.root / "bad.md").write_text("<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n")
    person_git(product.root, "add", "bad.md")
    assert product.git("commit", "-q", "-m", "one", "good.md").returncode == 0
    assert product.git("commit", "-q", "-m", "all").returncode != 0


def test_hooks_come_and_go_and_leave_what_was_there(product: Product) -> None:
    folder = product.root / ".git" / "hooks"
    assert all((folder / name).exists() for name in HOOKS)
    assert product.cli("init", str(product.root), "--no-git-hooks").returncode == 0
    assert not any((folder / name).exists() for name in HOOKS)
    (folder / "pre-commit").write_text("#!/bin/sh\nexit 1\n")
    (folder / "pre-commit").chmod(0o755)
    product.cli("init", str(product.root), "--git-hooks")
    (product.root / "good.md").write_text("fine\n")
    person_git(product.root, "add", "good.md")
    assert product.git("commit", "-q", "-m", "refused by the person's own hook").returncode == 1
    product.cli("init", str(product.root), "--no-git-hooks")
    assert (folder / "pre-commit").read_text() == "#!/bin/sh\nexit 1\n"


def test_a_vault_in_a_bigger_repository_is_found_by_its_hooks(make: Callable[..., Product], tmp_path: Path) -> None:
    top = tmp_path / "bigger"
    top.mkdir()
    person_git(top, "init", "-q", "-b", "main")
    product = make(root=top / "notes here", init=["--git-hooks"])
    (product.root / "bad.md").write_text("<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n")
    person_git(top, "add", "-A")
    done = product.git("commit", "-q", "-m", "all")
    assert done.returncode != 0
    assert "bad.md:1:" in done.stderr
    (product.root / "bad.md").write_text("mended\n")
    person_git(top, "add", "-A")
    assert product.git("commit", "-q", "-m", "all").returncode == 0
    until(lambda: "bad.md" in known_titles(product))


def test_a_commit_by_hand_gives_a_note_its_time(product: Product) -> None:
    (product.root / "dated.md").write_text("no front matter\n")
    product.cli("list")
    person_git(product.root, "add", "dated.md")
    person_git(product.root, "commit", "-q", "-m", "then", "--date", "2021-05-04T12:00:00Z")

    def updated() -> str:
        time.sleep(0.1)
        from vault_memory import open_vault
        from vault_memory.memory.scope import UNBOUND

        with open_vault(product.root) as vm:
            row = vm._vault.catalog.get("dated.md", UNBOUND)
        return str(row.memory.updated_at) if row else ""

    until(lambda: updated().startswith("2021-05-04"))
