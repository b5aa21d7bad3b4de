"""`vault-memory demo`: the main job on real notes, step by step, each claim checked before it is made."""

from __future__ import annotations

import os
import shlex
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from msgspec import Struct, field

from vault_memory.errors import InvalidRequest
from vault_memory.surfaces.cli.settings import Settings, common_options

if TYPE_CHECKING:
    from vault_memory.operations.context import Context
    from vault_memory.surfaces.cli.blocks import Block

MEMORIES: Final[tuple[Mapping[str, Any], ...]] = (
    {
        "content": "Deploys go through fly.io, not Heroku: its EU region has private networking.\n",
        "title": "Deploy with fly.io, not Heroku",
        "memory_type": "decision",
        "tags": ["deploy", "ops"],
        "project": "acme-api",
        "importance": 0.8,
    },
    {
        "content": "Maria reviews every database migration before it is merged.\n",
        "memory_type": "fact",
        "tags": ["review", "database"],
        "project": "acme-api",
    },
    {
        "content": "Prefers short answers with one example.\n",
        "memory_type": "preference",
        "tags": ["writing"],
    },
    {
        "content": "Do not cache sessions in Redis here: tokens outlived logout twice. Keep them in Postgres.\n",
        "title": "No Redis for sessions",
        "memory_type": "anti_pattern",
        "tags": ["auth", "database"],
        "project": "acme-api",
    },
)
QUESTION: Final = "how do we ship a release?"
BUDGET_TOKENS: Final = 300
NEWS: Final = "The raku firing used eucalyptus leaves."
PATIENCE_SECONDS: Final = 15.0
"""A watcher answers within a fraction of a second; a busy machine may need longer."""
HAND_MADE: Final = """---
# kept by the platform team
zeta:   1   # do not renumber
title: 'Kiln log'
tags: [kiln,   glaze]
status: draft
---


Fired at cone six.  \r
Next time: slower between 500 and 600 degrees.


"""
"""A note as people write them: comments, odd spacing, a status of its own, a Windows line ending, trailing blanks."""


class Tour(Struct):
    """What the demo has shown so far: blocks for a person, facts for `--json`."""

    root: Path
    facts: dict[str, Any] = field(default_factory=dict)
    blocks: list[Block] = field(default_factory=list)

    def say(self, *lines: str) -> None:
        """Add a heading and what belongs under it."""
        from vault_memory.surfaces.cli.blocks import Line

        head, *rest = lines
        self.blocks += [Line(""), Line(head, "strong"), *(Line(f"  {line}") for line in rest)]

    def holds(self, name: str, claim: bool) -> None:
        """Note a fact that was checked.

        Raises:
            RuntimeError: it does not hold, so the demo must not say so.
        """
        if not claim:
            raise RuntimeError(f"the demo's claim '{name}' does not hold in {self.root}")
        self.facts[name] = True


def _demo(folder: str | None) -> int:
    from vault_memory.memory.scope import ANY, Scope
    from vault_memory.operations.init import init_vault
    from vault_memory.surfaces.cli import output
    from vault_memory.surfaces.cli.progress import waiting
    from vault_memory.surfaces.dispatch import opened

    settings = Settings.current()
    tour = Tour(_place(folder))
    with waiting("demo", settings):
        made = init_vault(tour.root)
        tour.say("1. A vault: a folder of Markdown notes, ready for Obsidian", *_tree(made.created))
        with opened(tour.root, scope=Scope(project=ANY, actor=None), environ=_clean(os.environ)) as ctx:
            for step in (_store, _edit_by_hand, _list_and_find, _search, _context, _watch, _history):
                step(tour, ctx)
    _next_steps(tour)
    if settings.json:
        output.write(output.as_json({"vault": str(tour.root), **tour.facts}))
    else:
        output.show(tour.blocks)
    return 0


def _place(folder: str | None) -> Path:
    if folder is None:
        return Path(tempfile.mkdtemp(prefix="vault-memory-demo-")).resolve()
    root = Path(folder).expanduser().resolve()
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise InvalidRequest.of("folder", f"{root} is not empty; the demo takes a new or an empty folder")
    return root


