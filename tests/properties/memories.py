"""Generated memories and filters for property tests: nasty where it hurts, drawn from small pools so that they meet."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from vault_memory.files.scan import Known
from vault_memory.files.stat import Stat
from vault_memory.index.rows import Record, record_of
from vault_memory.memory.filter import Filter
from vault_memory.memory.model import MEMORY_TYPES, SOURCES, STATUSES, VERIFICATIONS, Finding, Memory
from vault_memory.memory.scope import ANY, Scope
from vault_memory.memory.times import Provenance

NOW = datetime(2026, 6, 1, 12, 0, 0, 123456, tzinfo=UTC)

# Case pairs, LIKE wildcards, quotes, CJK, composed against decomposed letters, letters that grow when folded.
WORDS = (
    "deploy", "Deploy", "DEPLOY", "100%", "1000", "a_b", "aXb", "back\\slash", "it's", '"quoted"', "東京", "京都と東京",
    "Straße", "STRASSE", "ÉTÉ", "été", "e\u0301te\u0301", "İstanbul", "ﬁne", "Σίσυφος", "🙂", "x", "",
)  # fmt: skip
words = st.sampled_from(WORDS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
texts = st.lists(words, max_size=5).map(" ".join)
slugs = st.sampled_from(["acme", "Acme", "beta", "a%", "_", "東京", "global-ish"])
moments = st.integers(-3, 3).map(lambda n: NOW + timedelta(microseconds=n)) | st.datetimes(timezones=st.just(UTC))
URLS = (
    "https://www.example.com/a/", "http://example.com/a?utm_source=x", "example.com/a", "https://example.com/a?b=1",
    "https://Example.com:443/a#frag", "https://docs.example.com/a", "https://other.org", "not a url", "https://[broken",
)  # fmt: skip
urls = st.sampled_from(URLS)
tag_lists = st.lists(words.filter(bool) | slugs, max_size=3, unique=True).map(tuple)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=4,
)
findings = st.builds(Finding, code=slugs, reason=texts, line=st.none() | st.integers(1, 9), blocks_edit=st.booleans())
units = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])


@st.composite
def memories(draw: st.DrawFn, path: st.SearchStrategy[str] | None = None) -> Memory:
    """A memory as `parse` would give it (times are those of the front matter, or None)."""
    return Memory(
        path=draw(path or st.integers(0, 30).map(lambda n: f"notes/n{n}.md")),
        content=draw(texts),
        id=draw(st.none() | st.integers(0, 40).map(lambda n: f"id{n}")),
        title=draw(texts),
        memory_type=draw(st.sampled_from(MEMORY_TYPES[:4])),
        status=draw(st.sampled_from(STATUSES)),
        tags=draw(tag_lists),
        aliases=draw(tag_lists),
        project=draw(st.none() | slugs),
        domain=draw(st.none() | slugs),
        actor=draw(st.none() | slugs),
        session=draw(st.none() | slugs),
        agent=draw(st.none() | slugs),
        source=draw(st.sampled_from(SOURCES)),
        source_id=draw(st.none() | words),
        importance=draw(units),
        confidence=draw(units),
        verification=draw(st.sampled_from(VERIFICATIONS)),
        pinned=draw(st.booleans()),
        emotional_valence=draw(st.sampled_from([-1.0, 0.0, 0.5])),
        url=draw(st.none() | urls),
        related_urls=draw(st.lists(urls, max_size=2).map(tuple)),
        stacks=draw(tag_lists),
        anchor_scope=draw(st.none() | st.sampled_from(["global", "project", "stack"])),
        expires_at=draw(st.none() | moments),
        valid_from=draw(st.none() | moments),
        valid_to=draw(st.none() | moments),
        outcome=draw(st.none() | texts),
        flags=draw(st.lists(st.sampled_from(["instruction_like", "draft"]), unique=True).map(tuple)),
        created_at=draw(st.none() | moments),
        updated_at=draw(st.none() | moments),
        version=draw(st.integers(1, 5) | st.just(2**70)),
        relations=draw(st.dictionaries(st.sampled_from(["supersedes", "relates_to"]), tag_lists, max_size=2)),
        relation_notes=draw(tag_lists),
        metadata=draw(st.dictionaries(words, json_values, max_size=2)),
        inline_tags=draw(tag_lists),
        findings=draw(st.lists(findings, max_size=2).map(tuple)),
        stated=draw(st.frozensets(st.sampled_from(["id", "title", "created_at", "tags"]))),
        revision=draw(st.sampled_from(["r1", "r2"])),
    )


def recorded(memory: Memory, *, head: str = "---\nx: 1\n---\n", mtime: datetime = NOW) -> Record:
    """The record of a generated memory in a vault without git."""
    mtime_ns = int(mtime.timestamp()) * 1_000_000_000
    file = Known(Stat(len(memory.content), mtime_ns, 1), mtime_ns)
    return record_of(memory, (head + memory.content).encode(), file, Provenance())


filters = st.builds(
    Filter,
    statuses=st.lists(st.sampled_from(STATUSES), max_size=2).map(tuple),
    memory_types=st.lists(st.sampled_from(MEMORY_TYPES[:4]), max_size=2).map(tuple),
    tag=st.none() | words | slugs,
    tags=tag_lists,
    q=st.none() | words,
    project=st.none() | slugs | st.just("global"),
    domain=st.none() | slugs,
    actor=st.none() | slugs,
    session=st.none() | slugs,
    agent=st.none() | slugs,
    source=st.none() | st.sampled_from(SOURCES),
    url=st.none() | urls,
    site=st.none() | st.sampled_from(["example.com", "www.Example.com", "docs.example.com", "nowhere"]),
    created_after=st.none() | moments,
    created_before=st.none() | moments,
    updated_after=st.none() | moments,
    updated_before=st.none() | moments,
    verification=st.none() | st.sampled_from(VERIFICATIONS),
    pinned=st.none() | st.booleans(),
    min_importance=st.none() | units,
    expired=st.none() | st.booleans(),
)
few_conditions = st.fixed_dictionaries(
    {},
    optional={
        "statuses": st.lists(st.sampled_from(STATUSES), max_size=3).map(tuple),
        "tag": words | slugs,
        "tags": tag_lists,
        "q": words,
        "project": slugs | st.just("global"),
        "domain": slugs,
        "session": slugs,
        "url": urls,
        "site": st.sampled_from(["example.com", "www.Example.com"]),
        "created_after": moments,
        "updated_before": moments,
        "pinned": st.booleans(),
        "expired": st.none() | st.booleans(),
    },
).map(lambda conditions: Filter(**conditions))
"""Filters of which something often matches."""

scopes = st.builds(Scope, project=st.just(ANY) | st.none() | slugs, actor=st.just(ANY) | st.none() | slugs)
