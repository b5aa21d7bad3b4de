"""A bound request never sees, counts or is hinted at anything outside its scope, by whatever road."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest

from tests.index.vaults import NOW, record
from vault_memory.index.catalog import Catalog
from vault_memory.memory.filter import Filter
from vault_memory.memory.model import Finding
from vault_memory.memory.scope import ANY, UNBOUND, Scope

UPKEEP = {
    "open", "close", "path", "reading", "writing", "meta", "set_meta", "generation", "known", "identities", "holds",
    "timed", "left_out", "begin_anew", "underived", "underived_count", "record", "leave_out",
    "touch", "derive", "expect", "purge", "vocabulary",
}  # fmt: skip
"""What serves the vault itself and answers no request."""


def test_every_read_of_the_catalog_takes_a_scope() -> None:
    for name, member in inspect.getmembers(Catalog):
        if name.startswith("_") or name in UPKEEP:
            continue
        scope = inspect.signature(member).parameters["scope"]
        assert scope.default is inspect.Parameter.empty, name


SECRET = "acme"
OTHERS = [
    record("secret/plan.md", f"{SECRET} [[shared]]", id="secret-id", title="Secret plan", aliases=("The plan",),
           tags=(SECRET,), domain=SECRET, project="other", findings=(Finding("odd", SECRET),)),
    record("secret/user.md", f"{SECRET} [[shared]]", id="user-id", title="Secret user", tags=(SECRET,), domain=SECRET,
           actor="somebody"),
    record("secret/twin.md", f"{SECRET} twin", id="same", title="Shared", project="other"),
    record("secret/plan (Conflicted copy X 202611301200).md", project="other", title="Secret copy"),
]  # fmt: skip
OURS = [
    record("shared.md", "ours [[secret/plan]] [[mine/note]]", id="same", title="Shared"),
    record("mine/note.md", "ours [[shared]]", title="Mine", project="mine"),
]
BOUND = Scope("mine", None)


@pytest.fixture
def filled(catalog: Catalog) -> Catalog:
    catalog.record([*OTHERS, *OURS])
    return catalog


READS: dict[str, Callable[[Catalog, Scope], object]] = {
    "get": lambda c, s: [c.get(r.memory.path, s) for r in OTHERS],
    "by_id": lambda c, s: [c.by_id(i, s) for i in ("secret-id", "user-id", "same")],
    "by_name": lambda c, s: [c.by_name(n, s) for n in ("Secret plan", "The plan", "Secret user", "Shared")],
    "by_keys": lambda c, s: c.by_keys(range(1, 10), s),
    "source": lambda c, s: [c.source(r.memory.path, s) for r in OTHERS],
    "page": lambda c, s: [c.page(Filter(), s, now=NOW, sort=sort) for sort in ("id", "last_accessed_at")],
    "page by project": lambda c, s: c.page(Filter(project="other"), s, now=NOW),
    "page by actor": lambda c, s: c.page(Filter(actor="somebody"), s, now=NOW),
    "page by tag": lambda c, s: c.page(Filter(tag=SECRET), s, now=NOW),
    "page by q": lambda c, s: c.page(Filter(q=SECRET), s, now=NOW),
    "page by domain": lambda c, s: c.page(Filter(domain=SECRET), s, now=NOW),
    "select": lambda c, s: list(c.select(Filter(), s, now=NOW)),
    "links": lambda c, s: [link.to for path in ("shared.md", "secret/plan.md") for link in c.links(path, s)],
    "backlinks": lambda c, s: [link.path for link in c.backlinks("shared.md", s)],
    "paths": lambda c, s: c.paths(s),
    "nearest": lambda c, s: [c.nearest(t, s) for t in ("secret-id", "Secret plam", "plan", "secret/plan.md")],
    "findings": lambda c, s: c.findings(s),
    "stats": lambda c, s: c.stats(s, now=NOW),
}
LEAKS = ("secret", "Secret", SECRET, "other", "somebody", "twin", "The plan")


@pytest.mark.parametrize("name", sorted(READS))
def test_nothing_of_another_project_or_actor_is_told(filled: Catalog, name: str) -> None:
    told = repr(READS[name](filled, BOUND)).replace("[[secret/plan]]", "")  # the text of our own note names it
    assert [word for word in LEAKS if word in told] == []


@pytest.mark.parametrize("name", sorted(READS))
def test_the_unbound_owner_is_told_so_the_test_above_can_fail(filled: Catalog, name: str) -> None:
    told = repr(READS[name](filled, UNBOUND)).replace("[[secret/plan]]", "")
    assert [word for word in LEAKS if word in told] != []


def test_counts_are_of_what_is_seen(filled: Catalog) -> None:
    assert filled.page(Filter(), BOUND, now=NOW).total == 2
    assert filled.stats(BOUND, now=NOW).total == 2
    assert filled.page(Filter(), UNBOUND, now=NOW).total == 6


@pytest.mark.parametrize(
    ("scope", "seen"),
    [
        (UNBOUND, {"p-a", "p", "a", "g"}),
        (Scope(ANY, None), {"p", "g"}),
        (Scope(ANY, "a"), {"p-a", "a"}),
        (Scope("p", None), {"p", "g"}),
        (Scope("p", "a"), {"p-a", "a"}),
        (Scope("P", None), {"g"}),
        (Scope("q", ANY), {"a", "g"}),
        (Scope(None, None), {"g"}),
        (Scope(None, ANY), {"a", "g"}),
        (Scope("p", "A"), set()),
        (Scope(), {"p", "g"}),
    ],
)
def test_a_scope_sees_its_project_and_global_of_its_actor(catalog: Catalog, scope: Scope, seen: set[str]) -> None:
    notes = {"p-a": ("p", "a"), "p": ("p", None), "a": (None, "a"), "g": (None, None)}
    catalog.record([record(f"{n}.md", title=n, project=p, actor=a) for n, (p, a) in notes.items()])
    assert {row.memory.title for row in catalog.page(Filter(), scope, now=NOW).items} == seen
    assert {title for title, (p, a) in notes.items() if scope.sees_fields(p, a)} == seen
