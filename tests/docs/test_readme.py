"""What the README tells people to type works, word for word."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text("utf-8")
SCREEN_LINES = 40
DEMO_NOTE = "memories/acme-api/decision/deploy-with-fly-io-not-heroku.md"


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def setup_commands() -> list[str]:
    first_screen = "\n".join(README.splitlines()[:SCREEN_LINES]).split("\n## ")[0]
    return [block.strip() for block in blocks("sh", first_screen)]


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """A person's shell: our command on the path, a home of their own, nothing configured."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("VAULT_MEMORY_", "GIT_"))}
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / ".config")}
    return {**kept, **home, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


def shell(command: str, env: dict[str, str], cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", "-euo", "pipefail", "-c", command], capture_output=True, text=True, env=env, cwd=cwd)


def test_the_first_screen_has_exactly_two_commands_of_one_line() -> None:
    commands = setup_commands()
    assert len(commands) == 2
    assert all("\n" not in command for command in commands)
    assert commands[0].endswith("vault-memory demo")
    assert "pytest" in commands[1]


def test_ci_calls_the_readmes_test_command_word_for_word() -> None:
    lines = [line.strip() for line in (ROOT / ".ci" / "run").read_text("utf-8").splitlines()]
    assert setup_commands()[1] in lines


def test_ci_is_a_script_that_bash_can_read() -> None:
    subprocess.run(["bash", "-n", str(ROOT / ".ci" / "run")], check=True)
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


@pytest.mark.timeout(120)
def test_the_demo_shows_the_main_job_in_under_a_minute(env: dict[str, str], tmp_path: Path) -> None:
    started = time.monotonic()
    ended = shell("vault-memory demo here", env, tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert time.monotonic() - started < 60
    assert ended.stderr == ""
    for step in ("A vault", "stored as notes", "byte for byte", "Listed: 5", "cone six", "Found by meaning", "tokens"):
        assert step in ended.stdout
    assert "# ask Maria before adding" in (tmp_path / "here" / DEMO_NOTE).read_text("utf-8")


def test_the_readmes_transcript_is_what_the_demo_prints(env: dict[str, str], tmp_path: Path) -> None:
    ended = shell("vault-memory demo here", env, tmp_path)
    printed = [varying(line) for line in ended.stdout.splitlines()]
    for line in blocks("text")[0].splitlines():
        assert any(varying(line) in real for real in printed), line


def varying(line: str) -> str:
    """A line without what differs from run to run: ids, times, milliseconds, and who made a commit."""
    line = re.sub(r"^  \d\d:\d\d:\d\d  .*?  (?=\S)", "  ", line)
    return re.sub(r"\b[0-9a-z]{12}\b|\b\d+ ms\b", "…", line)


def test_the_demo_tells_programs_what_it_checked(env: dict[str, str], tmp_path: Path) -> None:
    ended = shell("vault-memory demo here --json", env, tmp_path)
    facts = json.loads(ended.stdout)
    assert facts["searched"] is True
    assert facts["kept Kiln log.md"] is True


def test_the_demo_touches_no_folder_that_holds_something(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text("mine", "utf-8")
    ended = shell(f"vault-memory demo {tmp_path}", env, tmp_path)
    assert ended.returncode == 2
    assert sorted(file.name for file in tmp_path.iterdir()) == ["mine.md"]


def test_the_first_vault_of_the_readme_works(env: dict[str, str], tmp_path: Path) -> None:
    (session,) = [block for block in blocks("sh") if "vault-memory init" in block]
    ended = shell(session, env, tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "stored" in ended.stdout
    assert '"total": 1' in ended.stdout
    assert (tmp_path / "notes" / "memories").is_dir()


def test_the_python_of_the_readme_works(env: dict[str, str], tmp_path: Path) -> None:
    (code,) = blocks("python")
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    identity, path = ended.stdout.split(maxsplit=1)
    assert (tmp_path / "notes" / path.strip()).is_file()
    assert re.fullmatch(r"[0-9a-z]{12}", identity)


def without_code(text: str) -> str:
    return re.sub(r"`[^`]*`", "", text)


def test_links_between_the_pages_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in pages
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", without_code(page.read_text("utf-8")))
        if not (page.parent / target).exists()
    ]
    assert broken == []


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_set_up_command_works_on_a_clean_clone(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("VAULT_MEMORY_", "PYTHON"))}
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable
    command = setup_commands()[0].replace("python3", python, 1)
    ended = shell(command, {**kept, "HOME": str(tmp_path)}, clone)
    assert ended.returncode == 0, ended.stderr
    assert "Found by meaning" in ended.stdout
