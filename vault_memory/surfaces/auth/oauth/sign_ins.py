"""Programs that the owner let in through a browser: what each may do, and the hashes of its tokens. Speaks no HTTP.

A sign-in has one refresh token at a time; each use replaces it. Somebody who shows an older one has a copy, or was
copied: the whole sign-in ends then. Its name stands in the token, so that no list of old tokens has to be kept.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from vault_memory.errors import InvalidRequest, StorageError
from vault_memory.files.lock import FileLock
from vault_memory.memory.slug import slug
from vault_memory.surfaces.auth.private_file import Secrets, hashed, identity, write_private

FILE: Final = "sign-ins.json"
ACCESS_SECONDS: Final = 3600
QUIET_SECONDS: Final = 90 * 24 * 3600
"""A sign-in that was not used for so long has ended."""
MOST_ACCESS_TOKENS: Final = 8
"""Of one sign-in at once: processes of one client share it, and some still have the one from before a renewal."""
READ: Final = "read"
WRITE: Final = "write"


@dataclass(frozen=True, slots=True)
class Grant:
    """What the owner allowed a program.

    Attributes:
        client_id: the program, as it registered.
        client_name: what it calls itself.
        scopes: `read`, `write`.
        resource: the address that its tokens are for, with all below it.
        project: the only project it sees besides what is global; None: any.
        actor: the only actor it acts for; None: the one it names.
    """

    client_id: str
    client_name: str
    scopes: tuple[str, ...]
    resource: str
    project: str | None = None
    actor: str | None = None


@dataclass(frozen=True, slots=True)
class Access:
    """An access token: its hash, what it may do, and when it ends (seconds since 1970)."""

    hash: str
    scopes: tuple[str, ...]
    expires_at: int


@dataclass(frozen=True, slots=True)
class SignIn:
    """A grant in use. `name` is what the history and the audit log show; times are seconds since 1970."""

    name: str
    family: str
    grant: Grant
    created_at: int
    renewed_at: int
    refresh: str
    access: tuple[Access, ...]

    @property
    def expires_at(self) -> int:
        """When it ends unless it is used before."""
        return self.renewed_at + QUIET_SECONDS


@dataclass(frozen=True, slots=True)
class Issued:
    """New tokens, shown only now."""

    sign_in: SignIn
    access: str
    refresh: str
    scopes: tuple[str, ...]


class SignIns:
    """The sign-ins of one vault. Usable from several threads and processes; changes hold from the next request on.

    Args:
        state: the vault's folder for local state.
        secrets: makes new tokens.
        clock: seconds since 1970.
    """

    def __init__(self, state: Path, secrets: Secrets, clock: Callable[[], float]) -> None:
        self._path = state / FILE
        self._secrets = secrets
        self._clock = clock
        self._lock = FileLock(state / "sign-ins.lock", what="The list of sign-ins")
        self._known: tuple[object, tuple[SignIn, ...]] = (None, ())

    def all(self) -> tuple[SignIn, ...]:
        """Those that have not ended, oldest first.

        Raises:
            StorageError: the list cannot be read; nobody it names is let in then.
        """
        state = identity(self._path)
        if self._known[0] != state or state is None:
            self._known = state, tuple(self._read())
        now = self._clock()
        return tuple(one for one in self._known[1] if one.expires_at > now)

    def open(self, grant: Grant) -> Issued:
        """A new sign-in with its first tokens."""
        family, now = hashed(self._secrets())[:16], int(self._clock())
        name = f"{slug(grant.client_name)[:40]}:{family[:6]}"
        with self._lock:
            issued = self._issue(SignIn(name, family, grant, now, now, "", ()), grant.scopes)
            self._save([*self.all(), issued.sign_in])
        return issued

    def of_access(self, token: str) -> tuple[SignIn, Access] | None:
        """The sign-in that an access token belongs to, while it holds."""
        presented, now = hashed(token), self._clock()
        for one in self.all():
            for access in one.access:
                if hmac.compare_digest(access.hash, presented) and access.expires_at > now:
                    return one, access
        return None

    def of_refresh(self, token: str) -> SignIn | None:
        """The sign-in that a refresh token renews; None for a wrong one, and one that was used ends its sign-in."""
        with self._lock:
            return self._current(token)

    def renew(self, token: str, scopes: Iterable[str]) -> Issued | None:
        """New tokens for a refresh token, which is used up; None as for `of_refresh`.

        Args:
            token: the refresh token.
            scopes: what the new access token may do, at most what was granted.
        """
        with self._lock:
            one = self._current(token)
            if one is None:
                return None
            allowed = tuple(scope for scope in one.grant.scopes if scope in set(scopes))
            issued = self._issue(replace(one, renewed_at=int(self._clock())), allowed)
            self._save(issued.sign_in if other.name == one.name else other for other in self.all())
        return issued

    def revoke(self, name: str) -> None:
        """End the sign-in of that name.

        Raises:
            InvalidRequest: there is none.
        """
        if all(one.name != name for one in self.all()):
            names = [one.name for one in self.all()]
            raise InvalidRequest.of("name", f"nobody is signed in as '{name}'", allowed=names)
        self.end(name)

    def end(self, name: str) -> None:
        """End the sign-in of that name, if there is one."""
        with self._lock:
            self._drop(name)

    def _drop(self, name: str) -> None:
        self._save(one for one in self.all() if one.name != name)

    def _current(self, token: str) -> SignIn | None:
        family = token.partition(".")[0]
        one = next((known for known in self.all() if known.family == family), None)
        if one is not None and not hmac.compare_digest(one.refresh, hashed(token)):
            self._drop(one.name)
            return None
        return one

    def _issue(self, one: SignIn, scopes: tuple[str, ...]) -> Issued:
        access, refresh = self._secrets(), f"{one.family}.{self._secrets()}"
        now = int(self._clock())
        held = [known for known in one.access if known.expires_at > now][1 - MOST_ACCESS_TOKENS :]
        held.append(Access(hashed(access), scopes, now + ACCESS_SECONDS))
        return Issued(replace(one, refresh=hashed(refresh), access=tuple(held)), access, refresh, scopes)

    def _read(self) -> Iterable[SignIn]:
        try:
            found = json.loads(self._path.read_bytes())["sign_ins"]
            return [_restored(item) for item in found]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise StorageError(f"{self._path} cannot be read: {error}") from error

    def _save(self, sign_ins: Iterable[SignIn]) -> None:
        document = {"sign_ins": [asdict(one) for one in sign_ins]}
        write_private(self._path, json.dumps(document, ensure_ascii=False, indent=1) + "\n")


def _restored(item: dict[str, object]) -> SignIn:
    grant, access = item.pop("grant"), item.pop("access")
    if not isinstance(grant, dict) or not isinstance(access, list):
        raise TypeError("a sign-in has a grant and access tokens")
    tokens = tuple(Access(one["hash"], tuple(one["scopes"]), one["expires_at"]) for one in access)
    given = Grant(**{**grant, "scopes": tuple(grant["scopes"])})
    return SignIn(**item, grant=given, access=tokens)  # type: ignore[arg-type]
