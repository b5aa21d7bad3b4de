"""The wheel holds what the package needs offline, and the licences of what it brings along."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    code = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, str(folder)], check=True, cwd=ROOT, capture_output=True)
    (file,) = folder.glob("*.whl")
    return zipfile.ZipFile(file)


def test_the_wheel_holds_every_module(wheel: zipfile.ZipFile) -> None:
    modules = {file.relative_to(ROOT).as_posix() for file in (ROOT / "vault_memory").rglob("*.py")}
    assert modules <= set(wheel.namelist())
    assert "vault_memory/py.typed" in wheel.namelist()


@pytest.mark.parametrize("folder", ["vault-template", "hooks"])
def test_the_wheel_holds_what_stands_beside_the_package(folder: str, wheel: zipfile.ZipFile) -> None:
    wanted = {f"vault_memory/{f.relative_to(ROOT).as_posix()}" for f in (ROOT / folder).rglob("*") if f.is_file()}
    assert wanted
    assert wanted <= set(wheel.namelist())


def test_the_wheel_holds_the_model_with_its_licence(wheel: zipfile.ZipFile) -> None:
    model = "vault_memory/models/potion-base-8M"
    assert {f"{model}/tokenizer.json", f"{model}/LICENSE"} <= set(wheel.namelist())
    assert 14_000_000 < wheel.getinfo(f"{model}/model.safetensors").file_size < 17_000_000


def test_the_wheel_names_our_licence_and_those_of_others(wheel: zipfile.ZipFile) -> None:
    licences = {name.rpartition("/")[2] for name in wheel.namelist() if ".dist-info/licenses/" in name}
    assert {"LICENSE", "THIRD-PARTY-NOTICES.md"} <= licences


def test_the_wheel_holds_nothing_else(wheel: zipfile.ZipFile) -> None:
    foreign = [name for name in wheel.namelist() if not name.startswith(("vault_memory/", "vault_memory-"))]
    assert foreign == []
    assert not [name for name in wheel.namelist() if "__pycache__" in name or name.endswith((".sqlite", ".pyc"))]


def dependencies() -> list[str]:
    return [re.split(r"[<>=\[; ]", requirement)[0] for requirement in PROJECT["dependencies"]]


@pytest.mark.parametrize("name", dependencies())
def test_every_dependency_is_named_with_a_licence_that_we_may_use(name: str) -> None:
    notices = (ROOT / "THIRD-PARTY-NOTICES.md").read_text("utf-8")
    (licence,) = re.findall(rf"^\| {re.escape(name)} \| (.+) \|$", notices, re.MULTILINE)
    assert re.match(r"(MIT|Apache-2.0|BSD-\d-Clause|ISC|MPL-2.0)\b", licence)
    found = metadata(name)
    stated = " ".join(
        [found.get("License-Expression") or "", found.get("License") or "", *found.get_all("Classifier", [])]
    )
    assert licence.split("-")[0].split()[0] in stated or "Mozilla" in stated


def test_no_page_names_a_dependency_that_is_gone() -> None:
    notices = (ROOT / "THIRD-PARTY-NOTICES.md").read_text("utf-8").split("## Installed beside")[1]
    listed = re.findall(r"^\| ([\w-]+) \| [A-Z]", notices, re.MULTILINE)
    assert listed == sorted(dependencies(), key=str.lower)


def imported() -> set[str]:
    """Distributions that some module of the package imports, by the names they have on the package index."""
    names = {
        "yaml": "pyyaml", "frontmatter": "python-frontmatter", "pydantic_core": "pydantic", "mcp_types": "mcp",
        "argon2": "argon2-cffi",
    }  # fmt: skip
    found: set[str] = set()
    for file in (ROOT / "vault_memory").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.split(".")[0])
    foreign = found - set(sys.stdlib_module_names) - {"vault_memory"}
    return {names.get(name, name).replace("_", "-") for name in foreign}


def test_what_is_imported_is_declared_and_what_is_declared_is_imported() -> None:
    assert imported() == {name.lower() for name in dependencies()}


def test_the_licence_is_mit_and_ours() -> None:
    text = (ROOT / "LICENSE").read_text("utf-8")
    assert text.startswith("MIT License")
    assert "vault-memory contributors" in text
