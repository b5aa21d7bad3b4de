"""Connecting changes only our entries; leaving restores every byte, or takes out only ours when the rest changed."""

from __future__ import annotations

import json
import stat
import tomllib
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.harness.conftest import HOME_FILES, tree
from vault_memory.errors import InvalidRequest, NotAllowed, RevisionConflict, VaultLocked
from vault_memory.harness import jsontext
from vault_memory.harness.base import Machine, Options
from vault_memory.harness.clients import CLIENTS, client
from vault_memory.harness.connect import plan_connect, plan_disconnect
from vault_memory.harness.receipts import Receipts

ALL = list(CLIENTS)


def connect(name: str, machine: Machine, options: Options, receipts: Receipts) -> None:
    plan_connect(client(name), machine, options, receipts).execute(receipts)


def disconnect(name: str, machine: Machine, options: Options, receipts: Receipts, project: Path | None = None) -> None:
    plan_disconnect(client(name), machine, receipts, project=project, options=options).execute(receipts)


@pytest.mark.parametrize("hooks", ["none", "start", "full"])
@pytest.mark.parametrize("name", ALL)
def test_leaving_restores_the_home_byte_for_byte(
    name: str, hooks: str, home: Path, machine: Machine, options: Options, receipts: Receipts
) -> None:
    before = tree(home)
    connect(name, machine, replace(options, hooks=hooks), receipts)
    assert tree(home) != before

    disconnect(name, machine, options, receipts)

    assert tree(home) == before


def test_a_dry_run_writes_nothing_and_names_every_file_and_entry(
    home: Path, machine: Machine, options: Options, receipts: Receipts
) -> None:
    before = tree(home)
    lines = "\n".join(plan_connect(client("codex"), machine, options, receipts).lines())

    assert tree(home) == before
    for text in ("config.toml", "hooks.json", "AGENTS.md", "mcp_servers.vault-memory", "hook session-start", "/hooks"):
        assert text in lines


def test_all_clients_at_once_leave_in_any_order(
    home: Path, machine: Machine, options: Options, receipts: Receipts
) -> None:
    before = tree(home)
    for name in ALL:
        connect(name, machine, replace(options, hooks="full"), receipts)
    for name in (*ALL[::2], *ALL[1::2]):
        disconnect(name, machine, options, receipts)
    assert tree(home) == before


@pytest.mark.parametrize("name", ALL)
def test_an_empty_home_is_empty_again(name: str, tmp_path: Path, options: Options) -> None:
    home = tmp_path / "empty"
    home.mkdir()
    machine, receipts = Machine(home, {}), Receipts(home / ".local/state/vault-memory/connections")
    plan = plan_connect(client(name), machine, replace(options, hooks="full"), receipts, force=True)
    plan.execute(receipts)
    assert tree(home)

    disconnect(name, machine, options, receipts)

    assert tree(home) == {}


@pytest.mark.parametrize("name", ["codex", "opencode", "gemini", "cursor", "claude-code", "zed"])
def test_an_agent_that_is_not_installed_is_refused_and_nothing_is_written(name: str, tmp_path: Path) -> None:
    options = Options(("/opt/vault-memory",), tmp_path / "notes")
    with pytest.raises(InvalidRequest, match="not seem to be installed"):
        plan_connect(client(name), Machine(tmp_path / "nobody", {}), options, Receipts(tmp_path / "state"))
    assert list(tmp_path.iterdir()) == []


def test_connecting_twice_changes_nothing_more_and_one_leave_is_enough(
    home: Path, machine: Machine, options: Options, receipts: Receipts
) -> None:
    before = tree(home)
    connect("gemini", machine, options, receipts)
    first = tree(home)
    plan = plan_connect(client("gemini"), machine, options, receipts)
    assert plan.empty
    plan.execute(receipts)
    assert tree(home) == first
    disconnect("gemini", machine, options, receipts)
    assert tree(home) == before


def test_connecting_again_with_other_options_replaces_the_first(
    home: Path, machine: Machine, options: Options, receipts: Receipts
) -> None:
    before = tree(home)
    connect("codex", machine, replace(options, hooks="full"), receipts)
    connect("codex", machine, replace(options, hooks="none", agents_md=False, profile="full"), receipts)

    server = tomllib.loads((home / ".codex/config.toml").read_text())["mcp_servers"]["vault-memory"]
    assert server["args"][-2:] == ["--profile", "full"]
    assert not (home / ".codex/hooks.json").exists()
    assert (home / ".codex/AGENTS.md").read_text() == HOME_FILES[".codex/AGENTS.md"]
    disconnect("codex", machine, options, receipts)
    assert tree(home) == before


