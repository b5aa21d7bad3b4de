"""The commands on a real vault: what is typed, what is answered, what is on the disk afterwards."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vault_memory.operations.init import init_vault
from vault_memory.surfaces.cli import app


class Answer:
    """How one command line ended."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        """The document on stdout, which must be strict JSON."""

        def refuse(constant: str) -> None:
            raise AssertionError(f"{constant} is not JSON")

        return json.loads(self.out, parse_constant=refuse)

    @property
    def problem(self) -> Any:
        return json.loads(self.err)


Run = Callable[..., Answer]


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("DIR", "PROJECT", "ACTOR", "AGENT", "SESSION"):
        monkeypatch.delenv(f"VAULT_MEMORY_{name}", raising=False)
    monkeypatch.setenv("VAULT_MEMORY_CONFIG", str(tmp_path / "mine.toml"))
    root = tmp_path / "vault"
    init_vault(root, git=False)
    return root


@pytest.fixture
def run(vault: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """One command line on the vault, as `main` runs it."""

    def run(*arguments: str, stdin: bytes | None = None, at: Path = vault) -> Answer:
        monkeypatch.chdir(at)
        stream = io.TextIOWrapper(io.BytesIO(stdin or b""))
        monkeypatch.setattr(stream, "isatty", lambda: stdin is None)
        monkeypatch.setattr(sys, "stdin", stream)
        code = app.run(arguments)
        captured = capsys.readouterr()
        return Answer(code, captured.out, captured.err)

    return run


def stored(run: Run, *arguments: str, **options: Any) -> Any:
    answer = run("remember", *arguments, "--json", **options)
    assert answer.code == 0, answer.err
    return answer.json["memory"]


def test_a_memory_is_stored_listed_read_changed_and_found_again(run: Run, vault: Path) -> None:
    memory = stored(run, "We deploy with fly.io.", "--title", "Deploys", "-t", "ops,deploy", "-t", "eu")
    assert memory["tags"] == ["ops", "deploy", "eu"]
    assert (vault / memory["path"]).read_bytes().endswith(b"---\nWe deploy with fly.io.")
    assert run("list").out.split("\t")[::3] == [memory["ref"], "Deploys\n"]
    assert run("update", memory["ref"], "--importance", "0.9").out.startswith("updated")
    assert run("append", "Deploys", "More.").code == 0
    got = run("get", memory["ref"], "--json").json["memories"][0]
    assert (got["importance"], got["version"]) == (0.9, 3)
    assert "More." in got["content"]
    assert run("list", "--q", "fly.io", "--json").json["total"] == 1


def test_the_body_comes_from_stdin_byte_for_byte(run: Run, vault: Path) -> None:
    body = b"\n  two\r\nlines\t\n\n"
    assert (vault / stored(run, "--title", "x", stdin=body)["path"]).read_bytes().endswith(b"---\n" + body)
    assert (vault / stored(run, "-", "--title", "y", stdin=b"Dash.")["path"]).read_bytes().endswith(b"Dash.")


def test_references_come_from_stdin_one_a_line(run: Run) -> None:
    refs = [stored(run, f"Number {n} of three facts.")["ref"] for n in range(3)]
    answer = run("get", "-", "--json", stdin="\n".join(refs).encode())
    assert [memory["ref"] for memory in answer.json["memories"]] == refs


def test_stdin_that_is_no_text_is_refused(run: Run) -> None:
    answer = run("remember", stdin=b"\xff\xfe")
    assert (answer.code, answer.out) == (2, "")
    assert "UTF-8" in answer.err


def test_a_missing_text_at_a_terminal_is_a_refusal_and_no_waiting(run: Run) -> None:
    answer = run("remember")
    assert answer.code == 2
    assert "content" in answer.err


def test_an_empty_value_clears_a_field(run: Run) -> None:
    ref = stored(run, "A fact.", "--domain", "ops", "-t", "a")["ref"]
    run("update", ref, "--domain", "", "--tag", "")
    memory = run("get", ref, "--json").json["memories"][0]
    assert (memory["domain"], memory["tags"]) == (None, [])


def test_relations_and_own_keys_are_given_as_pairs(run: Run) -> None:
    old = stored(run, "The old way.", "--title", "Old")
    new = stored(run, "The new way.", "--relations", "supersedes=Old", "--metadata", "owner=Maria")
    memory = run("get", new["ref"], "--json").json["memories"][0]
    assert list(memory["relations"]) == ["supersedes"]
    assert memory["metadata"] == {"owner": "Maria"}
    assert run("get", old["ref"], "--json").json["memories"][0]["backlinks"] == [new["ref"]]


@pytest.mark.parametrize("text", ["owner", "=x"])
def test_a_pair_without_a_key_or_sign_is_refused(text: str, run: Run) -> None:
    answer = run("remember", "A fact.", "--metadata", text)
    assert answer.code == 2
    assert "KEY=VALUE" in answer.err


def test_forget_delete_and_restore_go_and_come(run: Run) -> None:
    ref = stored(run, "A fact to lose.")["ref"]
    assert run("forget", ref, "--reason", "old").out.startswith("archived")
    assert run("restore", ref).code == 0
    assert run("delete", ref).out.startswith("deleted")
    gone = run("get", ref)
    assert (gone.code, gone.out) == (12, "")
    assert "restore" in gone.err
    assert run("restore", ref).out.startswith("restored")
    assert run("get", ref).code == 0


def test_a_stale_revision_is_a_conflict_with_the_current_text(run: Run, vault: Path) -> None:
    memory = stored(run, "First text.")
    (vault / memory["path"]).write_bytes((vault / memory["path"]).read_bytes() + b"by hand\n")
    answer = run("update", memory["ref"], "--content", "Other.", "--if-revision", memory["revision"], "--json")
    assert answer.code == 13
    assert "by hand" in json.dumps(answer.problem["current"])
    assert b"by hand" in (vault / memory["path"]).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("list", "--limit", "101"), "between 1 and 100"),
        (("list", "--limit", "five"), "whole number"),
        (("list", "--sort", "size"), "one of id, created_at"),
        (("list", "--status", "actve"), "active"),
        (("remember", "x y z", "--memory-type", "descision"), "decision"),
        (("list", "--created-after", "soon"), "2026-04-06"),
        (("update", "x", "--importance", "7"), "between 0 and 1"),
    ],
)
def test_a_wrong_value_is_named_with_what_would_be_right(arguments: tuple[str, ...], words: str, run: Run) -> None:
    answer = run(*arguments)
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err


def test_an_unknown_reference_names_the_nearest(run: Run) -> None:
    memory = stored(run, "A fact.", "--title", "Kiln temperatures")
    answer = run("get", "Kiln temperature", "--json")
    assert answer.code == 12
    assert answer.problem["nearest"][0]["ref"] == memory["ref"]


def test_a_project_sees_itself_and_what_is_global(run: Run) -> None:
    ours = stored(run, "Ours is Postgres.", "--project", "acme")["ref"]
    theirs = stored(run, "Theirs is MySQL.", "--project", "other")["ref"]
    shared = stored(run, "Everybody uses git.", "--memory-type", "fact")["ref"]

    def seen(*arguments: str) -> set[str]:
        return {item["ref"] for item in run("list", "--json", *arguments).json["items"]}

    assert seen("--project", "acme") == {ours, shared}
    assert seen("--project", "global") == {shared}
    assert seen() == seen("--project", "*") == {ours, theirs, shared}
    assert seen("--memory-project", "other") == {theirs}
    assert run("get", theirs, "--project", "acme").code == 12
    assert run("delete", theirs, "--project", "acme").code == 12


def test_an_actor_sees_only_its_own(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    hers = stored(run, "Likes tea.", "--actor", "anna")
    ours = stored(run, "Meets on Mondays.")
    assert hers["actor"] == "anna"
    assert [item["ref"] for item in run("list", "--json").json["items"]] == [ours["ref"]]
    assert run("list", "--actor", "*", "--json").json["total"] == 2
    monkeypatch.setenv("VAULT_MEMORY_ACTOR", "anna")
    assert [item["ref"] for item in run("list", "--json").json["items"]] == [hers["ref"]]


def test_who_writes_comes_from_the_environment(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_MEMORY_AGENT", "claude-code")
    monkeypatch.setenv("VAULT_MEMORY_SESSION", "s1")
    memory = stored(run, "A fact.")
    assert (memory["agent"], memory["session"], memory["source"]) == ("claude-code", "s1", "human")


def test_the_vault_is_found_from_inside_from_the_environment_and_by_default(
    run: Run, vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (vault / "deep" / "er").mkdir(parents=True)
    assert run("list", at=vault / "deep" / "er").code == 0
    assert run("list", at=tmp_path).code == 10
    assert run("--vault", str(vault), "list", at=tmp_path).code == 0
    assert run("list", "--vault", "vault", at=tmp_path).code == 0
    (tmp_path / "mine.toml").write_text(f'default_vault = "{vault}"\n', "utf-8")
    assert run("list", at=tmp_path).code == 0
    monkeypatch.setenv("VAULT_MEMORY_DIR", str(tmp_path / "nowhere"))
    assert run("list", at=tmp_path).code == 10


def test_fm_01_dates_of_every_kind_leave_as_strict_json_and_sort_together(run: Run, vault: Path) -> None:
    head = "---\ntitle: Kiln log\ncreated: {}\n{}---\nfired at cone six\n"
    notes = {
        "n1.md": head.format("2026-04-05", ""),
        "n2.md": head.format("2026-04-05 09:30:00", ""),
        "n3.md": head.format("2026-04-05T09:30:00+02:00", "review: .nan\n"),
    }
    for name, text in notes.items():
        (vault / name).write_text(text, "utf-8")
    for name in notes:
        assert run("get", name, "--json").json["memories"][0]["created_at"].startswith("2026-04-05T")
    listed = run("list", "--sort", "created_at", "--q", "cone", "--json").json["items"]
    assert [item["path"] for item in listed] == ["n2.md", "n3.md", "n1.md"], "no zone is UTC, a date its midnight"
    assert {name: (vault / name).read_text("utf-8") for name in notes} == notes


OUTSIDE = [
    "../secret.txt", "..\\..\\secret", "{outside}/secret.txt", "a/../../secret.txt", "%2e%2e%2fsecret.txt",
    "%252e%252e/secret", "C:\\x", "\\\\host\\share", "../vault-evil/x", ".git/hooks/post-commit", ".obsidian/app.json",
    "~/.ssh/config",
]  # fmt: skip


@pytest.mark.parametrize("place", OUTSIDE)
def test_se_01_no_path_leads_outside(place: str, run: Run, vault: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("canary", "utf-8")
    (tmp_path / "vault-evil").mkdir()
    place = place.format(outside=tmp_path)
    ref = stored(run, "A fact.")["ref"]
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file() and "index" not in file.parts}
    for arguments in (
        ("get", place), ("remember", "Another fact.", "--path", place), ("move", ref, "--path", place),
        ("update", place, "--title", "x"), ("append", place, "x"), ("forget", place), ("delete", place),
    ):  # fmt: skip
        answer = run(*arguments, "--json")
        assert answer.code == 17, (arguments, answer.code, answer.err)
        assert answer.problem["code"] == "not_allowed"
        assert "canary" not in answer.out + answer.err
    after = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file() and "index" not in file.parts}
    changed = {file for file in {*before, *after} if before.get(file) != after.get(file)}
    assert {file for file in changed if "state" not in file.parts} == set()


def test_a_page_says_how_to_go_on(run: Run) -> None:
    for number in range(3):
        stored(run, f"Fact number {number}.")
    answer = run("list", "--limit", "2", "--offset", "0")
    assert answer.err == "2 of 3; the next page: --offset 2\n"
    assert run("list", "--limit", "2", "-q").err == ""
    assert run("list", "--limit", "2", "--offset", "2").err == ""


def test_edit_opens_the_note_in_the_persons_editor(run: Run, vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = stored(run, "First text.", "--title", "Edited")
    monkeypatch.setenv("VISUAL", "sed -i 's/First/Second/'")
    assert run("edit", "Edited").out.startswith("edited")
    assert (vault / memory["path"]).read_bytes().endswith(b"\nSecond text.")
    assert run("edit", "Edited").out.startswith("unchanged")


def test_edit_says_at_once_what_became_odd(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    ref = stored(run, "A fact.")["ref"]
    monkeypatch.setenv("VISUAL", "sed -i 's/^id:/importance: much\\nid:/'")
    answer = run("edit", ref)
    assert answer.code == 0
    assert "importance" in answer.err


def test_an_editor_that_fails_is_a_refusal_with_its_name(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    ref = stored(run, "A fact.")["ref"]
    monkeypatch.setenv("VISUAL", "false")
    answer = run("edit", ref)
    assert answer.code == 2
    assert "false" in answer.err


def test_git_merges_notes_field_by_field_through_the_command(run: Run, tmp_path: Path) -> None:
    text = "---\ntags: [{}]\nversion: {}\n---\nBody.\n"
    for name, content in {"base": ("a", 1), "ours": ("a, b", 2), "theirs": ("a, c", 3)}.items():
        (tmp_path / name).write_text(text.format(*content), "utf-8")
    files = [str(tmp_path / name) for name in ("base", "ours", "theirs")]
    assert run("git-merge", *files, "7", "note.md").code == 0
    assert (tmp_path / "ours").read_text("utf-8") == text.format("a, b, c", 3)
    (tmp_path / "theirs").write_text("---\ntags: [a]\nversion: 1\n---\nTheirs.\n", "utf-8")
    (tmp_path / "ours").write_text("---\ntags: [a]\nversion: 1\n---\nOurs.\n", "utf-8")
    assert run("git-merge", *files, "7", "note.md").code == 1
    assert "<<<<<<<" in (tmp_path / "ours").read_text("utf-8")


def test_a_person_sees_warnings_and_hints_on_stderr_and_the_answer_on_stdout(run: Run, vault: Path) -> None:
    (vault / "odd.md").write_text("---\nstatus: draft\n---\nText.\n", "utf-8")
    shown = run("get", "odd.md")
    assert "Text.\n" in shown.out
    assert shown.code == 0
