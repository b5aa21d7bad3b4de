"""`vault-memory bench`: the operation, with queries from a file of JSON lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from vault_memory.errors import InvalidRequest
from vault_memory.surfaces.cli.settings import Settings, common_options


def _bench(queries: str | None, sample: int, seed: int, mode: str) -> int:
    from vault_memory.operations.table import OPERATIONS
    from vault_memory.surfaces.cli.output import emit
    from vault_memory.surfaces.cli.progress import waiting
    from vault_memory.surfaces.dispatch import call

    settings = Settings.current()
    given: dict[str, Any] = {"sample": sample, "seed": seed, "mode": mode}
    if queries is not None:
        given["queries"] = _read(Path(queries))
    with settings.open(touch=False) as ctx, waiting("bench", settings):
        answer = call(ctx, OPERATIONS["bench"], given)
    return emit("bench", answer.result, answer.warnings, settings)


def _read(file: Path) -> list[Any]:
    try:
        lines = file.read_text("utf-8").splitlines()
        return [json.loads(line) for line in lines if line.strip()]
    except (OSError, ValueError) as error:
        raise InvalidRequest.of("queries", f"{file} is no file of JSON lines: {error}") from None


bench = click.Command(
    "bench",
    params=[
        click.Option(["--queries"], metavar="FILE", help="JSON lines, each {query, expected: ref or [refs]}."),
        click.Option(["--sample"], type=int, default=200, show_default=True, help="How many titles and headings."),
        click.Option(["--seed"], type=int, default=1, show_default=True, help="Which of them."),
        click.Option(["--mode"], default="hybrid", show_default=True, help="hybrid, keyword or semantic."),
        *common_options(),
    ],
    help="Measure how well search finds what is in this vault, by its titles and headings or by your own queries.",
    callback=_bench,
)
