"""A caller of the server and the part of the vault it may see. Pure: knows no token and no HTTP."""

from __future__ import annotations

from msgspec import Struct

from vault_memory.errors import NotAllowed
from vault_memory.memory.model import RESERVED_PROJECT
from vault_memory.memory.scope import ANY, Any_, Scope

ANYTHING = "*"


class Caller(Struct, frozen=True):
    """Who a token stands for.

    Attributes:
        name: the token's name, which the history and the audit log show as agent; None for the owner.
        project: the only project it sees besides what is global (`global`: nothing else); None: any.
        actor: the only actor it acts for; None: the one it names in a request.
        readonly: whether every write is refused.
    """

    name: str | None = None
    project: str | None = None
    actor: str | None = None
    readonly: bool = False

    def scope(self, project: str | None, actor: str | None, *, unbound: bool = True) -> Scope:
        """What a request sees that names a project and an actor (None: it names none; `*`: all).

        Args:
            project: narrows what the caller may see, never widens it.
            actor: as above; a caller that is bound to none and names none sees what has no actor.
            unbound: whether naming no project means all of them, as for a person, or only what is global, as for an
                agent.

        Raises:
            NotAllowed: the caller is bound to another project or actor.
        """
        whose = _narrowed("actor", self.actor, actor)
        where = _narrowed("project", self.project, project)
        return Scope(_project(where, unbound), ANY if whose == ANYTHING else whose)


def _project(name: str | None, unbound: bool) -> str | Any_ | None:
    if name is None:
        return ANY if unbound else None
    return ANY if name == ANYTHING else None if name == RESERVED_PROJECT else name


def _narrowed(what: str, bound: str | None, asked: str | None) -> str | None:
    if bound is None:
        return asked
    if asked not in (None, bound):
        raise NotAllowed(f"this token is bound to {what} '{bound}'", hint=f"leave the {what} out")
    return bound
