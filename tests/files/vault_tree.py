"""Small vaults on disk, and a way to be somebody without root's rights."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.crash.dying import in_fork

NOBODY = 65534


def make_vault(root: Path, notes: Mapping[str, bytes | str] | None = None) -> Path:
    """A folder that counts as a vault, with notes."""
    (root / ".vault-memory").mkdir(parents=True, exist_ok=True)
    for path, text in (notes or {}).items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


def snapshot(root: Path) -> dict[str, bytes | str]:
    """Everything below a folder: path to bytes, or to what else it is."""
    found: dict[str, bytes | str] = {}
    for place in sorted(root.rglob("*")):
        name = place.relative_to(root).as_posix()
        if place.is_symlink():
            found[name] = f"-> {place.readlink()}"
        else:
            found[name] = place.read_bytes() if place.is_file() else "folder"
    return found


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter (pytest's own are root's alone)."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def without_rights(work: Callable[[], None]) -> int:
    """Exit code of `work` in a forked process that is not root."""

    def unprivileged() -> None:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setegid(NOBODY)
            os.seteuid(NOBODY)
        work()

    return in_fork(unprivileged)
