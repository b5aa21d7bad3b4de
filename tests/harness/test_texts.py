"""Entries go into settings text and out again without touching what stands around them."""

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.harness import blocktext, jsontext, tomltext
from vault_memory.harness.jsontext import BrokenText, EntryExists

SERVER = {"command": "/opt/v m/vault-memory", "args": ["mcp", "--vault", "/home/zoë/notes"], "env": {}}

JSONC = [
    '{\n  // why\n  "a": 1, // trailing\n}\n',
    '{\n  "a": 1 // last\n  /* block */\n}\n',
    '{\r\n    "zeta": [1,\r\n 2],\r\n    "mcpServers": {\r\n        "x": {}\r\n    }\r\n}\r\n',
    '{"a": {"b": [1, 2, {"c": null}]}, "mcpServers": {"x": {"y": 1}}}',
    '{\n\t"mcpServers": {\n\t\t"x": {} // keep me\n\t},\n\t"b": "}"\n}',
    '{ "a": [1,\n 2], "mcpServers": {\n "x": 1 } }',
    '{\n  "mcpServers": {\n    "x": 1, "y": 2\n  }\n}',
]


@pytest.mark.parametrize("text", JSONC)
def test_an_entry_put_in_and_taken_out_leaves_the_text_byte_for_byte(text: str) -> None:
    keep = 1 if "mcpServers" in text else 0
    new = jsontext.put(text, ["mcpServers", "vm"], SERVER, comments=True)

    assert jsontext.parse(new, comments=True).value["mcpServers"]["vm"] == SERVER
    assert jsontext.remove(new, ["mcpServers", "vm"], comments=True, keep=keep) == text
    assert new.count("\r\n") == (new.count("\n") if "\r\n" in text else 0)


keys = st.text(min_size=1, max_size=6)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)


@given(
    data=st.dictionaries(keys.filter(lambda key: key != "mcpServers"), values, max_size=4),
    servers=st.none() | st.dictionaries(keys.filter(lambda key: key != "vm"), values, min_size=1, max_size=3),
    indent=st.sampled_from([None, 1, 2, 4, "\t"]),
    newline=st.sampled_from(["\n", "\r\n"]),
    position=st.booleans(),
)
def test_whatever_the_settings_hold_only_our_entry_comes_and_goes(
    data: dict[str, object], servers: dict[str, object] | None, indent: int | str | None, newline: str, position: bool
) -> None:
    full = dict(data)
    if servers is not None:
        full = {"mcpServers": servers, **data} if position else {**data, "mcpServers": servers}
    text = json.dumps(full, indent=indent, ensure_ascii=False).replace("\n", newline) + newline

    new = jsontext.put(text, ["mcpServers", "vm"], SERVER, comments=False)

    assert json.loads(new) == full | {"mcpServers": {**(servers or {}), "vm": SERVER}}
    assert list(json.loads(new))[: len(full)] == list(full)
    keep = 0 if servers is None else 1
    assert jsontext.remove(new, ["mcpServers", "vm"], comments=False, keep=keep) == text


@given(items=st.lists(values, max_size=3), indent=st.sampled_from([None, 2]))
def test_an_item_joins_the_end_of_its_list(items: list[object], indent: int | None) -> None:
    text = json.dumps({"hooks": {"SessionStart": items}}, indent=indent)

    new = jsontext.add(text, ["hooks", "SessionStart"], {"ours": True}, comments=False)

    assert json.loads(new) == {"hooks": {"SessionStart": [*items, {"ours": True}]}}
    assert jsontext.remove(new, ["hooks", "SessionStart", len(items)], comments=False, keep=2) == text


def test_parents_that_we_made_go_with_us_and_those_with_a_comment_stay() -> None:
    made = jsontext.put('{"a": 1}', ["x", "y", "z"], 1, comments=True)
    assert jsontext.remove(made, ["x", "y", "z"], comments=True) == '{"a": 1}'
    commented = '{\n  "x": {\n    // mine\n    "y": 1\n  }\n}'
    assert jsontext.remove(commented, ["x", "y"], comments=True) == '{\n  "x": {\n    // mine\n  }\n}'


