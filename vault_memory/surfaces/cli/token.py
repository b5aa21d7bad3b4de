"""`vault-memory token`: the owner's token for the server, and named ones for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from vault_memory.surfaces.cli.settings import Settings, common_options

if TYPE_CHECKING:
    from vault_memory.surfaces.auth.oauth.sign_ins import SignIn, SignIns
    from vault_memory.surfaces.auth.tokens import TokenStore

ACTIONS = ("show", "rotate", "issue", "list", "revoke", "passphrase")


def _token(action: str, name: str | None, readonly: bool) -> int:
    settings = Settings.current()
    store = _store(settings)
    if action in ("show", "rotate"):
        secret = store.owner() if action == "show" else store.rotate()
        return _emit(settings, [{"token": secret}])
    if action == "list":
        return _emit(settings, [*map(_shown, store.named()), *map(_signed_in, _sign_ins(settings).all())])
    if action == "passphrase":
        return _set_passphrase(settings)
    if action == "revoke":
        revoked = _named(action, name)
        (_sign_ins(settings) if ":" in revoked else store).revoke(revoked)
        return _emit(settings, [{"name": name, "revoked": True}])
    return _issue(settings, store, _named(action, name), readonly)


def _issue(settings: Settings, store: TokenStore, name: str, readonly: bool) -> int:
    from vault_memory.vault import system_clock

    bound = {"project": settings.project, "actor": settings.actor}
    secret = store.issue(name, system_clock(), **bound, readonly=readonly)
    if not settings.json and not settings.quiet:
        click.echo("keep it now: only its hash is stored", err=True)
    return _emit(settings, [{"token": secret, "name": name, **bound, "readonly": readonly}])


def _store(settings: Settings) -> TokenStore:
    import secrets

    from vault_memory.files.places import folders_of
    from vault_memory.surfaces.auth.tokens import TokenStore

    return TokenStore(folders_of(settings.root()).state, lambda: secrets.token_urlsafe(32))


def _sign_ins(settings: Settings) -> SignIns:
    import secrets
    import time

    from vault_memory.files.places import folders_of
    from vault_memory.surfaces.auth.oauth.sign_ins import SignIns

    return SignIns(folders_of(settings.root()).state, lambda: secrets.token_urlsafe(32), time.time)


def _set_passphrase(settings: Settings) -> int:
    """Ask for it on a terminal, where nobody sees it; else read one line."""
    import sys

    from vault_memory.files.places import folders_of
    from vault_memory.surfaces.auth.oauth.passphrase import Passphrase

    if sys.stdin.isatty():
        text = str(click.prompt("Passphrase", hide_input=True, confirmation_prompt=True, err=True))
    else:
        text = sys.stdin.readline().rstrip("\r\n")
    Passphrase(folders_of(settings.root()).state).set(text)
    return _emit(settings, [{"name": "passphrase", "set": True}])


def _signed_in(one: SignIn) -> dict[str, Any]:
    from datetime import UTC, datetime

    from vault_memory.memory.times import time_text

    grant = one.grant
    return {
        "name": one.name, "client": grant.client_name, "project": grant.project, "actor": grant.actor,
        "readonly": "write" not in grant.scopes, "resource": grant.resource,
        "created_at": time_text(datetime.fromtimestamp(one.created_at, UTC)),
    }  # fmt: skip


def _shown(token: Any) -> dict[str, Any]:
    return {name: getattr(token, name) for name in ("name", "project", "actor", "readonly", "created_at")}


def _emit(settings: Settings, rows: list[dict[str, Any]]) -> int:
    """The token alone on its line, for `$(vault-memory token)`; with --json everything."""
    from vault_memory.surfaces.cli import output

    if settings.json:
        output.write(output.as_json({"tokens": rows}))
        return 0
    for row in rows:
        parts = [str(row["token"])] if "token" in row else [_text(name, value) for name, value in row.items()]
        output.write("\t".join(part for part in parts if part) + "\n")
    return 0


def _text(name: str, value: Any) -> str:
    if value in (None, False):
        return ""
    return name if value is True else str(value) if name in ("name", "created_at") else f"{name}={value}"


def _named(action: str, name: str | None) -> str:
    if not name:
        from vault_memory.errors import InvalidRequest

        raise InvalidRequest.of("name", f"token {action} needs a name")
    return name


token = click.Command(
    "token",
    params=[
        click.Argument(["action"], type=click.Choice(ACTIONS), default="show", required=False),
        click.Argument(["name"], required=False),
        click.Option(["--readonly"], is_flag=True, help="issue: let it read only."),
        *common_options(),
    ],
    help="The token for `vault-memory serve`: the owner's (show), a new one in its place (rotate), one for a program"
    " (issue NAME, bound to --project and --actor when given), who has one (list), and no longer (revoke NAME);"
    " and the passphrase (passphrase, read from the terminal or stdin) by which you let programs in through a browser."
    " What a named token writes carries its name in the history and the audit log.",
    callback=_token,
)
