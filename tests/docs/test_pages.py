"""What the pages on history, watching and doctor tell people to type works, in the order in which it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.test_readme import ROOT, blocks, shell
from tests.docs.test_readme import env as env  # a fixture


@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", ["git", "watching", "doctor"])
def test_the_commands_of_the_page_work(page: str, env: dict[str, str], tmp_path: Path) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text("utf-8")
    commands = blocks("sh", text)
    assert commands
    ended = shell("".join(commands), env, tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_every_page_is_linked_from_the_readme_or_another_page() -> None:
    pages = {path.name for path in (ROOT / "docs").glob("*.md")}
    texts = [path.read_text("utf-8") for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]]
    linked = {Path(target).name for text in texts for target in re.findall(r"\]\(([^)#]+\.md)", text)}
    assert pages <= linked
