"""Connecting a coding agent and taking it off again, as plans: made, shown, then carried out whole or not at all.

Owns what a connection is (files plus receipt). It must not start servers or print; surfaces ask the server first
(probe.py) and show the plan.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from vault_memory.errors import InvalidRequest, VaultError
from vault_memory.harness.base import Harness, Machine, Options
from vault_memory.harness.changes import Block
from vault_memory.harness.edits import FileChange, FileEdit, decode, execute, plan_file, read, reverted
from vault_memory.harness.receipts import Receipt, Receipts, project_key


class ConnectionPlan(Struct, frozen=True):
    """What will happen to which file; nothing has happened yet. `receipt` is None when the connection ends."""

    action: Literal["connect", "disconnect"]
    harness: Harness
    key: str
    changes: tuple[FileChange, ...]
    receipt: Receipt | None
    previous: Receipt | None = None
    heirs: tuple[tuple[str, Receipt], ...] = ()
    """Receipts of other connections that take over a shared file."""

    @property
    def empty(self) -> bool:
        """True when every file is already as it should be."""
        return all(change.before == change.after for change in self.changes)

    def lines(self) -> list[str]:
        """The plan for a person: how it is done, each file with what is put in or taken out, and what is left to do."""
        lines = [f"{self.harness.title}: {self.harness.how}."]
        for change in self.changes:
            lines += change.lines() if self.action == "connect" else change.lines()[:1]
        if self.action == "connect" and self.harness.next_step:
            lines.append(f"Then: {self.harness.next_step}")
        return lines

    def execute(self, receipts: Receipts) -> None:
        """Carry the plan out. The receipt is written before the files, so that a kill in between can be undone.

        Raises:
            RevisionConflict, VaultLocked, NotAllowed: nothing was changed, or everything was put back.
        """
        if self.receipt is not None:
            receipts.save(self.key, self.receipt)
        try:
            execute(self.changes)
        except VaultError:
            self._restore(receipts)
            raise
        for key, receipt in self.heirs:
            receipts.save(key, receipt)
        if self.receipt is None:
            receipts.drop(self.key)

    def _restore(self, receipts: Receipts) -> None:
        if self.receipt is None:
            return
        receipts.drop(self.key)
        if self.previous is not None:
            receipts.save(self.key, self.previous)


def plan_connect(
    harness: Harness, machine: Machine, options: Options, receipts: Receipts, *, force: bool = False
) -> ConnectionPlan:
    """The plan that connects `harness`; an earlier connection of the same scope is replaced.

    Args:
        harness: the agent.
        machine: where its files are looked for.
        options: what to register.
        receipts: what earlier connections did.
        force: also when the agent does not seem to be installed.

    Raises:
        InvalidRequest: not installed, no such scope, a broken settings file, or a foreign entry of the same name.
        NotAllowed: a file that cannot be read or written.
    """
    _check(harness, machine, options, force)
    key = project_key(harness.name, options.project)
    previous = receipts.find(key)
    edits = harness.edits(machine, options)
    changes = [plan_file(edit, previous.file(edit.path) if previous else None) for edit in edits]
    kept = {change.path for change in changes}
    dropped = [_undone(known) for known in previous.files if known.path not in kept] if previous else []
    facts = {
        "command": list(options.command),
        "vault": str(options.vault),
        "name": options.name,
        "profile": options.profile,
        "hooks": options.hooks,
        "project": str(options.project) if options.project else None,
    }
    receipt = Receipt(harness.name, tuple(changes), facts)
    return ConnectionPlan("connect", harness, key, (*changes, *dropped), receipt, previous)


def plan_disconnect(
    harness: Harness, machine: Machine, receipts: Receipts, *, project: Path | None = None, options: Options
) -> ConnectionPlan:
    """The plan that takes `harness` off again: exactly as it was where nothing else changed, else without our entries.

    Without a receipt (another machine's, or lost) the entries are found by their names; `options` names the server.

    Raises:
        InvalidRequest: it is not connected, or a file can no longer be parsed.
        NotAllowed: a file that cannot be read or written.
    """
    key = project_key(harness.name, project)
    receipt = receipts.find(key)
    if receipt is not None:
        heirs = tuple(_heirs(key, receipt, receipts))
        shared = {known.path for _, heir in heirs for known in heir.files if known in receipt.files}
        changes = [_undone(known) for known in receipt.files if known.path not in shared]
        return ConnectionPlan("disconnect", harness, key, tuple(changes), None, receipt, heirs)
    options = replace(options, project=project, hooks="full")
    found = [_found(edit) for edit in harness.edits(machine, options)]
    changes = [change for change in found if change.before != change.after]
    if not changes:
        raise InvalidRequest.of("client", f"{harness.title} is not connected; nothing was changed")
    return ConnectionPlan("disconnect", harness, key, tuple(changes), None)


def _check(harness: Harness, machine: Machine, options: Options, force: bool) -> None:
    if not Path(options.command[0]).is_absolute():
        raise InvalidRequest.of("command", "must be an absolute path, clients start without your shell's PATH")
    if options.project is not None and "project" not in harness.scopes:
        raise InvalidRequest.of("scope", f"{harness.title} has no settings of its own for a project", allowed=["user"])
    if not force and not harness.installed(machine):
        raise InvalidRequest.of(
            "client",
            f"{harness.title} does not seem to be installed; nothing was changed",
            hint="Install it first, or use --force to write its settings all the same.",
        )


def _undone(known: FileChange) -> FileChange:
    """The change that takes back what a connection did to a file, judged by what the file holds now."""
    now = read(known.path)
    after = reverted(known, now)
    note = "exactly as it was" if after == known.base else "only our entries; the rest changed since"
    return replace(known, before=now, after=after, note="already gone" if now == after else note)


def _found(edit: FileEdit) -> FileChange:
    """The change that takes entries of ours out of a file for which there is no receipt."""
    now = read(edit.path)
    text = decode(now, edit.path)
    changes = tuple(
        item for item in edit.changes if text and not getattr(item, "default", False) and item.present(text)
    )
    known = FileChange(edit.path, now, after=None, base=None, changes=changes, locked=edit.locked, note="found by name")
    return replace(known, after=reverted(known, now) if changes else now)


def _heirs(key: str, receipt: Receipt, receipts: Receipts) -> Iterable[tuple[str, Receipt]]:
    """Other connections that use a guidance file of this one: the first of them takes over its record."""
    for known in receipt.files:
        if not all(isinstance(change, Block) for change in known.changes):
            continue
        for other in receipts.names():
            heir = receipts.find(other) if other != key else None
            if heir is not None and heir.file(known.path) is not None:
                files = tuple(known if file.path == known.path else file for file in heir.files)
                yield other, replace(heir, files=files)
                break
