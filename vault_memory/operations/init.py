"""Making a folder a vault: copies the template around what is there. Changes no existing file and opens no vault."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from vault_memory.config import CONFIG_FILE
from vault_memory.errors import InvalidRequest
from vault_memory.files.atomic import create_file, sync_folder
from vault_memory.files.disk import disk_errors
from vault_memory.vault import Clock, system_clock

if TYPE_CHECKING:
    from vault_memory.files.git import Git

MARKER: Final = CONFIG_FILE.parts[0]
_NOTES_TABLE: Final = b"\n#[notes]\n"
_NO_PATTERNS: Final = b"\n#ignore = []\n"


class InitResult(Struct, frozen=True):
    """What `init_vault` did. Paths are vault paths, sorted."""

    root: Path
    created: tuple[str, ...]
    kept: tuple[str, ...]
    """Entries of the template whose place was taken, so that the folder's own were left as they are."""
    git: str
    """made, existing, inside (a bigger repository: nothing is committed without asking), off, or missing (no git)."""
    warnings: tuple[str, ...] = ()


def init_vault(path: str | Path, *, git: bool = True, clock: Clock = system_clock) -> InitResult:
    """Make `path` a vault, or adopt the folder of notes that is there without changing one byte of it.

    What the template brings is written only where nothing of that name (in any case) stands at the top of the folder.
    In a folder that is a vault already, only what is missing of `.vault-memory/` comes back. With `git` the folder
    becomes a repository, unless it lies in one, whose first commit holds nothing but what was created here.

    Raises:
        InvalidRequest: `path` is a file, lies inside another vault, or its `.vault-memory` leads elsewhere.
        StorageError: the disk refused.
    """
    root = Path(path).expanduser().resolve()
    template = dict(template_files())
    with disk_errors("make a vault in", str(root)):
        _check(root)
        root.mkdir(parents=True, exist_ok=True)
        wanted, kept = _plan(root, template)
        created = {name: template[name] for name in wanted}
        _write(root, created)
        created |= _write_config(root, template)
    outcome, warnings = _history(root, created, clock) if git else ("off", ())
    return InitResult(root, tuple(sorted(created)), kept, outcome, (*_notices(kept), *warnings))


def template_files() -> Iterator[tuple[str, bytes]]:
    """Vault path and bytes of every file in the template, in order."""
    package = Path(__file__).resolve().parent.parent
    packaged = package / "vault-template"
    folder = packaged if packaged.is_dir() else package.parent / "vault-template"
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            yield file.relative_to(folder).as_posix(), file.read_bytes()


def _check(root: Path) -> None:
    if root.exists() and not root.is_dir():
        raise InvalidRequest.of("path", f"{root} is a file; a vault is a folder")
    if (root / MARKER).is_symlink():
        raise InvalidRequest.of("path", f"{root / MARKER} is a symbolic link; a vault keeps its settings inside")
    for folder in root.parents:
        if (folder / MARKER).is_dir():
            raise InvalidRequest.of("path", f"{root} lies inside the vault {folder}", hint="vaults do not nest")


def _plan(root: Path, template: dict[str, bytes]) -> tuple[list[str], tuple[str, ...]]:
    """The template's files to write (without the config, which comes last), and the entries that are kept."""
    taken = {entry.name.casefold() for entry in root.iterdir()}
    if (root / CONFIG_FILE).exists():
        taken |= {_top(name).casefold() for name in template}
    kept = sorted({_top(name) for name in template if _top(name).casefold() in taken} - {MARKER})
    ours = [name for name in template if _top(name) == MARKER and not (root / name).exists()]
    free = [name for name in template if _top(name).casefold() not in taken and _top(name) != MARKER]
    return [name for name in free + ours if name != CONFIG_FILE.as_posix()], tuple(kept)


def _top(name: str) -> str:
    return PurePosixPath(name).parts[0]


def _write(root: Path, files: dict[str, bytes]) -> None:
    """Create the files and make them and their folders durable."""
    folders = {root}
    for name, data in files.items():
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        create_file(str(target), data)
        folders |= {target.parent, target.parent.parent}
    for folder in sorted(folders):
        sync_folder(str(folder))


def _write_config(root: Path, template: dict[str, bytes]) -> dict[str, bytes]:
    """The vault's settings, which say that the template's own notes are no memories; last, so that a kill before it
    leaves a folder that `init` finishes."""
    name = CONFIG_FILE.as_posix()
    if (root / name).exists():
        return {}
    own = [note for note, data in template.items() if note.endswith(".md") and _holds(root / note, data)]
    patterns = sorted({f"/{_top(note)}" + ("/" if "/" in note else "") for note in own})
    written = {name: _ignoring(template[name], patterns)}
    _write(root, written)
    return written


def _holds(file: Path, data: bytes) -> bool:
    return file.is_file() and not file.is_symlink() and file.read_bytes() == data


def _ignoring(config: bytes, patterns: list[str]) -> bytes:
    """The template's config with the patterns as its first setting that is not commented out."""
    if not patterns:
        return config
    listed = ", ".join(f'"{pattern}"' for pattern in patterns)
    filled = f"\nignore = [{listed}]\n".encode()
    return config.replace(_NOTES_TABLE, b"\n[notes]\n", 1).replace(_NO_PATTERNS, filled, 1)


def _history(root: Path, files: dict[str, bytes], clock: Clock) -> tuple[str, tuple[str, ...]]:
    """Make or find the repository, commit the files there by themselves, and let notes merge field by field."""
    from vault_memory.files.git import Git, GitError
    from vault_memory.files.git_setup import init_repository, set_up_merge_driver

    git = Git(root)
    try:
        made = init_repository(git)
        repository = git.repository
        if repository is None:
            return "missing", (git.problem,)
        if not repository.own:
            return "inside", ()
        set_up_merge_driver(repository)
        return "made" if made else "existing", _commit(git, files, clock)
    except GitError as error:
        return "off", (f"the history could not be set up: {error}",)


def _commit(git: Git, files: dict[str, bytes], clock: Clock) -> tuple[str, ...]:
    from vault_memory.files.commits import Commits
    from vault_memory.files.queue import Change

    changes = [Change(path, None, data, "init", clock()) for path, data in sorted(files.items())]
    commits = Commits(git, git.root / MARKER / "state", lambda change, why: None)
    try:
        if not changes or not commits.record(changes):
            return ()
        waiting = commits.flush().waiting
    finally:
        commits.close()
    return (f"not committed yet: {waiting}",) if waiting else ()


def _notices(kept: tuple[str, ...]) -> Iterator[str]:
    if ".gitattributes" in kept:
        yield "your .gitattributes was left as it is; for merges field by field add: *.md merge=vault-memory"
    if ".gitignore" in kept:
        yield "your .gitignore was left as it is; .obsidian/workspace*.json and .trash/ are better not committed"
