"""Reads which commit HEAD is at, straight from the git folder: asked at every search, it must not cost a process.

Owns nothing else; whatever it does not understand (another ref storage, say) it leaves to git itself.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from msgspec import Struct

_OBJECT_ID: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_BRANCH: Final = "refs/heads/"


class Head(Struct, frozen=True):
    """Where HEAD is: `branch` is a full ref name, None when detached; `commit` is None before the first commit."""

    branch: str | None
    commit: str | None


def read_head(folder: Path, common: Path) -> Head | None:
    """HEAD of the work tree whose git folder is `folder`; None when git itself has to be asked."""
    try:
        text = (folder / "HEAD").read_text("utf-8").strip()
        if _OBJECT_ID.fullmatch(text):
            return Head(None, text)
        branch = text.removeprefix("ref: ")
        # A reftable repository says `refs/heads/.invalid` here.
        if branch == text or not branch.startswith(_BRANCH) or "/." in branch or ".." in branch:
            return None
        return _of_branch(branch, common)
    except (OSError, UnicodeDecodeError):
        return None


def _of_branch(branch: str, common: Path) -> Head | None:
    try:
        text = (common / branch).read_text("ascii").strip()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return Head(branch, _packed(branch, common))
    return Head(branch, text) if _OBJECT_ID.fullmatch(text) else None


def _packed(branch: str, common: Path) -> str | None:
    try:
        text = (common / "packed-refs").read_text("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None
    for line in text.splitlines():
        name, _, ref = line.partition(" ")
        if ref == branch and _OBJECT_ID.fullmatch(name):
            return name
    return None
