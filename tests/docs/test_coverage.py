"""Every promise in the table of coverage names tests that exist, or says that it is open."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SYSTEMS = {"actor", "memai", "contract", "memstack", "curated"}


def rows() -> list[tuple[str, str, str, str]]:
    lines = (ROOT / "docs" / "coverage.md").read_text("utf-8").splitlines()
    cells = [[part.strip() for part in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return [(one[0], one[1], one[2], one[3]) for one in cells if one[0] != "system"]


def existing_tests() -> set[str]:
    found: set[str] = set()
    for file in (ROOT / "tests").rglob("test_*.py"):
        found |= set(re.findall(r"^(?:async )?def (test_\w+)", file.read_text("utf-8"), re.MULTILINE))
    return found


def missing(shown: str, known: set[str]) -> list[str]:
    """What a row's last cell names and no test file holds."""
    if shown == "open":
        return []
    named = re.findall(r"`(test_\w+)`", shown)
    return [name for name in named if name not in known] if named else [f"names no test: {shown!r}"]


def test_every_row_is_shown_by_tests_that_exist_or_is_open() -> None:
    known = existing_tests()
    assert {promise: lost for _, promise, _, shown in rows() if (lost := missing(shown, known))} == {}


def test_every_system_has_rows_and_no_promise_stands_twice() -> None:
    promises = [(system, promise) for system, promise, _, _ in rows()]
    assert {system for system, _ in promises} == SYSTEMS
    assert len(promises) == len(set(promises))


@pytest.mark.parametrize("shown", ["`test_that_nobody_wrote`", "", "soon"])
def test_a_row_without_a_real_test_is_seen(shown: str) -> None:
    assert missing(shown, {"test_other"})
