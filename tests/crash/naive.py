"""Broken twins of the file layer: what a crash test must catch."""

# ruff: noqa: PTH105, PTH108, PTH123

from __future__ import annotations

import os


def create(path: str, data: bytes) -> None:
    """Writes in place."""
    with open(path, "wb") as file:
        file.write(data[: len(data) // 2])
        file.flush()
        file.write(data[len(data) // 2 :])


def replace(path: str, data: bytes, expected: bytes) -> None:
    """Truncates, then writes."""
    create(path, data)


def move(source: str, target: str) -> None:
    """Takes the note away before it is somewhere else."""
    with open(source, "rb") as file:
        data = file.read()
    os.unlink(source)
    create(target, data)


def remove(path: str, expected: bytes) -> None:
    """Empties the file first."""
    create(path, b"")
    os.unlink(path)


def replace_unseen(path: str, data: bytes, expected: bytes) -> None:
    """Whole-or-nothing, but compares before the rename only."""
    temp = f"{path}.new"
    create(temp, data)
    with open(path, "rb") as file:
        same = file.read() == expected
    if same:
        os.replace(temp, path)
