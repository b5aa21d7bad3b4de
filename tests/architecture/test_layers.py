"""Imports point down, and only the file layer writes notes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PACKAGE = ROOT / "vault_memory"

WRITERS = {
    "files": "the notes, and what lies beside them",
    "index": "the catalog, the vectors, the indexes: all derived",
    "harness": "the settings files of coding agents",
    "formats": "exports, to where the caller says",
    "surfaces/auth/private_file.py": "the server's secrets, for their user's eyes alone",
    "surfaces/cli/log.py": "the log of bugs",
    "surfaces/cli/hook.py": "the log of hooks",
    "surfaces/cli/init.py": "the user's own settings",
    "surfaces/cli/demo.py": "plays the person who edits by hand",
}
ATOMIC = {"create_file", "replace_file", "move_file", "remove_file"}
OF_THE_STORE = {"create", "replace", "move", "remove"}
WRITE_PATH = {"batch.py", "operations/init.py"}
CHANGING = {
    "write_text", "write_bytes", "unlink", "rmdir", "symlink_to", "hardlink_to", "mkdtemp",
}  # fmt: skip
CHANGING_OF_MODULE = {
    "os": {"rename", "replace", "unlink", "remove", "removedirs", "rmdir", "link", "symlink", "truncate", "mkfifo"},
    "shutil": {"move", "copy", "copy2", "copyfile", "copytree", "rmtree"},
}


def modules() -> Iterator[tuple[str, ast.Module]]:
    for file in sorted(PACKAGE.rglob("*.py")):
        yield file.relative_to(PACKAGE).as_posix(), ast.parse(file.read_text("utf-8"))


def changes_files(tree: ast.Module) -> Iterator[int]:
    """Lines on which a file is opened for writing, renamed or removed."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _changes(node):
            yield node.lineno


def _changes(call: ast.Call) -> bool:
    function = call.func
    if isinstance(function, ast.Attribute):
        owner = function.value.id if isinstance(function.value, ast.Name) else ""
        if function.attr in CHANGING or function.attr in CHANGING_OF_MODULE.get(owner, ()):
            return True
        mode_at = 1 if owner in ("io", "os") else 0
        return function.attr == "open" and _opens_for_writing(call, mode_at)
    return getattr(function, "id", "") == "open" and _opens_for_writing(call, 1)


def _opens_for_writing(call: ast.Call, mode_at: int) -> bool:
    given = [*call.args[mode_at:], *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    return any(_is_write_mode(part) or "O_CREAT" in ast.unparse(part) for part in given)


def _is_write_mode(node: ast.expr) -> bool:
    """A mode like "wb" or "a"; "r+" and "x" count too."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return False
    return 0 < len(node.value) <= 3 and set(node.value) <= set("rwaxbt+") and bool(set(node.value) & set("wax+"))


def test_imports_point_down_the_layers(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from importlinter.cli import lint_imports

    monkeypatch.chdir(ROOT)
    assert lint_imports(config_filename="pyproject.toml", no_cache=True) == 0, capsys.readouterr().out


def test_files_are_changed_only_where_that_is_the_job() -> None:
    elsewhere = {
        f"{name}:{line}"
        for name, tree in modules()
        for line in changes_files(tree)
        if name not in WRITERS and name.split("/")[0] not in WRITERS
    }
    assert elsewhere == set()


def test_every_exception_to_that_rule_is_still_needed() -> None:
    writing = {name for name, tree in modules() if any(changes_files(tree))}
    for place in WRITERS:
        if (PACKAGE / place).suffix:
            assert place in writing, f"{place} writes nothing any more"


def test_only_the_write_path_uses_what_writes_notes() -> None:
    users = {name for name, tree in modules() if not name.startswith("files/") and writes_notes(tree)}
    assert users == WRITE_PATH


def writes_notes(tree: ast.Module) -> bool:
    """Calls a function of `files/` that changes a note; reading through the store is everybody's right."""
    return any(_takes_a_writer(node) or _changes_the_store(node) for node in ast.walk(tree))


def _takes_a_writer(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and bool({alias.name for alias in node.names} & ATOMIC)


def _changes_the_store(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return node.func.attr in OF_THE_STORE and ast.unparse(node.func.value).endswith("store")


@pytest.mark.parametrize("text", ["self.store.replace(p, d, e)", "from vault_memory.files.atomic import create_file"])
def test_the_check_sees_a_writer_of_notes(text: str) -> None:
    assert writes_notes(ast.parse(text))


@pytest.mark.parametrize(
    "text",
    [
        "open('x', 'w')", "path.open('ab')", "open(p, mode='r+')", "p.write_text('')", "os.replace(a, b)",
        "shutil.rmtree(p)", "io.open(p, 'x')", "os.open(p, os.O_WRONLY | os.O_CREAT)",
    ],
)  # fmt: skip
def test_the_check_sees_a_writer(text: str) -> None:
    assert list(changes_files(ast.parse(text)))


@pytest.mark.parametrize("text", ["open('x')", "open('x', 'rb')", "'a'.replace('x', 'w')", "zip_open('rw')"])
def test_the_check_leaves_readers_alone(text: str) -> None:
    assert not list(changes_files(ast.parse(text)))
