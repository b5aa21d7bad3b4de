"""Finds the memory that a new text repeats, changes or comes near to. Judges texts; stores and refuses nothing.

Compared are active memories of the same actor in the same project and the global ones, found by content hash and in the
search pool; also those that the same batch has just written, which no index knows yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from vault_memory.index.candidates import Sizes
from vault_memory.memory.duplicates import Verdict, judge
from vault_memory.memory.filter import Filter
from vault_memory.memory.model import Memory
from vault_memory.memory.scope import Scope
from vault_memory.search.words import content_words

if TYPE_CHECKING:
    from vault_memory.operations.context import Context

_SIZES: Final = Sizes(30, 20)
_QUERY_WORDS: Final = 32
_RARE_IDF: Final = 3.0
"""A term with at least this idf stands in less than about one of twenty chunks."""
_NEAR_COSINE: Final = 0.7
_COMPARED: Final = 16
_DERIVE_MS: Final = 200.0
"""How long a write waits for notes that are not searchable yet; usually there are none."""
_RANK: Final = {"duplicate": 0, "adds_nothing": 1, "changed": 2, "similar": 3, "different": 4}


class Rival(Struct, frozen=True):
    """The memory a text was compared with, and the verdict."""

    memory: Memory
    verdict: Verdict
    cosine: float | None = None

    @property
    def order(self) -> tuple[int, float, str]:
        """The weightiest verdict first, then the nearest, ties by ref."""
        return _RANK[self.verdict.kind], -(self.cosine or 0.0), self.memory.ref


class Beside(Struct):
    """What one batch has written so far, found by its words."""

    memories: list[Memory] = field(default_factory=list)
    by_word: dict[str, list[int]] = field(default_factory=dict)

    def add(self, memory: Memory) -> None:
        """Let later items of the batch be compared with this one."""
        for word in {word.lower() for word in content_words(memory.content[:4_000])}:
            self.by_word.setdefault(word, []).append(len(self.memories))
        self.memories.append(memory)

    def near(self, content: str) -> list[Memory]:
        """The few that share the most words with `content`."""
        shared: dict[int, int] = {}
        for word in {word.lower() for word in content_words(content[:4_000])}:
            for place in self.by_word.get(word, ())[-200:]:
                shared[place] = shared.get(place, 0) + 1
        best = sorted(shared, key=lambda place: (-shared[place], place))[:8]
        return [self.memories[place] for place in best]


def find_rival(
    ctx: Context,
    content: str,
    project: str | None,
    actor: str | None,
    *,
    but: frozenset[str] = frozenset(),
    beside: Beside | None = None,
) -> Rival | None:
    """The active memory that `content` repeats, changes or comes near to, as its file has it now; None without one.

    Args:
        ctx: whose vault; the scope compared in is that of `project` and `actor`, never wider than the caller's.
        content: the text about to be stored.
        project, actor: what it will belong to.
        but: paths that are not compared.
        beside: what the same batch wrote.
    """
    scope = Scope(project, actor)
    found = [*_in_batch(content, scope, beside), *_in_vault(ctx, content, scope, but)]
    for rival in sorted(found, key=lambda rival: rival.order):
        if rival.verdict.kind == "different":
            return None
        if beside is not None and rival.memory in beside.memories:
            return rival
        now = ctx.vault.current(rival.memory, ctx.scope)
        if now is not None and now.status == "active":
            return rival if now is rival.memory else Rival(now, judge(content, now.content, cosine=rival.cosine))
    return None


def archived_match(ctx: Context, content: str, project: str | None, actor: str | None) -> Memory | None:
    """A memory with exactly this content that is no longer active: named in a warning, never revived."""
    rows = ctx.vault.catalog.by_content(_hash(content), Scope(project, actor))
    return next((row.memory for row in rows if row.memory.status in ("archived", "invalid")), None)


def _in_batch(content: str, scope: Scope, beside: Beside | None) -> Iterator[Rival]:
    for memory in beside.near(content) if beside else ():
        if scope.sees(memory) and memory.status == "active":
            yield Rival(memory, judge(content, memory.content, cosine=None))


def _in_vault(ctx: Context, content: str, scope: Scope, but: frozenset[str]) -> Iterator[Rival]:
    for row in ctx.vault.catalog.by_content(_hash(content), scope):
        if row.memory.status == "active" and row.memory.path not in but:
            yield Rival(row.memory, judge(content, row.memory.content, cosine=1.0), 1.0)
            return
    ctx.vault.derive_pending(_DERIVE_MS)
    near = _gathered(ctx, content, scope)
    for row in ctx.vault.catalog.by_keys(list(near), scope):
        if row.memory.path not in but:
            cosine, rare = near[row.note]
            yield Rival(row.memory, judge(content, row.memory.content, cosine=cosine, shared_rare=rare), cosine)


def _gathered(ctx: Context, content: str, scope: Scope) -> dict[int, tuple[float | None, int]]:
    """Note key to (cosine, number of rare terms shared) of the notes worth a comparison, the nearest first."""
    words = list(dict.fromkeys(content_words(content[:4_000])))[:_QUERY_WORDS]
    if not words:
        return {}
    wanted = Filter(statuses=("active",))
    found = ctx.vault.indexes.candidates.gather(" ".join(words), wanted, scope, now=ctx.now, sizes=_SIZES)
    if not len(found):
        return {}
    rare = found.query.terms.asked_idf >= _RARE_IDF
    shared = found.term_hits[:, rare].sum(axis=1)
    order = sorted(
        range(len(found)),
        key=lambda n: (-float(found.cosine[n]) - 0.1 * min(int(shared[n]), 5), int(found.text_rank[n]) % 1_000, n),
    )
    has_vectors = bool(found.query.vector.any())
    near: dict[int, tuple[float | None, int]] = {}
    for n in order:
        worth = found.cosine[n] >= _NEAR_COSINE or shared[n] >= 2 or 0 < found.text_rank[n] <= 8
        if worth and len(near) < _COMPARED:
            cosine = float(found.cosine[n]) if has_vectors and found.vectors[n].any() else None
            near.setdefault(found.facts[n].note, (cosine, int(shared[n])))
    return near


def _hash(content: str) -> str:
    return Memory("", content).content_hash
