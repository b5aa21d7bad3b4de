"""What each record of an import becomes: new, unchanged, a clash settled by policy, refused. Decides, never writes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from vault_memory.errors import InvalidRequest, NotAllowed, Rejected, VaultError
from vault_memory.formats.record import UNUSED, Incoming, Unreadable, Usage
from vault_memory.memory import markdown
from vault_memory.memory.model import RESERVED_PROJECT, Memory, revision_of
from vault_memory.memory.scope import UNBOUND, Scope
from vault_memory.memory.slug import clean_name, fold, memory_folder, numbered, slug
from vault_memory.memory.urls import stored_url
from vault_memory.operations.draft import automatic_title, cased
from vault_memory.operations.filters import known, memory_types
from vault_memory.operations.gates import check_secrets, check_shape, flags_of

if TYPE_CHECKING:
    from vault_memory.operations.context import Context

OnClash = Literal["skip", "replace", "keep_both"]
Outcome = Literal["new", "unchanged", "replaced", "kept_both", "skipped", "refused"]


class Step(Struct, frozen=True):
    """One record and what becomes of it. `rival` is the memory that is here already."""

    name: str
    outcome: Outcome
    path: str = ""
    data: bytes = b""
    ref: str | None = None
    rival: Memory | None = None
    reason: str = ""
    usage: Usage = UNUSED
    earlier: tuple[tuple[bytes, datetime], ...] = ()


class _Ready(Struct, frozen=True):
    """A record with its place: what is here under its identity, and where it would go."""

    record: Incoming
    fields: Mapping[str, Any] = field(default_factory=dict)
    path: str = ""
    existing: Memory | None = None
    memory: Memory | None = None
    """The parsed note of a record that comes byte for byte."""


def plan(
    ctx: Context,
    records: Sequence[Incoming | Unreadable],
    on_clash: OnClash,
    project: str | None = None,
    actor: str | None = None,
) -> list[Step]:
    """The steps in the order of the records.

    Args:
        ctx: the caller; a record of a project or actor it does not see is refused.
        records: what was read.
        on_clash: what to do with a record whose id or text is here already, with other content.
        project, actor: of records that name none.
    """
    placed = _Placing(ctx, project, actor)
    ready = [_guarded(record, placed.ready) for record in records]
    links = {
        str(one.fields["id"]): one.path.removesuffix(".md") for one in ready if isinstance(one, _Ready) and one.fields
    }
    settle = _Settling(ctx, on_clash, links)
    return [
        one if isinstance(one, Step) else _guarded(one.record, lambda _, one=one: settle.step(one)) for one in ready
    ]


def _guarded(record: Incoming | Unreadable, make: Any) -> Any:
    """What `make` makes of the record; a refusal is a step of its own and stops no other."""
    if isinstance(record, Unreadable):
        return Step(record.name, "refused", reason=record.reason)
    try:
        return make(record)
    except VaultError as error:
        return Step(record.name, "refused", record.path or "", reason=error.detail)


class _Placing:
    """Finds what is here under a record's identity, and gives new notes places that nobody has."""

    def __init__(self, ctx: Context, project: str | None, actor: str | None) -> None:
        bound = ctx.scope.project if isinstance(ctx.scope.project, str) else None
        self._ctx = ctx
        self._project = None if project == RESERVED_PROJECT else project or bound
        self._actor = actor or (ctx.scope.actor if isinstance(ctx.scope.actor, str) else None)
        self._taken = {fold(path) for path in ctx.vault.catalog.paths(UNBOUND)}
        self._ids: set[str] = set()

    def ready(self, record: Incoming) -> _Ready | Step:
        return self._exact(record) if record.raw is not None else self._described(record)

    def _exact(self, record: Incoming) -> _Ready | Step:
        """A note byte for byte: it keeps its path, as far as a new file may have such a name."""
        assert record.raw is not None
        path = record.path or record.name
        same = self._ctx.vault.catalog.get(path, self._ctx.scope)
        if same is not None and same.memory.revision == revision_of(record.raw):
            return Step(record.name, "unchanged", path, ref=same.memory.ref)
        path = self._allowed(path)
        memory = self._ctx.vault.parse(record.raw, path)
        self._visible(memory.project, memory.actor)
        text = record.raw.decode()
        self._check(memory.content, {"front matter": text[: len(text) - len(memory.content)]})
        if memory.written_by_tool:
            check_shape(memory.content or "(empty)", {"title": memory.title, "tags": memory.tags})
        return _Ready(record, {}, path, self._here(memory.id, path), memory)

    def _described(self, record: Incoming) -> _Ready:
        fields = self._fields(record)
        identity = str(fields["id"])
        if identity in self._ids:
            raise InvalidRequest.of("id", f"'{identity}' comes twice")
        self._ids.add(identity)
        self._visible(fields.get("project"), fields.get("actor"))
        check_shape(record.content, fields)
        self._check(record.content, {**fields, **record.metadata})
        existing = self._here(identity, None)
        times = {"created_at": existing.created_at if existing else self._ctx.now.replace(microsecond=0)}
        complete = {**times, **fields}
        complete.setdefault("updated_at", complete["created_at"])
        complete.setdefault("version", 1)
        return _Ready(record, complete, existing.path if existing else self._new_place(complete), existing)

    def _fields(self, record: Incoming) -> dict[str, Any]:
        ctx, fields = self._ctx, dict(record.fields)
        fields["memory_type"] = known("memory_type", str(fields.get("memory_type", "note")), memory_types(ctx.config))
        fields.setdefault("title", automatic_title(record.content, fields.get("url")))
        fields.setdefault("source", "import")
        if fields.get("project") == RESERVED_PROJECT:
            del fields["project"]
        for name, default in (("project", self._project), ("actor", self._actor)):
            if default is not None:
                fields.setdefault(name, default)
        if fields.get("domain"):
            fields["domain"] = cased(fields["domain"], ctx.config.domain_case)
        if fields.get("url"):
            fields["url"] = stored_url(fields["url"])
        if flags := flags_of(fields["source"], record.content, fields.get("flags", ())):
            fields["flags"] = list(flags)
        return fields

    def _visible(self, project: str | None, actor: str | None) -> None:
        if not self._ctx.scope.sees_fields(project, actor):
            named = " and ".join(f"{k} '{v}'" for k, v in (("project", project), ("actor", actor)) if v)
            raise NotAllowed(f"this session is not bound to {named or 'what has no project or actor'}")

    def _check(self, content: str, fields: Mapping[str, Any]) -> None:
        """Refuse secrets: one look at all texts together, and a closer one only where that finds something."""
        try:
            check_secrets(self._ctx, {"record": {"content": content, **fields}})
        except Rejected:
            check_secrets(self._ctx, {"content": content, **fields})
            raise

    def _here(self, identity: str | None, path: str | None) -> Memory | None:
        """The memory that is here under the id (the one at the same path first), else at the path."""
        catalog = self._ctx.vault.catalog
        rows = catalog.by_id(identity, UNBOUND) if identity is not None else []
        if identity is None and path is not None:
            row = catalog.get(path, UNBOUND)
            rows = [row] if row is not None else []
        found = sorted((row.memory for row in rows), key=lambda m: (m.path != path, m.path))
        if found and not self._ctx.scope.sees(found[0]):
            raise NotAllowed("its id or path belongs to a memory that this session does not see")
        return found[0] if found else None

    def _new_place(self, fields: Mapping[str, Any]) -> str:
        folder = memory_folder(
            memory_type=fields["memory_type"],
            project=fields.get("project"),
            actor=fields.get("actor"),
            created_at=fields["created_at"],
            root=self._ctx.config.notes.folder,
        )
        places = (f"{folder}/{name}" for name in numbered(slug(fields["title"])))
        place = next(place for place in places if fold(place) not in self._taken)
        self._taken.add(fold(place))
        return place

    def _allowed(self, path: str) -> str:
        """The path, or its nearest spelling that a new file may have; one that leads outside is refused.

        Raises:
            NotAllowed: the path leads outside the vault.
        """
        store = self._ctx.vault.store
        store.locate(path)
        try:
            store.locate(path, new=True)
        except NotAllowed:
            *folders, name = path.split("/")
            path = "/".join([*map(clean_name, folders), f"{clean_name(name[:-3])}.md"])
        return path


