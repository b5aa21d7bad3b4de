"""The audit log in state/: one JSON line for every write, who and why. A purge rewrites it without a note."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any


class AuditLog:
    """Lines of `{time, operation, path, before, after, agent, session, reason}`; before and after are revisions."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, entries: Iterable[dict[str, Any]]) -> None:
        """Add the entries with one write call, so that lines of several processes never mix."""
        text = "".join(json.dumps(entry, ensure_ascii=False, sort_keys=True) + "\n" for entry in entries)
        if not text:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)

    def entries(self, *, last_bytes: int | None = None) -> Iterator[dict[str, Any]]:
        """The entries, oldest first; a line cut short by a crash is passed over.

        Args:
            last_bytes: look only at so much of the file's end, for what was written just now.
        """
        try:
            with self.path.open("rb") as lines:
                if last_bytes is not None:
                    lines.seek(max(0, lines.seek(0, os.SEEK_END) - last_bytes))
                for line in lines:
                    try:
                        entry = json.loads(line)
                    except ValueError:
                        continue
                    if isinstance(entry, dict):
                        yield entry
        except FileNotFoundError:
            return

    def forget(self, path: str, ref: str) -> None:
        """Drop every entry of a purged note."""
        kept = [e for e in self.entries() if e.get("path") != path and e.get("ref") != ref]
        temporary = self.path.with_suffix(".tmp")
        temporary.unlink(missing_ok=True)
        AuditLog(temporary).append(kept)
        if temporary.exists():
            temporary.replace(self.path)
        else:
            self.path.unlink(missing_ok=True)
