"""The vector file: unit vectors in rows, append-only and memory-mapped, and the exact scan over them.

Owns the bytes on disk. Which rows count, and whose they are, the catalog says: bytes beyond the recorded count are
what a killed apply left behind and are overwritten. A file is never changed below that count; it is rewritten under a
new epoch instead, so that readers of the old one keep what they have mapped.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from vault_memory.index.numeric import Floats, Ints, NDArray, np

_CRC_BLOCK: Final = 1 << 20


class VectorRows(Struct, frozen=True):
    """The rows of a vector file, read-only.

    Attributes:
        vectors: unit vectors, shape (rows, dimensions).
        kinds: the kind of the note that each row's chunk belongs to (see the catalog's table `kinds`). A chunk is
            recorded anew when its note's kind changes, so this never does.
    """

    vectors: Floats
    kinds: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.kinds)


def vector_file(folder: Path, epoch: str) -> Path:
    """The file of an epoch."""
    return folder / f"vec-{epoch}.f32"


def row_bytes(dimensions: int) -> int:
    """Length of a row in the file."""
    return _row_type(dimensions).itemsize


def packed(vectors: Iterable[bytes], kinds: Iterable[int], dimensions: int) -> bytes:
    """Rows as the file holds them, from little-endian float32 vectors and their notes' kinds."""
    numbers = np.fromiter(kinds, "<i4")
    rows = np.empty(len(numbers), _row_type(dimensions))
    rows["vector"] = np.frombuffer(b"".join(vectors), "<f4").reshape(len(numbers), dimensions)
    rows["kind"] = numbers
    return rows.tobytes()


def map_rows(folder: Path, epoch: str, rows: int, dimensions: int) -> VectorRows:
    """The first `rows` rows.

    Raises:
        FileNotFoundError: the epoch is over, or the file was deleted.
        ValueError: the file is shorter than what was recorded.
    """
    kind = _row_type(dimensions)
    if not rows:
        return _columns(np.zeros(0, kind))
    file = vector_file(folder, epoch)
    if file.stat().st_size < rows * kind.itemsize:
        raise ValueError(f"{file} is shorter than its {rows} rows")
    return _columns(np.memmap(file, kind, "r", 0, (rows,)).view(np.ndarray))


def append_rows(folder: Path, epoch: str, rows: int, dimensions: int, data: bytes, crc: int) -> int:
    """Write packed `data` behind the first `rows` rows and make it durable; the CRC of all, given that of the first.

    Raises:
        ValueError: the file is shorter than what was recorded.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = vector_file(folder, epoch)
    start = rows * row_bytes(dimensions)
    created = not file.exists()
    with file.open("r+b" if not created else "w+b") as stream:
        if stream.seek(0, os.SEEK_END) < start:
            raise ValueError(f"{file} is shorter than its {rows} rows")
        stream.truncate(start)
        stream.seek(start)
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    if created:
        _sync_folder(folder)
    return zlib.crc32(data, crc)


def checked(folder: Path, epoch: str, rows: int, dimensions: int, crc: int) -> bool:
    """Whether the file holds the recorded rows: reads all of them."""
    left = rows * row_bytes(dimensions)
    found = 0
    try:
        with vector_file(folder, epoch).open("rb") as stream:
            while left and (block := stream.read(min(left, _CRC_BLOCK))):
                found = zlib.crc32(block, found)
                left -= len(block)
    except FileNotFoundError:
        return not rows
    return not left and found == crc


def drop_others(folder: Path, epoch: str) -> None:
    """Delete the files of all epochs but this one; who has one mapped keeps it."""
    for file in folder.glob("vec-*.f32"):
        if file != vector_file(folder, epoch):
            file.unlink(missing_ok=True)


def cosines(rows: Floats, query: Floats) -> Floats:
    """Dot products to rank by; the last bit depends on where a row lies, see `exact_cosines`."""
    found: Floats = rows @ query
    return found


def exact_cosines(rows: Floats, query: Floats) -> Floats:
    """Dot products that depend on the row alone and not on its place, so that a rebuilt index gives the same ones."""
    wide = np.ascontiguousarray(rows, np.float64)
    found: Floats = np.einsum("ij,j->i", wide, query.astype(np.float64)).astype(np.float32)
    return found


def best_first(scores: Floats, first: int) -> Iterator[Ints]:
    """Places of the positive scores, best first, in blocks of `first`, four times that, and so on.

    Only as much is sorted as is asked for. A zero row scores 0 and never comes.
    """
    left = np.flatnonzero(scores > 0)
    size = first
    while len(left):
        if size < len(left):
            cut = np.argpartition(-scores[left], size - 1)
            block, left = left[cut[:size]], left[cut[size:]]
        else:
            block, left = left, left[:0]
        yield block[np.lexsort((block, -scores[block]))]
        size *= 4


def _row_type(dimensions: int) -> np.dtype[Any]:
    return np.dtype([("vector", "<f4", (dimensions,)), ("kind", "<i4")])


def _columns(rows: NDArray[Any]) -> VectorRows:
    return VectorRows(rows["vector"], rows["kind"])


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":
        return  # Windows cannot open a folder to sync it; the file itself is synced
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
