"""How each coding agent is connected, and what is wrong with it, with the command that mends it.

Reads settings files and receipts only; it starts nothing and changes nothing.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from vault_memory.errors import VaultError
from vault_memory.harness.base import Harness, Machine, Options
from vault_memory.harness.changes import Block, Change, JsonEntry, JsonItem, TomlTable, WholeFile
from vault_memory.harness.edits import FileChange, decode, read, refusing
from vault_memory.harness.receipts import Receipt, Receipts

PartKind = Literal["server", "hook", "guidance"]


class Problem(Struct, frozen=True):
    """What is wrong, in a sentence, and the command or step that mends it."""

    what: str
    fix: str


class Part(Struct, frozen=True):
    """One entry of a connection and whether it is still there."""

    kind: PartKind
    path: Path
    present: bool


class ClientStatus(Struct, frozen=True):
    """One agent, or one of its connections (an agent may be connected for the user and for projects)."""

    name: str
    title: str
    installed: bool
    connected: bool
    vault: str = ""
    command: tuple[str, ...] = ()
    project: str = ""
    parts: tuple[Part, ...] = ()
    problems: tuple[Problem, ...] = ()


def client_statuses(harnesses: Iterable[Harness], machine: Machine, receipts: Receipts) -> list[ClientStatus]:
    """The connections of each agent, and each agent that has none, in the order given."""
    found: list[ClientStatus] = []
    names = receipts.names()
    for harness in harnesses:
        keys = [key for key in names if key.partition("--")[0] == harness.name]
        installed = harness.installed(machine)
        connections = [_connection(harness, key, receipts, installed, machine) for key in keys]
        found += connections or [ClientStatus(harness.name, harness.title, installed, connected=False)]
    return found


def _connection(harness: Harness, key: str, receipts: Receipts, installed: bool, machine: Machine) -> ClientStatus:
    try:
        receipt = receipts.find(key)
    except VaultError as error:
        problem = Problem(error.detail, f"vault-memory connect {harness.name}")
        return ClientStatus(harness.name, harness.title, installed, connected=False, problems=(problem,))
    assert receipt is not None
    problems = [*_facts(harness, receipt, installed)]
    parts: list[Part] = []
    for known in receipt.files:
        try:
            parts += _parts(known)
        except VaultError as error:
            problems.append(Problem(error.detail, f"mend {known.path}"))
    problems += _missing(harness, parts)
    problems += _unapproved(harness, receipt)
    facts = receipt.facts
    return ClientStatus(
        harness.name,
        harness.title,
        installed,
        connected=any(part.present for part in parts),
        vault=str(facts.get("vault", "")),
        command=tuple(facts.get("command", ())),
        project=str(facts.get("project") or ""),
        parts=tuple(parts),
        problems=tuple(problems),
    )


def _parts(known: FileChange) -> Iterator[Part]:
    text = decode(read(known.path), known.path)
    with refusing(known.path):
        for change in known.changes:
            kind = _kind(change)
            if kind is not None:
                yield Part(kind, known.path, bool(text) and change.present(text))


def _kind(change: Change) -> PartKind | None:
    if isinstance(change, Block):
        return "guidance"
    if isinstance(change, (JsonItem, WholeFile)):
        return "hook"
    if isinstance(change, TomlTable) or (isinstance(change, JsonEntry) and not change.default):
        return "server"
    return None


def _facts(harness: Harness, receipt: Receipt, installed: bool) -> Iterator[Problem]:
    again = f"vault-memory connect {harness.name}"
    if not installed:
        yield Problem(f"{harness.title} is gone", f"vault-memory disconnect {harness.name}")
    command = next(iter(receipt.facts.get("command", ())), "")
    if not Path(command).exists():
        yield Problem(f"the registered command {command} is gone (moved or uninstalled)", again)
    vault = str(receipt.facts.get("vault", ""))
    if not Path(vault, ".vault-memory").is_dir():
        yield Problem(f"the registered vault {vault} is gone", f"{again} --vault FOLDER")


def _missing(harness: Harness, parts: Iterable[Part]) -> Iterator[Problem]:
    for part in parts:
        if not part.present:
            yield Problem(f"the {part.kind} entry in {part.path} is gone", f"vault-memory connect {harness.name}")


def _unapproved(harness: Harness, receipt: Receipt) -> Iterator[Problem]:
    """Codex runs a hook only after the person approved it; it notes that in config.toml under the hooks file's path."""
    if harness.name != "codex":
        return
    for known in receipt.files:
        if known.path.name != "hooks.json":
            continue
        try:
            config = tomllib.loads(decode(read(known.path.with_name("config.toml")), known.path))
        except (VaultError, tomllib.TOMLDecodeError):
            return
        state: Any = config.get("hooks", {}).get("state", {})
        if not any(str(key).startswith(str(known.path)) for key in state):
            yield Problem("Codex has not approved the hooks yet, so it does not run them", "in Codex: /hooks")


def moved(status: ClientStatus, options: Options) -> Problem | None:
    """The problem of a connection that starts another command or vault than the one in use now, or None."""
    if not status.connected:
        return None
    if status.command != options.command:
        was = status.command[0] if status.command else "nothing"
        return Problem(f"{status.title} starts {was}, not {options.command[0]}", f"vault-memory connect {status.name}")
    if status.vault != str(options.vault):
        return Problem(f"{status.title} uses the vault {status.vault}", f"vault-memory connect {status.name}")
    return None
