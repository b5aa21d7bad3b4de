"""Links: found with their places, resolved as Obsidian does, rewritten only where a move needs it."""

from __future__ import annotations

import pytest

from vault_memory.memory.links import LinkIndex, links, resolve, retarget, retarget_note
from vault_memory.memory.markdown import parse

INDEX_NOTE = """\
[[idea]]
[[inbox/idea|the idea]]
[[inbox/idea#Plan]]
![[inbox/idea]]
[text](../inbox/idea.md)
[abs](/inbox/idea.md)

```
[[inbox/idea]]
```
and `[[inbox/idea]]` in backticks
"""


def found(text: str) -> list[tuple[str, str | None, str | None, bool, str]]:
    return [(link.target, link.heading, link.alias, link.embed, link.style) for link in links(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[note]]", ("note", None, None, False, "wiki")),
        ("[[folder/note|alias]]", ("folder/note", None, "alias", False, "wiki")),
        ("[[note#Heading]]", ("note", "Heading", None, False, "wiki")),
        ("[[note#^block]]", ("note", "^block", None, False, "wiki")),
        ("![[embed.png]]", ("embed.png", None, None, True, "wiki")),
        ("| [[note\\|alias]] |", ("note", None, "alias", False, "wiki")),
        ("[text](path%20to.md)", ("path to.md", None, "text", False, "markdown")),
        ("[text](<path to.md>)", ("path to.md", None, "text", False, "markdown")),
        ("[text](note.md#part%20two)", ("note.md", "part two", "text", False, "markdown")),
        ('[text](note.md "a title")', ("note.md", None, "text", False, "markdown")),
        ("[text](a(b).md)", ("a(b).md", None, "text", False, "markdown")),
        ("![alt](pic.png)", ("pic.png", None, "alt", True, "markdown")),
        ("[a [b] c](note.md)", ("note.md", None, "a [b] c", False, "markdown")),
        ("[label]: ../note.md", ("../note.md", None, "label", False, "markdown")),
    ],
)
def test_every_kind_of_link_is_found_with_its_parts(text: str, expected: tuple[object, ...]) -> None:
    assert found(text) == [expected]
    link = links(text)[0]
    assert text[link.start : link.end] in (text, text.strip("| "))


@pytest.mark.parametrize(
    "text",
    [
        "`[[x]]`",
        "```\n[[x]]\n```",
        "~~~~\n[a](b.md)\n~~~~",
        "> ```\n> [[x]]\n> ```",
        "- item\n\n  ```\n  [[x]]\n  ```",
        "    [[x]]\n",
        "``a ` [[x]]``",
        "```\n[[never closed]]",
        r"\[[x]]",
        "[a](https://example.org/x.md)",
        "[a](mailto:x@example.org)",
        "[a](#heading)",
        "[[#heading]]",
        "[[https://example.org]]",
        "[^1]: footnote.md",
        "[a] (x.md)",
        "[[two\nlines]]",
        "[[]]",
        "a](b.md)",
    ],
)
def test_code_web_addresses_and_what_is_no_link_are_left_out(text: str) -> None:
    assert found(text) == []


def test_links_after_code_in_a_list_are_still_links() -> None:
    text = "- item\n\n    [[a]] in a list, not code\n\n`x` [[b]] `y`\n\n``` not a fence ``` [[c]]\n"
    assert [link.target for link in links(text)] == ["a", "b", "c"]


def test_an_image_inside_a_link_gives_both() -> None:
    assert [link.target for link in links("[![alt](pic.png)](note.md)")] == ["pic.png", "note.md"]


VAULT = LinkIndex(
    [
        "idea.md",
        "a/idea.md",
        "a/b/deep.md",
        "a/b/n.md",
        "c/Über.md",
        "c/v1.2 plan.md",
        "pics/x.png",
        "c/x.md",
        "d/x.md",
    ],
    {"The Deep One": ["a/b/deep.md"], "Twice": ["c/x.md", "d/x.md"]},
)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("deep", "a/b/deep.md"),
        ("DEEP", "a/b/deep.md"),
        ("b/deep", "a/b/deep.md"),
        ("a/b/deep.md", "a/b/deep.md"),
        ("/a/b/deep", "a/b/deep.md"),
        ("./deep", "a/b/deep.md"),
        ("../idea", "a/idea.md"),
        ("idea", "idea.md"),
        ("U\u0308ber", "c/Über.md"),
        ("v1.2 plan", "c/v1.2 plan.md"),
        ("x.png", "pics/x.png"),
        ("x", "c/x.md"),
        ("missing", None),
        ("../../../etc/passwd", None),
        ("/../idea", None),
        ("eep", None),
        ("", None),
        ("The Deep One", None),
    ],
)
def test_a_target_is_resolved_as_obsidian_does(target: str, expected: str | None) -> None:
    assert resolve(target, "a/b/n.md", VAULT) == expected


def test_a_file_beside_the_note_goes_before_others_of_its_name() -> None:
    assert resolve("x", "d/other.md", VAULT) == "d/x.md"


def test_a_markdown_link_is_read_from_the_notes_folder_first() -> None:
    assert resolve("idea.md", "a/n.md", VAULT, style="markdown") == "a/idea.md"
    assert resolve("idea.md", "a/n.md", VAULT, style="wiki") == "idea.md"


def test_a_title_is_the_last_resort_and_must_be_unique() -> None:
    assert resolve("the deep one", "n.md", VAULT, by_title=True) == "a/b/deep.md"
    assert resolve("twice", "n.md", VAULT, by_title=True) is None


