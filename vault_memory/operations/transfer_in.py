"""import: memories on their way in, as a plan first, then in one batch. Owns the order of the checks and the report.

What each record becomes is decided in `transfer_plan`; times and ids are the record's own, never those of the import.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace
from pydantic import Field

from vault_memory.batch import Batch, Expectation
from vault_memory.errors import InvalidRequest, NotAllowed, VaultError
from vault_memory.formats.record import Attachment, Bundle, NotThisFormat
from vault_memory.index.usage import Access
from vault_memory.operations.context import Context
from vault_memory.operations.refs import why
from vault_memory.operations.request import Request
from vault_memory.operations.transfer_plan import OnClash, Step, plan

Form = Literal["json", "notes", "memstack", "memai", "actor", "server-memory"]


class Import(Request):
    """Take in memories from an export or from another system; a plan first, `execute` carries it out.

    A record that cannot be taken is named and left out, the others go in: one batch, one commit. The same import a
    second time changes nothing.
    """

    source: str | None = Field(
        None, description="The file or folder to read.", json_schema_extra={"cli": {"positional": True}}
    )
    data: Any = Field(None, description="The document itself, instead of a file.")
    format: Form | None = Field(
        None, description="json, notes, memstack, memai, actor or server-memory; by default recognised."
    )
    on_clash: OnClash = Field(
        "skip", description="When an id or text is here already, with other content: skip, replace or keep_both."
    )
    project: str | None = Field(None, description="The project of records that name none.")
    actor: str | None = Field(None, description="The actor of records that name none.")
    execute: bool = Field(False, description="Carry the plan out; otherwise it is only shown.")
    reason: str | None = Field(None, max_length=2000, description="Why; goes to the history.")


class ImportItem(Struct, frozen=True):
    """What becomes of one record, where that needs saying: a clash, a refusal, another name than its own."""

    name: str
    outcome: str
    ref: str | None = None
    path: str | None = None
    reason: str = ""


class ImportReport(Struct, frozen=True):
    """The plan, or what was done when `executed`. `counts` by outcome: new, unchanged, replaced, kept_both, skipped,
    refused; `failed` counts the refused; `items` names every record that is neither new nor unchanged."""

    format: str
    executed: bool
    total: int
    counts: Mapping[str, int]
    failed: int
    items: tuple[ImportItem, ...]
    refs: tuple[str, ...] = ()
    """The memories that were written."""
    attachments: int = 0
    warnings: tuple[str, ...] = ()


def import_(ctx: Context, request: Import) -> ImportReport:
    """Plan the import; with `execute` carry it out in one batch.

    Raises:
        InvalidRequest: the data cannot be read as any format.
        NotAllowed: a caller from afar named a file.
    """
    bundle = _bundle(ctx, request)
    ctx.vault.refresh(budget_ms=float("inf"))
    if not request.execute:
        steps = plan(ctx, bundle.records, request.on_clash, request.project, request.actor)
        return _report(bundle, steps, False, len(bundle.attachments), bundle.warnings)
    with ctx.vault.write(why(ctx, "import", request.reason), ctx.now) as batch:
        steps = plan(ctx, bundle.records, request.on_clash, request.project, request.actor)
        done = [_carried_out(ctx, batch, step) for step in steps]
        files, lost = _attach(ctx, bundle.attachments)
    _count(ctx, done)
    return _report(bundle, done, True, files, (*bundle.warnings, *lost, *batch.warnings))


def _bundle(ctx: Context, request: Import) -> Bundle:
    from vault_memory.formats.detect import read_document, read_place, read_text

    if (request.source is None) == (request.data is None):
        raise InvalidRequest.of("source", "name a file or folder, or pass the data itself")
    if request.source is not None and not ctx.files:
        raise NotAllowed("files and folders are named on the command line and in Python only", hint="pass `data`")
    try:
        if request.source is not None:
            return read_place(Path(request.source).expanduser(), request.format)
        if isinstance(request.data, str):
            return read_text(request.data, request.format)
        return read_document(request.data, request.format)
    except NotThisFormat as error:
        raise InvalidRequest.of("format", str(error)) from error
    except OSError as error:
        raise InvalidRequest.of("source", f"{request.source}: {error.strerror or error}") from error


def _carried_out(ctx: Context, batch: Batch, step: Step) -> Step:
    try:
        if step.outcome == "replaced" and step.rival is not None:
            memory = batch.replace(step.rival.path, step.data, expect=Expectation(revision=step.rival.revision)).memory
        elif step.outcome in ("new", "kept_both"):
            memory = batch.add(step.path, step.data)
            for data, at in step.earlier:
                ctx.vault.versions.keep(memory.path, data, at, until_purge=True)
        else:
            return step
    except VaultError as error:
        return replace(step, outcome="refused", reason=error.detail)
    moved = memory.path != step.path and step.outcome != "replaced"
    reason = step.reason or (f"stored as {memory.path}: that name is taken" if moved else "")
    return replace(step, path=memory.path, ref=memory.ref, reason=reason)


def _attach(ctx: Context, attachments: Sequence[Attachment]) -> tuple[int, list[str]]:
    """How many files were added, and which were not."""
    from vault_memory.files.attachments import add_attachment

    added, lost = 0, []
    for file in attachments:
        try:
            outcome = add_attachment(ctx.vault.root, file.path, file.data)
        except VaultError as error:
            lost.append(error.detail)
            continue
        added += outcome == "added"
        if outcome == "taken":
            lost.append(f"{file.path} is here already with other content and was left as it is")
    return added, lost


def _count(ctx: Context, steps: Sequence[Step]) -> None:
    """Let accesses come along: as many as were counted elsewhere, never more, however often it is imported."""
    wanted = {
        step.ref: step.usage
        for step in steps
        if step.ref is not None and step.usage.access_count and step.outcome in ("new", "replaced", "kept_both")
    }
    known = ctx.vault.usage.get(wanted) if wanted else {}
    missing = {
        ref: Access(usage.last_accessed_at or ctx.now, count)
        for ref, usage in wanted.items()
        if (count := usage.access_count - known.get(ref, Access()).access_count) > 0
    }
    if missing:
        ctx.vault.usage.add(missing)


def _report(
    bundle: Bundle, steps: Sequence[Step], executed: bool, attachments: int, warnings: Sequence[str]
) -> ImportReport:
    counts = Counter(step.outcome for step in steps)
    telling = [step for step in steps if step.outcome not in ("new", "unchanged") or step.reason]
    written = [step.ref for step in steps if step.ref and step.outcome in ("new", "replaced", "kept_both")]
    return ImportReport(
        format=bundle.format,
        executed=executed,
        total=len(steps),
        counts=dict(sorted(counts.items())),
        failed=counts["refused"],
        items=tuple(ImportItem(step.name, step.outcome, step.ref, step.path or None, step.reason) for step in telling),
        refs=tuple(written) if executed else (),
        attachments=attachments,
        warnings=tuple(warnings),
    )
