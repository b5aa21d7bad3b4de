"""What `connect` did, written down so that `disconnect` can undo it exactly: one receipt a client and scope.

Owns the folder of receipts with the files' earlier bytes (the backups). It must not know any client.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from vault_memory.errors import InvalidRequest
from vault_memory.harness import changes as change_kinds
from vault_memory.harness.edits import FileChange, missing_folders, read, remove_empty, write_file

_MADE = "folders.made"
"""Names the folders that the first receipt had to make, so that the last one takes them away again."""


class Receipt(Struct, frozen=True):
    """The files that a connection changed and what it was made with (`facts`: command, vault, version, options)."""

    client: str
    files: tuple[FileChange, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)

    def file(self, path: Path) -> FileChange | None:
        """What was done to `path`, or None."""
        return next((change for change in self.files if change.path == path), None)


class Receipts(Struct, frozen=True):
    """Receipts and backups below `folder` (user state, mode 0700); nothing is left of it when the last one goes."""

    folder: Path

    def find(self, key: str) -> Receipt | None:
        """The receipt of a connection, or None.

        Raises:
            InvalidRequest: it is there but cannot be understood.
        """
        path = self._path(key)
        data = read(path)
        if data is None:
            return None
        try:
            return _from_json(json.loads(data))
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidRequest.of(str(path), f"not a receipt of connect: {error}") from error

    def names(self) -> list[str]:
        """The connections that have a receipt, sorted."""
        return sorted(path.stem for path in self.folder.glob("*.json"))

    def save(self, key: str, receipt: Receipt) -> None:
        """Write the receipt and, beside it, a plain copy of each file as it was."""
        made = missing_folders(self._path(key))
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if made:
            write_file(self.folder / _MADE, json.dumps([str(folder) for folder in made]).encode())
        self._drop_backups(key)
        for number, change in enumerate(receipt.files):
            if change.base is not None:
                write_file(self.folder / f"{key}.{number}.{change.path.name}.bak", change.base)
        write_file(self._path(key), json.dumps(_to_json(receipt), indent=1, ensure_ascii=False).encode())

    def drop(self, key: str) -> None:
        """Forget a connection and its backups."""
        self._drop_backups(key)
        self._path(key).unlink(missing_ok=True)
        made = self.folder / _MADE
        if not self.names() and (data := read(made)) is not None:
            made.unlink()
            remove_empty([Path(folder) for folder in json.loads(data)])

    def _drop_backups(self, key: str) -> None:
        for path in self.folder.glob(f"{key}.[0-9]*.bak"):
            path.unlink()

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.json"


def project_key(client: str, project: Path | None) -> str:
    """The receipt's name: the client, and for a project scope a short hash of its folder."""
    if project is None:
        return client
    return f"{client}--{hashlib.sha256(str(project).encode()).hexdigest()[:12]}"


def _to_json(receipt: Receipt) -> dict[str, Any]:
    files = [
        {
            "path": str(change.path),
            "base": _packed(change.base),
            "after": _packed(change.after),
            "changes": [change_kinds.to_json(item) for item in change.changes],
            "made": [str(folder) for folder in change.made],
            "locked": change.locked,
        }
        for change in receipt.files
    ]
    return {"version": 1, "client": receipt.client, "facts": dict(receipt.facts), "files": files}


def _from_json(data: Mapping[str, Any]) -> Receipt:
    files = tuple(
        FileChange(
            path=Path(item["path"]),
            before=None,
            base=_unpacked(item["base"]),
            after=_unpacked(item["after"]),
            changes=tuple(change_kinds.from_json(change) for change in item["changes"]),
            made=tuple(Path(folder) for folder in item["made"]),
            locked=bool(item["locked"]),
        )
        for item in data["files"]
    )
    return Receipt(str(data["client"]), files, dict(data["facts"]))


def _packed(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode("ascii")


def _unpacked(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)
