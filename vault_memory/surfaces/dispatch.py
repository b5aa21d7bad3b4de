"""What every surface does with a request: open the vault, parse the arguments, run the operation. Renders nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from vault_memory.errors import InvalidRequest
from vault_memory.operations.table import OPERATIONS, Function, Operation

if TYPE_CHECKING:
    from vault_memory.memory.scope import Scope
    from vault_memory.operations.context import Context


class Answer(Struct, frozen=True):
    """What an operation answered, and what the surface has to say about the call itself."""

    result: Any
    warnings: tuple[str, ...] = ()


@contextmanager
def opened(root: Path, *, scope: Scope, environ: Mapping[str, str], **context: Any) -> Iterator[Context]:
    """The vault at `root`, opened for one request; `context` gives further fields of the Context."""
    from vault_memory.config import load_config
    from vault_memory.operations.context import Context
    from vault_memory.vault import Vault, system_clock

    provenance = {
        "agent": environ.get("VAULT_MEMORY_AGENT") or None,
        "session": environ.get("VAULT_MEMORY_SESSION") or None,
    }
    with Vault.open(root, load_config(root, environ=environ)) as vault:
        yield Context(**{"vault": vault, "scope": scope, "now": system_clock(), **provenance, **context})


def operation_named(name: str, operations: Mapping[str, Operation] = OPERATIONS) -> Operation:
    """The operation of that name.

    Raises:
        InvalidRequest: there is none; the error names the nearest.
    """
    if name in operations:
        return operations[name]
    from vault_memory.surfaces.arguments import nearest

    close = nearest(name, operations)
    message = f"there is no operation '{name}'" + (f"; did you mean '{close}'?" if close else "")
    raise InvalidRequest.of("operation", message, allowed=sorted(operations))


def call(
    ctx: Context,
    operation: Operation,
    arguments: Mapping[str, Any],
    *,
    lenient: bool = False,
    function: Function | None = None,
) -> Answer:
    """Parse `arguments`, run the operation and return its result with the warnings of the parsing.

    `function` takes the place of the operation's own, for a surface that wraps it (to show progress).

    Raises:
        VaultError: whatever the arguments or the operation call for.
    """
    from vault_memory.surfaces.arguments import parse

    model, own = operation.load()
    request, warnings = parse(model, arguments, lenient=lenient)
    return Answer((function or own)(ctx, request), warnings)
