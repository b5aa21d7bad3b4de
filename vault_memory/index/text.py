"""The Tantivy index: one document a chunk, found by analysed terms. Owns schema, reader, writer and queries.

It selects candidates and never scores what is shown (see `bm25`). A document's key is its chunk's, whose content never
changes, so a document that is there twice, or whose chunk is gone from the catalog, is harmless: readers drop it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import tantivy
from msgspec import Struct
from tantivy import DocAddress, Document, Index, Occur, Query, Schema, SchemaBuilder, TextAnalyzerBuilder, Tokenizer

_HEAP_BYTES: Final = 30_000_000
_TERMS: Final = "terms"
_TOKENIZER: Final = "spaces"


class TextDocument(Struct, frozen=True):
    """What Tantivy learns of a chunk: its terms, terms that only select, and what filters look at."""

    chunk: int
    kind: int
    terms: str
    extra: str
    tags: tuple[str, ...] = ()


class TextFilter(Struct, frozen=True):
    """What Tantivy judges itself: one of the kinds, one of the tags, one of the chunks; None asks nothing."""

    kinds: tuple[int, ...] | None = None
    tags: tuple[tuple[str, ...], ...] = ()
    """At least one tag of each group."""
    chunks: tuple[int, ...] | None = None


def text_folder(folder: Path, epoch: str) -> Path:
    """The Tantivy folder of an epoch."""
    return folder / "tantivy" / epoch


def drop_others(folder: Path, epoch: str) -> None:
    """Delete the folders of all epochs but this one; an open reader keeps the files that it has mapped."""
    for other in (folder / "tantivy").glob("*"):
        if other.name != epoch:
            shutil.rmtree(other, ignore_errors=True)


class TextReader:
    """Searches one epoch. Use `reload` to see later commits; the catalog must be read first, see `overlay`.

    Raises:
        ValueError: the folder is damaged or of another schema.
        FileNotFoundError: there is none.
    """

    def __init__(self, folder: Path) -> None:
        self._index = _opened(folder, create=False)
        self._index.config_reader("manual")  # the default policy stalls a search by 100 ms after each commit
        self.reload()

    def reload(self) -> None:
        """See what has been committed until now."""
        self._index.reload()
        self._searcher = self._index.searcher()

    def search(
        self, terms: Mapping[str, float], limit: int, where: TextFilter, *, beside: bool = False
    ) -> dict[int, float]:
        """At most `limit` chunks that hold a term, by key, most promising first, with Tantivy's own score.

        Args:
            terms: analysed terms, of which a chunk holds at least one, and what each is worth.
            limit: 1 or more.
            where: the filter.
            beside: look into path, urls and own keys instead of label and text; order and scores mean nothing then.
        """
        if not terms or where.kinds == () or where.chunks == ():
            return {}
        hits = self._searcher.search(_query(terms, where, beside=beside), limit, count=False).hits
        found: dict[int, float] = {}
        for key, (score, _) in zip(self._keys([address for _, address in hits]), hits, strict=True):
            found.setdefault(key, score)
        return found

    def keys(self) -> list[int]:
        """The keys of all documents, doubles included, in no order."""
        hits = self._searcher.search(Query.all_query(), max(1, self._searcher.num_docs), count=False).hits
        return self._keys([address for _, address in hits])

    def _keys(self, addresses: list[DocAddress]) -> list[int]:
        return [int(key or 0) for key in self._searcher.fast_field_values("chunk", addresses)]


class TextWriter:
    """The only writer of an epoch while it is open; close it, as dropping it leaves merges half done.

    Raises:
        ValueError: the folder is damaged, of another schema, or another writer is open.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._writer = _opened(folder, create=True).writer(_HEAP_BYTES, 1)

    def __enter__(self) -> TextWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.wait_merging_threads()

    def remove(self, chunks: Iterable[int]) -> None:
        """Forget documents by key; unknown ones are no error."""
        for chunk in chunks:
            self._writer.delete_documents_by_term("chunk", chunk)

    def add(self, documents: Iterable[TextDocument]) -> None:
        """Put documents in; remove those of the same key first, unless there can be none."""
        schema = _schema()
        for document in documents:
            self._writer.add_document(Document.from_dict(_fields(document), schema))

    def commit(self) -> None:
        """Make everything until now durable and visible to readers that reload."""
        self._writer.commit()


def _fields(document: TextDocument) -> dict[str, Any]:
    fields: dict[str, Any] = {"chunk": document.chunk, "kind": document.kind}
    fields[_TERMS] = document.terms
    fields["extra"] = document.extra
    fields["tags"] = list(document.tags)
    return fields


@lru_cache(1)
def _schema() -> Schema:
    # Signed integers: deleting by an unsigned field finds nothing in tantivy 0.27.
    builder = SchemaBuilder()
    builder.add_integer_field("chunk", indexed=True, fast=True)
    builder.add_integer_field("kind", indexed=True)
    builder.add_text_field(_TERMS, tokenizer_name=_TOKENIZER, index_option="freq")
    builder.add_text_field("extra", tokenizer_name=_TOKENIZER, index_option="basic")
    builder.add_text_field("tags", tokenizer_name="raw", index_option="basic")
    return builder.build()


def _opened(folder: Path, *, create: bool) -> Index:
    if not create and not (folder.is_dir() and tantivy.Index.exists(str(folder))):
        raise FileNotFoundError(folder)
    index = Index(_schema(), str(folder))
    index.register_tokenizer(_TOKENIZER, TextAnalyzerBuilder(Tokenizer.whitespace()).build())
    return index


def _query(terms: Mapping[str, float], where: TextFilter, *, beside: bool) -> Query:
    schema = _schema()
    field, option = ("extra", "basic") if beside else (_TERMS, "freq")
    queries = {term: Query.term_query(schema, field, term, option) for term in terms}
    worth = [queries[term] if value == 1 else Query.boost_query(queries[term], value) for term, value in terms.items()]
    wanted = Query.boolean_query([(Occur.Should, query) for query in worth])
    clauses = [(Occur.Must, Query.const_score_query(wanted, 1.0) if beside else wanted)]
    clauses += [(Occur.Must, Query.const_score_query(condition, 0.0)) for condition in _conditions(schema, where)]
    return Query.boolean_query(clauses) if len(clauses) > 1 else clauses[0][1]


def _conditions(schema: Schema, where: TextFilter) -> list[Query]:
    found: list[Query] = []
    for field, values in (("kind", where.kinds), ("chunk", where.chunks)):
        if values is not None:
            found.append(_any_of(schema, field, values))
    return found + [_any_of(schema, "tags", group) for group in where.tags]


def _any_of(schema: Schema, field: str, values: Sequence[Any]) -> Query:
    if len(values) == 1:
        return Query.term_query(schema, field, values[0], "basic")
    return Query.term_set_query(schema, field, list(values))
