"""Whose eyes a request sees with: the project and the actor it is bound to. Pure; every query of the catalog takes one.

Scoping keeps projects and actors apart for those who ask through the tool; it hides nothing from who can read the
folder.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal

from msgspec import Struct

from vault_memory.memory.model import Memory


class _Any(Enum):
    ANY = "*"


ANY: Final = _Any.ANY
"""Not bound: every project, or every actor."""

Any_ = Literal[_Any.ANY]


class Scope(Struct, frozen=True):
    """What a request may see, and therefore change.

    Attributes:
        project: bound to a project: it and what is global. None: only what is global. ANY: all.
        actor: an actor sees only its own. None: only what has no actor. ANY: all.
    """

    project: str | Any_ | None = ANY
    actor: str | Any_ | None = None

    @property
    def unbound(self) -> bool:
        """True when it sees the whole vault."""
        return self.project is ANY and self.actor is ANY

    def sees(self, memory: Memory) -> bool:
        """Whether the memory exists for this request."""
        return self.sees_fields(memory.project, memory.actor)

    def sees_fields(self, project: str | None, actor: str | None) -> bool:
        """`sees` for a memory of which only these two fields are known."""
        in_project = self.project is ANY or project is None or project == self.project
        return in_project and (self.actor is ANY or actor == self.actor)

    def owns(self, memory: Memory) -> bool:
        """Whether the request may change the memory: what it sees, it may change."""
        return self.sees(memory)

    def to_sql(self) -> tuple[str, tuple[str, ...]]:
        """The condition on table `notes` that holds exactly for what `sees` holds, and its parameters."""
        clauses, params = [], []
        if isinstance(self.project, str):
            clauses.append("(notes.project IS NULL OR notes.project = ?)")
            params.append(self.project)
        elif self.project is None:
            clauses.append("notes.project IS NULL")
        if isinstance(self.actor, str):
            clauses.append("notes.actor = ?")
            params.append(self.actor)
        elif self.actor is None:
            clauses.append("notes.actor IS NULL")
        return " AND ".join(clauses) or "1", tuple(params)


UNBOUND: Final = Scope(ANY, ANY)
"""Sees everything: for upkeep of the vault itself (sync, doctor, export by its owner), never for an agent."""