class _Settling:
    """Decides what a placed record becomes."""

    def __init__(self, ctx: Context, on_clash: OnClash, links: Mapping[str, str]) -> None:
        self._ctx = ctx
        self._on_clash = on_clash
        self._links = links

    def step(self, one: _Ready) -> Step:
        data = one.record.raw if one.record.raw is not None else self._rendered(one, one.fields)
        name, existing = one.record.name, one.existing
        if existing is not None:
            if existing.revision == revision_of(data):
                return Step(name, "unchanged", existing.path, ref=existing.ref)
            return self._clash(one, data, existing, "is here already with other content")
        if (twin := self._twin(one, data)) is None:
            return self._new(one, data, "new")
        if twin.revision == revision_of(data):
            return Step(name, "unchanged", twin.path, ref=twin.ref)
        if self._on_clash == "keep_both":
            return self._new(one, data, "new")
        return Step(name, "skipped", twin.path, ref=twin.ref, rival=twin, reason=f"{twin.path} says the same")

    def _twin(self, one: _Ready, data: bytes) -> Memory | None:
        """An active memory of the same owner that says exactly the same, under another id."""
        memory = one.memory or self._as_memory(one)
        if memory.status != "active" or not memory.content.strip():
            return None
        rows = self._ctx.vault.catalog.by_content(memory.content_hash, Scope(memory.project, memory.actor))
        same = [row.memory for row in rows if row.memory.status == "active" and row.memory.project == memory.project]
        return next(iter(sorted(same, key=lambda m: (m.revision != revision_of(data), m.path))), None)

    def _as_memory(self, one: _Ready) -> Memory:
        """What counts for a comparison; parsing the rendered note for it would cost a third of an import."""
        names = ("status", "project", "actor")
        return Memory(one.path, one.record.content, **{name: one.fields[name] for name in names if name in one.fields})

    def _clash(self, one: _Ready, data: bytes, existing: Memory, reason: str) -> Step:
        name, ref = one.record.name, existing.ref
        if self._on_clash == "skip":
            return Step(name, "skipped", existing.path, ref=ref, rival=existing, reason=reason)
        if self._on_clash == "replace":
            return Step(name, "replaced", existing.path, data, ref, existing, reason, one.record.usage)
        if existing.id is None:
            return replace(self._new(one, data, "kept_both"), rival=existing, reason=reason)
        other = hashlib.sha256(f"{existing.id} {revision_of(data)}".encode()).hexdigest()[:12]
        rows = self._ctx.vault.catalog.by_id(other, UNBOUND)
        if rows:
            return Step(name, "unchanged", rows[0].memory.path, ref=other)
        copy = (
            markdown.patch(data, {"id": other}) if one.record.raw else self._rendered(one, {**one.fields, "id": other})
        )
        return replace(self._new(one, copy, "kept_both"), rival=existing, reason=f"{reason}; kept as {other}")

    def _new(self, one: _Ready, data: bytes, outcome: Outcome) -> Step:
        reason = (
            ""
            if one.record.raw is None or one.path == one.record.path
            else f"a new file cannot be called {one.record.path}"
        )
        return Step(
            one.record.name, outcome, one.path, data, reason=reason, usage=one.record.usage, earlier=self._earlier(one)
        )

    def _earlier(self, one: _Ready) -> tuple[tuple[bytes, datetime], ...]:
        """The texts the memory had before, as whole notes with the time each was replaced."""
        made = []
        for number, version in enumerate(one.record.earlier, 1):
            fields = {**one.fields, "version": number}
            made.append((self._rendered(one, fields, version.content), version.replaced_at))
        return tuple(made)

    def _rendered(self, one: _Ready, fields: Mapping[str, Any], content: str | None = None) -> bytes:
        relations = {kind: tuple(self._link(to) for to in targets) for kind, targets in one.record.relations.items()}
        complete = dict(fields)
        notes = [f"{kind} [[{self._link(to)}]]: {note}" for kind, to, note in one.record.relation_notes]
        if notes:
            complete["relation_notes"] = notes
        text = one.record.content if content is None else content
        return markdown.render(complete, text, relations=relations, metadata=one.record.metadata)

    def _link(self, identity: str) -> str:
        """What a link to a record says: its place, which is known before it is written."""
        return self._links.get(identity, identity)
