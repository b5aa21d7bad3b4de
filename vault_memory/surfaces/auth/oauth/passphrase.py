"""The owner's passphrase, which lets a program in through a browser. Kept as an argon2 hash only."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from vault_memory.errors import InvalidRequest, StorageError
from vault_memory.surfaces.auth.private_file import write_private

FILE: Final = "passphrase"
SHORTEST: Final = 12
LONGEST: Final = 1024
"""Characters; hashing more would only cost time."""


class Passphrase:
    """The passphrase of one vault.

    Args:
        state: the vault's folder for local state.
    """

    def __init__(self, state: Path) -> None:
        self._path = state / FILE

    def is_set(self) -> bool:
        """Whether there is one; nobody can sign in without."""
        return self._path.exists()

    def set(self, text: str) -> None:
        """Put `text` in place of the one before. Who is signed in stays so.

        Raises:
            InvalidRequest: it is too short or too long.
        """
        if not SHORTEST <= len(text) <= LONGEST:
            raise InvalidRequest.of(
                "passphrase", f"must have {SHORTEST} to {LONGEST} characters; several words are best"
            )
        from argon2 import PasswordHasher

        write_private(self._path, PasswordHasher().hash(text) + "\n")

    def fits(self, text: str) -> bool:
        """Whether `text` is the passphrase. Takes a few tens of milliseconds and 64 MiB by design.

        Raises:
            StorageError: the file cannot be read, or is no hash.
        """
        from argon2 import PasswordHasher
        from argon2.exceptions import InvalidHashError, VerifyMismatchError

        if len(text) > LONGEST:
            return False
        try:
            return PasswordHasher().verify(self._path.read_text("ascii").strip(), text)
        except VerifyMismatchError:
            return False
        except (OSError, ValueError, InvalidHashError) as error:
            raise StorageError(f"{self._path} cannot be read: {error}") from error
