"""`vault-memory git-merge`: the driver that git calls for a note both sides changed. Speaks only in its exit code."""

from __future__ import annotations

from pathlib import Path

import click


def _git_merge(base: str, ours: str, theirs: str, marker_size: int, path: str) -> int:
    from vault_memory.files.git_merge import git_merge
    from vault_memory.memory.model import RELATION_TYPES

    return git_merge(Path(base), Path(ours), Path(theirs), marker_size, (*RELATION_TYPES, *_own_relations()))


def _own_relations() -> tuple[str, ...]:
    """The relation types that this vault adds; git runs us at the top of the repository, which may be the vault."""
    from vault_memory.config import load_config
    from vault_memory.errors import InvalidRequest

    try:
        return load_config(Path.cwd()).vocabulary.relation_types
    except InvalidRequest:
        return ()  # the config may be one of the files in conflict; notes merge without its additions


git_merge = click.Command(
    "git-merge",
    params=[
        click.Argument(["base"]),
        click.Argument(["ours"]),
        click.Argument(["theirs"]),
        click.Argument(["marker_size"], type=int, required=False, default=7),
        click.Argument(["path"], required=False, default=""),
    ],
    help="Merge a note for git, field by field. The result replaces OURS; with exit code 1 it has conflict markers.\n\n"
    "`init` sets it up in each clone; you need not call it.",
    callback=_git_merge,
)
