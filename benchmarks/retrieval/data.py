"""Public retrieval collections as memories and questions. Owns the reading of their files; ranks nothing."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_TIMES = ("%I:%M %p on %d %B, %Y", "%d.%m.%Y, %H:%M:%S", "%I:%M %p on %d %b, %Y")
_EVIDENCE = re.compile(r"D:?\s*(\d+)\s*:\s*(\d+)")


@dataclass(frozen=True, slots=True)
class Document:
    """One memory of a collection; `session` is "" when it belongs to none."""

    ref: str
    title: str
    body: str
    session: str = ""
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A query and the positions of the memories that answer it."""

    text: str
    relevant: frozenset[int]
    category: int = 0


@dataclass(frozen=True, slots=True)
class Collection:
    """What one vault holds and what is asked of it."""

    name: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]


def locomo(folder: Path) -> list[Collection]:
    """The LoCoMo conversations in `folder`, one collection each."""
    found = []
    for file in sorted(folder.glob("*.json")):
        for item in json.loads(file.read_text("utf-8")):
            found.append(_chat(item["sample_id"], item["conversation"], item["qa"]))
    return found


def realtalk(folder: Path) -> list[Collection]:
    """The REALTALK chats in `folder`, one collection each."""
    found = []
    for file in sorted(folder.glob("*.json")):
        item = json.loads(file.read_text("utf-8"))
        found.append(_chat(file.stem, item, item["qa"]))
    return found


def cranfield(folder: Path) -> list[Collection]:
    """The Cranfield abstracts in `folder`; a body leaves out the title that it repeats."""
    documents = []
    for record in _records((folder / "cran.all.1400").read_text("utf-8", "replace")):
        number, parts = record
        title, body = (" ".join(parts.get(key, "").split()) for key in ("T", "W"))
        documents.append(Document(number, title, body.removeprefix(title).strip()))
    place = {document.ref: n for n, document in enumerate(documents)}
    relevant = defaultdict(set)
    for line in (folder / "cranqrel").read_text("utf-8").splitlines():
        columns = line.split()
        if len(columns) >= 3 and 1 <= int(columns[2]) <= 4 and columns[1] in place:
            relevant[int(columns[0])].add(place[columns[1]])
    queries = [" ".join(parts["W"].split()) for _, parts in _records((folder / "cran.qry").read_text("utf-8"))]
    questions = [Question(text, frozenset(relevant[n])) for n, text in enumerate(queries, 1) if relevant[n]]
    return [Collection("cranfield", tuple(documents), tuple(questions))]


def together(collections: list[Collection]) -> Collection:
    """All collections in one vault; refs and sessions stay apart by the collection's name."""
    documents: list[Document] = []
    questions: list[Question] = []
    for collection in collections:
        first = len(documents)
        for document in collection.documents:
            session = f"{collection.name}/{document.session}" if document.session else ""
            documents.append(replace(document, ref=f"{collection.name}/{document.ref}", session=session))
        for question in collection.questions:
            questions.append(replace(question, relevant=frozenset(first + n for n in question.relevant)))
    return Collection("together", tuple(documents), tuple(questions))


def _chat(name: str, sessions: Mapping[str, Any], asked: list[dict[str, Any]]) -> Collection:
    documents = []
    place: dict[str, int] = {}
    keys = (key for key in sessions if re.fullmatch(r"session_\d+", key))
    for key in sorted(keys, key=lambda key: int(key.split("_")[1])):
        for turn in sessions[key]:
            place[turn["dia_id"]] = len(documents)
            documents.append(_turn(turn, key, turn.get("date_time") or sessions.get(f"{key}_date_time", "")))
    questions = []
    for item in asked:
        evidence = frozenset(place[ref] for ref in _evidence(item.get("evidence") or ()) if ref in place)
        if evidence:
            questions.append(Question(item["question"], evidence, item.get("category", 0)))
    return Collection(name, tuple(documents), tuple(questions))


def _turn(turn: Mapping[str, Any], session: str, time: str) -> Document:
    text = turn.get("text") or turn.get("clean_text") or ""
    caption = turn.get("blip_caption") or ""
    if caption:
        text += f" [shares {caption if isinstance(caption, str) else ' '.join(map(str, caption))}]"
    return Document(turn["dia_id"], "", f"{turn['speaker']}: {text}", session, _time(time))


def _evidence(refs: list[str] | tuple[str, ...]) -> Iterator[str]:
    """The dialogue ids named in an evidence list, repaired as the data's README says."""
    for ref in refs:
        for session, turn in _EVIDENCE.findall(ref):
            yield f"D{int(session)}:{int(turn)}"


def _time(text: str) -> datetime | None:
    for form in _TIMES:
        try:
            return datetime.strptime(text.strip(), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


def _records(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    for block in re.split(r"(?m)^\.I ", text)[1:]:
        number, _, rest = block.partition("\n")
        parts = re.split(r"(?m)^\.([TABW])\s*$", rest)
        yield number.strip(), {parts[n]: parts[n + 1] for n in range(1, len(parts) - 1, 2)}
