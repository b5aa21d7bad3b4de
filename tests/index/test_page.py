"""The list contract: envelope, filters, sort keys and ties, pagination."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.index.vaults import NOW, record
from vault_memory.errors import InvalidRequest
from vault_memory.index.catalog import Catalog
from vault_memory.index.page import Page
from vault_memory.index.usage import Usage
from vault_memory.memory.filter import Filter
from vault_memory.memory.scope import ANY, UNBOUND, Scope


def paths(page: Page) -> list[str]:
    return [row.memory.path for row in page.items]


def listed(catalog: Catalog, **conditions: object) -> list[str]:
    return paths(catalog.page(Filter(**conditions), UNBOUND, now=NOW, sort="id", limit=100))  # type: ignore[arg-type]


def test_an_empty_vault_has_an_empty_page(catalog: Catalog) -> None:
    page = catalog.page(Filter(), UNBOUND, now=NOW)
    assert (page.items, page.total, page.limit, page.offset, page.has_more) == ((), 0, 10, 0, False)


def test_total_counts_the_matches_before_pagination_and_has_more_tells_of_the_rest(catalog: Catalog) -> None:
    catalog.record([record(f"n{n:02}.md") for n in range(25)])
    pages = [catalog.page(Filter(), UNBOUND, now=NOW, sort="id", offset=offset) for offset in (0, 10, 20, 30)]
    assert [len(page.items) for page in pages] == [10, 10, 5, 0]
    assert [page.total for page in pages] == [25] * 4
    assert [page.has_more for page in pages] == [True, True, False, False]
    assert [path for page in pages for path in paths(page)] == [f"n{n:02}.md" for n in range(25)]


def test_everything_but_deleted_is_listed_unless_a_status_is_asked_for(catalog: Catalog) -> None:
    catalog.record([record(f"{status}.md", status=status) for status in ("active", "archived", "invalid", "deleted")])
    assert listed(catalog) == ["active.md", "archived.md", "invalid.md"]
    assert listed(catalog, statuses=("deleted",)) == ["deleted.md"]
    assert listed(catalog, statuses=("deleted", "active")) == ["active.md", "deleted.md"]


def test_tags_are_matched_exactly_in_the_front_matter_and_in_the_body(catalog: Catalog) -> None:
    catalog.record(
        [
            record("field.md", tags=("ops", "x")),
            record("inline.md", inline_tags=("ops",)),
            record("longer.md", tags=("opsy", "OPS", "a ops")),
        ]
    )
    assert listed(catalog, tag="ops") == ["field.md", "inline.md"]
    assert listed(catalog, tags=("x", "opsy")) == ["field.md", "longer.md"]


@pytest.mark.parametrize(
    ("q", "found"),
    [
        ("100%", ["percent.md"]),
        ("_", ["underscore.md"]),
        ("\\", ["backslash.md"]),
        ("STRASSE", ["german.md"]),
        ("京", ["kanji.md"]),
        ("été", ["accents.md"]),
        ("in-tag", ["tagged.md"]),
        ("only-title", []),
        ("", ["accents.md", "backslash.md", "german.md", "kanji.md", "percent.md", "tagged.md", "underscore.md"]),
    ],
)
def test_q_is_literal_text_in_content_or_tags_without_regard_to_case(
    catalog: Catalog, q: str, found: list[str]
) -> None:
    catalog.record(
        [
            record("percent.md", "100% sure"),
            record("underscore.md", "a_b"),
            record("backslash.md", "back\\slash"),
            record("german.md", "Straße"),
            record("kanji.md", "東京都"),
            record("accents.md", "E\u0301TE\u0301"),
            record("tagged.md", "1000 words", tags=("In-Tag",), title="only-title"),
        ]
    )
    assert listed(catalog, q=q) == found


def test_a_url_is_the_same_page_whatever_its_scheme_www_and_tracking(catalog: Catalog) -> None:
    catalog.record([record("a.md", url="https://www.Docs.example.com/a/?utm_source=x&b=1#part"), record("b.md")])
    assert listed(catalog, url="http://docs.example.com/a?b=1") == ["a.md"]
    assert listed(catalog, url="docs.example.com/a?b=2") == []
    assert listed(catalog, site="www.docs.example.com") == ["a.md"]
    assert listed(catalog, site="example.com") == []


def test_what_has_expired_leaves_the_list_at_that_moment(catalog: Catalog) -> None:
    catalog.record([record("a.md", expires_at=NOW), record("b.md", expires_at=NOW + timedelta(microseconds=1))])
    assert listed(catalog) == ["b.md"]
    assert listed(catalog, expired=True) == ["a.md"]
    assert listed(catalog, expired=None) == ["a.md", "b.md"]
    assert catalog.page(Filter(), UNBOUND, now=NOW).total == 1


def test_times_bound_half_open(catalog: Catalog) -> None:
    catalog.record([record(f"{n}.md", created_at=NOW + timedelta(hours=n), updated_at=NOW) for n in range(4)])
    bounds = {"created_after": NOW + timedelta(hours=1), "created_before": NOW + timedelta(hours=3)}
    assert listed(catalog, **bounds) == ["1.md", "2.md"]


def test_every_time_sort_is_newest_first_with_ties_by_descending_id(tmp_path: Path) -> None:
    usage = Usage(tmp_path / "usage.sqlite")
    catalog = Catalog.open(tmp_path, usage=usage.path)
    older, newer = NOW - timedelta(days=1), NOW
    catalog.record(
        [
            record("w.md", id="a", created_at=newer, updated_at=older),
            record("x.md", id="c", created_at=older, updated_at=newer),
            record("y.md", id="b", created_at=older, updated_at=older),
            record("z.md", created_at=newer, updated_at=newer),
        ]
    )
    usage.record(["a", "b"], older)
    usage.record(["z.md"], newer)

    def order(sort: str) -> list[str]:
        return [row.memory.ref for row in catalog.page(Filter(), UNBOUND, now=NOW, sort=sort).items]

    assert order("id") == ["a", "b", "c", "z.md"]
    assert order("created_at") == ["z.md", "a", "c", "b"]
    assert order("updated_at") == ["z.md", "c", "b", "a"]
    assert order("last_accessed_at") == ["z.md", "b", "a", "c"]
    catalog.close()
    usage.close()


def test_rows_tell_when_and_how_often_they_were_accessed(tmp_path: Path) -> None:
    usage = Usage(tmp_path / "usage.sqlite")
    catalog = Catalog.open(tmp_path, usage=usage.path)
    catalog.record([record("a.md"), record("b.md")])
    usage.record(["a.md"], NOW)
    usage.record(["a.md"], NOW - timedelta(days=1))
    rows = catalog.page(Filter(), UNBOUND, now=NOW, sort="id").items
    assert [(row.last_accessed_at, row.access_count) for row in rows] == [(NOW, 2), (None, 0)]
    catalog.close()
    usage.close()


@pytest.mark.parametrize(
    ("options", "field", "allowed"),
    [
        ({"sort": "title"}, "sort", ["id", "created_at", "updated_at", "last_accessed_at"]),
        ({"sort": "id; DROP TABLE notes"}, "sort", ["id", "created_at", "updated_at", "last_accessed_at"]),
        ({"limit": 0}, "limit", [1, 100]),
        ({"limit": 101}, "limit", [1, 100]),
        ({"offset": -1}, "offset", [0, 2**53]),
        ({"offset": 10**30}, "offset", [0, 2**53]),
    ],
)
def test_what_is_out_of_bounds_is_refused_with_what_is_allowed(
    catalog: Catalog, options: dict[str, object], field: str, allowed: list[object]
) -> None:
    with pytest.raises(InvalidRequest) as error:
        catalog.page(Filter(), UNBOUND, now=NOW, **options)  # type: ignore[arg-type]
    assert error.value.extra["errors"][0]["field"] == field
    assert error.value.extra["errors"][0]["allowed"] == allowed


def test_the_project_filter_is_exact_and_global_means_no_project(catalog: Catalog) -> None:
    catalog.record([record("a.md", project="a"), record("b.md", project="b"), record("g.md")])
    assert listed(catalog, project="a") == ["a.md"]
    assert listed(catalog, project="global") == ["g.md"]
    bound = catalog.page(Filter(), Scope("a", ANY), now=NOW, sort="id")
    assert paths(bound) == ["a.md", "g.md"]


def test_select_gives_every_match_by_ref(catalog: Catalog) -> None:
    catalog.record([record(f"n{n:03}.md", status="deleted" if n % 2 else "active") for n in range(450)])
    found = [row.memory.path for row in catalog.select(Filter(), UNBOUND, now=NOW)]
    assert found == [f"n{n:03}.md" for n in range(0, 450, 2)]
