"""Run a piece of code in a forked process and do something to it at the n-th line it runs of given files."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Collection
from pathlib import Path
from types import FrameType
from typing import Any

import vault_memory.files

_FOLDER = Path(vault_memory.files.__file__).parent
FILES_MODULES = frozenset(str(path) for path in _FOLDER.glob("*.py"))
CHANGING_MODULES = frozenset(str(_FOLDER / f"{name}.py") for name in ("atomic", "rename", "store", "versions"))
"""The modules that change the disk: to be killed in any other is to be killed at the line that calls it."""
KILLED = 137


def at_line(number: int, files: Collection[str], act: Callable[[], None]) -> None:
    """Have `act` called before the `number`-th line of the files that this thread is going to run."""
    left = number

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if frame.f_code.co_filename not in files:
            return None
        if event == "line":
            left -= 1
            if left == 0:
                act()
        return trace

    sys.settrace(trace)


def die() -> None:
    """End this process as `kill -9` would: nothing is flushed, no `finally` runs."""
    os._exit(KILLED)


def in_fork(work: Callable[[], None]) -> int:
    """Exit code of a forked process that does the work: 0 done, 1 it raised, KILLED."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:  # noqa: BLE001 - a forked child must never return into the test runner
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def killed_at(number: int, work: Callable[[], None], files: Collection[str] = CHANGING_MODULES) -> bool:
    """True when the work was killed at that line, False when it was done before."""

    def dying() -> None:
        at_line(number, files, die)
        work()

    code = in_fork(dying)
    assert code in (0, KILLED), f"the work failed at line {number}"
    return code == KILLED
