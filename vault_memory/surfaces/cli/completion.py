"""`vault-memory completion`: the script that lets a shell complete our commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from vault_memory.surfaces.cli.output import write
from vault_memory.surfaces.cli.settings import common_options

_VARIABLE = "_VAULT_MEMORY_COMPLETE"


def _print_script(shell: str) -> None:
    from vault_memory.surfaces.cli.app import PROGRAM, application

    kind = get_completion_class(shell)
    assert kind is not None, shell
    write(kind(application(), {}, PROGRAM, _VARIABLE).source() + "\n")


completion = click.Command(
    "completion",
    params=[click.Argument(["shell"], type=click.Choice(["bash", "zsh", "fish"])), *common_options()],
    help="Print the completion script for your shell.\n\n"
    "For bash: vault-memory completion bash > ~/.local/share/bash-completion/completions/vault-memory",
    callback=_print_script,
)