def test_what_a_person_changed_meanwhile_stays(
    home: Path, machine: Machine, options: Options, receipts: Receipts
) -> None:
    connect("claude-code", machine, replace(options, hooks="full"), receipts)
    settings = home / ".claude/settings.json"
    data = json.loads(settings.read_text())
    data["hooks"]["SessionStart"][0]["hooks"].append({"type": "command", "command": "date"})
    data["theme"] = "dark"
    settings.write_text(json.dumps(data, indent=2))
    state = home / ".claude.json"
    state.write_text(state.read_text().replace('"numStartups": 3', '"numStartups": 4'))

    disconnect("claude-code", machine, options, receipts)

    hooks = {"Stop": [], "SessionStart": [{"hooks": [{"type": "command", "command": "date"}]}]}
    assert json.loads(settings.read_text()) == {"model": "opus", "hooks": hooks, "theme": "dark"}
    assert state.read_text() == HOME_FILES[".claude.json"].replace('"numStartups": 3', '"numStartups": 4')
    assert settings.is_symlink()


def test_a_rewrite_by_the_client_itself_does_not_keep_our_entries(
    home: Path, machine: Machine, options: Options, receipts: Receipts
) -> None:
    connect("codex", machine, options, receipts)
    config = home / ".codex/config.toml"
    config.write_text(config.read_text() + '\n[hooks.state."x"]\ntrusted_hash = "1"\n')
    disconnect("codex", machine, options, receipts)
    assert config.read_text() == HOME_FILES[".codex/config.toml"] + '\n[hooks.state."x"]\ntrusted_hash = "1"\n'


@pytest.mark.parametrize("name", ["codex", "claude-code", "gemini", "opencode", "cursor"])
def test_without_a_receipt_the_entries_are_found_by_name(
    name: str, home: Path, machine: Machine, options: Options, receipts: Receipts
) -> None:
    connect(name, machine, replace(options, hooks="full"), receipts)
    receipts.drop(name)

    disconnect(name, machine, options, receipts)

    left = "".join(
        path.read_text("utf-8-sig") for path in home.rglob("*") if path.is_file() and "dotfiles" not in path.parts
    )
    assert "vault-memory" not in left
    with pytest.raises(InvalidRequest, match="not connected"):
        plan_disconnect(client(name), machine, receipts, options=options)


@pytest.mark.parametrize(
    ("name", "file", "text"),
    [
        ("claude-code", ".claude.json", '{"a": 1,}'),
        ("claude-code", ".claude/settings.json", '{"hooks": {"SessionStart": {}}}'),
        ("codex", ".codex/config.toml", "model = \n"),
        ("codex", ".codex/hooks.json", "{"),
        ("codex", ".codex/AGENTS.md", "<!-- vault-memory:begin -->\n"),
        ("gemini", ".gemini/settings.json", '{"a": 1 "b"}'),
        ("zed", ".config/zed/settings.json", "{ // never\n"),
    ],
)
def test_broken_settings_are_refused_with_file_and_line_and_nothing_changes(
    name: str, file: str, text: str, home: Path, machine: Machine, options: Options, receipts: Receipts
) -> None:
    (home / file).write_text(text)
    before = tree(home)
    with pytest.raises(InvalidRequest, match="nothing was changed") as refused:
        connect(name, machine, options, receipts)
    assert Path(file).name in refused.value.detail
    assert tree(home) == before


def test_a_server_of_our_name_made_by_hand_is_not_touched(
    home: Path, machine: Machine, options: Options, receipts: Receipts
) -> None:
    (home / ".cursor/mcp.json").write_text('{"mcpServers": {"vault-memory": {"command": "mine"}}}')
    before = tree(home)
    with pytest.raises(InvalidRequest, match="already there"):
        connect("cursor", machine, options, receipts)
    assert tree(home) == before
    connect("cursor", machine, replace(options, name="notes"), receipts)
    disconnect("cursor", machine, options, receipts)
    assert tree(home) == before


def test_a_read_only_file_is_refused_and_nothing_changes(
    home: Path, machine: Machine, options: Options, receipts: Receipts
) -> None:
    (home / ".codex/config.toml").chmod(0o444)
    before = tree(home)
    with pytest.raises(NotAllowed, match="read-only"):
        connect("codex", machine, options, receipts)
    assert tree(home) == before


def test_text_that_is_not_utf8_is_refused(home: Path, machine: Machine, options: Options, receipts: Receipts) -> None:
    (home / ".codex/config.toml").write_bytes(b'a = "\xff"\n')
    with pytest.raises(InvalidRequest, match="UTF-8"):
        connect("codex", machine, options, receipts)


def test_a_step_that_fails_undoes_the_steps_before_it(
    home: Path, machine: Machine, options: Options, receipts: Receipts
) -> None:
    plan = plan_connect(client("codex"), machine, options, receipts)
    (home / ".codex/AGENTS.md").unlink()
    (home / ".codex/AGENTS.md").mkdir()
    before = tree(home)
    with pytest.raises(NotAllowed):
        plan.execute(receipts)
    assert tree(home) == before