@pytest.mark.parametrize(
    ("text", "comments", "line"),
    [
        ('{"a": 1,}', False, 1),
        ('{\n"a": 1\n"b": 2}', False, 3),
        ('{\n// no\n"a": 1}', False, 2),
        ('{"a": 1} x', True, 1),
        ("{/* open", True, 1),
        ("{'a': 1}", True, 1),
        ("[" * 5000, True, 1),
        ('{"a": ', True, 1),
        ('{"a" 1}', True, 1),
    ],
)
def test_broken_json_is_refused_with_its_line(text: str, comments: bool, line: int) -> None:
    with pytest.raises(BrokenText) as refused:
        jsontext.put(text, ["b"], 1, comments=comments)
    assert refused.value.line == line


@pytest.mark.parametrize("text", ['{"m": {"vm": 1}}', '{"m": 3}', '{"m": []}', "[]", "3"])
def test_a_taken_or_unfit_place_is_refused(text: str) -> None:
    with pytest.raises(EntryExists):
        jsontext.put(text, ["m", "vm"], 2, comments=False)


def test_of_a_duplicate_key_the_last_one_counts() -> None:
    text = '{"m": {"a": 1}, "m": {"b": 2}}'
    new = jsontext.put(text, ["m", "vm"], 3, comments=False)
    assert json.loads(new) == {"m": {"b": 2, "vm": 3}}
    assert jsontext.remove(new, ["m", "vm"], comments=False, keep=1) == text


TOMLS = [
    "",
    'model = "x" # why\n',
    '# top\n\n[mcp_servers.other]\ncommand = "true" # why\n# trailing\n',
    '[profiles.a]\r\nx = """\r\n[mcp_servers.other]\r\n"""\r\n',
    "[mcp_servers]\n",
]


@pytest.mark.parametrize("text", TOMLS)
def test_a_table_put_in_and_taken_out_leaves_the_text_byte_for_byte(text: str) -> None:
    new = tomltext.put(text, ["mcp_servers", "vm"], SERVER)

    assert tomllib.loads(new)["mcp_servers"]["vm"] == SERVER
    assert tomltext.remove(new, ["mcp_servers", "vm"]) == text


def test_comments_and_tables_written_after_ours_stay() -> None:
    text = tomltext.put("a = 1\n", ["mcp_servers", "vm"], SERVER) + "\n# about b\n[b]\nc = 2 # d\n"
    assert tomltext.remove(text, ["mcp_servers", "vm"]) == "a = 1\n\n# about b\n[b]\nc = 2 # d\n"


def test_a_header_of_our_name_inside_a_text_is_not_taken_for_ours() -> None:
    text = '[a]\nx = """\n[mcp_servers.vm]\n"""\n'
    removed = tomltext.remove(tomltext.put(text, ["mcp_servers", "vm"], SERVER), ["mcp_servers", "vm"])
    assert removed.rstrip() == text.rstrip()


def test_other_spellings_of_our_table_are_taken_out_too() -> None:
    text = 'a = 1\nmcp_servers.vm = { command = "x" }\nmcp_servers.other = { command = "y" } # z\n'
    assert tomltext.remove(text, ["mcp_servers", "vm"]) == 'a = 1\nmcp_servers.other = { command = "y" } # z\n'


@pytest.mark.parametrize("text", ['mcp_servers = { x = { command = "a" } }\n', '[mcp_servers.vm]\ncommand = "x"\n'])
def test_a_table_that_has_no_place_is_refused(text: str) -> None:
    with pytest.raises(EntryExists):
        tomltext.put(text, ["mcp_servers", "vm"], SERVER)


def test_broken_toml_is_refused_with_its_line() -> None:
    with pytest.raises(BrokenText) as refused:
        tomltext.put("a = 1\nb = \n", ["c"], {})
    assert refused.value.line == 2


@given(st.text(alphabet=st.sampled_from("ab \n#é\r"), max_size=30))
def test_a_block_put_in_and_taken_out_leaves_the_text_but_for_a_missing_last_line_end(text: str) -> None:
    new = blocktext.put(text, "Use the memory.\nAlways.\n")

    assert blocktext.find(new) == "Use the memory.\nAlways."
    assert blocktext.remove(new).rstrip("\r\n") == text.rstrip("\r\n")
    if text.endswith("\n"):
        assert blocktext.remove(new) == text


@pytest.mark.parametrize("text", [blocktext.BEGIN, blocktext.END, f"{blocktext.END}\n{blocktext.BEGIN}"])
def test_markers_that_do_not_pair_up_are_refused(text: str) -> None:
    with pytest.raises(BrokenText):
        blocktext.put(text, "x")
