"""What each session was told already, so that a resumed one hears only what is new. Local state, small, disposable."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

_KEEP: Final = 200
"""Sessions that are remembered; the oldest go."""


class Told(Struct, frozen=True):
    """Files below `folder` (in state/), one a session."""

    folder: Path

    def load(self, session: str) -> dict[str, str]:
        """Refs and revisions that the session was told; empty when it is unknown or its file cannot be read."""
        try:
            data = json.loads(self._path(session).read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return {str(ref): str(revision) for ref, revision in data.items()} if isinstance(data, dict) else {}

    def save(self, session: str, told: Mapping[str, str]) -> None:
        """Remember what the session was told.

        Raises:
            OSError: it cannot be written.
        """
        if not session:
            return
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self._path(session)
        fresh = path.with_suffix(f".{os.getpid()}.tmp")
        fresh.write_text(json.dumps(dict(told)), "utf-8")
        fresh.chmod(0o600)
        fresh.replace(path)
        for path in sorted(self.folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)[:-_KEEP]:
            path.unlink(missing_ok=True)

    def _path(self, session: str) -> Path:
        return self.folder / f"{hashlib.sha256(session.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}.json"
