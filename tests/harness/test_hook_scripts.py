"""The thin scripts that agents call: they find the command, hand the message on, and never hold a session up."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

HOOKS = Path(__file__).parents[2] / "hooks" / "agents"
SH, PS1 = HOOKS / "vault-memory-hook.sh", HOOKS / "vault-memory-hook.ps1"
PWSH = shutil.which("pwsh")
ECHO = """#!/bin/sh
printf '{"called": "%s", "message": ' "$*"
cat
printf '}'
"""
runs = [
    pytest.param(["sh", str(SH)], id="sh"),
    pytest.param(
        [str(PWSH), "-NoProfile", "-File", str(PS1)],
        id="pwsh",
        marks=pytest.mark.skipif(PWSH is None, reason="PowerShell is not installed"),
    ),
]


def answer(script: list[str], tmp_path: Path, *arguments: str, **environ: str) -> object:
    environ = {"PATH": os.defpath, "HOME": str(tmp_path), **environ}
    done = subprocess.run(
        [*script, *arguments], input='{"session_id": "é"}', capture_output=True, text=True, env=environ, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def command(tmp_path: Path) -> Path:
    file = tmp_path / "my programs" / "vault-memory"
    file.parent.mkdir()
    file.write_text(ECHO)
    file.chmod(0o755)
    return file


@pytest.mark.parametrize("script", runs)
def test_the_message_goes_to_the_command_and_its_answer_comes_back(
    script: list[str], command: Path, tmp_path: Path
) -> None:
    said = answer(script, tmp_path, "prompt", "codex", VAULT_MEMORY_COMMAND=str(command))
    assert said == {"called": "hook prompt --client codex", "message": {"session_id": "é"}}


@pytest.mark.parametrize("script", runs)
@pytest.mark.parametrize(("more", "client"), [({}, "claude-code"), ({"PLUGIN_ROOT": "/p"}, "codex")])
def test_a_plugin_that_two_clients_share_knows_which_one_calls(
    script: list[str], more: dict[str, str], client: str, command: Path, tmp_path: Path
) -> None:
    said = answer(script, tmp_path, "session-start", "plugin", VAULT_MEMORY_COMMAND=str(command), **more)
    assert isinstance(said, dict)
    assert said["called"] == f"hook session-start --client {client}"


@pytest.mark.parametrize("script", runs)
@pytest.mark.parametrize("there", [False, True])
def test_without_a_command_or_with_one_that_fails_the_answer_is_empty(
    script: list[str], there: bool, command: Path, tmp_path: Path
) -> None:
    command.write_text("#!/bin/sh\nexit 3\n")
    place = command if there else tmp_path / "nothing here"
    assert answer(script, tmp_path, "stop", "gemini", VAULT_MEMORY_COMMAND=str(place)) == {}


def test_the_powershell_script_says_what_the_other_one_says() -> None:
    """Read, not run, where there is no PowerShell: what can be compared is compared."""
    code, other = PS1.read_text("utf-8"), SH.read_text("utf-8")
    for shared in ("VAULT_MEMORY_COMMAND", "PLUGIN_ROOT", "session-start", "claude-code", "'{}'", "exit 0"):
        assert shared in code
        assert shared in other
    assert "hook $HookEvent --client $Client" in code
    assert 'hook "$event" --client "$client"' in other
    bare = re.sub(r"'[^']*'|#.*", "", code)
    for opening, closing in ("()", "{}", "[]"):
        assert bare.count(opening) == bare.count(closing), opening
    given = {"onPath", "candidates", "command", "answer", "HookEvent", "Client", "OutputEncoding"}
    automatic = {"env", "_", "null", "false", "LASTEXITCODE"}
    assert set(re.findall(r"\$(\w+)", bare)) <= given | automatic
    assert code.isascii(), "Windows PowerShell reads a script without a mark in the code page of the machine"
