"""What the indexes hold about a memory: chunks with their terms, token ids and vectors. A function of the memory, the
model and this code alone; it reads no file and no database."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, Final

from msgspec import Struct

from vault_memory.index.analyse import VERSION as ANALYSER_VERSION
from vault_memory.index.analyse import analyse, bag
from vault_memory.index.embed import Embedder
from vault_memory.index.numeric import np
from vault_memory.memory.chunk import Chunk, chunks, label
from vault_memory.memory.model import Memory

VERSION: Final = 1
"""Part of the index fingerprint: raise it whenever the same memory would give other chunks."""
MAX_EXTRA_CHARS: Final = 20_000
_SUFFIX = re.compile(r"\.md$", re.IGNORECASE)


class ChunkData(Struct, frozen=True):
    """A chunk as the catalog records it.

    Attributes:
        n, start, end, heading: where it is, see `memory.chunk.Chunk`.
        terms: the bag (see `analyse.bag`) of the terms of label and text, doubles kept: what BM25 counts.
        length: number of terms.
        extra: terms that select but never score: path, urls and a person's own keys, with the first chunk only.
        tokens: unique token ids of label and text in rising order, little-endian, as wide as `Embedder.token_type`;
            None without a model.
        vector: unit vector of label and text, little-endian float32; None without a model, or when nothing of the text
            itself is known to the model: then the chunk is found by its words only.
        made_by: the `fingerprint` of code and model; the catalog refuses chunks of another one than it holds.
    """

    n: int
    start: int
    end: int
    heading: str
    terms: str
    length: int
    extra: str
    tokens: bytes | None
    vector: bytes | None
    made_by: str = ""


def fingerprint(embedder: Embedder | None) -> str:
    """Tells which code and model chunks were made by; chunks of different fingerprints must not be mixed."""
    model = embedder.fingerprint if embedder else "none"
    return f"chunks {VERSION}, terms {ANALYSER_VERSION}, model {model}"


def derive(memories: Sequence[Memory], embedder: Embedder | None) -> list[tuple[ChunkData, ...]]:
    """The chunks of each memory, in order; one pass of the model over all of them. Without a model: no vectors."""
    passages = [chunks(memory) for memory in memories]
    labels = [[label(memory, n) for n in range(len(parts))] for memory, parts in zip(memories, passages, strict=True)]
    tokens, vectors = _embedded(passages, labels, embedder)
    made_by = fingerprint(embedder)
    found: list[tuple[ChunkData, ...]] = []
    at = 0
    for memory, parts, heads in zip(memories, passages, labels, strict=True):
        here = slice(at, at + len(parts))
        found.append(tuple(_rows(memory, parts, heads, tokens[here], vectors[here], made_by)))
        at += len(parts)
    return found


def _rows(
    memory: Memory,
    parts: Sequence[Chunk],
    heads: Sequence[str],
    tokens: Sequence[bytes | None],
    vectors: Sequence[bytes | None],
    made_by: str,
) -> Iterator[ChunkData]:
    for part, head, ids, vector in zip(parts, heads, tokens, vectors, strict=True):
        terms = analyse(f"{head}\n{part.text}" if head else part.text)
        extra = "" if part.n else " ".join(dict.fromkeys(analyse(_own_words(memory))))
        where = (part.n, part.start, part.end, part.heading)
        yield ChunkData(*where, bag(terms), len(terms), extra, ids, vector, made_by)


def _embedded(
    passages: Sequence[Sequence[Chunk]], labels: Sequence[Sequence[str]], embedder: Embedder | None
) -> tuple[list[bytes | None], list[bytes | None]]:
    """Token ids and vector of every chunk. Label and text are tokenised apart: a label alone makes no vector."""
    count = sum(map(len, passages))
    if embedder is None:
        return [None] * count, [None] * count
    heads, at_head = _numbered([text for texts in labels for text in texts])
    texts = [part.text for parts in passages for part in parts]
    ids = embedder.tokenise([*heads, *texts])
    bodies = ids[len(heads) :]
    joined = [ids[head] + body for head, body in zip(at_head, bodies, strict=True)]
    vectors = embedder.vectors([both if body else [] for both, body in zip(joined, bodies, strict=True)])
    kind = np.dtype(embedder.token_type).newbyteorder("<")
    tokens: list[bytes | None] = [np.array(sorted(set(both)), kind).tobytes() for both in joined]
    present = np.abs(vectors).sum(axis=1) > 0
    stored = vectors.astype("<f4", copy=False)
    return tokens, [row.tobytes() if some else None for row, some in zip(stored, present, strict=True)]


def _numbered(texts: Sequence[str]) -> tuple[list[str], list[int]]:
    """The distinct texts, and for each text the place of its like among them."""
    places: dict[str, int] = {}
    numbers = [places.setdefault(text, len(places)) for text in texts]
    return list(places), numbers


def _own_words(memory: Memory) -> str:
    """What a memory is found by besides its label and text: path, urls, source and the person's own keys."""
    words = [_SUFFIX.sub("", memory.path), memory.url or "", *memory.related_urls, memory.source_id or ""]
    words += _texts(memory.metadata)
    lengths = accumulate(len(word) + 1 for word in words)
    return "\n".join(word for word, end in zip(words, lengths, strict=True) if end <= MAX_EXTRA_CHARS)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)
