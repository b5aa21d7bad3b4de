"""Links rewritten when files move: only those that would otherwise mean something else, each in its own style.

Pure text to text; the caller says what moves and which notes to look at. Code is never touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import yaml

from vault_memory.memory.front_matter import Parts, compose, decode, leaves, split_text
from vault_memory.memory.link_text import Link, LinkStyle, links
from vault_memory.memory.resolve import MovedIndex, PathIndex, plain_path, resolve
from vault_memory.memory.safety import editable_parts
from vault_memory.memory.scalars import double_quoted, single_quoted, text_scalar
from vault_memory.memory.spans import end_of, refusal
from vault_memory.memory.values import bare_link, own_value

_BREAKS_WIKILINKS: Final = frozenset("#|[]^")
_ENCODED: Final = frozenset(" ()<>%#?\"':\\")


def retarget(text: str, moves: Mapping[str, str], note_path: str, index: PathIndex) -> str:
    """A body with its links as they must read after the moves; alias, heading, embed mark and style stay.

    Args:
        text: Markdown text of the note.
        moves: old path to new path, all that move together; the note itself may be among them.
        note_path: where the note is now, before the moves.
        index: the vault's paths now, before the moves.
    """
    return _Moves(moves, note_path, index).text(text)


def retarget_note(data: bytes, moves: Mapping[str, str], note_path: str, index: PathIndex) -> bytes:
    """A whole note, links in its front matter included (relations are links).

    Raises:
        MalformedNote: the note cannot be edited safely; its links stay as they are.
    """
    text = decode(data)
    parts = split_text(text)
    plan = _Moves(moves, note_path, index)
    head = _head(parts, plan)
    result = head + plan.text(parts.body)
    if result == text:
        return data
    editable_parts(data)
    _prove(parts, split_text(result), plan)
    return result.encode()


class _Moves:
    """The vault before and after, seen from one note."""

    def __init__(self, moves: Mapping[str, str], note_path: str, index: PathIndex) -> None:
        self._moves = moves
        self._before = index
        self._after = MovedIndex(index, moves)
        self._old_place = note_path
        self._new_place = moves.get(note_path, note_path)

    def text(self, text: str) -> str:
        for link in reversed(links(text)):
            if (new := self._rewritten(text, link)) is not None:
                text = text[: link.target_start] + new + text[link.target_end :]
        return text

    def value(self, value: Any) -> Any:
        """The same for a value of the front matter."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        return {key: self.value(item) for key, item in value.items()} if isinstance(value, dict) else value

    def _rewritten(self, text: str, link: Link) -> str | None:
        """The target as it must be written, None when it may stay."""
        old = resolve(link.target, self._old_place, self._before, style=link.style)
        if old is None:
            return self._carried(text, link)
        new = self._moves.get(old, old)
        beside = link.style == "markdown" and _is_beside(link.target, self._old_place, old, self._before)
        if self._means(link.target, new, link.style) and not (beside and self._left_behind(link.target, new)):
            return None
        for target in self._forms(link, new, beside):
            if self._means(target, new, link.style):
                return _as_written(target, text, link)
        return None

    def _carried(self, text: str, link: Link) -> str | None:
        """A relative link of the moved note to a file that the index does not know: its place is plain arithmetic."""
        here, there = (place.rpartition("/")[0] for place in (self._old_place, self._new_place))
        if here == there or not link.target.startswith(("./", "../")):
            return None
        path = plain_path(f"{here}/{link.target}")
        if path is None:
            return None
        return _as_written(_relative(self._new_place, path, dotted=link.target.startswith("./")), text, link)

    def _means(self, target: str, path: str, style: LinkStyle) -> bool:
        return resolve(target, self._new_place, self._after, style=style) == path

    def _left_behind(self, target: str, new: str) -> bool:
        """True when a relative Markdown link is found by its name only: other readers would not find it."""
        return not _is_beside(target, self._new_place, new, self._after)

    def _forms(self, link: Link, new: str, beside: bool) -> Iterator[str]:
        """Ways to write the new target, the one closest to the old link's first."""
        target = link.target
        shown = _without_extension(new) if not target.lower().endswith(".md") else new
        if target.startswith("/"):
            yield f"/{shown}"
        elif target.startswith(("./", "../")):
            yield _relative(self._new_place, shown, dotted=target.startswith("./"))
        elif beside:
            yield _relative(self._new_place, shown, dotted=False)
        elif "/" not in target:
            yield shown.rpartition("/")[2]
        yield shown
        yield f"/{shown}"


