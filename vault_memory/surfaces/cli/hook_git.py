"""`vault-memory hook git NAME`: what git's hooks call. After a change it brings the index in step, before a commit it
refuses notes that must not be committed. Owns neither the hooks' installation nor what is refused (files/githooks.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vault_memory.errors import InvalidRequest, Rejected, VaultNotFound

if TYPE_CHECKING:
    from vault_memory.files.githooks import Refusal
    from vault_memory.memory.model import Finding
    from vault_memory.vault import Vault

BEFORE_COMMIT: Final = "pre-commit"
_WAIT_SECONDS: Final = 120.0


def run_git_hook(name: str, named: str | None, *, environ: Mapping[str, str], cwd: Path) -> None:
    """Do what the git hook `name` is for.

    Args:
        name: one of `githooks.HOOKS`.
        named: the vault's folder; None: the nearest parent of `cwd`, never another one that the environment names.
        environ: the hook's environment, where git says which index it is about to commit.
        cwd: where git calls its hooks: the top of the work tree.

    Raises:
        Rejected: the commit must not be made; the detail lists why.
        VaultError: the hook could not do its work.
    """
    from vault_memory.files.githooks import HOOKS
    from vault_memory.surfaces.locate import find_vault

    if name not in HOOKS:
        raise InvalidRequest.of("name", f"there is no git hook '{name}'", allowed=list(HOOKS))
    elsewhere = {key: value for key, value in environ.items() if key != "VAULT_MEMORY_DIR"}
    root = find_vault(named, environ=elsewhere, cwd=cwd)
    if not root.is_relative_to(cwd.resolve()) and not cwd.resolve().is_relative_to(root):
        raise VaultNotFound(f"no vault in {cwd}")  # the user's default vault is another repository's
    if name == BEFORE_COMMIT:
        refuse_staged(root, environ.get("GIT_INDEX_FILE"), cwd)
    else:
        _follow(root, environ)


def refuse_staged(root: Path, index: str | None, cwd: Path) -> None:
    """Refuse the commit that git is about to make when a staged note of the vault must not be committed.

    Raises:
        Rejected: conflict markers, front matter that cannot be read, or a secret.
    """
    from vault_memory.files.git import Git
    from vault_memory.files.githooks import staged_refusals

    repository = Git(root).repository
    if repository is None:
        return
    refusals = staged_refusals(repository, cwd / index if index else None, _secrets)
    if refusals:
        listed = "\n".join(f"  {_spoken(refusal)}" for refusal in refusals)
        raise Rejected(
            f"not committed:\n{listed}",
            hint="mend it and stage it again, or skip this check once with: git commit --no-verify",
            gate="pre-commit",
            refusals=[{"path": one.path, "line": one.line, "reason": one.reason} for one in refusals],
        )


def _secrets(path: str, data: bytes) -> Iterator[Finding]:
    from vault_memory.memory.model import Finding
    from vault_memory.memory.secret_scan import scan_secrets

    for secret in scan_secrets(data.decode("utf-8", "replace")):
        yield Finding("secret", f"it looks like a secret ({secret.kind})", secret.line)


def _spoken(refusal: Refusal) -> str:
    where = f"{refusal.path}:{refusal.line}" if refusal.line else refusal.path
    return f"{where}: {refusal.reason}"


def _follow(root: Path, environ: Mapping[str, str]) -> None:
    """Bring the index in step, one process at a time and at most one waiting: it will see what later ones would."""
    from vault_memory.config import load_config
    from vault_memory.files.lock import FileLock
    from vault_memory.vault import Vault

    with Vault.open(root, load_config(root, environ=environ)) as vault:
        waiting = FileLock(vault.folders.state / "git-hook.next")
        running = FileLock(vault.folders.state / "git-hook.lock", wait_seconds=_WAIT_SECONDS)
        if not waiting.try_acquire():
            return
        try:
            running.acquire()
        finally:
            waiting.release()
        try:
            _look(vault)
        finally:
            running.release()


def _look(vault: Vault) -> None:
    """Look at the whole disk and judge times by the new HEAD; unless a watcher does so, make what searches need.

    A look at 10,000 notes takes 50 ms; asking git which ones it changed would take longer.
    """
    vault.look(None)
    if vault.lease.state() is None:
        vault.derive_pending()
        vault.indexes.apply_if_due(lives_on=False)
