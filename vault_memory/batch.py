"""One batch of writes: the notes changed under one hold of the vault lock. Made by `Vault.write` and by nobody else.

Owns the rules of an edit (what is stale, what is stamped, what to do when an editor saves in between); it decides
neither names nor texts, and leaves recording, committing and auditing to the vault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from vault_memory.errors import MalformedNote, MemoryNotFound, RevisionConflict
from vault_memory.files.atomic import FileChanged
from vault_memory.memory import markdown
from vault_memory.memory.model import CONFLICT_CODES, EMPTY, FIELDS, Memory, revision_of
from vault_memory.memory.slug import memory_folder, numbered, slug
from vault_memory.memory.times import time_text

if TYPE_CHECKING:
    from vault_memory.files.queue import Change
    from vault_memory.files.stat import Stat
    from vault_memory.vault import Vault

Edit = Callable[[bytes], bytes]

ATTEMPTS: Final = 50
"""How often a write starts over because an editor saved in between, before it gives up with a conflict."""


class Why(Struct, frozen=True):
    """Who writes and what for: goes to the commit's trailers and the audit log."""

    operation: str
    agent: str | None = None
    session: str | None = None
    reason: str | None = None


class Expectation(Struct, frozen=True):
    """What a caller believes the note still is; None asks nothing."""

    revision: str | None = None
    version: int | None = None


class Edited(Struct, frozen=True):
    """The memory after an edit, and whether a byte changed."""

    memory: Memory
    changed: bool


class Written(Struct, frozen=True):
    """One file that a batch changed: its bytes before (None: new) and after (None: removed)."""

    path: str
    before: bytes | None
    after: bytes | None
    stat: Stat | None = None


