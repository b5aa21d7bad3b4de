"""Kept versions: listed by note, found by revision, following moves, gone after a purge; bases go after a week."""

from __future__ import annotations

import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from vault_memory.files.versions import BASE_DAYS, Versions
from vault_memory.memory.model import revision_of

NOW = datetime(2026, 11, 30, 19, 2, 11, 123456, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.fixture
def versions(tmp_path: Path) -> Versions:
    return Versions(tmp_path / "state/versions")


def test_what_is_kept_comes_back_newest_first(versions: Versions) -> None:
    texts = [b"one", b"two\r\n", "drei ü".encode()]
    for number, text in enumerate(texts):
        assert versions.keep("ä/b.md", text, NOW + number * SECOND, until_purge=True) == revision_of(text)
    listed = versions.list("ä/b.md")
    assert [versions.get("ä/b.md", version.revision) for version in listed] == texts[::-1]
    assert [version.kept_at for version in listed] == [NOW + 2 * SECOND, NOW + SECOND, NOW]
    assert versions.get("ä/b.md", "0" * 32) is None
    assert versions.list("other.md") == ()
    assert versions.get("other.md", revision_of(b"one")) is None


def test_one_text_is_kept_once(versions: Versions) -> None:
    for later in range(3):
        versions.keep("a.md", b"same", NOW + later * SECOND, until_purge=later == 1)
    assert [(version.kept_at, version.until_purge) for version in versions.list("a.md")] == [(NOW + SECOND, True)]


def test_bases_go_after_a_week_and_other_texts_stay(versions: Versions) -> None:
    versions.keep("a.md", b"base", NOW, until_purge=False)
    versions.keep("a.md", b"text", NOW, until_purge=True)
    versions.keep("b.md", b"base", NOW, until_purge=False)
    assert versions.expire(NOW + timedelta(days=BASE_DAYS)) == 0
    assert versions.expire(NOW + timedelta(days=BASE_DAYS) + SECOND) == 2
    assert [version.revision for version in versions.list("a.md")] == [revision_of(b"text")]
    assert versions.list("b.md") == ()
    assert versions.expire(NOW + timedelta(days=999)) == 0


def test_versions_follow_a_move(versions: Versions) -> None:
    versions.keep("a.md", b"one", NOW, until_purge=True)
    versions.keep("b.md", b"two", NOW + SECOND, until_purge=True)
    versions.moved("a.md", "b.md")
    assert versions.list("a.md") == ()
    assert [version.revision for version in versions.list("b.md")] == [revision_of(b"two"), revision_of(b"one")]
    versions.moved("never.md", "seen.md")


def test_a_purge_leaves_nothing_of_the_note(versions: Versions, tmp_path: Path) -> None:
    versions.keep("secret plan.md", b"the secret", NOW, until_purge=True)
    versions.keep("other.md", b"other", NOW, until_purge=True)
    assert versions.drop("secret plan.md") == 1
    assert versions.drop("secret plan.md") == 0
    left = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"secret" not in left
    assert len(versions.list("other.md")) == 1


def test_a_person_finds_the_texts_and_nobody_else_may_look(versions: Versions, tmp_path: Path) -> None:
    versions.keep("plans/x.md", b"text", NOW, until_purge=True)
    (home,) = (tmp_path / "state/versions").iterdir()
    assert (home / "path.txt").read_text() == "plans/x.md\n"
    (text,) = home.glob("*.md")
    assert text.name.startswith("20261130T190211123456Z-k-")
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert stat.S_IMODE(text.stat().st_mode) == 0o600


def test_nothing_kept_is_nothing_to_expire(versions: Versions) -> None:
    assert versions.expire(NOW) == 0
    assert versions.list("a.md") == ()
