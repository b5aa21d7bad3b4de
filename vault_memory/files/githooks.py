"""Installs and removes the git hooks that come with the package (hooks/git), chained to the ones that are there.

Owns the files it put into the repository's hooks folder, known by their second line, and no others. A hooks folder
outside the repository belongs to other repositories as well and is left alone.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable
from importlib.resources import files
from pathlib import Path
from typing import Final

from msgspec import Struct

from vault_memory.errors import NotAllowed
from vault_memory.files.git import Repository
from vault_memory.files.git_objects import blobs
from vault_memory.files.paths import is_note_name
from vault_memory.memory.markdown import UnreadableNote, parse
from vault_memory.memory.model import Finding

HOOKS: Final = ("post-merge", "post-checkout", "post-rewrite", "post-commit", "pre-commit")
BEFORE: Final = ".before-vault-memory"
_MARK: Final = "# vault-memory git hook"

Judge = Callable[[str, bytes], Iterable[Finding]]


class Refusal(Struct, frozen=True):
    """Why a staged note must not be committed as it is; `line` counts from 1, None when the whole note is meant."""

    path: str
    reason: str
    line: int | None


def installed(repository: Repository) -> tuple[str, ...]:
    """The names of our hooks that are in place."""
    folder = hooks_folder(repository)
    return tuple(name for name in HOOKS if _is_ours(folder / name))


def install(repository: Repository, command: Path | None = None) -> tuple[str, ...]:
    """Put our hooks in place; the names of those that were missing or out of date.

    A hook that is there already is kept beside ours and called first.

    Args:
        command: the vault-memory program that the hooks try before looking on the PATH.

    Raises:
        NotAllowed: the repository's hooks are in a folder outside of it.
    """
    folder = hooks_folder(repository)
    folder.mkdir(parents=True, exist_ok=True)
    vault = repository.prefix.rstrip("/")
    return tuple(name for name in HOOKS if _install_one(folder, name, _text(name, command, vault)))


def remove(repository: Repository) -> tuple[str, ...]:
    """Take our hooks away and put back the ones that were there before; the names of those removed."""
    folder = hooks_folder(repository)
    return tuple(name for name in HOOKS if _remove_one(folder, name))


def hooks_folder(repository: Repository) -> Path:
    """Where git looks for the hooks of this repository.

    Raises:
        NotAllowed: core.hooksPath leads outside of it.
    """
    named = repository.config("core.hooksPath")
    folder = repository.common / "hooks" if named is None else repository.top / Path(named).expanduser()
    real = folder.resolve()
    if not (real.is_relative_to(repository.top) or real.is_relative_to(repository.common.resolve())):
        raise NotAllowed(
            f"git's hooks are in {real} (core.hooksPath), outside this repository, and would run everywhere.",
            hint="Call `vault-memory hook git <name>` from your own hooks there.",
        )
    return folder


def staged_refusals(repository: Repository, index: Path | None = None, judge: Judge | None = None) -> list[Refusal]:
    """What speaks against committing the staged notes of the vault, in order of path and line.

    Args:
        index: the index that git is about to commit (GIT_INDEX_FILE of the hook: `git commit FILE` uses one of its
            own); None for the ordinary one.
        judge: further objections to a note's path and bytes, such as secrets.
    """
    staged = _staged(repository, index)
    held = blobs(repository, list(staged.values()))
    refusals = [
        Refusal(path, finding.reason, finding.line)
        for path, blob in staged.items()
        for finding in (*_unreadable(path, held.get(blob, b"")), *(judge(path, held.get(blob, b"")) if judge else ()))
    ]
    return sorted(refusals, key=lambda refusal: (refusal.path, refusal.line or 0, refusal.reason))


def _staged(repository: Repository, index: Path | None) -> dict[str, str]:
    """Vault path to blob id of the notes that differ between HEAD and the index."""
    base = repository.head().commit or repository.run("mktree").decode().strip()
    listing = repository.run(
        "diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", "--diff-filter=ACMRT",
        "-O/dev/null", base, "--", index=index,
    )  # fmt: skip
    words = listing.decode("utf-8", "surrogateescape").split("\0")
    changed = {name: state.split(" ")[3] for state, name in zip(words[::2], words[1::2], strict=False)}
    return {
        name.removeprefix(repository.prefix): blob
        for name, blob in changed.items()
        if name.startswith(repository.prefix) and is_note_name(name)
    }


def _unreadable(path: str, data: bytes) -> Iterable[Finding]:
    try:
        return [finding for finding in parse(data, path).findings if finding.blocks_edit]
    except UnreadableNote as error:
        return [Finding("unreadable", str(error))]


def _install_one(folder: Path, name: str, text: str) -> bool:
    hook = folder / name
    if _is_ours(hook) and hook.read_text("utf-8") == text:
        return False
    if os.path.lexists(hook) and not _is_ours(hook):
        hook.rename(folder / f"{name}{BEFORE}")
    new = folder / f"{name}.new-vault-memory"
    new.write_text(text, "utf-8", newline="\n")
    new.chmod(0o755)
    new.replace(hook)
    return True


def _remove_one(folder: Path, name: str) -> bool:
    hook, before = folder / name, folder / f"{name}{BEFORE}"
    if not _is_ours(hook):
        return False
    if os.path.lexists(before):
        before.replace(hook)
    else:
        hook.unlink()
    return True


def _is_ours(hook: Path) -> bool:
    try:
        lines = hook.read_text("utf-8", "replace").splitlines()
    except OSError:
        return False
    return len(lines) > 1 and lines[1].startswith(_MARK)


def _text(name: str, command: Path | None, vault: str) -> str:
    """The hook's text with the program it tries first and, in a bigger repository, the vault's folder from its top."""
    source = files("vault_memory") / "hooks" / "git" / name
    if not source.is_file():  # an editable install: the hooks stay where they are written
        source = Path(__file__).parents[2] / "hooks" / "git" / name
    text = source.read_text("utf-8")
    for variable, value in (("known", command), ("vault", vault)):
        if value:
            text = text.replace(f"\n{variable}=\n", f"\n{variable}={shlex.quote(str(value))}\n", 1)
    return text
