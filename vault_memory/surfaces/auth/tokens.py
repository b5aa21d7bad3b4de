"""Tokens in the vault's local state: the owner's, readable by its user alone, and named ones, kept as hashes only.

Owns what the two files say.
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict

from vault_memory.errors import InvalidRequest, StorageError
from vault_memory.files.lock import FileLock
from vault_memory.memory.times import time_text
from vault_memory.surfaces.auth.callers import Caller
from vault_memory.surfaces.auth.private_file import Secrets, hashed, identity, write_private

OWNER_FILE: Final = "token"
NAMED_FILE: Final = "tokens.json"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)


class Named(Struct, frozen=True):
    """A token that was given to a program: who it is, what it may, and the SHA-256 of the token itself."""

    name: str
    hash: str
    project: str | None
    actor: str | None
    readonly: bool
    created_at: str


class TokenStore:
    """The tokens of one vault. Usable from several threads and processes; changes hold from the next request on.

    Args:
        state: the vault's folder for local state.
        secrets: makes new tokens.
    """

    def __init__(self, state: Path, secrets: Secrets) -> None:
        self._state = state
        self._secrets = secrets
        self._lock = FileLock(state / "tokens.lock", what="The list of tokens")
        self._known: tuple[object, dict[str, Caller]] = (None, {})

    def owner(self) -> str:
        """The owner's token; made when there is none yet."""
        return self._owner() or self._locked_owner()

    def rotate(self) -> str:
        """A new owner's token; the old one is refused from now on."""
        with self._lock:
            return self._new_owner()

    def issue(self, name: str, now: datetime, *, project: str | None, actor: str | None, readonly: bool) -> str:
        """A new token under a name that no other has; it is shown only now.

        Raises:
            InvalidRequest: the name is taken, or no name.
        """
        if not _NAME.fullmatch(name):
            raise InvalidRequest.of("name", "must be letters, digits, '.', '_' and '-', at most 64")
        with self._lock:
            known = self.named()
            if any(token.name == name for token in known):
                raise InvalidRequest.of("name", f"there is a token '{name}' already", hint="revoke it first")
            secret = self._secrets()
            self._save([*known, Named(name, hashed(secret), project, actor, readonly, time_text(now))])
        return secret

    def revoke(self, name: str) -> None:
        """Refuse the token of that name from now on.

        Raises:
            InvalidRequest: there is none.
        """
        with self._lock:
            known = self.named()
            kept = [token for token in known if token.name != name]
            if len(kept) == len(known):
                raise InvalidRequest.of("name", f"there is no token '{name}'", allowed=[one.name for one in known])
            self._save(kept)

    def named(self) -> list[Named]:
        """The named tokens, by name.

        Raises:
            StorageError: the list cannot be read; nobody it names is let in then.
        """
        path = self._state / NAMED_FILE
        try:
            found = json.loads(path.read_bytes())
            return sorted((Named(**item) for item in found["tokens"]), key=lambda token: token.name)
        except FileNotFoundError:
            return []
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise StorageError(f"{path} cannot be read: {error}") from error

    def caller(self, token: str) -> Caller | None:
        """Whom the token stands for; None for a token that is not, or no longer, known."""
        presented = hashed(token)
        found = [who for known, who in self._callers().items() if hmac.compare_digest(known, presented)]
        return found[0] if found else None

    def _callers(self) -> dict[str, Caller]:
        """Callers by hash, read anew when one of the files changed."""
        state = tuple(identity(self._state / name) for name in (OWNER_FILE, NAMED_FILE))
        if self._known[0] != state:
            callers = {one.hash: Caller(one.name, one.project, one.actor, one.readonly) for one in self.named()}
            if owner := self._owner():
                callers[hashed(owner)] = Caller()
            self._known = state, callers
        return self._known[1]

    def _owner(self) -> str:
        try:
            return (self._state / OWNER_FILE).read_text("ascii").strip()
        except FileNotFoundError:
            return ""
        except (OSError, ValueError) as error:
            raise StorageError(f"{self._state / OWNER_FILE} cannot be read: {error}") from error

    def _locked_owner(self) -> str:
        with self._lock:
            return self._owner() or self._new_owner()

    def _new_owner(self) -> str:
        secret = self._secrets()
        write_private(self._state / OWNER_FILE, f"{secret}\n")
        return secret

    def _save(self, tokens: Iterable[Named]) -> None:
        document = {"tokens": [asdict(token) for token in tokens]}
        write_private(self._state / NAMED_FILE, json.dumps(document, ensure_ascii=False, indent=1) + "\n")
