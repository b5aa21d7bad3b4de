"""Reads beside the list: links, backlinks, findings and an error's hints, each within the scope it is given."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from sqlite3 import Connection
from typing import Final

from vault_memory.index.rows import link_key
from vault_memory.memory.filter import folded
from vault_memory.memory.model import Finding
from vault_memory.memory.scope import Scope

_MIN_LIKENESS: Final = 0.5


@dataclass(frozen=True, slots=True)
class Link:
    """A link as it stands in the note at `path`; `relation` is None for one in the body."""

    path: str
    ref: str
    target: str
    relation: str | None


@dataclass(frozen=True, slots=True)
class Hint:
    """What an error proposes instead."""

    ref: str
    path: str
    title: str


@dataclass(frozen=True, slots=True)
class FoundAt:
    """A finding and the file it is about."""

    path: str
    finding: Finding


def links(sql: Connection, path: str, scope: Scope) -> list[Link]:
    """The links of one note, in the order they were recorded in."""
    clause, params = scope.to_sql()
    return _links(sql, f"notes.path = ? AND {clause}", (path, *params))


def backlinks(sql: Connection, path: str, scope: Scope) -> list[Link]:
    """The links of other notes whose target has the name of the note at `path`, its id, or one of its names."""
    clause, params = scope.to_sql()
    keys = {link_key(path)}
    query = (
        "SELECT notes.id FROM notes WHERE notes.path = ? AND notes.id IS NOT NULL"
        " UNION SELECT n.name FROM note_names AS n JOIN notes USING (note) WHERE notes.path = ?"
    )
    keys |= {link_key(name) for (name,) in sql.execute(query, (path, path))}
    marks = ", ".join("?" * len(keys))
    where = f"l.key IN ({marks}) AND notes.path <> ? AND {clause}"
    return _links(sql, where, (*sorted(keys), path, *params))


def _links(sql: Connection, where: str, params: tuple[str, ...]) -> list[Link]:
    query = (
        "SELECT notes.path, notes.ref, l.target, l.relation FROM note_links AS l JOIN notes USING (note)"
        f" WHERE {where} ORDER BY notes.path, l.n"
    )
    return [Link(*row) for row in sql.execute(query, params)]


def findings(sql: Connection, scope: Scope) -> list[FoundAt]:
    """Findings of notes, ids held twice and conflict copies; what is no note only when the scope is unbound."""
    clause, params = scope.to_sql()
    notes = f"SELECT notes.path FROM notes WHERE {clause}"
    where = "1" if scope.unbound else f"f.path IN ({notes})"
    query = f"SELECT path, code, reason, line, blocks_edit FROM findings AS f WHERE {where}"
    rows = sql.execute(query, () if scope.unbound else params)
    found = [FoundAt(path, Finding(code, reason, line, bool(blocks))) for path, code, reason, line, blocks in rows]
    if scope.unbound:
        found += [FoundAt(path, Finding(code, reason)) for path, code, reason in sql.execute("SELECT * FROM left_out")]
    found += _doubles(sql, scope)
    query = f"SELECT notes.path FROM notes WHERE notes.conflict_copy = 1 AND {clause}"
    copy = Finding("conflict_copy", "a sync tool kept this copy beside the note that it conflicts with")
    found += [FoundAt(path, copy) for (path,) in sql.execute(query, params)]
    return sorted(found, key=lambda at: (at.path, at.finding.line or 0, at.finding.code))


def _doubles(sql: Connection, scope: Scope) -> list[FoundAt]:
    """One finding for each note whose id another visible note holds too, naming the others."""
    clause, params = scope.to_sql()
    query = (
        f"SELECT notes.id, notes.path FROM notes WHERE notes.id IS NOT NULL AND {clause} AND notes.ref IN"
        " (SELECT ref FROM notes GROUP BY ref HAVING count(*) > 1) ORDER BY notes.id, notes.path"
    )
    holders: dict[str, list[str]] = {}
    for id_, path in sql.execute(query, params):
        holders.setdefault(id_, []).append(path)
    found = []
    for id_, paths in holders.items():
        for path in paths:
            others = ", ".join(other for other in paths if other != path)
            if others:
                found.append(FoundAt(path, Finding("duplicate_id", f"the id {id_} is also held by {others}")))
    return found


def nearest(sql: Connection, text: str, scope: Scope, limit: int) -> list[Hint]:
    """The visible, not deleted memories most like `text`, best first, ties by ref; none that is not alike at all.

    Likeness is difflib's ratio of the best of ref, title, aliases and file name, all case-folded.
    """
    clause, params = scope.to_sql()
    query = (
        "SELECT notes.ref, notes.path, notes.title, n.name FROM notes JOIN note_names AS n USING (note)"
        f" WHERE notes.status <> 'deleted' AND {clause}"
    )
    wanted = folded(text)
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted)
    best: dict[str, tuple[float, Hint]] = {}
    for ref, path, title, name in sql.execute(query, params):
        likeness = max(_likeness(matcher, folded(word), wanted) for word in {ref, name, link_key(path), path})
        if likeness >= _MIN_LIKENESS and likeness > best.get(path, (0.0,))[0]:
            best[path] = likeness, Hint(ref, path, title)
    ranked = sorted(best.values(), key=lambda item: (-item[0], item[1].ref, item[1].path))
    return [hint for _, hint in ranked[:limit]]


def _likeness(matcher: SequenceMatcher[str], word: str, wanted: str) -> float:
    if wanted and (word.startswith(wanted) or wanted in word):
        return 0.9 if word.startswith(wanted) else 0.7
    matcher.set_seq1(word)
    if matcher.real_quick_ratio() < _MIN_LIKENESS or matcher.quick_ratio() < _MIN_LIKENESS:
        return 0.0
    return matcher.ratio()
