"""From an operation's JSON document to blocks. Knows the shapes of answers, not how they are drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from vault_memory.surfaces.cli.blocks import Block, Card, Line, Raw, Style, Table

Document = Any
_LEVELS: Final[Mapping[str, tuple[str, Style]]] = {
    "ok": ("✓", "good"), "fixed": ("✓", "good"), "notice": ("!", "caution"), "problem": ("✗", "bad"),
}  # fmt: skip
_SHORT: Final = 12
_GOOD: Final = frozenset({"stored", "updated", "edited", "restored", "moved", "archived", "deleted", "purged"})
_CARD_FIELDS: Final = (
    "ref", "path", "memory_type", "status", "tags", "aliases", "project", "domain", "actor", "session", "agent",
    "source", "importance", "confidence", "verification", "pinned", "url", "expires_at", "valid_from", "valid_to",
    "created_at", "updated_at", "version", "revision",
)  # fmt: skip
_USUAL: Final[Mapping[str, Any]] = {
    "status": "active", "source": "human", "importance": 0.5, "confidence": 0.8, "verification": "unverified",
    "pinned": False, "version": 1,
}  # fmt: skip


def view(operation: str, document: Document) -> list[Block]:
    """The blocks that show an answer: by the operation's own view, else by the shape of the document."""
    if operation in _VIEWS:
        return _VIEWS[operation](document)
    if isinstance(document, list):
        return [block for item in document for block in view("", item)]
    if not isinstance(document, dict):
        return [Raw(text(document))]
    for key, shown in _SHAPES:
        if key in document:
            return shown(document)
    return [Card(operation, _fields(document))]


def text(value: Any) -> str:
    """A JSON value as a person reads it."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return ", ".join(" ".join(map(text, item)) if isinstance(item, list) else text(item) for item in value) or "–"
    if isinstance(value, dict):
        return ", ".join(f"{key} {text(item)}" for key, item in value.items()) or "–"
    return str(value)


def outcome(document: Document) -> list[Block]:
    """One line that says what became of a write, and what to do about it when something is."""
    memory = document.get("memory") or {}
    named = "  ".join(str(memory[key]) for key in ("ref", "title", "path") if memory.get(key))
    style: Style = "good" if document["outcome"] in _GOOD else "caution"
    blocks: list[Block] = [Line(f"{document['outcome']}  {named}".rstrip(), style)]
    if document.get("reason"):
        blocks.append(Line(f"  {document['reason']}"))
    if rival := document.get("rival"):
        blocks.append(Line(f"  rival: {rival.get('ref', '')}  {rival.get('title', '')}"))
    if following := document.get("next"):
        blocks.append(Line(f"  next: {text(following)}", "faint"))
    return blocks


def page(document: Document) -> list[Block]:
    """A page of memories as a table, and how to go on when there are more."""
    items = document["items"]
    if not items:
        return [Line("nothing found", "faint")] if not document.get("total") else []
    if "memory" in items[0]:
        return [block for item in items for block in recalled(item)]
    if "memory_type" not in items[0]:
        return [counted(items)]
    rows = tuple(
        (item["ref"], item["memory_type"], _day(item.get("updated_at")), item["title"] or item["path"])
        for item in items
    )
    return [Table(("ref", "type", "updated", "title"), rows)]


def counted(items: list[dict[str, Any]]) -> Table:
    """Things that are no memories (tags, domains, projects), under the names of their fields."""
    columns = tuple(items[0])
    return Table(columns, tuple(tuple(text(item.get(column)) for column in columns) for item in items))


def recalled(item: dict[str, Any]) -> list[Block]:
    """A memory that came up, with the reason."""
    memory = item["memory"]
    reason = item.get("why") or item.get("how") or ""
    return [
        Line(f"{memory['ref']}  {memory['title'] or memory['path']}  ({reason})", "strong"),
        Line(f"      {' '.join(memory['content'].split())[:200]}"),
    ]


def anchors(document: Document) -> list[Block]:
    """Standing instructions, each with its reference."""
    found = [Line(f"{anchor['ref']}  {text_of(anchor)}") for anchor in document["anchors"]]
    return [*found] or [Line("no anchors", "faint")]


def neighbours(document: Document) -> list[Block]:
    """Memories near one: linked ones first."""
    found = [block for item in document["neighbours"] for block in recalled(item)]
    return found or [Line("nothing near", "faint")]


def drawn(document: Document) -> list[Block]:
    """A graph as its edges, one a line, by title."""
    titles = {node["ref"]: node["title"] for node in document["nodes"]}
    edges = [
        Line(f"{titles[e['source']]}  –{e['relation_type'] or 'links to'}→  {titles[e['target']]}")
        for e in document["edges"]
    ]
    return [Line(f"{len(titles)} memories, {len(edges)} links", "strong"), *edges]


def hits(document: Document) -> list[Block]:
    """Hits, best first: evidence, reference and title, then the passage that matched."""
    blocks: list[Block] = [Line(f"! {text_of(anchor)}", "strong") for anchor in document.get("anchors") or ()]
    for hit in document["hits"]:
        memory = hit.get("memory", hit)
        evidence = f"{hit['relevance']:.2f}  " if isinstance(hit.get("relevance"), float) else ""
        blocks.append(Line(f"{evidence}{memory['ref']}  {memory['title'] or memory['path']}", "strong"))
        if hit.get("snippet"):
            blocks.append(Line(f"      {' '.join(str(hit['snippet']).split())}"))
    return blocks or [Line("nothing found", "faint")]


def queue(document: Document) -> list[Block]:
    """The pairs that wait for a word, then what agents saved for every project and nobody has confirmed."""
    blocks: list[Block] = []
    for pair in document["items"]:
        blocks.append(Line(_named(pair["memory"]), "strong"))
        blocks.append(Line(f"      {pair['differs'] or pair['kind']}; against {_named(pair['rival'])}"))
    if unconfirmed := document.get("unconfirmed"):
        blocks.append(Line("for every project and unconfirmed (verify REF lets one into start texts):", "strong"))
        blocks += [Line(f"  {_named(memory)}") for memory in unconfirmed]
    return blocks or [Line("nothing waits", "faint")]


def _named(memory: Document) -> str:
    return f"{memory['ref']}  {memory['title'] or memory['path']}"


def text_of(anchor: Any) -> str:
    """An anchor's sentence, whether it comes as text or as a memory."""
    return str(anchor.get("content") or anchor.get("title")) if isinstance(anchor, dict) else str(anchor)


