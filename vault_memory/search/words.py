"""Words of a text and which of them only make a question. Pure text rules; no stemming (the analyser's job)."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

WORD: Final = re.compile(r"[^\W_]+")

STOP_WORDS: Final = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this "
    "to was will with".split()
)
"""Lucene's 33 English stop words."""

QUESTION_WORDS: Final = STOP_WORDS | frozenset(
    "what when where who whom whose which why how did do does has have had been being were am i me my you your he she "
    "his her him we our us them its from about than so can could would should may might must shall s t".split()
)
"""Words that shape a question and are not looked for (measured: +.06 recall@10 for BM25 alone)."""


def words(text: str) -> list[str]:
    """The runs of letters and digits of `text`, as written, in order."""
    return WORD.findall(text)


def content_words(text: str, keep: Collection[str] = ()) -> list[str]:
    """The words of `text` that are not question words, as written; all of them when nothing else is left.

    `keep` names lower-case words that stay although they look like question words ("may" as a month).
    """
    found = words(text)
    kept = [word for word in found if (low := word.lower()) not in QUESTION_WORDS or low in keep]
    return kept or found


def name_words(text: str) -> frozenset[str]:
    """The lower-case words of a query that may name a speaker; "Anas" may mean Ana, as "Ana's" does."""
    found = {word.lower() for word in content_words(text)}
    return frozenset(found | {word[:-1] for word in found if word.endswith("s")})
