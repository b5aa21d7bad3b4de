"""Reads beside the list: findings and the hints of an error, each within the scope it is given."""

from __future__ import annotations

from difflib import SequenceMatcher
from sqlite3 import Connection
from typing import Final

from msgspec import Struct

from vault_memory.index.rows import link_key
from vault_memory.memory.model import Finding
from vault_memory.memory.scope import Scope
from vault_memory.memory.slug import fold

_MIN_LIKENESS: Final = 0.5


class Hint(Struct, frozen=True):
    """What an error proposes instead."""

    ref: str
    path: str
    title: str


class FoundAt(Struct, frozen=True):
    """A finding and the file it is about."""

    path: str
    finding: Finding


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
    wanted = fold(text)
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted)
    best: dict[str, tuple[float, Hint]] = {}
    for ref, path, title, name in sql.execute(query, params):
        likeness = max(_likeness(matcher, fold(word), wanted) for word in {ref, name, link_key(path), path})
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