def memory_card(document: Document) -> list[Block]:
    """One memory in full; fields at their default are left out, as they are in the note."""
    shown = {name: document[name] for name in _CARD_FIELDS if document.get(name) not in (None, [], "")}
    fields = {name: text(value) for name, value in shown.items() if _USUAL.get(name, _USUAL) != value}
    for kind, targets in (document.get("relations") or {}).items():
        fields[kind] = text(targets)
    fields |= {name: text(value) for name, value in (document.get("metadata") or {}).items()}
    blocks: list[Block] = [Card(document["title"] or document["path"], fields, document["content"])]
    blocks += [
        Line(f"finding: {item['code']} (line {item['line'] or '?'}): {item['reason']}", "caution")
        for item in document.get("findings") or ()
    ]
    return blocks


def several(document: Document) -> list[Block]:
    """Several answers, one after the other, under whichever name they come."""
    found = next(document[key] for key in ("memories", "results") if key in document)
    return [block for item in found for block in view("", item)]


def plan(document: Document) -> list[Block]:
    """What a plan would do, and how to carry it out."""
    steps = document["would_prune"] if "would_prune" in document else document["plan"]
    listed = steps if isinstance(steps, list) else [steps]
    blocks: list[Block] = [Line(f"  {_step(step)}") for step in listed]
    return [Line(f"would change {document.get('count', len(listed))}; nothing was changed", "caution"), *blocks]


def versions(document: Document) -> list[Block]:
    """A note's history, newest first: when, who, what, and the name under which that text comes back."""
    rows = tuple(
        (_minute(one["when"]), one["agent"] or one["author"] or "–", one["summary"] or one["kind"], _version_name(one))
        for one in document["versions"]
    )
    return [Table(("when", "who", "what", "version"), rows)] if rows else [Line("no history yet", "faint")]


def blamed(document: Document) -> list[Block]:
    """Every line of a note with the change that it comes from."""
    rows = tuple(
        (
            line["commit"][:_SHORT],
            line["agent"] or line["author"],
            _day(line["when"]),
            str(line["number"]),
            line["text"],
        )
        for line in document["lines"]
    )
    return [Table(("commit", "who", "when", "line", "text"), rows)]


