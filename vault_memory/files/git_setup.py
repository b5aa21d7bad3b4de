"""Makes a repository for a vault, and sets up the note merge driver in a clone. Owns those two bits of git config.

The driver's command lives in `.git/config`, which never travels: each clone is set up by its own person. The attribute
that names it comes with the vault's `.gitattributes`, or else goes to `.git/info/attributes`.
"""

from __future__ import annotations

import re
from typing import Final

from vault_memory.files.git import Git, Repository, run_git

DRIVER: Final = "vault-memory"
_PROBE: Final = "probe.md"
_TEXT_MERGE: Final = "git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B"


def init_repository(git: Git) -> bool:
    """Make the vault a repository unless it lies in one already; True when one was made. Nothing is committed.

    Raises:
        GitError: git could not.
    """
    if git.repository is not None or git.program is None:
        return False
    run_git(git.program, git.root, ("init", "--quiet"))
    git.refresh()
    if git.repository and git.repository.config("init.defaultBranch") is None:
        git.repository.run("symbolic-ref", "HEAD", "refs/heads/main")
    return True


def merge_driver_problem(repository: Repository) -> str:
    """What is missing for notes to merge field by field in this clone; '' when nothing is."""
    if repository.config(f"merge.{DRIVER}.driver") is None:
        return "the merge driver for notes is not set up in this clone"
    return "" if _has_attribute(repository) else "no .gitattributes gives notes the merge driver"


def set_up_merge_driver(repository: Repository, command: str = "vault-memory") -> bool:
    """Make git merge notes field by field in this clone; False when it did already.

    Args:
        command: how a shell calls vault-memory. Where it cannot be found, notes merge as plain text: git would take
            our side alone for the result otherwise.
    """
    driver = f"if command -v {command} >/dev/null; then {command} git-merge %O %A %B %L %P; else {_TEXT_MERGE}; fi"
    done = repository.config(f"merge.{DRIVER}.driver") == driver
    if not done:
        repository.run("config", "--local", f"merge.{DRIVER}.name", "notes, field by field")
        repository.run("config", "--local", f"merge.{DRIVER}.driver", driver)
    if _has_attribute(repository):
        return not done
    _add_attribute(repository)
    return True


def _has_attribute(repository: Repository) -> bool:
    answer = repository.run("check-attr", "-z", "merge", "--", f"{repository.prefix}{_PROBE}")
    return answer.decode("utf-8", "surrogateescape").split("\0")[2] == DRIVER


def _add_attribute(repository: Repository) -> None:
    file = repository.common / "info" / "attributes"
    file.parent.mkdir(exist_ok=True)
    text = file.read_text("utf-8") if file.exists() else ""
    if text and not text.endswith("\n"):
        text += "\n"
    file.write_text(f"{text}{_pattern(repository.prefix)} merge={DRIVER}\n", "utf-8")


def _pattern(prefix: str) -> str:
    """The attributes pattern for the notes below a folder; quoted, since a name may hold blanks."""
    if not prefix:
        return "*.md"
    literal = re.sub(r"([*?\[\]\\])", r"\\\1", prefix)
    quoted = f"/{literal}**/*.md".replace("\\", "\\\\").replace('"', '\\"')
    return f'"{quoted}"'
