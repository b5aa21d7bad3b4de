"""The static embedding model: texts to token ids, token ids to vectors. Owns loading and gathering, reads no note.

The packaged model is read from a memory-mapped half-precision table with numpy and tokenizers alone; model2vec, an
order of magnitude slower to import, is loaded for another model that the user configured, and for nothing else.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from tokenizers import Tokenizer

from vault_memory.errors import IndexUnavailable
from vault_memory.index.numeric import Floats, Ints, NDArray, np

PACKAGED: Final = Path(__file__).parent.parent / "models" / "potion-base-8M"
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
_TABLE_TYPES: Final = {"F16": np.float16, "F32": np.float32}
_KEPT_WORDS: Final = 1 << 15
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""What Python takes for a space and the tokenizer drops, or the reverse: such a text is tokenised as a whole."""
_SHORT: Final = 4
"""Up to so many texts are gathered straight from the table; more share one conversion of the rows they use."""


class ModelUnavailable(IndexUnavailable):
    """The embedding model cannot be loaded; notes are found by their words, and get their vectors when it can."""


class Embedder(Struct, frozen=True):
    """A loaded model. Vectors are float32 of unit length; equal ids give equal vectors, whatever else is encoded."""

    name: str
    revision: str
    tokenizer: Tokenizer
    table: NDArray[Any]
    unknown: int | None
    pieces: Callable[[str], Sequence[int]] | None
    """The ids of one word, remembered, for tokenizers that treat every word between spaces by itself."""

    @property
    def dimensions(self) -> int:
        """Width of the vectors."""
        return int(self.table.shape[1])

    @property
    def fingerprint(self) -> str:
        """Tells this model from every other: vectors are comparable only where it is equal."""
        return f"{self.name}@{self.revision}/{self.dimensions}"

    @property
    def token_type(self) -> type[np.uint16] | type[np.uint32]:
        """The smallest unsigned type that holds every token id."""
        return np.uint16 if len(self.table) <= 1 << 16 else np.uint32

    def tokenise(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each text in order, doubles kept, without the unknown token and without special ones."""
        readable = [text if text.isascii() else text.encode("utf-8", "ignore").decode("utf-8") for text in texts]
        if self.pieces is None:
            return [self._known(ids) for ids in _encoded(self.tokenizer, readable)]
        apart = [n for n, text in enumerate(readable) if _CONTROL.search(text)]
        found = [self._known(chain.from_iterable(map(self.pieces, text.split()))) for text in readable]
        for n, ids in zip(apart, _encoded(self.tokenizer, [readable[n] for n in apart]), strict=True):
            found[n] = self._known(ids)
        return found

    def _known(self, ids: Iterable[int]) -> list[int]:
        return [token for token in ids if token != self.unknown]

    def vectors(self, tokens: Sequence[Sequence[int]]) -> Floats:
        """The unit vector of each list of token ids: the mean of their rows, or all zeros when there is none.

        Shape (lists, dimensions).
        """
        rows = [np.asarray(ids, np.intp) for ids in tokens]
        table: NDArray[Any] = self.table
        if len(rows) > _SHORT:
            table, rows = self._used(rows)
        found = np.zeros((len(rows), self.dimensions), np.float32)
        for n, ids in enumerate(rows):
            if len(ids):
                found[n] = _mean(table, ids)
        return _unit(found)

    def encode(self, text: str) -> Floats:
        """The unit vector of one text, or all zeros when nothing of it is known to the model; shape (dimensions,)."""
        vector: Floats = self.vectors(self.tokenise([text]))[0]
        return vector

    def token_vectors(self, tokens: Ints) -> Floats:
        """The unit vectors (or zeros) of single tokens, shape (tokens, dimensions); touches only their rows."""
        return _unit(np.asarray(self.table[tokens], np.float32))

    def _used(self, rows: Iterable[NDArray[np.intp]]) -> tuple[Floats, list[NDArray[np.intp]]]:
        """The rows of the table that occur, in single precision, and the ids renumbered to them."""
        rows = list(rows)
        place = np.zeros(len(self.table), np.intp)
        for ids in rows:
            place[ids] = 1
        used = np.flatnonzero(place)
        place[used] = np.arange(len(used))
        return np.asarray(self.table[used], np.float32), [place[ids] for ids in rows]


def load_embedder(model: str = "") -> Embedder:
    """The packaged model (`model` empty), or the model2vec folder or hub id that the user's own settings name.

    Raises:
        ModelUnavailable: it cannot be loaded; full-text search works without it.
    """
    try:
        return load_folder(PACKAGED) if not model else _configured(model)
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise ModelUnavailable(
            f"The embedding model {model or PACKAGED.name!r} cannot be loaded: {error}",
            hint="Searches use keywords only until it can; `doctor` tells.",
        ) from error


def load_folder(folder: Path) -> Embedder:
    """A model in a folder of ours: a memory-mapped `embeddings` table, tokenizer.json, and config.json with its name.

    Raises:
        OSError, ValueError, KeyError: a file is missing or is not what it should be.
    """
    config = json.loads((folder / "config.json").read_text("utf-8"))
    table = _mapped_table(folder / "model.safetensors")
    tokenizer = _tokenizer((folder / "tokenizer.json").read_text("utf-8"))
    if tokenizer.get_vocab_size() != len(table):
        raise ValueError(f"{folder}: the tokenizer has {tokenizer.get_vocab_size()} tokens, the table {len(table)}")
    unknown = tokenizer.token_to_id("[UNK]")
    return Embedder(config["name"], config["revision"], tokenizer, table, unknown, _word_pieces(tokenizer))


def _mapped_table(file: Path) -> NDArray[Any]:
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        entry = json.loads(stream.read(length))["embeddings"]
    kind = np.dtype(_TABLE_TYPES[entry["dtype"]])
    start = 8 + length + entry["data_offsets"][0]
    return np.memmap(file, kind, "r", start, tuple(entry["shape"])).view(np.ndarray)


def _tokenizer(text: str) -> Tokenizer:
    tokenizer = Tokenizer.from_str(text)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _configured(model: str) -> Embedder:
    """Another model through model2vec. A path is looked for first, as model2vec would try to download a missing one."""
    folder = Path(model).expanduser()
    if folder.is_dir():
        source, name = str(folder), folder.name
    elif _HUB_NAME.fullmatch(model):
        source = name = model
    else:
        raise FileNotFoundError(f"there is no folder {folder}")
    from model2vec import StaticModel

    loaded = StaticModel.from_pretrained(source, force_download=False)
    rows = loaded.embedding if loaded.token_mapping is None else loaded.embedding[loaded.token_mapping]
    table = np.array(rows, np.float32)
    if loaded.weights is not None:
        table *= np.asarray(loaded.weights, np.float32)[:, None]
    tokenizer = _tokenizer(loaded.tokenizer.to_str())
    revision = hashlib.blake2b(table.tobytes() + tokenizer.to_str().encode(), digest_size=12).hexdigest()
    return Embedder(name, revision, tokenizer, table, loaded.unk_token_id, None)


def _word_pieces(tokenizer: Tokenizer) -> Callable[[str], Sequence[int]]:
    """Tokenises single words and remembers them: five times as fast as whole texts, as text repeats its words."""

    @lru_cache(_KEPT_WORDS)
    def pieces(word: str) -> tuple[int, ...]:
        return tuple(tokenizer.encode(word, add_special_tokens=False).ids)

    return pieces


def _encoded(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    return [encoding.ids for encoding in tokenizer.encode_batch_fast(texts, add_special_tokens=False)]


def _mean(table: NDArray[Any], ids: NDArray[np.intp]) -> Floats:
    rows = np.asarray(table.take(ids, 0), np.float32)
    mean: Floats = rows.sum(0) / np.float32(len(ids))
    return mean


def _unit(vectors: Floats) -> Floats:
    """Each row scaled to length 1; a row of zeros stays one."""
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    norms[norms == 0] = 1
    unit: Floats = vectors / norms[:, None]
    return unit
