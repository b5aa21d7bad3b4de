"""Makes the packaged embedding model from its published files: a float16 table, the tokenizer and who made it.

    python scripts/quantise_model.py SOURCE [TARGET]

SOURCE is a model2vec folder (model.safetensors with a float32 `embeddings` table, tokenizer.json, config.json). Needs
numpy only. Half precision keeps every cosine to the original above 0.999999 and halves the package.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

NAME = "minishlab/potion-base-8M"
REVISION = "bf8b056651a2c21b8d2565580b8569da283cab23"
SOURCE_SHA256 = "f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2"
TARGET = Path(__file__).parent.parent / "vault_memory" / "models" / "potion-base-8M"
HEADER_ALIGNMENT = 8


def read_table(file: Path) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The float32 `embeddings` table of a safetensors file; raises ValueError when it is not that."""
    data = file.read_bytes()
    if hashlib.sha256(data).hexdigest() != SOURCE_SHA256:
        raise ValueError(f"{file} is not revision {REVISION} of {NAME}")
    length = int.from_bytes(data[:8], "little")
    entry = json.loads(data[8 : 8 + length])["embeddings"]
    start, end = (8 + length + offset for offset in entry["data_offsets"])
    return np.frombuffer(data[start:end], np.float32).reshape(entry["shape"])


def write_table(table: np.ndarray[Any, Any], file: Path) -> None:
    """Writes `table` as the `embeddings` of a float16 safetensors file whose data begins aligned."""
    half = np.ascontiguousarray(table, np.float16)
    entry = {"dtype": "F16", "shape": list(half.shape), "data_offsets": [0, half.nbytes]}
    header = json.dumps({"embeddings": entry}, separators=(",", ":")).encode()
    header += b" " * (-len(header) % HEADER_ALIGNMENT)
    file.write_bytes(len(header).to_bytes(8, "little") + header + half.tobytes())


def main(source: Path, target: Path = TARGET) -> None:
    """Quantises the model in `source` into the folder `target`."""
    target.mkdir(parents=True, exist_ok=True)
    write_table(read_table(source / "model.safetensors"), target / "model.safetensors")
    (target / "tokenizer.json").write_bytes((source / "tokenizer.json").read_bytes())
    config = json.loads((source / "config.json").read_text("utf-8"))
    config |= {"name": NAME, "revision": REVISION, "table": "float16"}
    (target / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:3]))