def _is_beside(target: str, from_path: str, path: str, index: PathIndex) -> bool:
    """True when the target, taken from the folder of `from_path`, is that path."""
    place = plain_path(f"{from_path.rpartition('/')[0]}/{target}") if not target.startswith("/") else None
    return place is not None and resolve(f"/{place}", "", index) == path


def _without_extension(path: str) -> str:
    return path[: -len(".md")] if path.lower().endswith(".md") else path


def _relative(from_path: str, path: str, *, dotted: bool) -> str:
    """`path` seen from the folder of `from_path`."""
    here, there = from_path.split("/")[:-1], path.split("/")
    shared = 0
    while shared < min(len(here), len(there) - 1) and here[shared] == there[shared]:
        shared += 1
    up = "../" * (len(here) - shared)
    return ("./" if dotted and not up else "") + up + "/".join(there[shared:])


def _as_written(target: str, text: str, link: Link) -> str | None:
    """The target in the link's own notation; None where that notation cannot say it."""
    if link.style == "wiki":
        return None if set(target) & _BREAKS_WIKILINKS else target
    if text[link.target_start - 1] == "<":
        return None if set(target) & {"<", ">", "#"} else target
    old = text[link.target_start : link.target_end]
    keep_letters = link.target.isascii() or not old.isascii()
    return "".join(_percent(character, keep_letters=keep_letters) for character in target)


def _percent(character: str, *, keep_letters: bool) -> str:
    if character in _ENCODED or character.isspace() or (not keep_letters and not character.isascii()):
        return "".join(f"%{byte:02X}" for byte in character.encode())
    return character


def _head(parts: Parts, plan: _Moves) -> str:
    """The head with the links in its values rewritten in place."""
    if parts.block is None or "[" not in parts.block:
        return parts.head
    block = parts.block
    for start, end, new in sorted(_value_splices(block, plan), reverse=True):
        block = block[:start] + new + block[end:]
    start = parts.block_start
    return parts.head[:start] + block + parts.head[start + len(parts.block) :]


def _value_splices(block: str, plan: _Moves) -> set[tuple[int, int, str]]:
    root = compose(block)
    splices = set()
    for node in _linking_nodes(root, block) if root is not None else ():
        start, end = node.start_mark.index, end_of(node, block)
        if (new := _rewritten_value(block[start:end], node, plan)) is not None:
            splices.add((start, end, new))
    return splices


def _linking_nodes(node: yaml.Node, block: str) -> Iterator[yaml.Node]:
    """Scalars and bare `[[X]]` below a node that hold a bracket, keys left out."""
    if isinstance(node, yaml.MappingNode):
        for _, value in node.value:
            yield from _linking_nodes(value, block)
    elif bare_link(node, block) is not None:
        yield node
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _linking_nodes(item, block)
    else:
        yield from (leaf for leaf in leaves(node) if "[" in str(leaf.value))


def _rewritten_value(raw: str, node: yaml.Node, plan: _Moves) -> str | None:
    """The new source text of a value: the link alone replaced where that reads back, else the whole value requoted."""
    new_raw = plan.text(raw)
    if not isinstance(node, yaml.ScalarNode):
        return new_raw if new_raw != raw else None
    wanted = plan.text(str(node.value))
    if wanted == node.value:
        return None
    if new_raw != raw and (node.style in ("|", ">") or _reads_as(new_raw, wanted)):
        return new_raw
    if node.style == "'":
        return single_quoted(wanted) or double_quoted(wanted)
    return double_quoted(wanted) if node.style == '"' else text_scalar(wanted)


def _reads_as(raw: str, wanted: str) -> bool:
    try:
        root = compose(f"k: [{raw}]\n")
    except (yaml.YAMLError, ValueError):
        return False
    items = root.value[0][1].value if root is not None else []
    return len(items) == 1 and isinstance(items[0], yaml.ScalarNode) and items[0].value == wanted


def _prove(before: Parts, after: Parts, plan: _Moves) -> None:
    """Read the result again: every value must be the old one with its links rewritten, and nothing else.

    Raises:
        MalformedNote: otherwise.
    """
    old, new = before.entries or {}, after.entries or {}
    if list(old) != list(new) or after.body != plan.text(before.body):
        raise refusal("the links of this note cannot be rewritten safely")
    for name, entry in old.items():
        value, wanted = own_value(new[name].value, new[name].source), own_value(entry.value, entry.source)
        if value != plan.value(wanted):
            raise refusal(f"the links in {name} cannot be rewritten safely", entry.line)
