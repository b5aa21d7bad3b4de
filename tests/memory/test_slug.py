"""File names: readable, portable, unique."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.memory.slug import MAX_BYTES, clean_name, cut, file_name, fold, memory_folder, memory_path, slug

FORBIDDEN = re.compile(r'[#|^\[\]\\/:*?"<>%\x00-\x1f\x7f]')
FAMILY = "👨‍👩‍👧‍👦"
FLAG = "🇨🇭"


def assert_portable(name: str) -> None:
    stem = name.removesuffix(".md")
    assert name.endswith(".md")
    assert stem
    assert not FORBIDDEN.search(stem)
    assert stem[0] not in ".-"
    assert stem[-1] not in ". "
    assert len(stem.encode()) <= MAX_BYTES
    assert unicodedata.normalize("NFC", stem) == stem
    assert stem.split(".")[0].upper() not in {"CON", "PRN", "AUX", "NUL", "COM1", "LPT9"}


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Deploy with fly.io, not Heroku", "deploy-with-fly-io-not-heroku"),
        ("Don’t panic", "dont-panic"),
        ("C++ in 2026", "c++-in-2026"),
        ("Über Straße", "über-straße"),
        ("部署 清单", "部署-清单"),
        ("  spaced   out  ", "spaced-out"),
        ("snake_case stays", "snake_case-stays"),
        ("50 % off", "50-off"),
        ("🙂", "🙂"),
        ("", "note"),
        ("?!", "note"),
        ("CON", "con-note"),
        ("com¹", "com¹-note"),
        ("می‌خواهم", "می‌خواهم"),
    ],
)
def test_a_slug_is_readable(title: str, expected: str) -> None:
    assert slug(title) == expected


def test_fn_01_reserved_characters_give_one_plain_file_each() -> None:
    titles = ['Q3: ship/no-ship? "final" <draft>|*', "a\\b", "line1\nline2", "  .hidden. ", "...", "-rf", "🙂"]
    taken: list[str] = []
    for title in titles:
        taken.append(file_name(title, taken))
        assert_portable(taken[-1])
    assert taken == [
        "q3-ship-no-ship-final-draft.md",
        "a-b.md",
        "line1-line2.md",
        "hidden.md",
        "note.md",
        "rf.md",
        "🙂.md",
    ]


def test_fn_02_long_titles_are_cut_between_characters_people_see() -> None:
    titles = [
        "漢" * 120,
        (FAMILY + FLAG) * 45,
        "a" * 300,
        "b" * 200 + " first end",
        "b" * 200 + " second end",
    ]
    taken: list[str] = []
    for title in titles:
        taken.append(file_name(title, taken))
        assert_portable(taken[-1])
    assert len({fold(name) for name in taken}) == len(titles)
    emoji = taken[1].removesuffix(".md")
    assert emoji.replace(FAMILY, "").replace(FLAG, "") == ""
    assert len(emoji.encode()) > MAX_BYTES - 40
    assert taken[4].endswith(" 2.md")


def test_names_are_unique_without_regard_to_case_and_composition() -> None:
    assert file_name("Plan", ["PLAN.md"]) == "plan 2.md"
    assert file_name("Plan", ["PLAN.md", "plan 2.MD"]) == "plan 3.md"
    assert file_name("café", ["cafe\u0301.md"]) == "café 2.md"


def test_a_cluster_longer_than_the_limit_is_cut_between_code_points() -> None:
    assert cut("e" + "\u0301" * 300, 9) == "e" + "\u0301" * 4


def test_device_names_are_avoided_with_any_ending() -> None:
    assert clean_name("aux.notes") == "aux.notes-note"
    assert clean_name("Auxiliary") == "Auxiliary"


def test_the_folder_of_a_memory_follows_actor_project_type_and_month() -> None:
    when = datetime(2026, 11, 30, tzinfo=UTC)
    assert memory_folder(memory_type="decision") == "memories/global/decision"
    assert memory_folder(memory_type="fact", project="acme-api") == "memories/acme-api/fact"
    assert memory_folder(memory_type="fact", actor="../Bob/x") == "memories/actors/bob-x/global/fact"
    assert memory_folder(memory_type="interaction", created_at=when) == "memories/global/interaction/2026-11"
    assert memory_path("memories/global/fact", "A", ["a.md"]) == "memories/global/fact/a 2.md"


@given(st.text(max_size=400), st.lists(st.text(max_size=5), max_size=5))
def test_every_title_gives_a_portable_free_name(title: str, others: list[str]) -> None:
    taken = [file_name(other, []) for other in others]
    name = file_name(title, taken)
    assert_portable(name)
    assert fold(name) not in {fold(other) for other in taken}
    assert slug(slug(title)) == slug(title)


@given(st.lists(st.sampled_from([*"aé漢-. ", FAMILY, FLAG, "\u0301", "क्ष"]), max_size=300).map("".join))
def test_numbered_names_stay_within_the_limit(title: str) -> None:
    taken: list[str] = []
    for _ in range(3):
        taken.append(file_name(title, taken))
    assert len(set(taken)) == 3
    for name in taken:
        assert_portable(name)
