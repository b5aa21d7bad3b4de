"""`/docs`: the description of the routes as a page that needs no script and no network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from vault_memory.surfaces.rest import actor, openapi
from vault_memory.surfaces.rest.messages import answer

if TYPE_CHECKING:
    from starlette.requests import Request

STYLE: Final = """
:root { color-scheme: light dark; --line: color-mix(in srgb, currentcolor 18%, transparent); }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 2rem 1rem 6rem; }
h1 { font-size: 1.7rem; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
h3 { margin: 2rem 0 .3rem; font-size: 1rem; } code { font: .9em ui-monospace, monospace; }
.way { display: inline-block; min-width: 4.5em; font-weight: 600; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
td, th { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0; border-top: 1px solid var(--line); }
nav { columns: 12rem; }
"""


def routes() -> list[Route]:
    """The page, its style, and the description it is made from."""
    return [
        Route("/docs", _page, methods=["GET"]),
        Route("/docs.css", _style, methods=["GET"]),
        Route("/v1/openapi.json", _document, methods=["GET"]),
    ]


async def _page(request: Request) -> Response:
    return HTMLResponse(page(openapi.document()))


async def _style(request: Request) -> Response:
    return Response(STYLE, media_type="text/css")


async def _document(request: Request) -> Response:
    return answer(openapi.document())


def page(document: Mapping[str, Any]) -> str:
    """The description as HTML."""
    names = "".join(f'<div><a href="#{escape(p, True)}">{escape(p)}</a></div>' for p in document["paths"])
    parts = "".join(part for path, ways in document["paths"].items() for part in _path(path, ways, document))
    rows = "".join(
        f"<tr><td><code>{escape(way)} {escape(path)}</code></td><td>{escape(text)}</td></tr>"
        for way, path, text in actor.ENDPOINTS
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>vault-memory: REST</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="stylesheet" href="/docs.css"></head><body><main><h1>vault-memory: REST</h1>'
        f"<p>{escape(document['info']['description'])} Send the token as <code>Authorization: Bearer …</code>;"
        " <code>vault-memory token</code> shows it. The description for programs is"
        ' <a href="/v1/openapi.json">/v1/openapi.json</a>; agents connect to <code>/mcp</code>.</p>'
        f"<nav>{names}</nav><h2>Routes</h2>{parts}<h2>Routes of the memory actor</h2><table>{rows}</table>"
        "</main></body></html>"
    )


def _path(path: str, ways: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[str]:
    yield f'<section id="{escape(path, True)}">'
    for way, operation in ways.items():
        if not isinstance(operation, dict) or (way == "get" and "post" in ways and path.startswith("/v1/")):
            continue
        also = " or GET" if way == "post" and "get" in ways and path.startswith("/v1/") else ""
        yield f'<h3><code><span class="way">{way.upper()}{also}</span> {escape(path)}</code></h3>'
        yield f"<p>{escape(operation['summary'])}</p>{_table(operation, document)}"
    yield "</section>"


def _table(operation: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    fields = dict(schema.get("properties", {}))
    fields |= {p["name"]: p["schema"] | {"description": p["description"]} for p in operation.get("parameters", ())
               if "name" in p}  # fmt: skip
    if not fields:
        return ""
    required = schema.get("required", ())
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code>{' *' if name in required else ''}</td><td>{escape(_kind(field))}</td>"
        f"<td>{escape(field.get('description', ''))}</td></tr>"
        for name, field in fields.items()
    )
    return f"<table>{rows}</table>"


def _kind(field: Mapping[str, Any]) -> str:
    """A field's type in few words."""
    if options := field.get("anyOf"):
        return " or ".join(dict.fromkeys(_kind(option) for option in options if option.get("type") != "null"))
    if "enum" in field:
        return " | ".join(map(str, field["enum"]))
    kind = str(field.get("format") or field.get("type") or "")
    low, high = field.get("minimum"), field.get("maximum")
    bounds = f" {low:g}–{high:g}" if isinstance(low, (int, float)) and isinstance(high, (int, float)) else ""
    return kind + bounds
