"""`/consent`: the page on which the owner lets a program in or not. Holds no script and trusts nothing it is told.

The passphrase is asked for every time, so that no other page can answer for the owner. The request is tied by a cookie
to the browser that shows it: a page of this server that somebody else opened cannot be finished here.
"""

from __future__ import annotations

import hmac
import re
import time
from html import escape
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
from starlette.responses import HTMLResponse, RedirectResponse, Response

from vault_memory.surfaces.auth.oauth.documents import is_document
from vault_memory.surfaces.auth.oauth.sign_ins import READ, WRITE, Grant
from vault_memory.surfaces.rest.limits import Rates

if TYPE_CHECKING:
    from starlette.datastructures import FormData
    from starlette.requests import Request

    from vault_memory.surfaces.auth.oauth.passphrase import Passphrase
    from vault_memory.surfaces.auth.oauth.provider import Provider, Waiting

COOKIE: Final = "vault_memory_consent"
TRIES: Final = 5.0
"""Wrong passphrases at once; after that one in `SECONDS_A_TRY`, whoever sends them."""
SECONDS_A_TRY: Final = 30.0
_STYLES: Final = ("tokens", "base", "parts", "shell")
_HOST: Final = re.compile(r"[A-Za-z0-9.:-]+")
_GONE: Final = "This request has run out or was answered already. Start again from your program."


class Consent:
    """The page and what its buttons do. For one event loop.

    Args:
        provider: has the requests that wait.
        passphrase: the owner's.
        secure: whether browsers reach this server by TLS, so that the cookie stays there.
    """

    def __init__(self, provider: Provider, passphrase: Passphrase, *, secure: bool) -> None:
        self._provider = provider
        self._passphrase = passphrase
        self._secure = secure
        self._tries = Rates(1 / SECONDS_A_TRY, TRIES, time.monotonic)
        self._one = anyio.CapacityLimiter(1)  # each check takes 64 MiB

    async def show(self, request: Request) -> Response:
        """The question."""
        name = request.query_params.get("request", "")
        waiting = self._provider.waiting(name)
        if waiting is None:
            return _page(400, "Nothing to allow", f"<p>{_GONE}</p>")
        response = _question(name, waiting)
        response.set_cookie(
            f"{COOKIE}_{request.url.port or 0}", waiting.proof, max_age=600, path="/consent", httponly=True,
            samesite="strict", secure=self._secure,
        )  # fmt: skip
        return response

    async def answer(self, request: Request) -> Response:
        """What the owner says: send the browser back to the program with it, or ask again."""
        form = await request.form()
        name = _text(form, "request")
        waiting = self._provider.waiting(name)
        proof = request.cookies.get(f"{COOKIE}_{request.url.port or 0}", "")
        if waiting is None or not hmac.compare_digest(waiting.proof.encode(), proof.encode()):
            return _page(400, "Nothing to allow", f"<p>{_GONE}</p>")
        if _text(form, "answer") != "allow":
            return RedirectResponse(self._provider.refuse(name), 303)
        if wait := self._tries.wait_seconds(""):
            return _question(name, waiting, 429, f"Too many wrong passphrases. Try again in {wait} seconds.")
        text = _text(form, "passphrase")
        if not await anyio.to_thread.run_sync(self._passphrase.fits, text, limiter=self._one):
            return _question(name, waiting, 403, "That is not the passphrase.")
        self._tries.forget("")
        if self._provider.waiting(name) is None:
            return _page(400, "Nothing to allow", f"<p>{_GONE}</p>")
        return RedirectResponse(self._provider.allow(name, _grant(waiting, form)), 303)


def _grant(waiting: Waiting, form: FormData) -> Grant:
    asked = waiting.params.scopes or [READ]
    scopes = (READ, WRITE) if WRITE in asked and _text(form, "write") else (READ,)
    client = waiting.client
    return Grant(
        client.client_id, _name(waiting), scopes, waiting.resource,
        _text(form, "project").strip() or None, _text(form, "actor").strip() or None,
    )  # fmt: skip


def _question(name: str, waiting: Waiting, status: int = 200, problem: str = "") -> Response:
    back = urlsplit(str(waiting.params.redirect_uri))
    where = f"{back.scheme}://{back.netloc}" if back.netloc else f"{back.scheme}:"
    described = f" It is described at <code>{escape(waiting.client.client_id)}</code>." * is_document(
        waiting.client.client_id
    )
    writes = (
        '<label class="row"><input type="checkbox" name="write" value="1" checked> Store and change memories</label>'
        if WRITE in (waiting.params.scopes or ())
        else ""
    )
    body = f"""
<p>A program that calls itself <strong>{escape(_name(waiting))}</strong> asks for access to your memories.{described}
It gets its answer at <code>{escape(where)}</code>. Go on only if you started this yourself.</p>
<label class="row"><input type="checkbox" checked disabled> Read memories</label>
{writes}
<details><summary>Show it only a part</summary>
<label class="field"><span>Project, besides what is global</span><input name="project" autocomplete="off"></label>
<label class="field"><span>Actor</span><input name="actor" autocomplete="off"></label></details>
<label class="field"><span>Your passphrase</span>
<input name="passphrase" type="password" autocomplete="current-password" autofocus></label>
<p class="error" role="alert">{escape(problem)}</p>
<input type="hidden" name="request" value="{escape(name, True)}">
<div class="row"><button class="main" name="answer" value="allow">Allow</button>
<button name="answer" value="refuse">Refuse</button></div>"""
    return _page(status, "Let a program in?", body, _source(back.scheme, back.netloc))


def _page(status: int, title: str, body: str, target: str = "") -> Response:
    """A page of the dashboard's look. Browsers apply `form-action` to where the form's answer leads, too."""
    styles = "".join(f'<link rel="stylesheet" href="/assets/css/{name}.css">' for name in _STYLES)
    html = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title} – vault-memory</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">{styles}</head><body>'
        f'<main class="sign-in"><form method="post" action="/consent"><img src="/assets/mark.svg" alt="">'
        f"<h1>{title}</h1>{body}</form></main></body></html>"
    )
    policy = (
        "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; "
        f"form-action 'self' {target}".rstrip()
    )
    # without a referrer policy that tells our own pages, browsers would send `Origin: null` with the form
    headers = {"Content-Security-Policy": policy, "Referrer-Policy": "same-origin"}
    return HTMLResponse(html, status, headers)


def _source(scheme: str, netloc: str) -> str:
    return f"{scheme}://{netloc}" if scheme in ("http", "https") and _HOST.fullmatch(netloc) else f"{scheme}:"


def _name(waiting: Waiting) -> str:
    return waiting.client.client_name or urlsplit(waiting.client.client_id).hostname or "a program"


def _text(form: FormData, field: str) -> str:
    value = form.get(field)
    return value if isinstance(value, str) else ""
