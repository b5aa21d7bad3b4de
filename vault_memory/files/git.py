"""Runs the git program on a vault so that nothing in the vault's own `.git/config` can run anything else.

Owns finding git and the repository, the environment and overrides of every git process, and the state of HEAD.
Must not decide what is committed (commits.py) and must never inherit a terminal, prompt, push, pull or run a hook.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from vault_memory.files.git_head import Head, read_head

TIMEOUT_SECONDS: Final = 60.0
OLDEST: Final = "2.25"

_OVERRIDES: Final = (
    f"core.hooksPath={os.devnull}",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.quotePath=false",
    "core.fsync=committed,reference",
    "core.askPass=true",
    "credential.helper=",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    "commit.gpgSign=false",
    "log.showSignature=false",
    "log.showRoot=true",
    "log.mailmap=false",
    "log.follow=false",
    "diff.relative=false",
    "color.ui=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "i18n.commitEncoding=UTF-8",
    "i18n.logOutputEncoding=UTF-8",
    "user.useConfigOnly=true",
)
_KEPT_VARIABLES: Final = frozenset(
    {
        "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_NAME", "GIT_CEILING_DIRECTORIES", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_NAME",
        "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_DISCOVERY_ACROSS_FILESYSTEM",
        "GIT_EXEC_PATH",
    }
)  # fmt: skip
_SET_VARIABLES: Final = {
    "GIT_ALLOW_PROTOCOL": "none",  # a partial clone's missing objects must not be fetched: a remote can name a command
    "GIT_ASKPASS": "true",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


class GitError(RuntimeError):
    """A git process failed; `status` is its exit code (None: it ran out of time) and `stderr` what it said."""

    def __init__(self, what: str, status: int | None, stderr: str) -> None:
        super().__init__(f"git {what}: {stderr.strip() or f'exit code {status}'}")
        self.what = what
        self.status = status
        self.stderr = stderr


class Identity(Struct, frozen=True):
    """Who a commit is by."""

    name: str
    email: str


TOOL_IDENTITY: Final = Identity("vault-memory", "vault-memory@localhost")


class Repository(Struct, frozen=True):
    """The repository that holds a vault. Its users speak in vault paths; `prefix` leads from `top` to them."""

    program: str
    root: Path
    top: Path
    folder: Path
    """The git folder of this work tree, where HEAD and the marks of a rebase or merge lie."""
    common: Path
    """The git folder that all work trees share; equal to `folder` in an ordinary repository."""
    hash_name: str
    own: bool
    """True when the repository is the vault's own; False: the vault lies inside a bigger or a foreign one."""

    @property
    def prefix(self) -> str:
        """What a vault path needs in front to become a path in the repository's tree: '' or 'folder/'."""
        inside = self.root.relative_to(self.top).as_posix()
        return "" if inside == "." else f"{inside}/"

    def run(
        self,
        *arguments: str,
        data: bytes = b"",
        allowed: Sequence[int] = (0,),
        index: Path | None = None,
        identity: Identity | None = None,
        literal: bool = True,
    ) -> bytes:
        """What `git <arguments>` writes to stdout.

        Args:
            data: bytes for its stdin.
            allowed: exit codes that are answers, not failures.
            index: another index file than the person's.
            identity: the identity for this command only.
            literal: False for the commands that refuse literal path specs.

        Raises:
            GitError: it failed or took too long.
        """
        variables = {"GIT_LITERAL_PATHSPECS": "1"} if literal else {}
        if index:
            variables["GIT_INDEX_FILE"] = str(index)
        if identity:
            for role in ("AUTHOR", "COMMITTER"):
                variables |= {f"GIT_{role}_NAME": identity.name, f"GIT_{role}_EMAIL": identity.email}
        return run_git(self.program, self.top, arguments, data=data, allowed=allowed, variables=variables)

    def head(self) -> Head:
        """The branch HEAD names (None: detached) and its commit (None: no commit yet), without a process if it can."""
        return read_head(self.folder, self.common) or self._asked_head()

    def _asked_head(self) -> Head:
        branch = self.run("symbolic-ref", "-q", "HEAD", allowed=(0, 1)).decode().strip()
        commit = self.run("rev-parse", "-q", "--verify", "HEAD^{commit}", allowed=(0, 1)).decode().strip()
        return Head(branch or None, commit or None)

    def identity(self) -> Identity | None:
        """The person's configured identity, None when there is none. Never guessed from the machine's names."""
        try:
            line = self.run("var", "GIT_AUTHOR_IDENT").decode("utf-8", "replace")
        except GitError:
            return None
        found = re.match(r"(.*?) <(.*?)> \d+ [+-]\d{4}$", line.strip())
        return Identity(found[1], found[2]) if found and found[1] else None

    def config(self, name: str) -> str | None:
        """The last value of a setting as git itself would see it, None when it is not set."""
        value = run_git(
            self.program, self.top, ("config", "--get", "-z", name), allowed=(0, 1), overrides=("core.pager=cat",)
        )
        return value.decode("utf-8", "replace").rstrip("\0") if value else None

    def blob_id(self, data: bytes) -> str:
        """The id git would give to a file of these bytes (no filter, no line-ending conversion)."""
        return blob_id(data, self.hash_name)

    def version(self) -> tuple[int, ...]:
        """The version of the git program."""
        return git_version(self.program)


