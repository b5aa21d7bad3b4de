"""What one look of doctor at one part of the vault says. Owns the words for it; looks at nothing."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from pydantic import Field

from vault_memory.operations.request import Request

Level = Literal["ok", "notice", "problem"]


class Doctor(Request):
    """Check notes, indexes, watcher, git, hooks, places; with `secrets` also for keys and passwords in notes.

    The exit code is 3 when a problem is left.
    """

    fix: bool = Field(False, description="Mend what can be mended without touching a note.")
    add_ids: bool = Field(False, description="Give every note an id (changes notes; a person must ask for it).")
    thorough: bool = Field(False, description="Read the indexes through and compare them with the catalog.")
    secrets: bool = Field(False, description="Report keys, tokens and passwords in notes: where and what kind.")
    history: bool = Field(False, description="With secrets: also in every text that git holds of a note.")


class Check(Struct, frozen=True):
    """One observation; `fix` says how to mend it, `fixed` that it was mended now."""

    area: str
    level: Level
    detail: str
    fix: str = ""
    fixed: bool = False

    @property
    def healthy(self) -> bool:
        """Whether there is nothing left to do about it."""
        return self.fixed or self.level != "problem"


class Diagnosis(Struct, frozen=True):
    """Everything observed, in the order of the areas; healthy when no problem is left."""

    checks: tuple[Check, ...]
    healthy: bool

    @classmethod
    def of(cls, checks: tuple[Check, ...]) -> Diagnosis:
        """The diagnosis that follows from checks."""
        return cls(checks, all(check.healthy for check in checks))

    @property
    def exit_code(self) -> int:
        """3 when a problem is left: some parts failed."""
        return 0 if self.healthy else 3
