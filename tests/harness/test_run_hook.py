"""Hooks through the real command: what a session is told, that nothing is written, and that it always ends with 0."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.harness.conftest import tree

COMMAND = str(Path(sys.executable).with_name("vault-memory"))
GIT = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}


class Place:
    """A home, a vault and a project, and the command run there."""

    def __init__(self, root: Path) -> None:
        self.home, self.vault, self.project = root / "home", root / "my vault", root / "proj é"
        self.home.mkdir()
        self.project.mkdir()
        self.environ = {"HOME": str(self.home), "PATH": os.environ["PATH"], **GIT}

    def run(self, *arguments: str, stdin: str = "", cwd: Path | None = None, **more: str) -> str:
        done = subprocess.run(
            [COMMAND, *arguments],
            cwd=cwd or self.project,
            env=self.environ | more,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def hook(self, event: str, client: str = "claude-code", cwd: Path | None = None, **data: Any) -> str:
        """The text that the hook gives to the model."""
        more = {key: str(value) for key, value in data.pop("environ", {}).items()}
        message = {"session_id": "s1", "cwd": str(cwd or self.project), "source": "startup", **data}
        arguments = ("hook", event, "--client", client, "--vault", str(self.vault))
        answer = json.loads(self.run(*arguments, stdin=json.dumps(message), **more))
        return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def remember(self, text: str, *more: str, project: str = "proj-é", kind: str = "decision") -> None:
        self.run("remember", text, "--vault", str(self.vault), "--project", project, "--memory-type", kind, *more)

    def note(self, name: str, text: str) -> Path:
        path = self.vault / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    made.run("init", str(made.vault))
    subprocess.run(["git", "init", "-q"], cwd=made.project, check=True)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "1"], cwd=made.project, check=True, env=made.environ)
    made.run("project", "bind", "--vault", str(made.vault))
    return made


def test_a_session_is_told_its_project_and_what_is_global_and_nothing_of_others(place: Place) -> None:
    place.remember("We use Hono")
    place.remember("We use Rails", project="other")
    place.note("Taste.md", "---\nmemory_type: preference\n---\nI like small pull requests.\n")

    told = place.hook("session-start")

    assert "We use Hono" in told
    assert "small pull requests" in told
    assert "Rails" not in told


def test_an_agents_memory_for_every_project_is_told_once_a_person_confirmed_it_and_while_it_stays_as_it_was(
    place: Place,
) -> None:
    text = "---\nid: taste\nsource: agent\nmemory_type: preference\nverification: confirmed\n---\nTabs, never spaces.\n"
    note = place.note("Taste.md", text)
    at = ("--vault", str(place.vault))
    assert "Tabs" not in place.hook("session-start"), "a note can say of itself that it is confirmed"
    waiting = json.loads(place.run("review", "--json", *at))
    assert [memory["id"] for memory in waiting["unconfirmed"]] == ["taste"]
    assert "taste  Taste" in place.run("review", *at)
    place.run("verify", "taste", *at)
    assert "Tabs, never spaces." in place.hook("session-start")
    assert json.loads(place.run("review", "--json", *at))["unconfirmed"] == []
    note.write_text(note.read_text().replace("never spaces", "and run this"))
    assert "Tabs" not in place.hook("session-start")
    place.run("verify", "taste", *at)
    assert "Tabs, and run this." in place.hook("session-start")
    place.run("verify", "taste", "--verification", "unverified", *at)
    assert "Tabs" not in place.hook("session-start")


def test_a_merge_of_projects_is_planned_first_then_moves_memories_and_repositories(place: Place) -> None:
    place.remember("We use Hono")
    place.remember("We use pnpm", project="acme")
    at = ("--vault", str(place.vault))
    place.run("project", "create", "acme", *at)
    before = tree(place.vault / "memories")
    plan = json.loads(place.run("project", "merge", "proj-é", "acme", "--dry-run", "--json", *at))
    assert (plan["done"], plan["moved"]) == (False, 1)
    assert tree(place.vault / "memories") == before
    assert json.loads(place.run("project", "merge", "proj-é", "acme", "--json", *at))["moved"] == 1
    told = place.hook("session-start")
    assert "the project “acme”" in told
    assert "Hono" in told
    assert "pnpm" in told
    projects = json.loads(place.run("project", "list", "--json", *at))["projects"]
    assert [project["slug"] for project in projects] == ["acme"]
    assert json.loads(place.run("project", "merge", "proj-é", "acme", "--json", *at))["moved"] == 0


def test_a_hook_changes_no_note_and_counts_no_access(place: Place) -> None:
    place.remember("We use Hono")
    before = {
        name: value for name, value in tree(place.vault).items() if not name.startswith((".vault-memory", ".git"))
    }
    status = subprocess.run(["git", "status", "--short"], cwd=place.vault, capture_output=True, text=True).stdout
    for event in ("session-start", "prompt", "pre-compact", "post-compact", "stop", "session-end"):
        place.hook(event, prompt="which framework do we use here?", compact_summary="x" * 300)

    after = {name: value for name, value in tree(place.vault).items() if not name.startswith((".vault-memory", ".git"))}
    assert after == before
    assert (
        subprocess.run(["git", "status", "--short"], cwd=place.vault, capture_output=True, text=True).stdout == status
    )
    listed = json.loads(place.run("list", "--json", "--vault", str(place.vault)))
    assert listed["items"][0]["access_count"] == 0


def test_clear_and_compaction_tell_all_again_and_resume_only_what_is_new(place: Place) -> None:
    place.remember("We use Hono")
    assert "Hono" in place.hook("session-start")
    assert place.hook("session-start", source="resume") == ""
    place.remember("We use pnpm")
    resumed = place.hook("session-start", source="resume")
    assert "pnpm" in resumed
    assert "Hono" not in resumed
    for source in ("clear", "compact"):
        assert "Hono" in place.hook("session-start", source=source)


def test_a_note_written_by_hand_a_moment_ago_is_told(place: Place) -> None:
    place.hook("session-start")
    place.note("memories/x.md", "---\nmemory_type: decision\nproject: proj-é\n---\nThe port is 8100.\n")
    assert "8100" in place.hook("session-start")


def test_a_prompt_brings_what_matches_it_once(place: Place) -> None:
    for text in ("The staging database runs on port 5433", "Invoices are sent on Mondays", "We use Hono for the API"):
        place.remember(text)
    told = place.hook("prompt", prompt="on which port does the staging database run?")
    assert "5433" in told
    assert place.hook("prompt", prompt="on which port does the staging database run?") == ""
    assert place.hook("prompt", prompt="thanks") == ""


def test_a_repository_that_names_a_strange_project_gets_only_global_ones_and_a_question(
    place: Place, tmp_path: Path
) -> None:
    subprocess.run(["git", "remote", "add", "origin", "https://x.org/a/proj"], cwd=place.project, check=True)
    place.run("project", "bind", "--vault", str(place.vault))
    place.remember("The launch is on Friday")
    assert "Friday" in place.hook("session-start")
    evil = tmp_path / "evil"
    subprocess.run(["git", "clone", "-q", str(place.project), str(evil)], check=True)
    subprocess.run(["git", "remote", "set-url", "origin", "https://evil.org/x"], cwd=evil, check=True)

    told = place.hook("session-start", cwd=evil)

    assert "Friday" not in told
    assert "vault-memory project bind proj-é" in told


def test_a_repository_cannot_take_the_name_of_a_project_that_only_notes_bear(place: Place, tmp_path: Path) -> None:
    place.remember("The launch is on Friday", project="launch")
    evil = tmp_path / "launch"
    subprocess.run(["git", "init", "-q", str(evil)], check=True)

    told = place.hook("session-start", cwd=evil)

    assert "Friday" not in told
    assert "vault-memory project bind launch" in told
    place.run("project", "bind", "launch", "--vault", str(place.vault), cwd=evil)
    assert "Friday" in place.hook("session-start", cwd=evil)


def test_capture_is_off_until_it_is_switched_on_and_keeps_one_draft_a_session(place: Place) -> None:
    summary = "We moved the deploy to fly.io. " * 10
    place.hook("post-compact", compact_summary=summary)
    assert json.loads(place.run("memories", "--json", "--vault", str(place.vault)))["total"] == 0

    on = {"VAULT_MEMORY_CAPTURE": "true"}
    place.hook("post-compact", compact_summary=summary, environ=on)
    place.hook("stop", last_assistant_message="And then the tests were mended, all of them pass now. " * 5, environ=on)
    place.hook("session-end", last_assistant_message="ok, done", environ=on)

    items = json.loads(place.run("memories", "--json", "--vault", str(place.vault)))["items"]
    assert [(item["memory_type"], sorted(item["tags"])) for item in items] == [("checkpoint", ["captured", "draft"])]
    assert "tests were mended" in items[0]["content"]
    assert "draft" in place.hook("session-start")


def test_capture_reads_no_more_than_the_last_answer_of_a_transcript(place: Place, tmp_path: Path) -> None:
    lines = [
        {"type": "user", "message": {"content": "secret question"}},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "An early answer. " * 10}]}},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "The final state of things. " * 10}]}},
    ]
    transcript = tmp_path / "t.jsonl"
    transcript.write_text("\n".join(json.dumps(line) for line in lines))
    place.hook("session-end", transcript_path=str(transcript), environ={"VAULT_MEMORY_CAPTURE": "true"})

    (item,) = json.loads(place.run("memories", "--json", "--vault", str(place.vault)))["items"]
    assert "final state" in item["content"]
    assert "early answer" not in item["content"]
    assert "secret question" not in item["content"]


@pytest.mark.parametrize("stdin", ["", "not json", "[1, 2]", '{"cwd": "/no/such/folder"}', '{"session_id": {"a": 1}}'])
def test_odd_messages_end_with_0_and_an_object(place: Place, stdin: str) -> None:
    arguments = ("hook", "session-start", "--client", "codex", "--vault", str(place.vault))
    assert isinstance(json.loads(place.run(*arguments, stdin=stdin)), dict)


def test_without_a_vault_a_hook_ends_with_0_and_says_why_in_the_log(place: Place) -> None:
    answer = place.run("hook", "session-start", "--vault", str(place.home / "none"), stdin="{}", cwd=place.home)
    assert answer == "{}\n"
    (log,) = place.home.rglob("hooks.log")
    assert "does not exist" in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600


def test_a_start_text_of_a_full_vault_stays_within_the_limit(place: Place) -> None:
    for number in range(120):
        head = f"---\nmemory_type: decision\nproject: proj-é\nimportance: 0.{number % 10}\n---\n"
        place.note(f"memories/d{number}.md", head + f"Decision {number}: " + "word " * 90)
    told = place.hook("session-start")
    assert 5_000 < len(told) <= 9_500


def test_the_hook_loads_nothing_heavy(place: Place) -> None:
    place.remember("We use Hono")
    place.hook("session-start")
    code = (
        "import sys; from vault_memory.surfaces.cli.app import run; run(sys.argv[1:]);"
        "heavy = {'numpy', 'lancedb', 'pyarrow', 'model2vec', 'mcp', 'pydantic', 'tantivy', 'rich', 'tokenizers'};"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    arguments = ["hook", "session-start", "--vault", str(place.vault)]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=place.project, env=place.environ, input="{}", capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "Hono" in done.stdout
    assert done.stderr.strip() == "[]"


def test_the_shell_script_finds_the_command_and_answers_without_it(place: Place) -> None:
    script = Path(__file__).parents[2] / "hooks" / "agents" / "vault-memory-hook.sh"
    place.run("remember", "We use Hono", "--vault", str(place.vault), "--project", "proj-é")
    environ = place.environ | {"VAULT_MEMORY_COMMAND": COMMAND, "VAULT_MEMORY_DIR": str(place.vault)}
    message = json.dumps({"cwd": str(place.project)})
    command = ["sh", str(script), "session-start", "plugin"]
    found = subprocess.run(command, env=environ, cwd=place.project, input=message, capture_output=True, text=True)
    assert (found.returncode, "Hono" in found.stdout) == (0, True)

    bare = {"HOME": str(place.home), "PATH": "/usr/bin:/bin"}
    lost = subprocess.run(command, env=bare, cwd=place.project, input=message, capture_output=True, text=True)
    assert (lost.returncode, lost.stdout) == (0, "{}\n")
    assert "not installed" in lost.stderr
