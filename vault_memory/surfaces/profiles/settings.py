"""Settings of the vault that a profile's tools may change: the spelling of domains, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from vault_memory.config import CONFIG_FILE

if TYPE_CHECKING:
    from vault_memory.vault import Vault


def set_domain_case(vault: Vault, policy: Any) -> None:
    """Write the policy into the vault's settings, all else in the file as it is, and follow it from now on.

    Raises:
        VaultError: the file cannot be edited or written.
    """
    import tomlkit

    from vault_memory.harness.edits import FileChange, execute, read

    path = vault.root / CONFIG_FILE
    before = read(path)
    document = tomlkit.parse((before or b"").decode("utf-8-sig"))
    document["domain_case"] = policy
    execute([FileChange(path, before, tomlkit.dumps(document).encode(), before)])
    vault.config = replace(vault.config, domain_case=policy)