class Batch:
    """The notes written under one hold of the vault lock; recorded together when it ends. Made by `Vault.write`."""

    def __init__(self, vault: Vault, why: Why, now: datetime) -> None:
        self._vault = vault
        self.why = why
        self.now = now
        self.id = f"{why.operation}-{vault.ids.next(now)}"
        """Names this batch in the history, so that it can be undone."""
        self.written: list[Written] = []
        self.warnings: list[str] = []

    def create(
        self,
        fields: Mapping[str, Any],
        content: str,
        *,
        relations: Mapping[str, tuple[str, ...]] = EMPTY,
        metadata: Mapping[str, Any] = EMPTY,
        path: str | None = None,
    ) -> Memory:
        """Write a new note with a new id and the stamps; `path` None places it by project and type.

        Raises:
            InvalidRequest: a value that no note can hold.
            NotAllowed: a path outside the vault.
        """
        stamp = self.now.replace(microsecond=0)
        stamps: dict[str, Any] = {"id": self._vault.ids.next(self.now), "created_at": stamp}
        if self._vault.config.notes.stamps:
            stamps |= {"updated_at": stamp, "version": 1}
        complete = {**stamps, **fields}
        data = markdown.render(complete, content, relations=relations, metadata=metadata)
        return self.add(path or self._place(complete), data)

    def add(self, path: str, data: bytes) -> Memory:
        """Write a new file at `path`, or beside it with a number when the name is taken.

        Raises:
            NotAllowed: the path leads outside the vault or to something that is not a note.
        """
        self._vault.store.locate(path, new=True)
        folder, _, name = path.rpartition("/")
        for candidate in numbered(name.removesuffix(".md")):
            place = f"{folder}/{candidate}" if folder else candidate
            try:
                stat = self._vault.store.create(place, data)
            except FileExistsError:
                continue
            return self._note(place, None, data, stat)
        raise AssertionError("numbered() never ends")

    def _place(self, fields: Mapping[str, Any]) -> str:
        folder = memory_folder(
            memory_type=fields.get("memory_type", "note"),
            project=fields.get("project"),
            actor=fields.get("actor"),
            created_at=fields["created_at"],
            root=self._vault.config.notes.folder,
        )
        return f"{folder}/{slug(fields['title'])}.md"

    def patch(
        self,
        path: str,
        changes: Mapping[str, Any],
        *,
        body: Edit | None = None,
        expect: Expectation = Expectation(),
        whole: bool = False,
        stamp: bool = True,
    ) -> Edited:
        """Set front-matter keys (None removes one) and edit the body; all other bytes stay.

        Args:
            path: the note.
            changes: key to new value.
            body: from the file's bytes to the file's bytes with another body.
            expect: the revision or version the caller saw.
            whole: a stale expectation is a conflict even when other lines changed.
            stamp: raise `version` and `updated_at` when something changed.

        Raises:
            RevisionConflict: the note changed since, in what this write would overwrite.
            MalformedNote: the note cannot be edited safely; nothing was written.
            MemoryNotFound: there is no such note any more.
        """

        def edit(data: bytes) -> bytes:
            before = self._vault.parse(data, path)
            self._check(before, data, expect, set(changes), whole)
            patched = markdown.patch(body(data) if body else data, changes)
            if patched == data or not stamp:
                return patched
            return markdown.patch(patched, self._stamps(before, self._vault.parse(patched, path)))

        return self._edit(path, edit)

    def replace(self, path: str, data: bytes, *, expect: Expectation = Expectation()) -> Edited:
        """Give a note other bytes as they are, for instance those of an earlier version.

        Raises:
            RevisionConflict: the note is no longer what the caller saw.
        """

        def edit(current: bytes) -> bytes:
            self._check(self._vault.parse(current, path), current, expect, set(), True)
            return data

        return self._edit(path, edit)

    def move(self, path: str, target: str) -> Memory:
        """Rename a note; the bytes stay.

        Raises:
            NotAllowed: the target leads outside.
            FileExistsError: the target is another note.
        """
        data = self.read(path)
        stat = self._vault.store.move(path, target)
        self._vault.versions.moved(path, target)
        self.written.append(Written(path, data, None))
        return self._note(target, None, data, stat)

    def remove(self, path: str) -> None:
        """Delete a note's file for good."""
        for _ in range(ATTEMPTS):
            data = self.read(path)
            try:
                self._vault.store.remove(path, data)
            except FileChanged:
                continue
            self.written.append(Written(path, data, None))
            return
        raise RevisionConflict(f"{path} keeps changing; try again")

    def read(self, path: str) -> bytes:
        """The note's bytes on disk.

        Raises:
            MemoryNotFound: there is no such note any more.
        """
        try:
            return self._vault.store.read(path)
        except FileNotFoundError:
            raise MemoryNotFound(f"the note {path} is gone") from None

    def changes(self) -> list[Change]:
        """What was written, for the commit queue."""
        from vault_memory.files.queue import Change

        why, reason = self.why, self.why.reason or ""
        return [
            Change(written.path, written.before, written.after, self.id, self.now, why.agent, why.session, reason)
            for written in self.written
        ]

    def entries(self) -> Iterator[dict[str, Any]]:
        """What was written, for the audit log."""
        why = self.why
        for written in self.written:
            yield {
                "time": time_text(self.now),
                "operation": why.operation,
                "id": self.id,
                "path": written.path,
                "before": None if written.before is None else revision_of(written.before),
                "after": None if written.after is None else revision_of(written.after),
                "agent": why.agent,
                "session": why.session,
                "reason": why.reason,
            }

    def _edit(self, path: str, edit: Edit) -> Edited:
        for _ in range(ATTEMPTS):
            data = self.read(path)
            changed = edit(data)
            if changed == data:
                return Edited(self._vault.parse(data, path), False)
            try:
                self._vault.keep(path, data, self.now)
                stat = self._vault.store.replace(path, changed, data)
            except FileChanged:
                continue  # an editor saved in between: start over from what it wrote
            return Edited(self._note(path, data, changed, stat), True)
        raise RevisionConflict(f"{path} keeps changing; try again")

    def _note(self, path: str, before: bytes | None, after: bytes, stat: Stat) -> Memory:
        self.written.append(Written(path, before, after, stat))
        return self._vault.parse(after, path)

    def _check(self, memory: Memory, data: bytes, expect: Expectation, names: set[str], whole: bool) -> None:
        if memory.conflicted:
            found = next(f for f in memory.findings if f.code in CONFLICT_CODES)
            raise MalformedNote(f"{memory.path}: {found.reason}", path=memory.path, line=found.line)
        stale = expect.version is not None and expect.version != memory.version
        if expect.revision is not None and expect.revision != memory.revision:
            base = None if whole else self._vault.base(memory.path, expect.revision)
            stale = stale or whole or (bool(names) and (base is None or _touched(base, memory, names)))
        if stale:
            current = {"revision": memory.revision, "version": memory.version, "text": data.decode(errors="replace")}
            raise RevisionConflict(
                f"{memory.path} changed since it was read", hint="read it again and repeat the change", current=current
            )

    def _stamps(self, before: Memory, after: Memory) -> dict[str, Any]:
        """The stamps of a real change: a person's note keeps its own habits, only stamps that are there move on."""
        stamps: dict[str, Any] = {}
        if "updated_at" in before.stated:
            stamps["updated_at"] = self.now.replace(microsecond=0)
        if "version" in before.stated and _edited(before, after):
            stamps["version"] = before.version + 1
        return stamps if self._vault.config.notes.stamps else {}


def _touched(base: Memory, current: Memory, names: set[str]) -> bool:
    """Whether any of the named keys differs between two states of a note."""
    return any(_value(base, name) != _value(current, name) for name in names)


def _value(memory: Memory, name: str) -> Any:
    if name in FIELDS:
        return getattr(memory, name), name in memory.stated
    return memory.relations.get(name), memory.metadata.get(name)


def _edited(before: Memory, after: Memory) -> bool:
    fields = (field.name for field in FIELDS.values() if field.editable)
    same = all(getattr(before, name) == getattr(after, name) for name in (*fields, "content", "relations", "metadata"))
    return not same
