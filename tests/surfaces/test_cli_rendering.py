"""What answers look like: tab-separated without a terminal, tables with one, and nothing that steers a terminal."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.surfaces.cli import plain, terminal
from vault_memory.surfaces.cli.blocks import Card, Line, Raw, Table, one_line, safe
from vault_memory.surfaces.cli.output import exit_code
from vault_memory.surfaces.cli.views import view

MEMORY: dict[str, Any] = {
    "ref": "1ngvj1k9f3qw", "path": "memories/global/fact/x.md", "title": "A title", "content": "Body\n  kept\n",
    "memory_type": "fact", "status": "active", "tags": ["a", "b"], "importance": 0.5, "pinned": False,
    "updated_at": "2026-11-30T19:02:11Z", "relations": {"supersedes": ["old"]}, "metadata": {"own": "key"},
    "findings": [{"code": "odd", "line": 3, "reason": "why"}],
}  # fmt: skip
EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31mred\x7f\r\b"


def test_a_page_is_rows_with_tabs() -> None:
    page = {"items": [MEMORY, {**MEMORY, "title": "two\tlines\nhere"}], "total": 2}
    lines = plain.render(view("list", page)).splitlines()
    assert lines[0] == "1ngvj1k9f3qw\tfact\t2026-11-30\tA title"
    assert lines[1].split("\t")[3] == "two lines here"


def test_an_empty_page_says_so() -> None:
    assert plain.render(view("list", {"items": [], "total": 0})) == "nothing found\n"


def test_a_memory_in_full_shows_its_own_keys_and_leaves_out_what_is_usual() -> None:
    shown = plain.render(view("get", {"memories": [MEMORY]}))
    assert shown.startswith("A title\nref: 1ngvj1k9f3qw\n")
    assert "supersedes: old" in shown
    assert "own: key" in shown
    assert "finding: odd (line 3): why" in shown
    assert "\nBody\n  kept\n" in shown
    assert "status" not in shown
    assert "importance" not in shown


def test_a_write_is_told_in_one_line_with_its_rival() -> None:
    answer = {
        "outcome": "needs_review",
        "memory": MEMORY,
        "reason": "the number differs",
        "rival": {"ref": "r", "title": "t"},
    }
    assert plain.render(view("remember", answer)).splitlines() == [
        "needs_review  1ngvj1k9f3qw  A title  memories/global/fact/x.md",
        "  the number differs",
        "  rival: r  t",
    ]


def test_hits_come_with_their_evidence_and_passage() -> None:
    hits = {
        "hits": [{"memory": MEMORY, "relevance": 0.87, "snippet": "the\npassage"}],
        "anchors": [{"content": "Always."}],
    }
    assert plain.render(view("search", hits)).splitlines() == [
        "! Always.", "0.87  1ngvj1k9f3qw  A title", "      the passage",
    ]  # fmt: skip


def test_a_plan_says_that_nothing_was_changed() -> None:
    shown = plain.render(view("prune", {"would_prune": [MEMORY], "count": 1}))
    assert "nothing was changed" in shown
    assert "1ngvj1k9f3qw" in shown


def test_a_history_names_who_when_what_and_the_version_to_bring_back() -> None:
    one = {"when": "2026-11-30T19:02:11Z", "agent": None, "author": "Maria", "summary": "by hand", "kind": "git",
           "commit": "0123456789abcdef", "revision": None}  # fmt: skip
    shown = plain.render(view("history", {"versions": [one]}))
    assert shown == "2026-11-30 19:02\tMaria\tby hand\t0123456789ab\n"


def test_relations_say_which_way_they_lead() -> None:
    edge = {"source_ref": "a", "target_ref": None, "target": "gone", "relation_type": "supersedes", "note": "why"}
    shown = plain.render(view("relations", {"outgoing": [edge], "incoming": [{**edge, "relation_type": None}]}))
    assert shown == "→\tsupersedes\tgone\twhy\n←\tlink\ta\twhy\n"


def test_status_ends_with_the_findings() -> None:
    finding = {"path": "bad.md", "line": 2, "code": "yaml", "reason": "why"}
    index = {"to_read": 0, "to_derive": 0, "generation": 3, "applied": {"text": 3, "vectors": 3}}
    parts = {"index": index, "watcher": {"running": False}, "git": {"queued": 0, "waiting": ""}}
    report = {"root": "/v", "notes": 1, "findings": [finding], "warnings": ["w"], **parts}
    assert plain.render(view("status", report)).splitlines()[-1] == "! bad.md:2 yaml: why"


def test_an_answer_of_unknown_shape_is_still_shown() -> None:
    assert "notes: 3" in plain.render(view("stats", {"notes": 3, "by": {"type": {}}}))


def test_a_pack_is_its_text() -> None:
    assert plain.render(view("context_pack", {"text": "# Pack\nx", "token_estimate": 3})) == "# Pack\nx\n"


@pytest.mark.parametrize("render", [plain.render, lambda blocks: terminal.render(blocks, 200)])
def test_no_note_can_steer_the_terminal(render: Any) -> None:
    blocks = [Line(EVIL), Table((EVIL,), ((EVIL,),)), Card(EVIL, {"name": EVIL}, EVIL), Raw(EVIL)]
    shown = render(blocks)
    assert "\x1b]0" not in shown
    assert "\x1b[2J" not in shown
    assert not set("\x07\x9b\x7f\r\b") & set(shown)


@given(st.text())
def test_safe_text_has_no_controls_and_keeps_everything_else(text: str) -> None:
    shown = safe(text)
    assert all(ch in "\t\n" or not (ord(ch) < 0x20 or 0x7F <= ord(ch) < 0xA0) for ch in shown)
    assert [ch for ch in text if ch.isprintable()] == [ch for ch in shown if ch.isprintable()]
    assert "\n" not in one_line(text)


def test_markup_of_the_terminal_library_is_text() -> None:
    assert "[red]x[/red] :smile:" in terminal.render([Line("[red]x[/red] :smile:")], 80)


def test_exit_codes_of_answers_that_report_refusals() -> None:
    assert exit_code({"outcome": "stored"}) == 0
    assert exit_code({"outcome": "rejected"}) == 14
    assert exit_code({"results": [], "stored": 1, "failed": 1}) == 3
    assert exit_code({"results": [], "stored": 2, "failed": 0}) == 0
    assert exit_code({"checks": [], "healthy": False}) == 3
    assert exit_code({"checks": [], "healthy": True}) == 0
    assert exit_code(["anything"]) == 0


SHOW = (
    "from vault_memory.surfaces.cli import output; from vault_memory.surfaces.cli.blocks import *; "
    "output.show([Table(('ref', 'title'), (('r1', 'first'),)), Line('good', 'good')])"
)


def on_a_terminal(code: str, **extra: str) -> str:
    """What a person sees: the code runs with a real pseudo-terminal as its stdout and stderr."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", **extra}
    child = subprocess.Popen([sys.executable, "-c", code], stdout=theirs, stderr=theirs, env=env)
    os.close(theirs)
    data = b""
    while select.select([ours], [], [], 30)[0]:
        try:
            part = os.read(ours, 4096)
        except OSError:
            break
        if not part:
            break
        data += part
    child.wait(30)
    os.close(ours)
    return data.decode()


