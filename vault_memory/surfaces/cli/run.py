"""`vault-memory run`: the actor's batch documents, one action or a list of them, from a file or stdin."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vault_memory.errors import InvalidRequest, PartialFailure, VaultError
from vault_memory.surfaces.cli.settings import Settings, common_options

if TYPE_CHECKING:
    from vault_memory.operations.context import Context


def _run(source: str) -> int:
    from msgspec.structs import replace

    from vault_memory.surfaces.cli.output import as_json, write
    from vault_memory.surfaces.profiles.batch import act

    document = _document(source)
    settings = Settings.current()
    seen = replace(settings, project=settings.project or "*")
    with seen.open() as ctx:
        if not isinstance(document, list):
            write(as_json(act(ctx, document)))
            return 0
        answers = [_answered(ctx, item) for item in document]
    write(as_json(answers))
    return PartialFailure.exit_code if any(not answer["ok"] for answer in answers) else 0


def _answered(ctx: Context, document: Any) -> dict[str, Any]:
    """The answer of one action of a list; its failure stops no other."""
    from vault_memory.surfaces.profiles.batch import act

    try:
        return act(ctx, document)
    except VaultError as error:
        given = document if isinstance(document, dict) else {}
        said = {key: given[key] for key in ("action", "memoryStoreId") if key in given}
        return {**said, "ok": False, "error": error.detail, "problem": error.problem()}


def _document(source: str) -> Any:
    try:
        text = sys.stdin.read() if source == "-" else Path(source).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest.of("input", f"{source} cannot be read: {error}") from error
    try:
        return json.loads(text)
    except ValueError as error:
        raise InvalidRequest.of("input", f"no JSON: {error}") from error


run = click.Command(
    "run",
    params=[click.Argument(["source"], metavar="FILE"), *common_options()],
    help="Carry out the memory actor's batch documents (FILE, - for stdin): {action, memoryStoreId, …} or a list.\n\n"
    "Actions: remember (store), recall, search, forget (delete), update, context_pack, stats, prune. The answer is JSON"
    " in the actor's shapes. In a list a failed action is answered with ok: false and stops no other; the exit code is"
    " then 3.",
    callback=_run,
)
