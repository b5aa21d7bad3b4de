"""`vault-memory init`: make a vault, and remember the first one as the user's default."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vault_memory.errors import InvalidRequest
from vault_memory.surfaces.cli.settings import Settings, common_options

if TYPE_CHECKING:
    from vault_memory.operations.init import InitResult
    from vault_memory.surfaces.cli.blocks import Block


def _init(folder: str | None, git: bool, git_hooks: bool | None, default: bool) -> int:
    from vault_memory.operations.init import init_vault
    from vault_memory.surfaces.cli import output

    settings = Settings.current()
    result = init_vault(folder or settings.vault or ".", git=git)
    hooks = None if git_hooks is None else set_git_hooks(result.root, git_hooks)
    is_default = default and set_default_vault(result.root)
    if settings.json:
        from vault_memory.operations.result import to_json

        more = {} if hooks is None else {"git_hooks": {"installed": git_hooks, "changed": list(hooks)}}
        output.write(output.as_json({**to_json(result), "default": is_default, **more}))
    else:
        output.show([*_view(result, is_default), *_hooks_view(git_hooks, hooks)])
    for warning in result.warnings:
        click.echo(f"warning: {warning}", err=True)
    return 0


def set_default_vault(root: Path) -> bool:
    """Make `root` the user's default vault unless there is one; the rest of the settings file stays as it is.

    Returns:
        True when it was set now.
    """
    from vault_memory.config import load_config, user_config_file

    if load_config(None, environ=os.environ).default_vault:
        return False
    import tomlkit

    file = user_config_file(os.environ)
    document = tomlkit.parse(file.read_text("utf-8")) if file.exists() else tomlkit.document()
    document["default_vault"] = str(root)
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    fresh.write_text(tomlkit.dumps(document), "utf-8")
    fresh.replace(file)
    return True


def set_git_hooks(root: Path, wanted: bool) -> tuple[str, ...]:
    """Put our git hooks in place, chained to those that are there, or take them away again; the names that changed.

    Raises:
        InvalidRequest: the vault is in no git repository.
        NotAllowed: the repository's hooks are in a folder outside of it.
    """
    from vault_memory.files.git import Git
    from vault_memory.files.githooks import install, remove
    from vault_memory.surfaces.cli.connect import own_command

    git = Git(root)
    if git.repository is None:
        raise InvalidRequest.of("--git-hooks", git.problem)
    command = own_command()
    return (
        install(git.repository, Path(command[0]) if len(command) == 1 else None) if wanted else remove(git.repository)
    )


def _hooks_view(wanted: bool | None, changed: tuple[str, ...] | None) -> list[Block]:
    from vault_memory.surfaces.cli.blocks import Line

    if changed is None:
        return []
    what = "in place" if wanted else "taken away"
    return [Line(f"  hooks    {what}: {', '.join(changed)}" if changed else f"  hooks    {what} already")]


def _view(result: InitResult, is_default: bool) -> list[Block]:
    from vault_memory.surfaces.cli.blocks import Line

    blocks: list[Block] = [Line(f"vault  {result.root}", "good" if result.created else "plain")]
    blocks += [Line(f"  created  {path}") for path in result.created]
    blocks += [Line(f"  kept     {path} (yours)", "faint") for path in result.kept]
    blocks.append(Line(f"  history  {_HISTORY.get(result.git, result.git)}"))
    if is_default:
        blocks.append(Line("  this is your default vault now"))
    return blocks


_HISTORY = {
    "made": "a new git repository, with what was created here as its first commit",
    "existing": "the git repository that is here",
    "inside": "inside a bigger git repository: nothing is committed unless auto_commit is on",
    "off": "none (replaced text is kept in .vault-memory/state)",
    "missing": "none: git is not installed (replaced text is kept in .vault-memory/state)",
}

init = click.Command(
    "init",
    params=[
        click.Argument(["folder"], required=False),
        click.Option(["--git/--no-git"], default=True, help="Keep the history in git (the default)."),
        click.Option(
            ["--git-hooks/--no-git-hooks"],
            default=None,
            help="Let git call vault-memory after pulls and checkouts, and before commits; or take its hooks away.",
        ),
        click.Option(["--default/--no-default"], default=True, help="Use it by default when there is no default yet."),
        *common_options(),
    ],
    help="Make a vault in FOLDER (default: here), or adopt a folder of notes without changing one byte of them.",
    callback=_init,
)
