"""Writing exports: files, folders and zips, whole or not at all, never over something that is there. Owns that rule."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

from vault_memory.errors import InvalidRequest


def write_file(place: Path, data: bytes) -> None:
    """Write a new file, complete when its name appears.

    Raises:
        InvalidRequest: there is something at that place.
        OSError: the disk refuses.
    """
    with_place(place)
    handle, name = tempfile.mkstemp(prefix=".vault-memory-", dir=place.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(place)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_folder(place: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Write a new folder of files, complete when its name appears; an empty folder may be there already.

    Raises:
        InvalidRequest: there is something at that place.
        OSError: the disk refuses.
    """
    with_place(place)
    work = Path(tempfile.mkdtemp(prefix=".vault-memory-", dir=place.parent))
    try:
        for name, data in files:
            target = work / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        work.chmod(0o755)
        work.replace(place)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise


def write_zip(place: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """The same as one zip file.

    Raises:
        InvalidRequest: there is something at that place.
        OSError: the disk refuses.
    """
    with_place(place)
    handle, name = tempfile.mkstemp(prefix=".vault-memory-", dir=place.parent)
    try:
        with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for inner, data in files:
                archive.writestr(inner, data)
        Path(name).replace(place)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def with_place(place: Path) -> None:
    """Make the parent folder.

    Raises:
        InvalidRequest: the place is taken.
    """
    if place.exists() and not (place.is_dir() and not any(place.iterdir())):
        raise InvalidRequest.of("to", f"{place} is there already; name another place")
    place.parent.mkdir(parents=True, exist_ok=True)
