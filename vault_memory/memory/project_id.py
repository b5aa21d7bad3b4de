"""What makes a folder the same project elsewhere: ids of repositories, and which one of them counts. Pure.

An id is `kind:value`: `commit:<first commit>`, `remote:<host/owner/name>`, `folder:<hash of a path>`. Folders are
hashed, since the list of projects is shared and a path tells more than it should.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from typing import Final
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from vault_memory.memory.slug import slug

_SCP_LIKE: Final = re.compile(r"^(?:[^@/\s]+@)?(?P<host>[^:/\s]{2,}):(?!//)(?P<path>.+)$")
_MAX_SLUG: Final = 60


class RepositoryFacts(Struct, frozen=True):
    """What is known about the repository of a folder, or about the bare folder when there is none.

    Attributes:
        top: the work tree's top folder, or the folder itself outside git.
        common: the git folder that all work trees share; None outside git.
        first_commit: the first commit of the main line; None before it and in shallow clones.
        shallow: history is cut off, so that its oldest commit says nothing.
        remote: the address of `origin`, or of the only remote, as configured.
    """

    top: str
    common: str | None = None
    first_commit: str | None = None
    shallow: bool = False
    remote: str | None = None

    @property
    def places(self) -> tuple[str, ...]:
        """Ids of where it lies on this machine: the git folder that work trees share, and the folder itself."""
        paths = (self.common, self.top) if self.common else (self.top,)
        return tuple(folder_id(path) for path in paths)


def identity(facts: RepositoryFacts) -> str:
    """The id that counts: the first commit, else the remote of a shallow clone, else the folder."""
    if facts.first_commit and not facts.shallow:
        return f"commit:{facts.first_commit}"
    remote = remote_id(facts.remote)
    if facts.shallow and remote:
        return remote
    return facts.places[0]


def all_ids(facts: RepositoryFacts) -> tuple[str, ...]:
    """Every id by which a project may know this repository, the one that counts first."""
    ids = [identity(facts), remote_id(facts.remote), *facts.places]
    return tuple(dict.fromkeys(item for item in ids if item))


def folder_id(path: str) -> str:
    """The id of a folder: a hash of its path."""
    return f"folder:{hashlib.sha256(path.encode('utf-8', 'surrogatepass')).hexdigest()[:20]}"


def remote_id(address: str | None) -> str | None:
    """The id of a remote: `remote:host/path`, the same for ssh, https and git spellings; never with a user or token.

    A path on this machine becomes the folder's id. None for nothing.
    """
    if not address or not address.strip():
        return None
    text = address.strip()
    if "://" in text:
        parts = urlsplit(text)
        if parts.scheme == "file":
            return folder_id(_local(unquote(parts.path)))
        host, path = parts.hostname or "", unquote(parts.path)
    elif (found := _SCP_LIKE.match(text)) and not re.match(r"^[A-Za-z]:[\\/]", text):
        host, path = found["host"], found["path"]
    else:
        return folder_id(_local(text))
    path = path.strip("/").removesuffix(".git").rstrip("/")
    return f"remote:{host.lower()}/{path.lower()}" if host and path else None


def _local(path: str) -> str:
    """The git folder that a local remote stands for, as `RepositoryFacts.places` names it."""
    trimmed = path.rstrip("/\\") or path
    return trimmed if trimmed.endswith(".git") else f"{trimmed}/.git"


def own_slug(facts: RepositoryFacts, taken: Collection[str] = ()) -> str:
    """A readable slug for a project that is not listed yet: the repository's or folder's name.

    One that is taken gets six characters of the id's hash, so that two machines arrive at the same name.
    """
    name = _name(facts)
    if name not in taken and name != "global":
        return name
    return f"{name}-{hashlib.sha256(identity(facts).encode()).hexdigest()[:6]}"


def _name(facts: RepositoryFacts) -> str:
    remote = remote_id(facts.remote)
    if remote and remote.startswith("remote:"):
        source = remote.rsplit("/", 1)[-1]
    else:
        source = re.split(r"[\\/]", facts.top.rstrip("/\\"))[-1]
    return slug(source)[:_MAX_SLUG].strip("-") or "project"
