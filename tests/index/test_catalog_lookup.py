"""Reads beside the list: by id and name, links both ways, hints, findings, counts."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.index.vaults import NOW, chunk, record
from vault_memory.index.catalog import Catalog
from vault_memory.index.rows import is_conflict_copy
from vault_memory.index.stats import drift
from vault_memory.memory.model import Finding
from vault_memory.memory.scope import UNBOUND


def test_an_id_gives_all_its_holders_the_smallest_path_that_is_no_conflict_copy_first(catalog: Catalog) -> None:
    copy = "a (Conflicted copy PHONE 202611301200).md"
    catalog.record([record(path, id="1abc") for path in (copy, "z.md", "b/c.md")] + [record("1abc")])
    assert [row.memory.path for row in catalog.by_id("1abc", UNBOUND)] == ["b/c.md", "z.md", copy]
    assert catalog.by_id("z.md", UNBOUND) == []


@pytest.mark.parametrize(
    ("name", "is_copy"),
    [
        ("note (Conflicted copy PHONE 202611301200).md", True),
        ("note (Ann's conflicted copy 2026-11-30).md", True),
        ("note (conflicted copy 2026-11-30 120000).md", True),
        ("note.sync-conflict-20261130-120000-ABCDEFG.md", True),
        ("note_conflict-20261130-120000.md", True),
        ("note (Case Conflict).md", True),
        ("Conflict resolution.md", False),
        ("How we solved the merge conflict (2026).md", False),
        ("note 2.md", False),
        ("note (Conflicted copy).d/inside.md", False),
    ],
)
def test_conflict_copies_are_known_by_the_names_that_sync_tools_give(name: str, is_copy: bool) -> None:
    assert is_conflict_copy(f"folder/{name}") is is_copy


def test_titles_and_aliases_are_matched_exactly_and_not_those_of_deleted_notes(catalog: Catalog) -> None:
    catalog.record(
        [
            record("red/Standup.md", title="Standup", id="A"),
            record("blue/Standup.md", title="Standup", id="B"),
            record("c.md", title="Other", aliases=("Standup",), id="C"),
            record("d.md", title="Standup", status="deleted"),
            record("e.md", title="standup"),
        ]
    )
    assert [row.memory.id for row in catalog.by_name("Standup", UNBOUND)] == ["A", "B", "C"]
    assert catalog.by_name("Stand", UNBOUND) == []


def links(catalog: Catalog, path: str) -> list[tuple[str, str | None, str | None]]:
    return [(link.target, link.relation, link.to) for link in catalog.links(path, UNBOUND)]


def test_links_lead_where_they_mean_to_and_back(catalog: Catalog) -> None:
    catalog.record(
        [
            record("inbox/idea.md", title="An idea"),
            record("projects/index.md", "[[idea]] [[Inbox/IDEA|x]] [t](../inbox/idea.md#p) [[none]] `[[idea]]`",
                   relations={"supersedes": ("idea", "An idea")}),
            record("deleted.md", "[[idea]]", status="deleted"),
        ]
    )  # fmt: skip
    assert links(catalog, "projects/index.md") == [
        ("idea", "supersedes", "inbox/idea.md"),
        ("An idea", "supersedes", "inbox/idea.md"),
        ("idea", None, "inbox/idea.md"),
        ("Inbox/IDEA", None, "inbox/idea.md"),
        ("../inbox/idea.md", None, "inbox/idea.md"),
        ("none", None, None),
    ]
    assert len(catalog.backlinks("inbox/idea.md", UNBOUND)) == 6


def test_where_a_link_leads_follows_the_notes_there_are_now(catalog: Catalog) -> None:
    catalog.record([record("from.md", "[[idea]]"), record("a/idea.md")])
    assert links(catalog, "from.md") == [("idea", None, "a/idea.md")]
    catalog.record([record("idea.md")])
    assert links(catalog, "from.md") == [("idea", None, "idea.md")]
    assert catalog.backlinks("a/idea.md", UNBOUND) == []
    catalog.record([], ["idea.md", "a/idea.md"])
    assert links(catalog, "from.md") == [("idea", None, None)]


def test_a_link_to_a_deleted_note_leads_nowhere_but_is_known_to_who_restores_it(catalog: Catalog) -> None:
    catalog.record([record("from.md", "[[gone]]"), record("gone.md", status="deleted")])
    assert links(catalog, "from.md") == [("gone", None, None)]
    assert [link.path for link in catalog.backlinks("gone.md", UNBOUND)] == ["from.md"]


def test_hints_name_what_looks_most_like_it(catalog: Catalog) -> None:
    catalog.record(
        [
            record("deploy-with-fly.md", title="Deploy with fly.io", id="1ngvj1k9f3qw"),
            record("deploy-with-heroku.md", title="Deploy with Heroku", id="1ngvj1k9f3qx"),
            record("unrelated.md", title="Bread and butter"),
            record("deleted.md", title="Deploy with flies", status="deleted"),
        ]
    )

    def hints(text: str) -> list[str]:
        return [hint.path for hint in catalog.nearest(text, UNBOUND)]

    assert hints("deploy with fly.oi")[0] == "deploy-with-fly.md"
    assert hints("1ngvj1k9f3qz") == ["deploy-with-fly.md", "deploy-with-heroku.md"]
    assert hints("butter") == ["unrelated.md"]
    assert hints("zzzz") == []
    assert hints("") == []


def test_findings_are_told_by_path_and_line(catalog: Catalog) -> None:
    odd = (Finding("late", "x", 9), Finding("early", "y", 2, blocks_edit=True))
    catalog.record([record("b.md", findings=odd), record("a.md", findings=odd[:1])])
    assert [(f.path, f.finding.code) for f in catalog.findings(UNBOUND)] == [
        ("a.md", "late"), ("b.md", "early"), ("b.md", "late"),
    ]  # fmt: skip
    catalog.record([record("b.md")], ["a.md"])
    assert catalog.findings(UNBOUND) == []


def test_counts_are_of_everything_that_is_not_deleted(catalog: Catalog) -> None:
    catalog.record(
        [
            record("a.md", memory_type="fact", tags=("x",), inline_tags=("x", "y"), importance=1.0, domain="Dev Ops",
                   updated_at=NOW, chunks=[chunk("x", vector=b"\0" * 4)]),
            record("b.md", status="archived", project="p", importance=0.0, domain="dev-ops", updated_at=NOW,
                   expires_at=NOW, chunks=[chunk("x")]),
            record("c.md", actor="somebody", domain="devops", updated_at=NOW + timedelta(days=1)),
            record("d.md", status="deleted", domain="DEVOPS", project="q", tags=("z",), expires_at=NOW),
        ]
    )  # fmt: skip
    counts = catalog.stats(UNBOUND, now=NOW)
    assert counts.total == 4
    assert counts.by_status == (("active", 2), ("archived", 1), ("deleted", 1))
    assert counts.by_type == (("note", 2), ("fact", 1))
    assert counts.by_project == (("global", 2), ("p", 1))
    assert counts.by_actor == (("somebody", 1),)
    assert counts.by_tag == (("x", 1), ("y", 1))
    assert counts.by_domain == (("Dev Ops", 1), ("dev-ops", 1), ("devops", 1))
    assert counts.drift == (("Dev Ops", "dev-ops", "devops"),)
    assert (counts.average_importance, counts.last_updated) == (0.5, NOW + timedelta(days=1))
    assert (counts.expired, counts.with_vector, counts.underived) == (1, 1, 1)


def test_an_empty_vault_has_no_average(catalog: Catalog) -> None:
    counts = catalog.stats(UNBOUND, now=NOW)
    assert (counts.total, counts.average_importance, counts.last_updated, counts.by_type) == (0, None, None, ())


def test_spellings_that_differ_only_in_case_and_separators_are_one_domain() -> None:
    assert drift(["b", "A b", "a_b", "a-B", "c", "C"]) == (("A b", "a-B", "a_b"), ("C", "c"))
