"""Filter and scope: the Python test and the SQL condition are one, and the list is that condition, ordered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.properties.memories import NOW, few_conditions, filters, memories, recorded, scopes
from vault_memory.errors import InvalidRequest
from vault_memory.index.catalog import Catalog
from vault_memory.index.page import SORTS
from vault_memory.index.rows import Row
from vault_memory.index.usage import Usage
from vault_memory.memory.filter import Filter
from vault_memory.memory.model import Memory
from vault_memory.memory.scope import UNBOUND, Scope

vaults = st.lists(memories(), min_size=1, max_size=8, unique_by=lambda m: m.path)
_fixture_is_emptied = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    usage = Usage(tmp_path / "usage.sqlite")
    catalog = Catalog.open(tmp_path, usage=usage.path)
    yield catalog
    catalog.close()
    usage.close()


def fill(catalog: Catalog, vault: list[Memory]) -> list[Memory]:
    """Make the catalog hold exactly the vault; the memories with their effective times."""
    records = [recorded(memory) for memory in vault]
    catalog.record(records, set(catalog.known()) - {memory.path for memory in vault})
    return [record.timed for record in records]


@given(vault=vaults, wanted=filters | few_conditions)
@settings(_fixture_is_emptied, max_examples=50)
def test_a_filter_matches_exactly_the_rows_its_sql_selects(
    catalog: Catalog, vault: list[Memory], wanted: Filter
) -> None:
    held = fill(catalog, vault)
    clause, params = wanted.to_sql(NOW)
    with catalog.reading() as sql:
        selected = {path for (path,) in sql.execute(f"SELECT path FROM notes WHERE {clause}", params)}
    assert selected == {memory.path for memory in held if wanted.matches(memory, NOW)}


@given(vault=vaults, scope=scopes)
@settings(_fixture_is_emptied, max_examples=50)
def test_a_scope_sees_exactly_the_rows_its_sql_selects(catalog: Catalog, vault: list[Memory], scope: Scope) -> None:
    held = fill(catalog, vault)
    clause, params = scope.to_sql()
    with catalog.reading() as sql:
        selected = {path for (path,) in sql.execute(f"SELECT path FROM notes WHERE {clause}", params)}
    assert selected == {memory.path for memory in held if scope.sees(memory)}


def in_order(rows: list[Row], sort: str) -> list[Row]:
    """The contract's order, spelled out: stable sorts from the last tie-breaker to the key."""
    rows = sorted(rows, key=lambda row: row.memory.path, reverse=sort != "id")
    rows = sorted(rows, key=lambda row: row.memory.ref, reverse=sort != "id")
    if sort == "id":
        return rows
    source = (
        (lambda row: row.last_accessed_at) if sort == "last_accessed_at" else (lambda row: getattr(row.memory, sort))
    )
    return sorted(rows, key=lambda row: (source(row) is not None, source(row) or NOW), reverse=True)


@given(
    vault=vaults,
    wanted=few_conditions | filters,
    scope=scopes | st.just(UNBOUND),
    sort=st.sampled_from(SORTS),
    limit=st.integers(1, 4),
    offset=st.integers(0, 5),
    accessed=st.lists(st.sampled_from([f"id{n}" for n in range(40)] + ["notes/n1.md"]), max_size=6),
    gather_cost=st.sampled_from([0, 6, 10**9]),
)
@settings(_fixture_is_emptied, max_examples=100)
def test_a_page_is_the_matching_memories_in_scope_ordered_and_cut(
    catalog: Catalog, vault: list[Memory], wanted: Filter, scope: Scope, sort: str, limit: int, offset: int,
    accessed: list[str], gather_cost: int,
) -> None:  # fmt: skip
    held = fill(catalog, vault)
    usage = Usage(catalog.path.with_name("usage.sqlite"))
    usage.purge(usage.get([memory.ref for memory in held]))
    usage.record(accessed, NOW)
    usage.close()
    with pytest.MonkeyPatch.context() as patch:  # both ways to a page must give the same one
        patch.setattr("vault_memory.index.page._GATHER_COST", gather_cost)
        page = catalog.page(wanted, scope, now=NOW, sort=sort, limit=limit, offset=offset)
    rows = [row for memory in held if (row := catalog.get(memory.path, UNBOUND)) is not None]
    expected = in_order([r for r in rows if scope.sees(r.memory) and wanted.matches(r.memory, NOW)], sort)
    assert list(page.items) == expected[offset : offset + limit]
    assert page.total == len(expected)
    assert page.has_more == (offset + limit < len(expected))


@given(memory=memories())
@settings(_fixture_is_emptied, max_examples=50)
def test_a_memory_comes_back_from_the_catalog_as_it_was_parsed(catalog: Catalog, memory: Memory) -> None:
    [held] = fill(catalog, [memory])
    row = catalog.get(memory.path, UNBOUND)
    assert row is not None
    assert row.memory == held
    assert replace(held, created_at=memory.created_at, updated_at=memory.updated_at) == memory
    assert catalog.source(memory.path, UNBOUND) == f"---\nx: 1\n---\n{memory.content}".encode()


@pytest.mark.parametrize("field", ["q", "tag", "project", "url"])
def test_text_that_is_no_unicode_is_an_invalid_request(field: str) -> None:
    with pytest.raises(InvalidRequest) as error:
        Filter(**{field: "\ud800"})
    assert error.value.extra["errors"][0]["field"] == field
