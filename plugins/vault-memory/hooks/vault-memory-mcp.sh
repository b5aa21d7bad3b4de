#!/bin/sh
# Started by a coding agent as its MCP server: finds the vault-memory command and becomes it.
set -u

for candidate in "${VAULT_MEMORY_COMMAND:-}" "$(command -v vault-memory 2>/dev/null)" \
    "${HOME:-}/.local/bin/vault-memory" "${HOME:-}/.cargo/bin/vault-memory" \
    /opt/homebrew/bin/vault-memory /usr/local/bin/vault-memory; do
    if [ -n "$candidate" ] && [ -x "$candidate" ]; then
        exec "$candidate" mcp "$@"
    fi
done
echo 'vault-memory is not installed, or not where it is looked for; set VAULT_MEMORY_COMMAND' >&2
exit 127
