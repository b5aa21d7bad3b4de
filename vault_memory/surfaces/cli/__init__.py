"""The command line: parses words, calls one operation, shows the answer. Decides nothing about memories."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Run this process's command line and return its exit code; docs/errors.md lists the codes.

    An exception that nobody foresaw is reported shortly by the hook that is set here, and ends the process with 1.
    """
    from vault_memory.surfaces.cli import app, output

    # Without this, pydantic reads the metadata of every installed package: a fifth of what a short command costs.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    sys.excepthook = app.report_bug
    output.prepare()
    # Arguments are UTF-8 whatever the locale says: with LC_ALL=C Python would hand us escaped bytes.
    return app.run([os.fsencode(argument).decode("utf-8", "surrogateescape") for argument in sys.argv[1:]])
