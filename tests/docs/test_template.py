"""The vault that `init` copies: clean for Obsidian, and a config that explains every setting."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml
from msgspec import Struct
from msgspec.structs import asdict

from vault_memory.config import Config, load_config
from vault_memory.memory.model import FIELDS, RELATION_TYPES
from vault_memory.operations.init import template_files

TEMPLATE = Path(__file__).parent.parent.parent / "vault-template"
CONFIG = (TEMPLATE / ".vault-memory" / "config.toml").read_text("utf-8")


def uncommented(mark: str) -> str:
    """The settings whose lines start with exactly `mark`, taken out of their comments."""
    lines = re.findall(rf"^{mark}(?!#)(\[\w+\]|\w+ = .*)$", CONFIG, re.MULTILINE)
    return "\n".join(lines)


def all_keys() -> set[str]:
    found = set()
    for name, value in asdict(Config()).items():
        found |= {f"{name}.{key}" for key in value.__struct_fields__} if isinstance(value, Struct) else {name}
    return found


def keys_in(text: str) -> set[str]:
    data = tomllib.loads(text)
    return {
        name
        for key, value in data.items()
        for name in ([f"{key}.{inner}" for inner in value] if isinstance(value, dict) else [key])
    }


def test_the_config_sets_nothing_until_a_comment_is_taken_away() -> None:
    assert tomllib.loads(CONFIG) == {}


def test_every_setting_stands_in_the_config() -> None:
    assert keys_in(uncommented("#")) | keys_in(uncommented("##")) == all_keys()


def test_the_vaults_own_settings_load_and_are_the_defaults(tmp_path: Path) -> None:
    (tmp_path / ".vault-memory").mkdir()
    (tmp_path / ".vault-memory" / "config.toml").write_text(uncommented("#"), "utf-8")
    assert load_config(tmp_path, environ={}, user_file=tmp_path / "none.toml") == Config()


def test_the_users_own_settings_load_and_are_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(uncommented("##"), "utf-8")
    assert load_config(None, environ={}, user_file=tmp_path / "mine.toml") == Config()


def test_every_setting_is_explained_in_the_line_above_it() -> None:
    lines = CONFIG.splitlines()
    for number, line in enumerate(lines):
        if re.match(r"##?\w+ = ", line):
            assert re.match(r"# [A-Z\"`]", lines[number - 1]) or lines[number - 1].startswith("# "), line


@pytest.mark.parametrize("file", sorted((TEMPLATE / ".obsidian").iterdir()), ids=lambda file: file.name)
def test_obsidians_settings_are_json_objects(file: Path) -> None:
    assert isinstance(json.loads(file.read_text("utf-8")), dict)


def test_no_state_of_one_machine_is_shipped() -> None:
    assert not [name for name, _ in template_files() if "workspace" in name or "/state/" in name or "/index/" in name]


def test_obsidian_knows_a_type_for_every_field_and_relation() -> None:
    types = json.loads((TEMPLATE / ".obsidian" / "types.json").read_text("utf-8"))["types"]
    assert set(FIELDS) | set(RELATION_TYPES) <= set(types)
    kinds = {
        "list": {"multitext", "tags", "aliases"},
        "number": {"number"},
        "integer": {"number"},
        "bool": {"checkbox"},
    }
    for name, item in FIELDS.items():
        assert types[name] in kinds.get(item.kind, {"text"}), name


def test_the_base_is_valid_and_names_only_what_there_is() -> None:
    base = yaml.safe_load((TEMPLATE / "Memories.base").read_text("utf-8"))
    assert set(base) <= {"filters", "formulas", "properties", "summaries", "views"}
    known = set(FIELDS) | set(RELATION_TYPES) | {"file.name", "file.path", "file.mtime"}
    for view in base["views"]:
        assert view["type"] in {"table", "cards", "list"}
        assert set(view) <= {"type", "name", "limit", "filters", "groupBy", "order", "sort", "summaries"}
        assert set(view["order"]) <= known
        assert {item["property"] for item in view.get("sort", ())} <= known
    assert {name.removeprefix("note.") for name in base["properties"]} <= known


@pytest.mark.parametrize("file", sorted((TEMPLATE / "templates").iterdir()), ids=lambda file: file.name)
def test_a_template_has_front_matter_that_obsidian_reads(file: Path) -> None:
    head = file.read_text("utf-8").split("---\n")[1]
    data = yaml.safe_load(head)
    assert isinstance(data["tags"], list)
    assert "id" not in data, "two notes from one template would share it"


def test_notes_keep_their_line_endings_and_merge_by_field() -> None:
    lines = (TEMPLATE / ".gitattributes").read_text("utf-8").splitlines()
    assert "*.md -text merge=vault-memory" in lines


def test_what_is_derived_or_local_is_not_committed() -> None:
    ignored = (TEMPLATE / ".vault-memory" / ".gitignore").read_text("utf-8").splitlines()
    assert {"index/", "state/"} <= set(ignored)
