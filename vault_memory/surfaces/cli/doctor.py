"""What the command line adds to `doctor` and `status`: the coding agents on this machine that are connected here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from vault_memory.operations.checks import Check, Diagnosis, Doctor
from vault_memory.operations.context import Context
from vault_memory.surfaces.cli.settings import Settings


def examined(ctx: Context, request: Any) -> Any:
    """The operation `doctor` or `status` with the clients."""
    if isinstance(request, Doctor):
        from vault_memory.operations.doctor import doctor

        return Diagnosis.of((*doctor(ctx, request).checks, *client_checks(ctx)))
    from vault_memory.operations.status import status

    report = status(ctx, request)
    clients = {check.area: check.detail for check in client_checks(ctx) if check.area != "agents"}
    problems = [
        f"{check.area}: {check.detail}; {check.fix}" for check in client_checks(ctx) if check.level == "problem"
    ]
    return replace(report, clients=clients, warnings=(*report.warnings, *problems))


def client_checks(ctx: Context) -> Iterator[Check]:
    """One check for each connection to this vault, one for each thing wrong with it; reads settings files only."""
    from vault_memory.harness.clients import CLIENTS, client
    from vault_memory.harness.status import client_statuses, moved
    from vault_memory.surfaces.cli.connect import machine_here, options_here, receipts_here

    options = options_here(Settings(vault=str(ctx.vault.root)))
    connected = 0
    for found in client_statuses(map(client, CLIENTS), machine_here(), receipts_here()):
        if found.vault != str(ctx.vault.root):
            continue
        connected += 1
        where = f" in {found.project}" if found.project else ""
        other = moved(found, options)
        for problem in (*found.problems, *([other] if other else [])):
            yield Check(found.title, "problem", f"{problem.what}{where}", problem.fix)
        if not found.problems and not other:
            yield Check(found.title, "ok", f"connected{where}")
    if not connected:
        yield Check("agents", "notice", "no coding agent is connected to this vault", "vault-memory connect CLIENT")
