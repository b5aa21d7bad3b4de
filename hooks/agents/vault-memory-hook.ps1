# Called by a coding agent's hook on Windows: finds the vault-memory command and hands the agent's message on to it.
# Usage: vault-memory-hook.ps1 EVENT CLIENT   (the message is on stdin, the answer goes to stdout)
# It never holds a session up: without the command it answers with an empty object and ends with 0.
param([string]$HookEvent = 'session-start', [string]$Client = 'claude-code')

[Console]::InputEncoding = [Console]::OutputEncoding = $OutputEncoding = [System.Text.UTF8Encoding]::new($false)
if ($Client -eq 'plugin') { $Client = if ($env:PLUGIN_ROOT) { 'codex' } else { 'claude-code' } }

$onPath = Get-Command vault-memory -CommandType Application -ErrorAction SilentlyContinue | Select-Object -First 1
$candidates = @(
    $env:VAULT_MEMORY_COMMAND
    $(if ($onPath) { $onPath.Source })
    $(if ($env:USERPROFILE) { Join-Path $env:USERPROFILE '.local\bin\vault-memory.exe' })
)
$command = $candidates | Where-Object { $_ -and (Test-Path -LiteralPath $_ -PathType Leaf) } | Select-Object -First 1

if ($command) {
    $answer = [Console]::In.ReadToEnd() | & $command hook $HookEvent --client $Client 2>$null
    if ($LASTEXITCODE -eq 0 -and $answer) { $answer } else { '{}' }
} else {
    [Console]::Error.WriteLine('vault-memory is not installed, or not where it is looked for; set VAULT_MEMORY_COMMAND')
    '{}'
}
exit 0
