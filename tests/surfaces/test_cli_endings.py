"""How a command line ends: exit codes, where text goes, and what happens when something breaks. Real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from vault_memory import __version__
from vault_memory import errors as all_errors

COMMANDS = """
import sys, time, click
from vault_memory import errors
from vault_memory.surfaces.cli import app, output
from vault_memory.surfaces.cli.catalogue import Command
from vault_memory.surfaces.cli.settings import Settings, common_options

def fail(kind):
    raise getattr(errors, kind)("what happened", hint="what to do")

def bug():
    raise ZeroDivisionError("SECRET text of a note")

def wait():
    output.write("waiting\\n")
    time.sleep(30)

def flood():
    for number in range(100_000):
        output.write(f"{number}\\n")

def show():
    settings = Settings.current()
    output.write(f"{settings.vault} {settings.project} {settings.actor} {settings.json}\\n")
    output.hint("a hint", settings)

class Row(Command):
    def load(self):
        params = [click.Argument(["kind"])] if self.name == "fail" else []
        return click.Command(self.name, params=[*params, *common_options()], callback=globals()[self.name])

rows = {name: Row(name, name, "Read", "") for name in ("fail", "bug", "wait", "flood", "show")}
sys.excepthook = app.report_bug
output.prepare()
sys.exit(app.run(sys.argv[1:], rows))
"""


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("VAULT_MEMORY_")}
    return {**kept, "VAULT_MEMORY_CONFIG": str(tmp_path / "c.toml"), "VAULT_MEMORY_LOG_DIR": str(tmp_path / "log")}


def fake(env: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command line whose commands fail in known ways; everything around them is the real one."""
    return subprocess.run([sys.executable, "-c", COMMANDS, *arguments], capture_output=True, text=True, env=env)


def real(env: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "vault_memory", *arguments], capture_output=True, text=True, env=env)


KINDS = list(all_errors.VaultError.__subclasses__())


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_failure_has_its_exit_code_and_speaks_on_stderr_only(
    kind: type[all_errors.VaultError], env: dict[str, str]
) -> None:
    ended = fake(env, "fail", kind.__name__)
    assert ended.returncode == kind.exit_code
    assert ended.stdout == ""
    assert ended.stderr == "error: what happened\n  what to do\n"


@pytest.mark.parametrize("arguments", [("fail", "VaultLocked", "--json"), ("--json", "fail", "VaultLocked")])
def test_with_json_the_problem_is_one_object_on_stderr(arguments: tuple[str, ...], env: dict[str, str]) -> None:
    ended = fake(env, *arguments)
    assert ended.stdout == ""
    problem = json.loads(ended.stderr)
    assert (problem["code"], problem["status"], problem["retryable"]) == ("vault_locked", 423, True)


def test_exit_codes_are_told_apart() -> None:
    codes = [kind.exit_code for kind in KINDS]
    assert len(set(codes)) == len(codes)
    assert 1 not in codes, "1 is for bugs"


def test_a_bug_is_short_on_stderr_and_whole_in_the_log(env: dict[str, str], tmp_path: Path) -> None:
    ended = fake(env, "bug")
    assert ended.returncode == 1
    assert "ZeroDivisionError" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "SECRET" not in ended.stdout + ended.stderr
    log = tmp_path / "log" / "bugs.log"
    assert str(log) in ended.stderr
    assert "SECRET" in log.read_text("utf-8")
    assert "Traceback" in log.read_text("utf-8")
    assert log.stat().st_mode & 0o077 == 0


def test_a_bug_without_a_place_for_its_trace_still_ends_shortly(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "log").write_text("a file where the folder should be", "utf-8")
    ended = fake(env, "bug")
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr


def test_ctrl_c_ends_with_130_and_without_a_trace(env: dict[str, str]) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", COMMANDS, "wait"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        assert child.stdout.readline() == b"waiting\n"
        child.send_signal(signal.SIGINT)
        assert child.wait(10) == 130
        assert b"Traceback" not in child.stderr.read()


def test_a_reader_that_goes_away_is_no_error(env: dict[str, str]) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", COMMANDS, "flood"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        assert child.stdout.readline() == b"0\n"
        child.stdout.close()
        assert child.stderr.read() == b""
        assert child.wait(20) == 0


def test_an_unknown_command_names_the_nearest(env: dict[str, str]) -> None:
    ended = real(env, "lst")
    assert ended.returncode == 2
    assert "there is no command 'lst'" in ended.stderr
    assert "did you mean 'list'?" in ended.stderr


def test_an_unknown_option_is_a_refusal_like_any_other(env: dict[str, str]) -> None:
    ended = real(env, "list", "--limt", "3", "--json")
    assert ended.returncode == 2
    problem = json.loads(ended.stderr)
    assert problem["code"] == "invalid_request"
    assert "--limit" in problem["detail"]


def test_the_version_is_told(env: dict[str, str]) -> None:
    assert real(env, "--version").stdout == f"vault-memory {__version__}\n"


def test_common_options_stand_before_or_after_the_command_and_the_later_wins(env: dict[str, str]) -> None:
    assert fake(env, "--vault", "a", "--project", "p", "show").stdout == "a p None False\n"
    assert fake(env, "show", "--vault", "b", "--actor", "x").stdout == "b None x False\n"
    assert fake(env, "--vault", "a", "--json", "show", "--vault", "b").stdout == "b None None True\n"


def test_quiet_and_json_keep_hints_away(env: dict[str, str]) -> None:
    assert fake(env, "show").stderr == "a hint\n"
    assert fake(env, "show", "-q").stderr == ""
    assert fake(env, "--json", "show").stderr == ""


def test_where_it_looked_is_said_when_there_is_no_vault(env: dict[str, str], tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "vault_memory", "list"], capture_output=True, text=True, env=env, cwd=tmp_path
    )
    assert ended.returncode == 10
    assert "VAULT_MEMORY_DIR" in ended.stderr
    assert "vault-memory init" in ended.stderr


def test_a_folder_that_is_no_vault_is_named(env: dict[str, str], tmp_path: Path) -> None:
    ended = real(env, "list", "--vault", str(tmp_path / "nowhere"))
    assert ended.returncode == 10
    assert "does not exist" in ended.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_for_the_shell(shell: str, env: dict[str, str]) -> None:
    assert "_VAULT_MEMORY_COMPLETE" in real(env, "completion", shell).stdout


def test_the_shell_is_offered_our_commands(env: dict[str, str]) -> None:
    asked = {"_VAULT_MEMORY_COMPLETE": "bash_complete", "COMP_WORDS": "vault-memory re", "COMP_CWORD": "1"}
    ended = real({**env, **asked})
    assert "plain,remember" in ended.stdout.split()


def test_any_locale_can_show_any_note(env: dict[str, str]) -> None:
    started = time.monotonic()
    ended = subprocess.run(
        [sys.executable, "-m", "vault_memory", "nöpe–ж"],
        capture_output=True, env={**env, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    )  # fmt: skip
    assert "nöpe–ж" in ended.stderr.decode("utf-8")
    assert time.monotonic() - started < 60