def _clean(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without our own variables: the demo shows what everybody gets."""
    return {name: value for name, value in environ.items() if not name.startswith("VAULT_MEMORY_")}


def _tree(paths: tuple[str, ...]) -> Iterator[str]:
    yield from sorted({path.split("/")[0] + ("/" if "/" in path else "") for path in paths})


def _store(tour: Tour, ctx: Context) -> None:
    """Memories become notes."""
    stored = [_ask(ctx, "remember", memory) for memory in MEMORIES]
    paths = [str(answer.memory.path) for answer in stored]
    tour.holds("stored", all((tour.root / path).is_file() for path in paths))
    tour.facts["paths"] = paths
    first = (tour.root / paths[0]).read_text("utf-8")
    tour.say(f"2. {len(paths)} memories, stored as notes", *paths)
    tour.say("   The first one, as it lies on the disk:", *first.rstrip("\n").split("\n"))


def _edit_by_hand(tour: Tour, ctx: Context) -> None:
    """A person writes a note and edits one of the tool's; the tool then changes one field of each."""
    own = tour.root / "Kiln log.md"
    own.write_bytes(HAND_MADE.encode())
    ours = tour.root / tour.facts["paths"][0]
    by_hand = ours.read_bytes().replace(b"tags: [deploy, ops]", b"tags:   [deploy, ops]   # ask Maria before adding")
    ours.write_bytes(by_hand + b"\n%% my own remark %%\t \n")
    lines: list[str] = []
    for file in (own, ours):
        before = file.read_bytes()
        path = file.relative_to(tour.root).as_posix()
        _ask(ctx, "update", {"ref": path, "importance": 0.9})
        changed = _changed(before, file.read_bytes())
        tour.holds(f"kept {path}", all(_named(line) for line in changed))
        kept = before.count(b"\n") - sum(line.startswith("-") for line in changed)
        lines += [f"{path}: {kept} lines kept byte for byte, changed:", *(f"    {line}" for line in changed)]
    tour.say("3. Two notes edited by hand in between; then the tool sets importance to 0.9 in both", *lines)


def _named(line: str) -> bool:
    """Whether a changed line is one of those that setting the importance may touch."""
    return line[1:].lstrip().split(":")[0] in ("importance", "updated_at", "version")


def _changed(before: bytes, after: bytes) -> list[str]:
    """The lines that went (-) and came (+)."""
    import difflib

    old, new = (data.decode().split("\n") for data in (before, after))
    return [line for line in difflib.ndiff(old, new) if line[0] in "-+"]


def _list_and_find(tour: Tour, ctx: Context) -> None:
    """Both kinds of notes are listed and found."""
    from vault_memory.operations.result import to_json
    from vault_memory.surfaces.cli.views import page

    everything = _ask(ctx, "list", {"limit": 20})
    titles = [item.title for item in everything.items]
    tour.holds("listed", len(titles) == len(MEMORIES) + 1 and "Kiln log" in titles)
    tour.say(f"4. Listed: {everything.total} memories, the hand-made one among them")
    tour.blocks += page(to_json(everything))
    found = _ask(ctx, "list", {"q": "cone six"})
    tour.holds("found", [item.title for item in found.items] == ["Kiln log"])
    tour.say("5. Found by its words, 'cone six'")
    tour.blocks += page(to_json(found))


def _search(tour: Tour, ctx: Context) -> None:
    """Words and meaning together, right after the write: no word of the question stands in the note."""
    from vault_memory.operations.result import to_json
    from vault_memory.surfaces.cli.views import hits

    found = _ask(ctx, "search", {"query": QUESTION, "limit": 2})
    tour.holds("searched", bool(found.hits) and found.hits[0].memory.title == MEMORIES[0]["title"])
    tour.say(f"6. Found by meaning, '{QUESTION}' (evidence from 0 to 1, best first)")
    tour.blocks += hits(to_json(found))


def _context(tour: Tour, ctx: Context) -> None:
    """What an agent is given to start from."""
    pack = _ask(ctx, "context_pack", {"query": QUESTION, "max_tokens": BUDGET_TOKENS})
    tour.holds("context", 0 < pack.token_estimate <= BUDGET_TOKENS and MEMORIES[0]["content"].strip() in pack.text)
    told = f"7. What an agent is told about it: about {pack.token_estimate} tokens of at most {BUDGET_TOKENS}"
    tour.say(told, *pack.text.rstrip("\n").split("\n"))


def _watch(tour: Tour, ctx: Context) -> None:
    """A note is edited by hand while the watcher runs; the next question finds it without a look at the disk."""
    from vault_memory.upkeep import Upkeep

    upkeep = Upkeep(ctx.vault)
    upkeep.start()
    try:
        tour.holds("watching", upkeep.wait_idle(PATIENCE_SECONDS))
        with (tour.root / "Kiln log.md").open("ab") as note:
            note.write(f"{NEWS}\n".encode())
        started = time.monotonic()
        while not (found := _ask(ctx, "search", {"query": NEWS, "mode": "keyword", "limit": 1})).hits:
            tour.holds("seen in time", time.monotonic() - started < PATIENCE_SECONDS)
            time.sleep(0.02)
        waited_ms = 1000 * (time.monotonic() - started)
    finally:
        upkeep.stop()
    tour.holds("watched", NEWS in found.hits[0].memory.content)
    tour.say(f"8. Edited by hand while the watcher runs: found {waited_ms:.0f} ms later", f"Kiln log.md: {NEWS}")


def _history(tour: Tour, ctx: Context) -> None:
    """Every change is kept: a person's own edit under their name, the tool's beside it."""
    versions = _ask(ctx, "history", {"ref": tour.facts["paths"][0]}).versions
    tour.holds("history", bool(versions))
    lines = [f"{v.when:%H:%M:%S}  {v.author or 'kept'}  {v.summary or v.kind}" for v in versions]
    tour.say("9. The history of the first note, newest first", *lines)


def _next_steps(tour: Tour) -> None:
    place = shlex.quote(str(tour.root))
    tour.say(
        "Next",
        "vault-memory init ~/notes        make your own vault, or adopt a folder of notes",
        "vault-memory remember --help     everything a memory can hold",
        "vault-memory connect --help      give a coding agent its memory",
        f"cd {place}     look around here, or open the folder in Obsidian",
        f"rm -r {place}  remove the demo",
    )


def _ask(ctx: Context, name: str, arguments: Mapping[str, Any]) -> Any:
    from vault_memory.surfaces.dispatch import call, operation_named

    return call(ctx, operation_named(name), arguments).result


demo = click.Command(
    "demo",
    params=[click.Argument(["folder"], required=False), *common_options()],
    help="Show the main job on real notes, offline, in under a minute: in FOLDER, or in a temporary one.",
    callback=_demo,
)