def test_a_terminal_gets_headings_and_colours() -> None:
    shown = on_a_terminal(SHOW)
    assert "title" in shown
    assert "\x1b[" in shown
    assert "\t" not in shown


def test_no_color_is_respected() -> None:
    shown = on_a_terminal(SHOW, NO_COLOR="1")
    assert "title" in shown
    assert "\x1b[3" not in shown


def test_a_pipe_gets_neither_headings_nor_colours(tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", SHOW], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert ended.stdout == "r1\tfirst\ngood\n"


WAIT = """
import sys, time
from vault_memory.surfaces.cli.progress import {what}
from vault_memory.surfaces.cli.settings import Settings
with {what}({label}Settings({settings})) as progress:
    for number in range({steps}):
        time.sleep(0.1)
        if progress: progress("reindex", number, {steps})
print("rich" in sys.modules)
"""


def waits(what: str, settings: str, steps: int) -> str:
    """A program that works for `steps` tenths of a second."""
    return WAIT.format(what=what, label='"reindex", ' if what == "waiting" else "", settings=settings, steps=steps)


@pytest.mark.parametrize("what", ["waiting", "bar"])
def test_what_takes_longer_than_a_second_shows_that_it_lives(what: str) -> None:
    assert "reindex" in on_a_terminal(waits(what, settings="", steps=14))


@pytest.mark.parametrize("what", ["waiting", "bar"])
def test_what_is_quick_shows_nothing(what: str) -> None:
    assert on_a_terminal(waits(what, settings="", steps=1)).strip() == "False"


@pytest.mark.parametrize("settings", ["quiet=True", "json=True"])
def test_no_progress_is_shown_to_those_who_did_not_ask(settings: str) -> None:
    assert on_a_terminal(waits("bar", settings=settings, steps=14)).strip() == "False"


def test_a_pipe_sees_no_progress() -> None:
    code = waits("waiting", settings="", steps=14)
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stderr == ""


ANSWERS = [
    ("tags",), ("projects",), ("recall", "deploy"), ("pulse",), ("timeline",), ("graph",), ("anchor-list",),
    ("duplicates",), ("review",), ("stats",), ("related", "Kiln"),
]  # fmt: skip


def test_every_answer_has_a_form_for_people(tmp_path: Path) -> None:
    environ = {**os.environ, "HOME": str(tmp_path), "VAULT_MEMORY_CONFIG": str(tmp_path / "none.toml")}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        called = [sys.executable, "-m", "vault_memory", *arguments]
        return subprocess.run(called, capture_output=True, text=True, env=environ, cwd=tmp_path)

    assert run("init", "v", "--no-git").returncode == 0
    (tmp_path / "v" / "Kiln.md").write_text("---\ntags: [deploy]\n---\nWe deploy the kiln. See [[Other]].\n")
    (tmp_path / "v" / "Other.md").write_text("Another note about how to deploy.\n")
    for command in ANSWERS:
        ended = run(*command, "--vault", "v")
        assert ended.returncode == 0, (command, ended.stderr)
        assert "{" not in ended.stdout, command
        assert "bug" not in ended.stderr, command
