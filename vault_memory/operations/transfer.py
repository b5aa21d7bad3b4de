"""export and backup: memories on their way out, with everything that is known of them. Changes nothing in the vault."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace
from pydantic import Field

from vault_memory.errors import InvalidRequest, NotAllowed, StorageError
from vault_memory.formats.record import Attachment, Outgoing, Usage
from vault_memory.memory.model import STATUSES
from vault_memory.memory.scope import ANY, UNBOUND
from vault_memory.operations.context import Context
from vault_memory.operations.request import FilterRequest, Request
from vault_memory.operations.transfer_in import Import, ImportReport, import_

if TYPE_CHECKING:
    from vault_memory.index.rows import Row

__all__ = ["Backup", "Export", "Exported", "Import", "ImportReport", "backup", "export", "import_"]

ExportFormat = Literal["json", "notes", "memstack", "actor", "server-memory"]
FOLDERS: Final = ("notes", "actor")
"""Formats that are folders of files."""
_SETTINGS: Final = (".vault-memory/config.toml", ".vault-memory/projects.toml")


class Export(FilterRequest):
    """Write out memories with everything that is known of them.

    The formats json and notes lose nothing: every note comes byte for byte, with its usage and, to a file or folder,
    the files it links to.
    """

    to: str | None = Field(
        None,
        description="A new file or folder to write to; without it the answer holds the data.",
        json_schema_extra={"cli": {"positional": True}},
    )
    format: ExportFormat = Field(
        "json", description="json, notes (a folder), memstack, actor (a folder), server-memory."
    )
    attachments: bool | None = Field(None, description="Also the files that notes link to (default: when writing).")


class Backup(Request):
    """Copy all notes, the files they link to, their usage and the vault's settings to a dated folder or zip."""

    to: str = Field(description="The folder to put it in.", json_schema_extra={"cli": {"positional": True}})
    zip: bool = Field(False, description="One zip file instead of a folder.")


class Exported(Struct, frozen=True):
    """What was written out: `data` inline, or `path` where it lies. `left_out` names what could not come along."""

    format: str
    count: int
    data: Any = None
    path: str | None = None
    attachments: int = 0
    left_out: tuple[dict[str, str], ...] = ()
    warnings: tuple[str, ...] = ()


def export(ctx: Context, request: Export) -> Exported:
    """Export what the caller sees, of all statuses unless some are asked for.

    Raises:
        InvalidRequest: an unknown filter value, a folder format without `to`, or a place that is taken.
        NotAllowed: a caller from afar named a file.
    """
    place = place_of(ctx, request.to)
    if place is None and request.format in FOLDERS:
        raise InvalidRequest.of("to", f"the format {request.format} is a folder: say where to write it")
    notes, left_out = _outgoing(ctx, request)
    wanted = place is not None if request.attachments is None else request.attachments
    files = _attached(ctx, notes) if wanted and request.format in ("json", "notes") else []
    warnings = _missing(ctx)
    if place is None:
        data = _document(ctx, request.format, notes, files)
        return Exported(request.format, len(notes), data, None, len(files), left_out, warnings)
    _write(ctx, place, request.format, notes, files)
    return Exported(request.format, len(notes), None, str(place), len(files), left_out, warnings)


def backup(ctx: Context, request: Backup) -> Exported:
    """A copy of the vault that is a vault itself; nothing is left out but indexes, local state and git.

    Raises:
        NotAllowed: a caller who does not see the whole vault, or from afar.
        InvalidRequest: there is a backup of this second already.
    """
    from vault_memory.formats.place import write_folder, write_zip

    folder = place_of(ctx, request.to)
    if folder is None or ctx.scope.project is not ANY or isinstance(ctx.scope.actor, str):
        raise NotAllowed("a backup holds the whole vault; it is for its owner", hint="use --project '*'")
    ctx = replace(ctx, scope=UNBOUND)
    notes, left_out = _outgoing(ctx, Export())
    files = _attached(ctx, notes)
    place = folder / f"{ctx.vault.root.name}-{ctx.now:%Y-%m-%dT%H%M%SZ}{'.zip' if request.zip else ''}"
    with _disk(place):
        (write_zip if request.zip else write_folder)(place, [*_folder(notes, files), *_settings(ctx)])
    return Exported("zip" if request.zip else "notes", len(notes), None, str(place), len(files), left_out)


def place_of(ctx: Context, text: str | None) -> Path | None:
    """The place on this machine that a caller named.

    Raises:
        NotAllowed: the caller is not on this machine (MCP, REST): it gets and sends data in its messages.
    """
    if text is None:
        return None
    if not ctx.files:
        raise NotAllowed("files and folders are named on the command line and in Python only", hint="leave `to` out")
    return Path(text).expanduser()


