"""Where the command line logs: stderr when asked for, and one file for the traces of bugs. Never stdout."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import Final

LEVELS: Final = {0: "WARNING", 1: "INFO", 2: "DEBUG"}


def start(verbose: int) -> None:
    """Log to stderr at the level of `-v` (once INFO, twice DEBUG), else of `$VAULT_MEMORY_LOG`; else not at all."""
    level = LEVELS[min(verbose, 2)] if verbose else os.environ.get("VAULT_MEMORY_LOG", "").upper()
    if not level:
        return
    import logging

    if level not in logging.getLevelNamesMapping():
        level = "WARNING"
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")


def record_bug(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> Path | None:
    """Append the trace to the log and return the file, or None when it cannot be written."""
    import traceback
    from datetime import UTC, datetime

    text = "".join(traceback.format_exception(kind, error, trace))
    try:
        place = bug_log()
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with place.open("a", encoding="utf-8", errors="backslashreplace") as file:
            place.chmod(0o600)
            file.write(f"{datetime.now(UTC).isoformat()}\n{text}\n")
    except OSError:
        return None
    return place


def bug_log() -> Path:
    """The file that holds the traces of bugs: in the user's log folder, or in `$VAULT_MEMORY_LOG_DIR`."""
    if named := os.environ.get("VAULT_MEMORY_LOG_DIR"):
        return Path(named) / "bugs.log"
    from platformdirs import user_log_path

    return user_log_path("vault-memory") / "bugs.log"
