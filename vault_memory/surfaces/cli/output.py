"""What leaves the command line: results on stdout, problems and hints on stderr; JSON or for people."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vault_memory.errors import PartialFailure, Rejected, VaultError

if TYPE_CHECKING:
    from vault_memory.surfaces.cli.blocks import Block
    from vault_memory.surfaces.cli.settings import Settings


def prepare() -> None:
    """Make stdout and stderr take any text, whatever the locale says."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def write(text: str) -> None:
    """Write to stdout; when its reader is gone (`head`, a closed pager), end quietly: it has what it wanted."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise click.exceptions.Exit(0) from None


def hint(text: str, settings: Settings) -> None:
    """A line on stderr that helps a person; nothing with `--quiet` or `--json`."""
    if not (settings.quiet or settings.json):
        click.echo(text, err=True)


def show(blocks: Sequence[Block]) -> None:
    """Blocks on stdout: tables and colours on a terminal, tab-separated lines elsewhere."""
    if sys.stdout.isatty():
        from vault_memory.surfaces.cli import terminal

        write(terminal.render(blocks))
    else:
        from vault_memory.surfaces.cli import plain

        write(plain.render(blocks))


def emit(operation: str, result: Any, warnings: Sequence[str], settings: Settings) -> int:
    """Show what an operation answered and return the exit code that it deserves."""
    from vault_memory.operations.result import to_json

    document = to_json(result)
    if settings.json:
        write(as_json(document))
    else:
        from vault_memory.surfaces.cli.views import view

        show(view(operation, document))
        _tell_of_more(document, settings)
    for warning in (*warnings, *([] if settings.json else _warnings_in(document))):
        click.echo(f"warning: {warning}", err=True)
    return exit_code(document)


def _tell_of_more(document: Any, settings: Settings) -> None:
    """Where a page is not the last, how to see the next."""
    if isinstance(document, dict) and document.get("has_more"):
        last = document["offset"] + len(document.get("items") or document.get("hits") or ())
        hint(f"{last} of {document['total']}; the next page: --offset {last}", settings)


def as_json(document: Any) -> str:
    """A document as strict JSON text with an end newline."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def exit_code(document: Any) -> int:
    """0, or the code of an answer that reports a refusal (rejected), failed parts, or a vault that is not healthy."""
    if not isinstance(document, dict):
        return 0
    if document.get("outcome") == "rejected":
        return Rejected.exit_code
    failed = document.get("failed") or document.get("healthy") is False
    return PartialFailure.exit_code if failed else 0


def problem(error: VaultError, *, as_json: bool) -> int:
    """Show a failure on stderr and return its exit code."""
    if as_json:
        click.echo(json.dumps(error.problem(), ensure_ascii=False, default=str), err=True)
    else:
        click.echo("\n".join(_for_people(error)), err=True)
    return error.exit_code


def bug(message: str, place: Path | None) -> None:
    """Show on stderr that something unforeseen happened, and where its trace is."""
    click.echo(f"error: {message}", err=True)
    if place is not None:
        click.echo(f"  the trace is in {place}", err=True)


def _for_people(error: VaultError) -> list[str]:
    lines = [f"error: {error.detail}"]
    for item in error.extra.get("errors", ()):
        allowed = item.get("allowed")
        if isinstance(allowed, list) and allowed:
            lines.append(f"  allowed: {', '.join(str(value) for value in allowed)}")
    for name in ("nearest", "candidates", "rival", "holder", "phrase"):
        if value := error.extra.get(name):
            lines.append(f"  {name}: {_short(value)}")
    if error.hint:
        lines.append(f"  {error.hint}")
    return lines


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(str(part) for part in (value.get("ref"), value.get("title"), value.get("path")) if part)
    if isinstance(value, (list, tuple)):
        return ", ".join(_short(item) for item in value)
    return str(value)


def _warnings_in(document: Any) -> list[str]:
    found = document.get("warnings") if isinstance(document, dict) else None
    return [str(item) for item in found] if isinstance(found, list) else []
