"""doctor's look for secrets in notes and in their history. Says where and what kind; shows and changes none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from vault_memory.operations.checks import Check, Doctor
from vault_memory.operations.context import Context

_MOST: Final = 50
"""So many places in the history are listed; the rest is counted."""


def secrets(ctx: Context, request: Doctor) -> Iterator[Check]:
    """One problem for each place in a note that looks like a secret, and with `history` in its earlier texts."""
    if not request.secrets:
        return
    from vault_memory.memory.secret_scan import scan_secrets
    from vault_memory.operations.read import all_statuses

    notes = found = 0
    for row in ctx.vault.catalog.select(all_statuses(), ctx.scope, now=ctx.now):
        path, notes = row.memory.path, notes + 1
        text = (ctx.vault.catalog.source(path, ctx.scope) or b"").decode("utf-8", "replace")
        for secret in scan_secrets(text):
            found += 1
            where = f"{path}:{secret.line}:{secret.column}"
            fix = "take it out of the note, and change it where it is used: earlier texts still hold it"
            yield Check("secrets", "problem", f"{where} looks like a secret ({secret.kind})", fix)
    if not found:
        yield Check("secrets", "ok", f"none found in {notes} notes")
    if request.history:
        yield from _earlier(ctx)


def _earlier(ctx: Context) -> Iterator[Check]:
    """Secrets in texts that git holds and that are no note's present text; only for who may see everything."""
    from vault_memory.files.history_texts import note_texts
    from vault_memory.memory.secret_scan import scan_secrets

    repository = ctx.vault.git.repository
    if repository is None or not ctx.scope.unbound:
        reason = ctx.vault.git.problem or "only a caller who sees everything may look there (--project '*' --actor '*')"
        yield Check("secrets", "notice", f"the history was not looked at: {reason}")
        return
    found = 0
    for path, blob, data in note_texts(repository):
        if ctx.vault.catalog.source(path, ctx.scope) == data:
            continue
        for secret in scan_secrets(data.decode("utf-8", "replace")):
            found += 1
            if found <= _MOST:
                what = f"an earlier text of {path} (line {secret.line}) looks like it holds a secret ({secret.kind})"
                yield Check("secrets", "problem", what, f"its commits: git log --all --find-object={blob}")
    if found > _MOST:
        yield Check("secrets", "problem", f"{found - _MOST} more in earlier texts")
    elif not found:
        yield Check("secrets", "ok", "none found in the history")
