"""No path leads out of the vault, whatever it is made of (SE-01)."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.files.vault_tree import make_vault, snapshot
from vault_memory.errors import NotAllowed
from vault_memory.files.paths import is_plain, new_name_problem, note_problem, problem
from vault_memory.files.store import NoteStore

REFUSED = {
    "parent": "../secret.md",
    "parent, not a note": "../secret.txt",
    "parent inside": "a/../../secret.md",
    "parent at the end": "a/..",
    "sibling with the same beginning": "../vault-evil/x.md",
    "backslashes": "..\\..\\secret.md",
    "one backslash": "notes\\x.md",
    "absolute": "/tmp/t/secret.md",
    "two slashes": "//host/share/x.md",
    "encoded": "%2e%2e%2fsecret.md",
    "encoded twice": "%252e%252e/secret.md",
    "encoded seven times": "%" + "25" * 6 + "2e%2e/secret.md",
    "encoded slash only": "..%2fsecret.md",
    "encoded NUL": "notes/%00.md",
    "encoded backslash": "..%5csecret.md",
    "mixed encoding": "a/%2E./secret.md",
    "drive": "C:\\x.md",
    "drive with a slash": "C:/x.md",
    "UNC": "\\\\host\\share\\x.md",
    "NUL": "notes/\x00.md",
    "newline": "notes/a\nb.md",
    "escape": "notes/\x1b[31m.md",
    "line separator": "notes/a\u2028b.md",
    "lone surrogate": "notes/\udc80.md",
    "git": ".git/hooks/post-commit",
    "a note in git": ".git/x.md",
    "obsidian": ".obsidian/app.json",
    "our own folder": ".vault-memory/state/x.md",
    "dot folder deep down": "a/b/.hidden/x.md",
    "dot file": "a/.x.md",
    "dot": "./x.md",
    "zero width before a dot": "\u200b.git/x.md",
    "zero width inside": ".g\u200cit/x.md",
    "space before a dot": " .git/x.md",
    "home": "~/.ssh/config",
    "a note at home": "~/x.md",
    "somebody's home": "~root/x.md",
    "empty": "",
    "only a slash": "/",
    "empty segment": "a//x.md",
    "slash at the end": "a/x.md/",
    "no note": "a/x.txt",
    "no suffix": "a/x",
    "suffix alone": ".md",
    "name too long": "a/" + "x" * 300 + ".md",
}

CALLS: dict[str, Callable[[NoteStore, str], object]] = {
    "locate": lambda store, path: store.locate(path),
    "locate new": lambda store, path: store.locate(path, new=True),
    "read": lambda store, path: store.read(path),
    "stat": lambda store, path: store.stat(path),
    "exists": lambda store, path: store.exists(path),
    "create": lambda store, path: store.create(path, b"evil"),
    "replace": lambda store, path: store.replace(path, b"evil", b"secret"),
    "remove": lambda store, path: store.remove(path, b"secret"),
    "move from": lambda store, path: store.move(path, "stolen.md"),
    "move to": lambda store, path: store.move("a/real.md", path),
}


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A vault with a canary beside it and a sibling whose name begins like the vault's."""
    make_vault(tmp_path / "vault", {"a/real.md": "real", ".git/x.md": "secret", ".obsidian/app.json": "secret"})
    (tmp_path / "secret.md").write_text("secret")
    (tmp_path / "secret.txt").write_text("secret")
    make_vault(tmp_path / "vault-evil", {"x.md": "secret"})
    return tmp_path


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("path", REFUSED.values(), ids=REFUSED)
def test_se_01_a_path_that_leads_elsewhere_is_refused_and_nothing_happens(world: Path, path: str, call: str) -> None:
    before = snapshot(world)
    store = NoteStore(world / "vault")
    with pytest.raises(NotAllowed):
        CALLS[call](store, path)
    assert snapshot(world) == before


NOT_FOR_NEW = {
    "device": "con.md",
    "device with an extension": "notes/AUX.x.md",
    "device as a folder": "lpt1/x.md",
    "numbered device": "COM1.md",
    "superscript device": "com¹.md",
    "colon": "notes/a:b.md",
    "stream": "notes/a.md:x.md",
    "question mark": "what?.md",
    "wildcard": "a*.md",
    "quote": 'say "x".md',
    "angle": "<x>.md",
    "pipe": "a|b.md",
    "hash": "c#.md",
    "caret": "a^b.md",
    "brackets": "[x].md",
    "percent": "100%.md",
    "hyphen": "-rf.md",
    "trailing dot": "a./x.md",
    "trailing space": "a /x.md",
    "short name of git": "GIT~1/x.md",
    "too long for sync tools": "é" * 101 + ".md",
}


@pytest.mark.parametrize("path", NOT_FOR_NEW.values(), ids=NOT_FOR_NEW)
def test_a_new_note_gets_no_name_that_some_system_cannot_hold(world: Path, path: str) -> None:
    before = snapshot(world)
    store = NoteStore(world / "vault")
    with pytest.raises(NotAllowed):
        store.create(path, b"")
    with pytest.raises(NotAllowed):
        store.move("a/real.md", path)
    assert snapshot(world) == before


@pytest.mark.parametrize("name", ["What? Why.md", "100% sure.md", "a%20b.md", "C#.md", "con.md", "-x.md", "a;b&c.md"])
def test_a_name_that_a_person_chose_is_read_changed_and_moved_all_the_same(tmp_path: Path, name: str) -> None:
    store = NoteStore(make_vault(tmp_path / "vault", {f"folder [1]/{name}": "text"}))
    path = f"folder [1]/{name}"
    assert store.read(path) == b"text"
    store.replace(path, b"more", b"text")
    store.create("folder [1]/new.md", b"beside it")
    store.move(path, f"elsewhere/{name}")
    assert store.read(f"elsewhere/{name}") == b"more"


PIECES = st.sampled_from(
    ["..", ".", "/", "\\", "%", "2e", "2f", "5c", "00", "25", "~", "C:", "a", "é", "\x00", "\u200d", " ", ".md", ".git"]
)


@given(st.one_of(st.text(max_size=30), st.lists(PIECES, max_size=12).map("".join)).map(lambda text: text + ".md"))
def test_any_text_is_refused_or_stays_inside(path: str) -> None:
    root = "/vault"
    if note_problem(path):
        return
    segments = unicodedata.normalize("NFC", path).split("/")
    assert Path(root, path).is_relative_to(root)
    assert not any(segment.startswith(".") or segment in ("", "..") for segment in segments)
    assert not set("\\\x00") & set(path)


@given(st.text(min_size=1, max_size=80).filter(lambda name: "/" not in name))
def test_a_name_fit_for_new_notes_is_fit_for_reading(name: str) -> None:
    if new_name_problem(f"{name}.md") is None and note_problem(f"{name}.md") is not None:
        assert set(name) & {"\\"} or not name.isprintable()


@given(
    st.one_of(st.text(min_size=1, max_size=12), st.text(" .~%:\\\nC2e", min_size=1)).filter(
        lambda name: "/" not in name
    )
)
def test_a_name_that_a_scan_takes_without_a_closer_look_is_safe(name: str) -> None:
    if is_plain(name):
        assert problem(name) is None
        assert problem(f"folder/{name}") is None
        assert name.isascii()
