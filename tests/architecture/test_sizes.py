"""Small functions, small files, a first line that says what a module owns, nothing printed on the side."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent.parent / "vault_memory"
FILES = sorted(file for file in PACKAGE.rglob("*.py") if file.stat().st_size)
LAST_RESORTS = {
    "surfaces/cli/hook.py": "a coding agent would stop on any failure of a hook; it is logged",
    "surfaces/mcp/server.py": "a bug in one tool must not take the server down; it is logged",
}
MOST_LINES_A_FILE = 400
MOST_LINES_A_FUNCTION = 50


def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf-8"))


def functions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(PACKAGE).as_posix())
def test_a_file_fits_on_few_screens(file: Path) -> None:
    assert len(file.read_text("utf-8").splitlines()) <= MOST_LINES_A_FILE


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(PACKAGE).as_posix())
def test_a_function_fits_on_one_screen(file: Path) -> None:
    sizes = {f.name: (f.end_lineno or f.lineno) - f.lineno + 1 for f in functions(tree_of(file))}
    assert {name: size for name, size in sizes.items() if size > MOST_LINES_A_FUNCTION} == {}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(PACKAGE).as_posix())
def test_a_module_says_what_it_owns(file: Path) -> None:
    assert ast.get_docstring(tree_of(file)), "the module has no docstring"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(PACKAGE).as_posix())
def test_what_is_public_is_explained(file: Path) -> None:
    tree = tree_of(file)
    public = [
        node
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_")
    ]
    assert [node.name for node in public if not ast.get_docstring(node)] == []


def test_nothing_is_printed_outside_the_command_line() -> None:
    printing = [
        f"{file.relative_to(PACKAGE)}:{node.lineno}"
        for file in FILES
        if "surfaces/cli" not in file.as_posix()
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print"
    ]
    assert printing == []


def is_broad(handler: ast.ExceptHandler) -> bool:
    """A handler of everything that does not pass it on."""
    everything = handler.type is None or getattr(handler.type, "id", None) in ("Exception", "BaseException")
    last = handler.body[-1]
    return everything and not (isinstance(last, ast.Raise) and last.exc is None)


def test_no_handler_swallows_what_nobody_foresaw() -> None:
    broad = {
        file.relative_to(PACKAGE).as_posix()
        for file in FILES
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.ExceptHandler) and is_broad(node)
    }
    assert broad == set(LAST_RESORTS)
