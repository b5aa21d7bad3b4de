"""Where links lead: resolved against the catalog when asked, because that depends on every name in the vault.

Owns the catalog's side of resolving. A link may mean any note; what is returned stays within the scope.
"""

from __future__ import annotations

from collections.abc import Sequence
from sqlite3 import Connection

from msgspec import Struct
from msgspec.structs import replace

from vault_memory.index.rows import link_key
from vault_memory.memory.link_text import LinkStyle
from vault_memory.memory.resolve import resolve
from vault_memory.memory.scope import Scope


class FoundLink(Struct, frozen=True):
    """A link as it stands in the note at `path`, and the visible note that it leads to.

    Attributes:
        path, ref: the note that holds it.
        target: as written, without brackets, heading and alias.
        relation: the relation type; None for a link in the body.
        to: path of the note it means; None when there is none, or none that may be seen.
    """

    path: str
    ref: str
    target: str
    relation: str | None
    to: str | None


class CatalogPaths:
    """The `memory.resolve.PathIndex` of all notes, asked of the catalog; valid within the transaction of `sql`."""

    def __init__(self, sql: Connection) -> None:
        self._sql = sql

    def exact(self, key: str) -> str | None:
        """The smallest path that folds to `key`."""
        return next(iter(self._paths("path_key = ?", key)), None)

    def named(self, key: str) -> Sequence[str]:
        """The paths whose last part folds to `key`, sorted."""
        return self._paths("name_key = ?", key)

    def titled(self, key: str) -> Sequence[str]:
        """The paths of notes with a title or alias that folds to `key`, sorted."""
        return self._paths("note IN (SELECT note FROM note_names WHERE key = ?)", key)

    def _paths(self, where: str, key: str) -> list[str]:
        rows = self._sql.execute(f"SELECT path FROM notes WHERE {where} ORDER BY path", (key,))
        return [path for (path,) in rows]


_LINK = "notes.path, notes.ref, l.target, l.relation, l.style FROM note_links AS l JOIN notes USING (note)"


def links_from(sql: Connection, path: str, scope: Scope) -> list[FoundLink]:
    """The links of the note at `path`, relations first, then in text order; none when it is not to be seen."""
    clause, params = scope.to_sql()
    query = f"SELECT {_LINK} WHERE notes.path = ? AND {clause} ORDER BY l.n"
    found = [_found(sql, row) for row in sql.execute(query, (path, *params)).fetchall()]
    return [link if link.to and _visible(sql, link.to, scope) else replace(link, to=None) for link in found]


def links_to(sql: Connection, path: str, scope: Scope) -> list[FoundLink]:
    """The links of other visible notes that lead to the note at `path`, by path and in their order there.

    Those to a deleted note are found too: restoring or purging it needs them.
    """
    clause, params = scope.to_sql()
    keys = {link_key(path)}
    names = "SELECT n.name FROM note_names AS n JOIN notes USING (note) WHERE notes.path = ?"
    keys |= {link_key(name) for (name,) in sql.execute(names, (path,))}
    marks = ", ".join("?" * len(keys))
    query = f"SELECT {_LINK} WHERE l.key IN ({marks}) AND notes.path <> ? AND {clause} ORDER BY notes.path, l.n"
    rows = sql.execute(query, (*sorted(keys), path, *params)).fetchall()
    return [link for link in (_found(sql, row) for row in rows) if link.to == path]


def links_of(sql: Connection, relation: str, scope: Scope, *, limit: int) -> list[FoundLink]:
    """The first relations of one type between visible notes, by path and in their order there."""
    clause, params = scope.to_sql()
    query = f"SELECT {_LINK} WHERE l.relation = ? AND {clause} ORDER BY notes.path, l.n LIMIT ?"
    found = [_found(sql, row) for row in sql.execute(query, (relation, *params, limit)).fetchall()]
    return [link for link in found if link.to and _visible(sql, link.to, scope)]


def _found(sql: Connection, row: tuple[str, str, str, str | None, LinkStyle]) -> FoundLink:
    path, ref, target, relation, style = row
    return FoundLink(path, ref, target, relation, resolve(target, path, CatalogPaths(sql), style=style, by_title=True))


def _visible(sql: Connection, path: str, scope: Scope) -> bool:
    clause, params = scope.to_sql()
    query = f"SELECT 1 FROM notes WHERE notes.path = ? AND notes.status <> 'deleted' AND {clause}"
    return sql.execute(query, (path, *params)).fetchone() is not None
