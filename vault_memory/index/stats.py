"""Counts: what the vault holds by type, status, project, actor, tag and domain, for what a scope sees. Reads only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from sqlite3 import Connection

from msgspec import Struct

from vault_memory.memory.scope import Scope
from vault_memory.memory.slug import fold
from vault_memory.memory.times import time_of_text, time_text

Counts = tuple[tuple[str, int], ...]
"""Value and number of notes, most frequent first, ties by value."""
DAYS = 30
"""How many days, today included, `by_day` goes back."""


class Stats(Struct, frozen=True):
    """Counts of what a scope sees. Deleted memories count in `total` and `by_status` only.

    Attributes:
        by_project: notes of no project count as `global`.
        by_actor: notes of no actor are left out.
        by_tag: tags of the front matter and of the body.
        by_verification: unverified, confirmed, contradicted.
        by_confidence: ten classes of stated confidence, from [0, 0.1) to [0.9, 1].
        by_day: the last 30 days in UTC, oldest first, and how many memories were last changed on each.
        average_importance: of the memories that are not deleted; None when there are none.
        with_vector: notes of which at least one chunk has a vector; `underived`: notes still to be cut into chunks.
        drift: spellings of one domain that differ only in case, spaces, hyphens and underscores.
    """

    total: int
    by_status: Counts
    by_type: Counts
    by_project: Counts
    by_actor: Counts
    by_domain: Counts
    by_tag: Counts
    by_verification: Counts
    by_confidence: tuple[int, ...]
    by_day: Counts
    expired: int
    average_importance: float | None
    last_updated: datetime | None
    with_vector: int
    underived: int
    drift: tuple[tuple[str, ...], ...]


def stats(sql: Connection, scope: Scope, now: datetime) -> Stats:
    """The counts of what the scope sees at `now` (which decides what has expired)."""
    clause, params = scope.to_sql()
    seen = f"{clause} AND notes.status <> 'deleted'"
    domains = _counted(sql.execute(_grouped("notes.domain", "notes", f"{seen} AND notes.domain IS NOT NULL"), params))
    tags = "notes JOIN note_tags AS t USING (note)"
    average, last = sql.execute(f"SELECT avg(importance), max(updated_at) FROM notes WHERE {seen}", params).fetchone()
    expired = f"SELECT count(*) FROM notes WHERE {seen} AND notes.expires_at <= ?"
    vectors = f"SELECT count(DISTINCT note) FROM chunks JOIN notes USING (note) WHERE has_vector = 1 AND {seen}"
    underived = f"SELECT count(*) FROM notes WHERE {seen} AND notes.derived = 0"
    by_status = _kinds(sql, "status", clause, params)
    return Stats(
        total=sum(n for _, n in by_status),
        by_status=by_status,
        by_type=_kinds(sql, "memory_type", seen, params),
        by_project=_kinds(sql, "ifnull(project, 'global')", seen, params),
        by_actor=_kinds(sql, "actor", f"{seen} AND notes.actor IS NOT NULL", params),
        by_domain=domains,
        by_tag=_counted(sql.execute(_grouped("t.tag", tags, seen), params)),
        by_verification=_kinds(sql, "verification", seen, params),
        by_confidence=_confidence(sql, seen, params),
        by_day=_days(sql, seen, params, now),
        expired=sql.execute(expired, (*params, time_text(now))).fetchone()[0],
        average_importance=average,
        last_updated=None if last is None else time_of_text(last),
        with_vector=sql.execute(vectors, params).fetchone()[0],
        underived=sql.execute(underived, params).fetchone()[0],
        drift=drift(domain for domain, _ in domains),
    )


def drift(domains: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Groups of two or more spellings that are one but for case, spaces, hyphens and underscores; all sorted."""
    groups: dict[str, list[str]] = {}
    for domain in domains:
        key = "".join(c for c in fold(domain) if not c.isspace() and c not in "-_")
        groups.setdefault(key, []).append(domain)
    return tuple(sorted(tuple(sorted(group)) for group in groups.values() if len(group) > 1))


def _confidence(sql: Connection, where: str, params: tuple[str, ...]) -> tuple[int, ...]:
    query = _grouped("min(9, cast(notes.confidence * 10 + 1e-9 AS INTEGER))", "notes", where)
    found = dict(sql.execute(query, params))
    return tuple(found.get(n, 0) for n in range(10))


def _days(sql: Connection, where: str, params: tuple[str, ...], now: datetime) -> Counts:
    days = [f"{now - timedelta(days=ago):%Y-%m-%d}" for ago in reversed(range(DAYS))]
    query = _grouped("substr(notes.updated_at, 1, 10)", "notes", f"{where} AND notes.updated_at >= ?")
    found = dict(sql.execute(query, (*params, days[0])))
    return tuple((day, found.get(day, 0)) for day in days)


def _kinds(sql: Connection, value: str, where: str, params: tuple[str, ...]) -> Counts:
    query = f"SELECT {value}, sum(notes.notes) FROM kinds AS notes WHERE {where} GROUP BY 1"
    return _counted(sql.execute(query, params))


def _grouped(value: str, tables: str, where: str) -> str:
    return f"SELECT {value}, count(*) FROM {tables} WHERE {where} GROUP BY 1"


def _counted(rows: Iterable[tuple[str, int]]) -> Counts:
    counts = Counter({value: n for value, n in rows if n})
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