def _outgoing(ctx: Context, request: Export) -> tuple[list[Outgoing], tuple[dict[str, str], ...]]:
    """The notes as their files are now, by ref, and those that could not be read."""
    ctx.vault.refresh(budget_ms=float("inf"))
    wanted = replace(request.filter(ctx, default=STATUSES), expired=None)
    left_out: list[dict[str, str]] = []
    if ctx.scope.unbound:
        unread = sorted(ctx.vault.catalog.left_out(), key=lambda pair: pair[0])
        left_out = [{"path": path, "reason": finding.reason} for path, finding in unread]
    rows = list(ctx.vault.catalog.select(wanted, ctx.scope, now=ctx.now))
    targets = _targets(ctx, rows) if request.format == "server-memory" else {}
    found = []
    for row in rows:
        try:
            data = ctx.vault.store.read(row.memory.path)
        except FileNotFoundError:
            left_out.append({"path": row.memory.path, "reason": "was removed meanwhile"})
            continue
        usage = Usage(row.last_accessed_at, row.access_count)
        found.append(Outgoing(row.memory, data, usage, targets.get(row.memory.path, {})))
    return found, tuple(left_out)


def _targets(ctx: Context, rows: Sequence[Row]) -> dict[str, Mapping[str, tuple[str, ...]]]:
    """By path, the refs that each memory's typed relations lead to."""
    from vault_memory.memory.links import LinkIndex, resolve

    refs = {row.memory.path: row.memory.ref for row in rows}
    index = LinkIndex(ctx.vault.catalog.paths(UNBOUND))
    return {
        row.memory.path: {
            kind: tuple(refs[path] for link in links if (path := resolve(link, row.memory.path, index)) in refs)
            for kind, links in row.memory.relations.items()
        }
        for row in rows
        if row.memory.relations
    }


def _attached(ctx: Context, notes: Sequence[Outgoing]) -> list[Attachment]:
    from vault_memory.files.attachments import attachments
    from vault_memory.formats.notes import by_name, linked

    linking = [note for note in notes if "[" in note.memory.content]
    known = set(attachments(ctx.vault.root)) if linking else set()
    names = by_name(known)
    wanted = {path for note in linking for path in linked(note.memory.content, note.memory.path, known, names)}
    return [Attachment(path, (ctx.vault.root / path).read_bytes()) for path in sorted(wanted)]


def _document(ctx: Context, form: str, notes: Sequence[Outgoing], files: Sequence[Attachment]) -> Any:
    from vault_memory.formats import memstack, native, server_memory

    if form == "memstack":
        return memstack.write(notes, ctx.now)
    return server_memory.write(notes) if form == "server-memory" else native.write(notes, ctx.now, files)


def _write(ctx: Context, place: Path, form: str, notes: Sequence[Outgoing], files: Sequence[Attachment]) -> None:
    from vault_memory.formats import actor
    from vault_memory.formats.place import write_file, write_folder

    with _disk(place):
        if form == "notes":
            write_folder(place, _folder(notes, files))
        elif form == "actor":
            made = actor.documents(notes, ctx.now)
            write_folder(place, ((name, _json(document)) for name, document in made.items()))
        else:
            document = _document(ctx, form, notes, files)
            write_file(place, document.encode() if isinstance(document, str) else _json(document))


def _folder(notes: Sequence[Outgoing], files: Sequence[Attachment]) -> Iterator[tuple[str, bytes]]:
    from vault_memory.formats.notes import USAGE_FILE, usage_document

    yield from ((note.memory.path, note.data) for note in notes)
    yield from ((file.path, file.data) for file in files)
    yield USAGE_FILE, _json(usage_document(notes))


def _settings(ctx: Context) -> Iterator[tuple[str, bytes]]:
    for name in _SETTINGS:
        if (ctx.vault.root / name).is_file():
            yield name, (ctx.vault.root / name).read_bytes()


def _missing(ctx: Context) -> tuple[str, ...]:
    """Says when the caller sees no actor's memories, so that an export is not taken for all there is."""
    if ctx.scope.project is not ANY or ctx.scope.actor is not None:
        return ()
    catalog = ctx.vault.catalog
    hidden = catalog.stats(UNBOUND, now=ctx.now).total - catalog.stats(ctx.scope, now=ctx.now).total
    return (f"{hidden} memories of actors are not among them; they come with actor '*'",) if hidden else ()


def _json(document: Any) -> bytes:
    return (json.dumps(document, ensure_ascii=False, indent=1, default=str) + "\n").encode()


class _disk:
    """Tells what the disk refuses about a place outside the vault as our own error."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, OSError):
            raise StorageError(f"cannot write {self._place}: {error.strerror or error}") from error
