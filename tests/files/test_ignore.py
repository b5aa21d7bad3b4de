"""Ignore rules: hidden and well-known clutter, the config's globs, and .gitignore exactly as git reads it."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.files.vault_tree import make_vault
from vault_memory.files.ignore import Ignore
from vault_memory.files.scan import scan


def kept(root: Path, ignore: Ignore) -> set[str]:
    """What a scan keeps; asking for each note alone must agree."""
    found = set(scan(root, ignore).files)
    every = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    assert {path for path in every if not ignore.ignored(path)} == found
    return found


@pytest.mark.parametrize(
    "path",
    [
        ".obsidian/plugins/x/README.md",
        ".trash/old.md",
        ".git/x.md",
        "a/.hidden/x.md",
        "a/.draft.md",
        "node_modules/pkg/README.md",
        "a/node_modules/x.md",
        "templates/daily.md",
        "Home.md",
        "a.txt",
        "a.md~",
        "a.md.tmp",
    ],
)
def test_hidden_files_clutter_and_our_own_notes_are_no_memories(tmp_path: Path, path: str) -> None:
    root = make_vault(tmp_path, {path: "x", "a/Home.md": "kept", "b/templates/t.md": "kept", "n.MD": "kept"})
    assert kept(root, Ignore(root, own=["Home.md", "templates/"])) == {"a/Home.md", "b/templates/t.md", "n.MD"}


def test_the_globs_of_the_config_mean_what_they_mean_in_a_gitignore(tmp_path: Path) -> None:
    root = make_vault(
        tmp_path, dict.fromkeys(("a.md", "drafts/a.md", "x/drafts/b.md", "x/y.md", "x/keep.md", "z/1.md"), "x")
    )
    ignore = Ignore(root, globs=["drafts/", "/x/*.md", "!/x/keep.md", "# comment", ""])
    assert kept(root, ignore) == {"a.md", "x/keep.md", "z/1.md"}


def test_an_ignore_file_that_changes_counts_at_the_next_look(tmp_path: Path) -> None:
    root = make_vault(tmp_path, {"a.md": "x", "b/c.md": "x"})
    ignore = Ignore(root)
    assert kept(root, ignore) == {"a.md", "b/c.md"}
    (root / ".gitignore").write_text("b/\n")
    assert kept(root, ignore) == {"a.md"}
    (root / ".gitignore").write_text("a.*\n")
    assert kept(root, ignore) == {"b/c.md"}
    (root / ".gitignore").unlink()
    assert kept(root, ignore) == {"a.md", "b/c.md"}


def test_an_ignore_file_that_is_a_symlink_or_no_text_is_no_obstacle(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"a.md": "x", "b/c.md": "x", "b/.gitignore": b"\xff\xfe\x00*.md\n"})
    (tmp_path / "outside").write_text("*.md\n")
    (root / ".gitignore").symlink_to(tmp_path / "outside")
    assert "a.md" in kept(root, Ignore(root))


@pytest.mark.parametrize("text", ["", "# nothing\n", ".obsidian/workspace.json\n.DS_Store\n/.trash/\n**/.cache/x\n"])
def test_common_ignore_files_cost_no_import(tmp_path: Path, text: str) -> None:
    root = make_vault(tmp_path, {"a.md": "x", ".gitignore": text})
    code = (
        "import sys; from pathlib import Path; from vault_memory.files.scan import scan;"
        "from vault_memory.files.ignore import Ignore; root = Path(sys.argv[1]);"
        "assert list(scan(root, Ignore(root)).files) == ['a.md']; assert 'pathspec' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(root)], check=True)


NAMES = ["a", "b", "foo", "Foo", "bar.x", "é"]
PATTERNS = [
    "a", "a/", "/a", "a/b", "**/b", "b/**", "a/**/b", "*.md", "/*.md", "foo*", "f?o*", "[ab].md", "!a", "!a/", "!*.md",
    "!/b/", "a/*", "!a/b.md", "foo/", "\\!a", "bar.x/", "*", "!*/", "é", "**", "b.md", "!b.md", "/b/", " a ", "a\\ ",
    ".x", "!.x", "**/.y/z", "#c", "[!a]*.md", "*/b.md", "/**/foo.md",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(40))
def test_nested_ignore_files_mean_what_they_mean_to_git(tmp_path: Path, seed: int) -> None:
    choose = random.Random(seed)
    root = make_vault(tmp_path)
    for _ in range(40):
        folders = [choose.choice(NAMES) for _ in range(choose.randrange(4))]
        place = root.joinpath(*folders, choose.choice(NAMES) + ".md")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("x")
    folders = [root, *(path for path in sorted(root.rglob("*")) if path.is_dir() and ".vault" not in str(path))]
    for folder in choose.sample(folders, min(3, len(folders))):
        lines = [choose.choice(PATTERNS) for _ in range(choose.randrange(1, 6))]
        (folder / ".gitignore").write_text("\n".join(lines) + "\n")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    every = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.md"))
    asked = subprocess.run(
        ["git", "-C", str(root), "check-ignore", "--no-index", "-z", "--stdin"],
        input="\0".join(every).encode(),
        capture_output=True,
        check=False,
    )
    by_git = set(asked.stdout.decode().split("\0")) - {""}
    assert kept(root, Ignore(root)) == set(every) - by_git
