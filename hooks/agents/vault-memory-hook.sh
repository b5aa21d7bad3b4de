#!/bin/sh
# Called by a coding agent's hook: finds the vault-memory command and hands the agent's message on to it.
# Usage: vault-memory-hook.sh EVENT CLIENT   (the message is on stdin, the answer goes to stdout)
# It never holds a session up: without the command it answers with an empty object and ends with 0.
set -u

event=${1:-session-start}
client=${2:-claude-code}
# One plugin serves Claude Code and Codex; only Codex names the plugin's folder PLUGIN_ROOT.
[ "$client" = plugin ] && { if [ -n "${PLUGIN_ROOT:-}" ]; then client=codex; else client=claude-code; fi; }

find_command() {
    # An agent started from a desktop has a short PATH, so the places where installers put programs are tried too.
    for candidate in "${VAULT_MEMORY_COMMAND:-}" "$(command -v vault-memory 2>/dev/null)" \
        "${HOME:-}/.local/bin/vault-memory" "${HOME:-}/.cargo/bin/vault-memory" \
        /opt/homebrew/bin/vault-memory /usr/local/bin/vault-memory; do
        if [ -n "$candidate" ] && [ -x "$candidate" ]; then
            printf '%s\n' "$candidate"
            return 0
        fi
    done
    return 1
}

if command=$(find_command); then
    "$command" hook "$event" --client "$client" 2>/dev/null || echo '{}'
else
    echo 'vault-memory is not installed, or not where it is looked for; set VAULT_MEMORY_COMMAND' >&2
    echo '{}'
fi
exit 0
