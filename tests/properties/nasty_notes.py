"""A seeded generator of front matter as people really write it, in fragments whose bytes are known."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

OWN_KEYS = ("zeta", "cover", "Due date", "mood", "ünïcode", "x-y", "count", "list", "map", "note", "🙂")
TEXT_KEYS = ("title", "domain", "session", "agent", "source_id", "url", "outcome", "mood", "zeta", "cover")
LIST_KEYS = ("tags", "aliases", "related_urls", "stacks", "relation_notes")
LINK_KEYS = ("supersedes", "relates_to")
WORDS = (
    "plan", "Deploy on Friday", "1.10", "12:30", "no", "007", "1e3", "2026-04-05", "it's", 'say "hi"', "a: b", "x #y",
    "[[Kiln log]]", "日本語", "🙂 smile", "null", "~", "- dash", "* star", "&amp", "!bang", "{brace}", "a, b",
    "C:\\dir", "tab\there", "two\nlines", "trailing ", " leading", "a\x85b", "a\u2028b", "@at", "`tick`", "%percent",
    "'", '"', "?", "a" * 200, "=", "<<", "0o17", "#hash", "|", ">", "---", "...", "True", "yes", "e\u0301",
)  # fmt: skip
BODIES = (
    "", "body\n", "\n\nbody with two trailing spaces  \n\n\n", "no end newline", "# Title\n\n#tag `code`\n", "---\n",
    "---\na: b\n---\n", "\r\nwindows\r\n", "- a\n\n    indented\n", "```\n# x\n", "\t\n", "[[link]] ![[embed]]\n",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fragment:
    """A stretch of the block: one key with its lines, or (without a key) comments and blank lines."""

    key: str | None
    text: str
    comments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NastyNote:
    """A note in fragments; `text` is the whole."""

    opening: str
    fragments: tuple[Fragment, ...]
    closing: str
    body: str
    newline: str

    @property
    def text(self) -> str:
        return self.opening + "".join(one.text for one in self.fragments) + self.closing + self.body

    @property
    def keys(self) -> list[str]:
        return [one.key for one in self.fragments if one.key is not None]


def nasty_note(random: Random) -> NastyNote:
    """One note: any mixture of styles, comments, indentation, line ends and byte-order mark."""
    newline = random.choice(("\n", "\n", "\n", "\r\n", "\r\n", "\r"))
    bom = random.choice(("", "", "", "\ufeff"))
    indent = random.choice(("", "", "", "", "  "))
    keys = random.sample((*OWN_KEYS, *TEXT_KEYS[:7], *LIST_KEYS, *LINK_KEYS, "status", "version"), random.randint(0, 7))
    fragments: list[Fragment] = []
    for key in dict.fromkeys(keys):
        if random.random() < 0.25:
            fragments.append(_between(random, len(fragments)))
        fragments.append(_entry(random, key, len(fragments), indent))
    if random.random() < 0.2 and keys:
        fragments.append(_between(random, len(fragments)))
    styled = tuple(Fragment(one.key, one.text.replace("\n", newline), one.comments) for one in fragments)
    blanks = random.choice(("", "", " ", "\t"))
    body = random.choice(BODIES)
    closing = "---" if not body and random.random() < 0.2 else f"---{blanks}{newline}"
    return NastyNote(f"{bom}---{blanks}{newline}", styled, closing, body, newline)


def _between(random: Random, number: int) -> Fragment:
    comment = f"# between {number}"
    return Fragment(None, *random.choice(((f"{comment}\n", (comment,)), ("\n", ()), (f"\n{comment}\n\n", (comment,)))))


def _entry(random: Random, key: str, number: int, indent: str) -> Fragment:
    comment = f"# comment {number}"
    written = f'"{key}"' if random.random() < 0.1 else key
    space = random.choice((" ", " ", " ", "  ", "\t"))
    value, inner = _value(random, key, comment)
    lines = f"{written}:{space if value[:1] not in ('', chr(10)) else ''}{value}"
    comments = (comment,) if inner else ()
    if not inner and "\n" not in value and random.random() < 0.25:
        lines, comments = f"{lines}  {comment}", (comment,)
    text = "".join(f"{indent}{line}\n" if line else "\n" for line in lines.split("\n"))
    return Fragment(key, text, comments)


def _value(random: Random, key: str, comment: str) -> tuple[str, bool]:
    """A value's text, and whether the comment is inside it."""
    if key == "version":
        return random.choice(('"1.10"', "3", "three")), False
    if key == "status":
        return random.choice(("draft", "active", "'archived'", '"deleted"')), False
    plain = (("", False), ("plain words", False), ("'it''s'", False), ('"a \\"b\\" \\u00e9"', False), ("~", False))
    folded = (
        ("several\n  lines of\n  plain", False),
        ('"in\n  quotes"', False),
        ("|\n  first\n  ---\n  last  ", False),
    )
    blocks = (("|+\n  kept\n\n\n", False), (">-\n  a\n\n  b", False), (f"| {comment}\n  x # no comment", True))
    lists = (
        ("[One, Two]", False), ("[]", False), ("[a,\n  'b # c',\n  d]", False), (f"[a, {comment}\n  b]", True),
        ("\n- a\n- b", False), ("\n  - a\n  - 'b: c'\n  - \"#d\"", False), (f"\n  - a {comment}\n  - b", True),
        (f"\n  - a\n  {comment}\n  - b", True), ("\n  - a\n\n  - b", False), ("\n  -   spaced", False),
        ("comma, text", False), ("[[Bare link]]", False), (f"{comment}\n  - a", True), ("\n  - a\n  -\n  - c", False),
    )  # fmt: skip
    odd = (
        ("{a: 1, b: [x]}", False), ("\n  a: 1\n  b: two", False), (f"\n  a: 1 {comment}\n  b: 2", True),
        ("&anchor x", False), ("!!str 5", False), ("{{title}}", False), ("\n  - a: 1\n    b: 2\n  - [x]", False),
    )  # fmt: skip
    if key in LIST_KEYS or key in LINK_KEYS:
        return random.choice(lists)
    return random.choice((*plain, *plain, *folded, *blocks, *lists, *odd))


def random_changes(random: Random, note: NastyNote) -> dict[str, Any]:
    """One to three keys to set or remove, some of them in the note."""
    pool = [*note.keys, *note.keys, *TEXT_KEYS, *LIST_KEYS, *LINK_KEYS, "status", "version", "pinned", "updated_at"]
    return {key: _change(random, key) for key in random.sample(pool, random.randint(1, 3))}


def _change(random: Random, key: str) -> Any:
    if random.random() < 0.2:
        return None
    if key in LIST_KEYS:
        return (
            random.sample([word for word in WORDS if word.strip()], random.randint(0, 4))
            + ["a"][: random.randint(0, 1)]
        )
    if key in LINK_KEYS:
        return random.sample(["a", "Kiln log", "folder/x y", "it's", "Ünï"], random.randint(0, 3))
    match key:
        case "status":
            return random.choice(("active", "archived"))
        case "version":
            return random.randint(1, 99)
        case "pinned":
            return random.random() < 0.5
        case "updated_at":
            return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=random.randint(0, 10**7))
    if key in TEXT_KEYS[:7]:
        return random.choice(WORDS)
    return random.choice((*WORDS, 5, 0.25, True, ["x", "1.10"], {"a": [1, "b: c"]}, []))