def test_mv_01_a_move_rewrites_only_links_that_need_it() -> None:
    vault = LinkIndex(["inbox/idea.md", "projects/index.md"])
    moved = retarget(INDEX_NOTE, {"inbox/idea.md": "projects/idea.md"}, "projects/index.md", vault)
    assert (
        moved
        == """\
[[idea]]
[[projects/idea|the idea]]
[[projects/idea#Plan]]
![[projects/idea]]
[text](idea.md)
[abs](/projects/idea.md)

```
[[inbox/idea]]
```
and `[[inbox/idea]]` in backticks
"""
    )
    vault = LinkIndex(["projects/idea.md", "projects/index.md"])
    renamed = retarget(moved, {"projects/idea.md": "projects/concept.md"}, "projects/index.md", vault)
    assert renamed.splitlines()[:6] == [
        "[[concept]]",
        "[[projects/concept|the idea]]",
        "[[projects/concept#Plan]]",
        "![[projects/concept]]",
        "[text](concept.md)",
        "[abs](/projects/concept.md)",
    ]
    assert renamed.splitlines()[6:] == moved.splitlines()[6:]


def test_the_moved_notes_own_relative_links_follow() -> None:
    vault = LinkIndex(["inbox/idea.md", "inbox/other.md", "pics/x.png"])
    text = "[a](other.md) [b](./other.md) ![c](../pics/x.png) [[other]] [[./other]]"
    moved = retarget(text, {"inbox/idea.md": "projects/2026/idea.md"}, "inbox/idea.md", vault)
    assert moved == (
        "[a](../../inbox/other.md) [b](../../inbox/other.md) ![c](../../pics/x.png) [[other]] [[../../inbox/other]]"
    )


def test_relative_links_of_the_moved_note_to_unknown_files_follow() -> None:
    text = "![a](../pics/x%20y.png) [b](./gone.md) [[../gone#H]] ![c](x.png) [d](../../outside.md)"
    moved = retarget(text, {"a/n.md": "b/c/n.md"}, "a/n.md", LinkIndex(["a/n.md"]))
    assert moved == (
        "![a](../../pics/x%20y.png) [b](../../a/gone.md) [[../../gone#H]] ![c](x.png) [d](../../outside.md)"
    )
    assert retarget(text, {"a/n.md": "a/m.md"}, "a/n.md", LinkIndex(["a/n.md"])) == text


def test_a_short_link_becomes_a_path_when_the_new_name_is_taken() -> None:
    vault = LinkIndex(["plan.md", "old/idea.md", "n.md"])
    assert retarget("[[idea]]", {"old/idea.md": "old/plan.md"}, "n.md", vault) == "[[old/plan]]"


def test_a_short_link_that_a_move_would_capture_is_made_exact() -> None:
    vault = LinkIndex(["deep/idea.md", "inbox/other.md", "n.md"])
    assert retarget("[[idea]]", {"inbox/other.md": "idea.md"}, "n.md", vault) == "[[deep/idea]]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a](my%20note.md)", "[a](new%20place/b%20(c).md)".replace("(c)", "%28c%29")),
        ("[a](<my note.md>)", "[a](<new place/b (c).md>)"),
        ("[[my note|x]]", "[[b (c)|x]]"),
        ("[[my note.md]]", "[[b (c).md]]"),
    ],
)
def test_the_notation_of_a_link_is_kept(text: str, expected: str) -> None:
    vault = LinkIndex(["my note.md", "n.md"])
    assert retarget(text, {"my note.md": "new place/b (c).md"}, "n.md", vault) == expected


def test_letters_are_percent_encoded_only_where_they_were() -> None:
    vault = LinkIndex(["ä.md", "n.md"])
    moves = {"ä.md": "ö.md"}
    assert retarget("[a](%C3%A4.md) [b](ä.md)", moves, "n.md", vault) == "[a](%C3%B6.md) [b](ö.md)"


def test_links_in_front_matter_follow_with_their_quotes() -> None:
    note = (
        b"---\n"
        b"supersedes: [\"[[inbox/idea]]\", '[[inbox/idea|it''s]]']  # keep\n"
        b"up: [[inbox/idea]]\n"
        b"relation_notes:\n  - 'supersedes [[inbox/idea]]: why'\n"
        b"text: |\n  see [[inbox/idea]]\n"
        b"---\n[[inbox/idea]]\n"
    )
    vault = LinkIndex(["inbox/idea.md", "n.md"])
    moved = retarget_note(note, {"inbox/idea.md": "projects/Bob's idea.md"}, "n.md", vault).decode()
    assert "[\"[[projects/Bob's idea]]\", '[[projects/Bob''s idea|it''s]]']  # keep\n" in moved
    assert "up: [[projects/Bob's idea]]\n" in moved
    assert "  - 'supersedes [[projects/Bob''s idea]]: why'\n" in moved
    assert "  see [[projects/Bob's idea]]\n" in moved
    assert parse(moved.encode(), "n.md").relations == {"supersedes": ("projects/Bob's idea",)}


def test_a_note_without_links_to_what_moved_is_the_same_object() -> None:
    note = b"---\ntitle: x: y\n---\n[[other]] <<<<<<<\n"
    assert retarget_note(note, {"a.md": "b.md"}, "n.md", LinkIndex(["a.md", "n.md"])) is note
