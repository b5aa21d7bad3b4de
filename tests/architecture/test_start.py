"""The command line starts fast: nothing heavy is imported, and the table of operations stays lazy."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from vault_memory.operations.table import OPERATIONS

HEAVY = ("numpy", "lancedb", "pyarrow", "model2vec", "mcp", "rich")
CHILD = """
import json, sys
from vault_memory.surfaces.cli import main
sys.argv = ["vault-memory", *{arguments!r}]
code = main()
print(json.dumps({{"code": code, "modules": sorted(sys.modules)}}), file=sys.stderr)
"""


def environment(tmp_path: Path) -> dict[str, str]:
    """As after an installation: nothing configured, and compiled modules are kept between runs."""
    ours = ("VAULT_MEMORY_", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**kept, "VAULT_MEMORY_CONFIG": str(tmp_path / "config.toml"), "PYTHONPYCACHEPREFIX": str(tmp_path / "pyc")}


def loaded_by(arguments: list[str], tmp_path: Path) -> set[str]:
    """The modules that a process has imported when it has run this command line."""
    child = subprocess.run(
        [sys.executable, "-c", CHILD.format(arguments=arguments)],
        capture_output=True, text=True, check=True, env=environment(tmp_path), stdin=subprocess.DEVNULL,
    )  # fmt: skip
    answer = json.loads(child.stderr.splitlines()[-1])
    assert answer["code"] == 0, child.stderr
    return set(answer["modules"])


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    from vault_memory.operations.init import init_vault

    root = tmp_path / "vault"
    init_vault(root, git=False)
    (root / "a note.md").write_text("By hand.\n", "utf-8")
    return root


@pytest.mark.parametrize("arguments", [["list"], ["get", "a note.md"], ["status"], ["stats"]])
def test_a_plain_command_imports_nothing_heavy(arguments: list[str], vault: Path, tmp_path: Path) -> None:
    loaded = loaded_by([*arguments, "--vault", str(vault)], tmp_path)
    assert "vault_memory.vault" in loaded
    assert sorted(loaded & set(HEAVY)) == []


def test_a_write_imports_no_more_than_what_embeds_it(vault: Path, tmp_path: Path) -> None:
    loaded = loaded_by(["remember", "A fact.", "--vault", str(vault)], tmp_path)
    assert sorted(loaded & set(HEAVY) - {"numpy"}) == []


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_the_overview_imports_no_operation_and_no_library_but_click(arguments: list[str], tmp_path: Path) -> None:
    loaded = loaded_by(arguments, tmp_path)
    assert sorted(loaded & {*HEAVY, "pydantic", "yaml", "sqlite3", "tantivy", "logging", "vault_memory.vault"}) == []
    assert not {f"vault_memory.operations.{row.module}" for row in OPERATIONS.values()} & loaded


def test_the_check_would_see_a_heavy_import(tmp_path: Path) -> None:
    code = CHILD.format(arguments=["--version"]).replace("import json, sys", "import json, sys, rich")
    child = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment(tmp_path)
    )
    assert "rich" in json.loads(child.stderr.splitlines()[-1])["modules"]


def cpu_ms(command: list[str], env: dict[str, str], runs: int = 7) -> float:
    """The least CPU time of some runs: noise only ever adds."""
    spent = []
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=env)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(spent) * 1000


def test_the_overview_costs_little_more_than_click_itself(tmp_path: Path) -> None:
    env = environment(tmp_path)
    click = cpu_ms([sys.executable, "-c", "import click"], env)
    ours = cpu_ms([sys.executable, "-m", "vault_memory", "--help"], env)
    assert ours <= 2 * click, f"{ours:.0f} ms CPU, {click:.0f} for click alone"


def test_the_table_of_operations_is_lazy() -> None:
    code = "import sys, vault_memory.operations.table; print('\\n'.join(sys.modules))"
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(child.stdout.split())
    assert "vault_memory.operations.table" in loaded
    assert not {f"vault_memory.operations.{row.module}" for row in OPERATIONS.values()} & loaded
    assert "pydantic" not in loaded


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_row_of_the_table_leads_to_a_model_and_a_function(name: str) -> None:
    model, function = OPERATIONS[name].load()
    assert model.__doc__
    assert function.__doc__
    for field, info in model.model_fields.items():
        assert info.description, f"{name}.{field} has no description"