def relations(document: Document) -> list[Block]:
    """Links in both directions, one a line; `→` leads away, `←` leads here."""
    edges = [("→", edge, edge["target_ref"] or edge["target"]) for edge in document["outgoing"]]
    edges += [("←", edge, edge["source_ref"]) for edge in document["incoming"]]
    rows = tuple((arrow, edge["relation_type"] or "link", other, edge["note"] or "") for arrow, edge, other in edges)
    return [Table(("", "relation", "memory", "note"), rows)] if rows else [Line("no relations", "faint")]


def vault_status(document: Document) -> list[Block]:
    """How the vault is doing, part by part, then each finding about a note."""
    found: list[Block] = [
        Line(f"! {item['path']}:{item['line'] or ''} {item['code']}: {item['reason']}", "caution")
        for item in document["findings"]
    ]
    return [Line(document["root"], "strong"), *(_marked(*part) for part in _parts(document)), *found]


def _parts(document: Document) -> Iterator[tuple[str, str, str]]:
    """Level, name and state of each part of the vault."""
    index, watcher, git = document["index"], document["watcher"], document["git"]
    yield "ok", "notes", f"{document['notes']}"
    left = index["to_read"] + index["to_derive"]
    pending = index["generation"] - min(int(index["applied"][name] or 0) for name in ("text", "vectors"))
    waits = f"{pending} changes wait to be applied" if pending else "up to date"
    yield ("notice", "index", f"{left} notes to go") if left else ("ok", "index", waits)
    mode = watcher.get("mode") or "starting"
    detail = f": {watcher['detail']}" if watcher.get("detail") else ""
    if watcher["running"]:
        level = "ok" if mode in ("watching", "starting") else "notice"
        yield level, "watcher", f"{mode}{detail} (process {watcher.get('process')})"
    else:
        yield "ok", "watcher", "none; questions look at the disk themselves"
    queued = f"{git['queued']} changes wait: {git['waiting']}" if git["queued"] else git["waiting"] or "committed"
    yield "notice" if git["waiting"] else "ok", "git", queued + (", with hooks" if git.get("hooks") else "")
    for name, state in document.get("clients", {}).items():
        yield "ok" if state.startswith("connected") else "problem", name, state


def diagnosis(document: Document) -> list[Block]:
    """One check a line with a mark, what would mend it below, and a sum at the end."""
    blocks: list[Block] = []
    for check in document["checks"]:
        blocks.append(_marked("fixed" if check["fixed"] else check["level"], check["area"], check["detail"]))
        if check["fix"] and not check["fixed"]:
            blocks.append(Line(f"  {'':12} → {check['fix']}", "faint"))
    left = sum(1 for check in document["checks"] if check["level"] == "problem" and not check["fixed"])
    return [*blocks, Line("no problems", "good") if not left else Line(f"{left} to mend", "bad")]


def _marked(level: str, area: str, detail: str) -> Line:
    mark, style = _LEVELS[level]
    return Line(f"{mark} {area:12} {detail}", style)


def raw_text(document: Document) -> list[Block]:
    """A document whose text is the answer."""
    return [Raw(document["text"])]


def _step(step: Any) -> str:
    if isinstance(step, dict) and "ref" in step:
        return "  ".join(str(step[key]) for key in ("ref", "title", "path", "reason") if step.get(key))
    return text(step)


def _fields(document: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    fields: dict[str, str] = {}
    for key, value in document.items():
        if isinstance(value, dict) and value:
            fields |= _fields(value, f"{prefix}{key}.")
        elif key != "warnings":
            fields[prefix + key] = text(value)
    return fields


def _day(moment: Any) -> str:
    return str(moment)[:10] if moment else "–"


def _minute(moment: str) -> str:
    return moment[:16].replace("T", " ")


def _version_name(version: Mapping[str, Any]) -> str:
    """What `restore --revision` and `diff` take."""
    return str(version["commit"] or version["revision"] or "")[:_SHORT]


_VIEWS: Final[Mapping[str, Callable[[Document], list[Block]]]] = {
    "context_pack": raw_text,
    "pulse": raw_text,
    "review": queue,
    "anchor_list": anchors,
    "related": neighbours,
    "graph": drawn,
    "history": versions,
    "diff": raw_text,
    "blame": blamed,
    "relations": relations,
    "status": vault_status,
    "doctor": diagnosis,
}
_SHAPES: Final[tuple[tuple[str, Callable[[Document], list[Block]]], ...]] = (
    ("memory_type", memory_card),
    ("outcome", outcome),
    ("hits", hits),
    ("items", page),
    ("memories", several),
    ("results", several),
    ("would_prune", plan),
    ("plan", plan),
)
