"""The schema of every profile is a file that a change shows up in; running this module as a script writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from vault_memory.errors import InvalidRequest
from vault_memory.surfaces.profiles.profile import PROFILES, load_profile

GOLDEN = Path(__file__).parent.parent / "golden" / "profiles"
COUNTS = {
    "core": 12, "memai": 22, "memstack": 18, "memstack-harness": 5, "actor": 7, "contract": 6, "curated": 14,
}  # fmt: skip


def shown(name: str) -> dict[str, Any]:
    profile = load_profile(name)
    return {
        "tools": [
            {"name": t.name, "description": t.description, "hint": t.hint, "schema": t.schema()} for t in profile.tools
        ],
        "resources": [template.uri for template in profile.templates],
        "prompts": [prompt.name for prompt in profile.prompts],
    }


def text_of(name: str) -> str:
    return json.dumps(shown(name), ensure_ascii=False, indent=1) + "\n"


@pytest.mark.parametrize("name", PROFILES)
def test_the_schema_is_the_one_users_were_given(name: str) -> None:
    assert text_of(name) == (GOLDEN / f"{name}.json").read_text("utf-8")


@pytest.mark.parametrize("name", COUNTS)
def test_a_profile_has_as_many_tools_as_what_it_stands_for(name: str) -> None:
    assert len(load_profile(name).tools) == COUNTS[name]


def test_full_shows_every_operation_but_those_of_the_owner_at_the_machine() -> None:
    from vault_memory.operations.table import OPERATIONS
    from vault_memory.surfaces.profiles.native import LEFT_OUT

    names = {tool.name for tool in load_profile("full").tools}
    assert names == (set(OPERATIONS) - LEFT_OUT) | {"help"}


def test_no_profile_lets_a_caller_name_files() -> None:
    full = {tool.name: tool.schema()["properties"] for tool in load_profile("full").tools}
    assert "to" not in full["export"]
    assert "source" not in full["import"]


def test_an_unknown_profile_is_refused_with_the_list() -> None:
    with pytest.raises(InvalidRequest, match="unknown profile"):
        load_profile("mem0")


if __name__ == "__main__":
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for each in PROFILES:
        (GOLDEN / f"{each}.json").write_text(text_of(each), "utf-8")
