"""opencode: `opencode.json` (or .jsonc) for the server, a small plugin for the session start.

opencode has no shell hooks; a plugin file in its folder is the way it offers. It shows a server's instructions to the
model (seen in its requests), so no guidance is written.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from vault_memory.harness.base import Harness, Machine, Options, server_change, server_environment
from vault_memory.harness.changes import WholeFile
from vault_memory.harness.edits import FileEdit
from vault_memory.harness.events import Event

EVENTS: dict[Event, str] = {"session-start": "experimental.chat.system.transform"}
_NAMES: Final = ("opencode.jsonc", "opencode.json", "config.json")
_PLUGIN: Final = """\
// Written by `vault-memory connect opencode`; `vault-memory disconnect opencode` takes it away.
// Adds the memory text to the first system message of a session. It never stops a session: on failure it adds nothing.
import { spawn } from "node:child_process"

const COMMAND = %(command)s
const texts = new Map()

function startText(session, cwd) {
  return new Promise((resolve) => {
    let out = ""
    const child = spawn(COMMAND[0], COMMAND.slice(1), { cwd, stdio: ["pipe", "pipe", "ignore"] })
    const timer = setTimeout(() => { child.kill(); resolve("") }, %(timeout)d)
    const finish = (text) => { clearTimeout(timer); resolve(text) }
    child.on("error", () => finish(""))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (chunk) => { out += chunk })
    child.on("close", () => {
      try { finish(JSON.parse(out).hookSpecificOutput.additionalContext ?? "") } catch { finish("") }
    })
    const input = { session_id: session, cwd, hook_event_name: "SessionStart", source: "startup" }
    child.stdin.end(JSON.stringify(input))
  })
}

export const VaultMemory = async ({ directory }) => ({
  "experimental.chat.system.transform": async (input, output) => {
    const session = input.sessionID ?? ""
    if (!texts.has(session)) texts.set(session, startText(session, directory))
    const text = await texts.get(session)
    if (text) output.system[0] = output.system.length ? output.system[0] + "\\n\\n" + text : text
  },
  event: async ({ event }) => {
    if (event.type === "session.compacted") texts.delete(event.properties?.sessionID ?? "")
  },
})
"""


def _folder(machine: Machine) -> Path:
    return machine.folder("XDG_CONFIG_HOME", ".config") / "opencode"


def plugin_text(options: Options) -> str:
    """The plugin's source with the hook command in it."""
    command = (*options.command, "hook", "session-start", "--client", "opencode", "--vault", str(options.vault))
    return _PLUGIN % {"command": json.dumps(command, ensure_ascii=False), "timeout": 10_000}


def _edits(machine: Machine, options: Options) -> Sequence[FileEdit]:
    folder = options.project or _folder(machine)
    config = next((folder / name for name in _NAMES if (folder / name).exists()), folder / "opencode.json")
    environment = server_environment(HARNESS.name)
    value = {"type": "local", "command": list(options.server), "environment": environment, "enabled": True}
    edits = [FileEdit(config, (server_change("mcp", options, value, comments=True),))]
    if options.hooks != "none":
        plugins = folder if options.project is None else options.project / ".opencode"
        edits.append(FileEdit(plugins / "plugins" / "vault-memory.js", (WholeFile(plugin_text(options)),)))
    return edits


HARNESS = Harness(
    name="opencode",
    title="opencode",
    programs=("opencode",),
    traces=lambda machine: (_folder(machine),),
    edits=_edits,
    events=EVENTS,
    how="edits its files: `opencode mcp add` lays the file out anew, and there is no `remove`",
    next_step="Start a new opencode session.",
    proven=True,
    check=("opencode", "mcp", "list"),
)
