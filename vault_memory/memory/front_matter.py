"""Where a note's front matter lies and what its YAML says, as nodes. Owns the split; converts and writes no values.

python-frontmatter reads through a handler of ours: it never sees a body (it would strip it), and scalars keep their
text, because the loader resolves no implicit types. `12:30` stays `12:30`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

import frontmatter
import yaml
from frontmatter.default_handlers import BaseHandler
from msgspec import Struct
from yaml.cyaml import CParser  # type: ignore[attr-defined]
from yaml.resolver import BaseResolver

from vault_memory.memory.findings import line_at, malformed, never_closed, not_a_mapping
from vault_memory.memory.model import Finding

BOM: Final = "\ufeff"
_OPEN: Final = re.compile("\ufeff?---[ \t]*(\r\n|\n|\r)")
_CLOSE: Final = re.compile(r"(?<=[\r\n])---[ \t]*(?:\r\n|\n|\r|\Z)")
_NEWLINE: Final = re.compile("\r\n|\n|\r")


_SHAPE_TAGS: Final[Mapping[type[yaml.Node], str]] = MappingProxyType(
    {
        yaml.ScalarNode: BaseResolver.DEFAULT_SCALAR_TAG,
        yaml.SequenceNode: BaseResolver.DEFAULT_SEQUENCE_TAG,
        yaml.MappingNode: BaseResolver.DEFAULT_MAPPING_TAG,
    }
)


class UnreadableNote(ValueError):
    """The bytes are no text: invalid UTF-8 or a NUL byte. Such a file is skipped, never changed."""


class NotAMapping(ValueError):
    """The block between the fences is valid YAML but no mapping, hence ordinary text between two rules."""


class _Loader(CParser, BaseResolver):
    """libyaml's parser without implicit types: every scalar node keeps its text."""

    def __init__(self, text: str) -> None:
        CParser.__init__(self, text)
        BaseResolver.__init__(self)

    def resolve(self, kind: type[yaml.Node], value: str | None, implicit: object) -> str:
        """The tag of a node without an explicit one, by its shape alone."""
        return _SHAPE_TAGS[kind]


class Entry(Struct, frozen=True):
    """One key of the front matter: its nodes, the text they were read from, and whether the key comes again later."""

    key: yaml.Node
    value: yaml.Node
    source: str
    repeated_at: int | None = None

    @property
    def line(self) -> int:
        """The key's line in the note, counted from 1 (the opening fence is line 1)."""
        return line_at(self.source, self.key.start_mark.index) + 1


class Parts(Struct, frozen=True):
    """A note's text, split: `head + body` is the whole text, `head` has the BOM, both fences and the YAML.

    Without usable front matter `head` is empty (or the BOM), `block` is None and `body` is all the text.
    """

    head: str
    body: str
    newline: str
    block: str | None = None
    block_start: int = 0
    entries: Mapping[str, Entry] | None = None
    finding: Finding | None = None

    @property
    def bom(self) -> str:
        """The byte-order mark, or nothing."""
        return BOM if self.head.startswith(BOM) else ""


class _Handler(BaseHandler):
    """Hands python-frontmatter a block that is already cut out; `load` gives entries instead of plain values."""

    FM_BOUNDARY = re.compile(r"^---$", re.MULTILINE)
    START_DELIMITER = END_DELIMITER = "---"

    def split(self, text: str) -> tuple[str, str]:
        return text[len("---\n") : -len("---")], ""

    def load(self, fm: str, **_: object) -> dict[str, Entry]:
        return entries(fm)


_HANDLER: Final = _Handler()


def decode(data: bytes) -> str:
    """The text of a note.

    Raises:
        UnreadableNote: invalid UTF-8 or a NUL byte.
    """
    if b"\0" in data:
        raise UnreadableNote("the file holds NUL bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableNote(f"the file is not UTF-8 (byte {error.start})") from error


def compose(block: str) -> yaml.MappingNode | None:
    """The root mapping of a YAML block with character marks into `block`; None for a block of blanks.

    Raises:
        NotAMapping: anything else that is valid YAML, comments alone included.
        yaml.YAMLError: malformed YAML.
    """
    loader = _Loader(block)
    try:
        root = loader.get_single_node()
    finally:
        loader.dispose()
    if isinstance(root, yaml.MappingNode):
        return root
    if root is None and not block.strip():
        return None
    raise NotAMapping("not a YAML mapping")


def key_text(node: yaml.Node) -> str:
    """A key as text; a key that is itself a list or mapping is named by its place, so that it stays distinct."""
    return node.value if isinstance(node, yaml.ScalarNode) else f"?{node.start_mark.index}"


def entries(block: str) -> dict[str, Entry]:
    """The keys of a YAML block in file order; the first of two equal keys wins."""
    found: dict[str, Entry] = {}
    root = compose(block)
    for key, value in root.value if root is not None else ():
        name = key_text(key)
        if (first := found.get(name)) is None:
            found[name] = Entry(key, value, block)
        elif first.repeated_at is None:
            again = line_at(block, key.start_mark.index) + 1
            found[name] = Entry(first.key, first.value, block, repeated_at=again)
    return found


def split_text(text: str) -> Parts:
    """Cut a note's text into head and body; never raises, what is odd is in `finding`."""
    opening = _OPEN.match(text)
    if opening is None:
        return _headless(text, None)
    closing = _CLOSE.search(text, opening.end())
    if closing is None:
        return _headless(text, never_closed())
    block = text[opening.end() : closing.start()]
    try:
        found, _ = frontmatter.parse(f"---\n{block}---", handler=_HANDLER)
    except NotAMapping:
        return _headless(text, not_a_mapping())
    except (yaml.YAMLError, RecursionError) as error:
        return _headless(text, malformed(error, block))
    return Parts(
        head=text[: closing.end()],
        body=text[closing.end() :],
        newline=opening.group(1),
        block=block,
        block_start=opening.end(),
        entries=found,  # type: ignore[arg-type]
    )


def split(data: bytes) -> Parts:
    """Cut a note's bytes into head and body.

    Raises:
        UnreadableNote: invalid UTF-8 or a NUL byte.
    """
    return split_text(decode(data))


def _headless(text: str, finding: Finding | None) -> Parts:
    cut = 1 if text.startswith(BOM) else 0
    newline = _NEWLINE.search(text)
    return Parts(text[:cut], text[cut:], newline.group() if newline else "\n", finding=finding)


def leaves(node: yaml.Node) -> Iterator[yaml.Node]:
    """The scalar nodes below `node` (itself included) and empty collections, in file order; aliases come again."""
    if isinstance(node, yaml.ScalarNode) or not node.value:
        yield node
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from leaves(item)
    else:
        for key, value in node.value:
            yield from leaves(key)
            yield from leaves(value)