class Git:
    """Git as seen from a vault: the program, and the repository round the vault if there is one.

    Looking is put off until it is needed and then remembered; `refresh` forgets it (after an `init`, say).
    """

    def __init__(self, root: Path, program: str = "git") -> None:
        self.root = root.resolve()
        self._named = program
        self._found: Repository | None = None
        self._problem: str | None = None

    @property
    def program(self) -> str | None:
        """The absolute path of the git program, None when there is none on the PATH."""
        found = shutil.which(self._named)
        return found if found and Path(found).is_absolute() else None

    @property
    def repository(self) -> Repository | None:
        """The repository of the vault, None when `problem` says why there is none."""
        if self._problem is None:
            self._look()
        return self._found

    @property
    def problem(self) -> str:
        """Why there is no repository to work with, in words for a person; '' when there is one."""
        if self._problem is None:
            self._look()
        return self._problem or ""

    def refresh(self) -> None:
        """Forget what was found, so that the next look asks git again."""
        self._found, self._problem = None, None

    def _look(self) -> None:
        program = self.program
        if program is None:
            self._found, self._problem = None, "git is not installed"
            return
        try:
            self._found = _discover(program, self.root)
            self._problem = "" if self._found else "the vault is not in a git repository"
        except GitError as error:
            self._problem = _spoken(error)


def run_git(
    program: str,
    folder: Path,
    arguments: Sequence[str],
    *,
    data: bytes = b"",
    allowed: Sequence[int] = (0,),
    variables: Mapping[str, str] | None = None,
    overrides: Sequence[str] = _OVERRIDES,
) -> bytes:
    """Run git in `folder` with our overrides and a cleaned environment; its stdout.

    Raises:
        GitError: an exit code that is not in `allowed`, or more than TIMEOUT_SECONDS.
    """
    command = [program, "--no-pager", *(part for pair in overrides for part in ("-c", pair)), *arguments]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=clean_environment(os.environ) | dict(variables or {}),
            input=data,
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            start_new_session=True,  # no controlling terminal: nothing to prompt on, and Ctrl-C does not cut it short
        )
    except subprocess.TimeoutExpired:
        raise GitError(arguments[0], None, f"no answer in {TIMEOUT_SECONDS:.0f} s") from None
    except OSError as error:
        raise GitError(arguments[0], None, str(error)) from error
    if done.returncode not in allowed:
        raise GitError(arguments[0], done.returncode, done.stderr.decode("utf-8", "replace"))
    return done.stdout


def clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables for a git process: none that an outer git or a caller set to steer it, identity excepted.

    A hook runs with GIT_DIR, GIT_INDEX_FILE and GIT_CONFIG_PARAMETERS of the command that called it.
    """
    kept = {key: value for key, value in environ.items() if not key.startswith("GIT_") or key in _KEPT_VARIABLES}
    return kept | _SET_VARIABLES


def git_version(program: str) -> tuple[int, ...]:
    """The version of a git program as numbers, for instance (2, 39, 5)."""
    text = run_git(program, Path(Path.cwd().anchor), ("version",), overrides=()).decode("ascii", "replace")
    found = re.search(r"(\d+(?:\.\d+)+)", text)
    return tuple(int(part) for part in found[1].split(".")) if found else (0,)


def blob_id(data: bytes, hash_name: str = "sha1") -> str:
    """The object id of a blob: the hash of `blob <size> NUL <bytes>` (git's object format)."""
    digest = hashlib.new(hash_name, b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()


def _discover(program: str, root: Path) -> Repository | None:
    """The repository round `root`; None when there is none or when it claims a work tree that `root` is not in."""
    asked = ("rev-parse", "--is-inside-work-tree", "--show-object-format", "--show-toplevel", "--absolute-git-dir",
             "--git-common-dir")  # fmt: skip
    try:
        lines = run_git(program, root, asked).decode("utf-8", "surrogateescape").split("\n")
    except GitError as error:
        if "not a git repository" in error.stderr or "must be run in a work tree" in error.stderr:
            return None
        raise
    if len(lines) != 6 or lines[0] != "true" or lines[1] not in ("sha1", "sha256"):
        raise GitError("rev-parse", 0, f"its place cannot be read, or git is older than {OLDEST}")
    top, folder = Path(lines[2]).resolve(), Path(lines[3])
    if not root.is_relative_to(top):
        return None
    common = Path(os.path.normpath(root / lines[4]))
    return Repository(program, root, top, folder, common, lines[1], own=top == root and _points_back(top, folder))


def _points_back(top: Path, folder: Path) -> bool:
    """True when the git folder lies in the work tree or knows it: a `.git` file in a vault is only somebody's claim."""
    if folder.resolve().is_relative_to(top):
        return True
    try:
        return Path((folder / "gitdir").read_text("utf-8").strip()).resolve().parent == top
    except (OSError, ValueError):
        return False


def _spoken(error: GitError) -> str:
    if "dubious ownership" in error.stderr:
        return "the repository belongs to another user (git calls it unsafe)"
    return f"git does not work here: {error.stderr.strip().splitlines()[0] if error.stderr.strip() else error}"