def test_a_write_that_fails_half_way_puts_everything_back(
    home: Path, machine: Machine, options: Options, receipts: Receipts
) -> None:
    """The last file's folder is a file by the time of writing, so its write fails after the others were done."""
    plan = plan_connect(client("opencode"), machine, options, receipts)
    assert [change.path.name for change in plan.changes] == ["opencode.jsonc", "vault-memory.js"]
    (home / ".config/opencode/plugins").write_text("in the way")
    before = tree(home)
    with pytest.raises(NotAllowed):
        plan.execute(receipts)
    assert tree(home) == before


def test_a_file_that_changed_since_the_plan_is_not_overwritten(
    home: Path, machine: Machine, options: Options, receipts: Receipts
) -> None:
    plan = plan_connect(client("codex"), machine, options, receipts)
    (home / ".codex/config.toml").write_text("model = 'y'\n")
    before = tree(home)
    with pytest.raises(RevisionConflict):
        plan.execute(receipts)
    assert tree(home) == before


def test_the_lock_of_the_running_client_is_respected(
    home: Path, machine: Machine, options: Options, receipts: Receipts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vault_memory.harness.edits._LOCK_WAIT_SECONDS", 0.1)
    (home / ".claude.json.lock").mkdir()
    before = tree(home)
    with pytest.raises(VaultLocked):
        connect("claude-code", machine, options, receipts)
    assert tree(home) == before


def test_permissions_and_links_are_kept_and_backups_are_private(
    home: Path, machine: Machine, options: Options, receipts: Receipts
) -> None:
    connect("claude-code", machine, options, receipts)

    assert stat.S_IMODE((home / ".claude.json").stat().st_mode) == 0o600
    assert (home / ".claude/settings.json").is_symlink()
    backups = sorted(receipts.folder.glob("*.bak"))
    assert [path.read_bytes().decode() for path in backups] == [
        HOME_FILES[".claude.json"],
        HOME_FILES[".claude/settings.json"],
    ]
    assert {stat.S_IMODE(path.stat().st_mode) for path in receipts.folder.iterdir()} == {0o600}
    assert stat.S_IMODE(receipts.folder.stat().st_mode) == 0o700


def test_settings_survive_in_meaning_with_comments_order_and_byte_order_mark(
    home: Path, machine: Machine, options: Options, receipts: Receipts
) -> None:
    connect("gemini", machine, options, receipts)
    text = (home / ".gemini/settings.json").read_bytes().decode()
    assert text.startswith("\ufeff{\n  // looks\n  ")
    data = jsontext.parse(text[1:], comments=True).value
    assert list(data) == ["ui", "zz", "mcpServers", "hooks"]
    server = data["mcpServers"]["vault-memory"]
    assert server == {
        "command": options.command[0],
        "args": ["mcp", "--vault", str(options.vault)],
        "env": {"VAULT_MEMORY_AGENT": "gemini"},
    }
    hook = data["hooks"]["SessionStart"][0]["hooks"][0]
    assert hook["timeout"] == 10_000
    assert "'" in hook["command"]


def test_a_project_gets_its_own_files_and_shares_one_guidance_block(
    home: Path, machine: Machine, options: Options, receipts: Receipts
) -> None:
    project = home / "repo"
    project.mkdir()
    (project / "AGENTS.md").write_text("# Rules\n")
    before = tree(home)
    local = replace(options, project=project)
    for name in ("codex", "zed", "cursor"):
        connect(name, machine, local, receipts)
    assert (project / "AGENTS.md").read_text().count("vault-memory:begin") == 1
    assert {path.name for path in project.iterdir()} == {".codex", ".cursor", ".zed", "AGENTS.md"}

    disconnect("codex", machine, options, receipts, project)
    assert "vault-memory:begin" in (project / "AGENTS.md").read_text()
    disconnect("cursor", machine, options, receipts, project)
    disconnect("zed", machine, options, receipts, project)

    assert tree(home) == before


def test_a_client_without_project_settings_says_so(
    home: Path, machine: Machine, options: Options, receipts: Receipts
) -> None:
    with pytest.raises(InvalidRequest, match="project"):
        connect("windsurf", machine, replace(options, project=home), receipts)


def test_a_command_that_needs_a_path_is_refused(machine: Machine, options: Options, receipts: Receipts) -> None:
    with pytest.raises(InvalidRequest, match="absolute"):
        connect("codex", machine, replace(options, command=("vault-memory",)), receipts)


def test_unknown_clients_are_named_with_the_known_ones() -> None:
    with pytest.raises(InvalidRequest) as refused:
        client("emacs")
    assert refused.value.problem()["errors"][0]["allowed"] == ALL
