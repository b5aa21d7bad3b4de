"""A vault that looks like one in use: a small team's memories, related, linked, archived, waiting for review."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from vault_memory import init_vault, open_vault

NOW = datetime.now(UTC)

DEPLOY = """Deploys go through fly.io, not Heroku: its EU region has private networking, and a rollback is one command.

## How

1. Merge to `main`; CI builds the image.
2. `fly deploy --strategy rolling` from the release job.
3. Watch the error rate for ten minutes.

> A rollback never runs migrations backwards; see [[Maria reviews every migration]].

| region | machines | since |
|---|---|---|
| ams | 4 | March |
| fra | 2 | June |
"""

MEMORIES: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    (
        "Deploy with fly.io, not Heroku",
        "decision",
        DEPLOY,
        {
            "tags": ["deploy", "ops"], "project": "acme-api", "domain": "infrastructure",
            "importance": 0.85, "confidence": 0.95,
        },
    ),
    (
        "Maria reviews every migration",
        "fact",
        "Maria reviews every database migration before it is merged. Locks longer than two seconds are split "
        "into steps.\n",
        {"tags": ["database", "review"], "project": "acme-api", "confidence": 0.9, "domain": "database"},
    ),
    (
        "No Redis for sessions",
        "anti_pattern",
        "Do not cache sessions in Redis here: tokens outlived logout twice. Keep them in Postgres, where one "
        "row ends them.\n",
        {"tags": ["auth", "database"], "project": "acme-api", "domain": "auth"},
    ),
    (
        "Short answers with one example",
        "preference",
        "Prefers short answers with one example, and the command to copy.\n",
        {"tags": ["writing"], "source": "human", "importance": 0.7},
    ),
    (
        "Refunds settle at night",
        "api_quirk",
        "The payment provider answers 202 for refunds and settles them at 02:00 UTC. Polling earlier shows a "
        "false failure.\n",
        {"tags": ["payments"], "project": "shop", "domain": "payments"},
    ),
    (
        "Checkout rewrite: where it stands",
        "checkpoint",
        "Cart and address steps are done. Open: tax for Swiss customers, and the empty-cart page.\n",
        {"tags": ["checkout"], "project": "shop", "domain": "payments"},
    ),
    (
        "Search uses Postgres, not Elasticsearch",
        "decision",
        "Full-text search stays in Postgres until a query takes more than 200 ms at p95. One system less to "
        "run.\n",
        {"tags": ["database", "search"], "project": "acme-api", "domain": "database"},
    ),
    (
        "Why the queue is at-least-once",
        "reasoning",
        "Exactly-once would need a transaction across two systems. Handlers are idempotent instead; each "
        "writes the message id in the same transaction.\n",
        {"tags": ["queue"], "project": "acme-api"},
    ),
    (
        "On-call changes on Tuesdays",
        "event",
        "The on-call rotation changes on Tuesday at 10:00, after the weekly review.\n",
        {"tags": ["ops"]},
    ),
    (
        "Invoices need the VAT id",
        "fact",
        "Invoices to companies in the EU need their VAT id, or the accountant sends them back.\n",
        {"tags": ["payments", "legal"], "project": "shop", "domain": "Payments"},
    ),
    (
        "The design system lives in Figma",
        "fact",
        "Tokens are exported from Figma every Friday; never edit tokens.css by hand.\n",
        {"tags": ["design"], "project": "shop", "domain": "design"},
    ),
    (
        "Handoff: flaky login test",
        "handoff",
        "The login test fails once in thirty runs. Suspect: the clock in CI. Next: freeze it.\n",
        {"tags": ["test"], "project": "acme-api"},
    ),
    (
        "Logs are kept for 30 days",
        "fact",
        "Logs are kept for 30 days in the EU, then deleted. Audit logs stay for a year.\n",
        {"tags": ["ops", "legal"], "domain": "infrastructure"},
    ),
    (
        "Feature flags end after a month",
        "instruction",
        "Every feature flag gets an owner and an end date at most a month away.\n",
        {"tags": ["process"], "importance": 0.6},
    ),
)  # fmt: skip
RELATIONS = (
    ("Deploy with fly.io, not Heroku", "Maria reviews every migration", "depends_on"),
    ("No Redis for sessions", "Search uses Postgres, not Elasticsearch", "relates_to"),
    ("Checkout rewrite: where it stands", "Refunds settle at night", "depends_on"),
    ("Invoices need the VAT id", "Checkout rewrite: where it stands", "relates_to"),
    ("Why the queue is at-least-once", "Search uses Postgres, not Elasticsearch", "relates_to"),
    ("Handoff: flaky login test", "No Redis for sessions", "relates_to"),
    ("Logs are kept for 30 days", "Deploy with fly.io, not Heroku", "relates_to"),
    ("On-call changes on Tuesdays", "Deploy with fly.io, not Heroku", "relates_to"),
)


def make_vault(root: Path) -> None:
    """Fill a new vault through the library, as an agent would, and spread the changes over a month."""
    init_vault(root)
    _store(root)
    for n, note in enumerate(sorted(root.glob("memories/**/*.md"))):
        changed = NOW - timedelta(days=(n * n) % 28, hours=n)
        note.write_text(re.sub(r"(?m)^updated_at: .*$", f"updated_at: {changed:%Y-%m-%dT%H:%M:%SZ}", note.read_text()))
        os.utime(note, (changed.timestamp(), changed.timestamp()))


def _store(root: Path) -> None:
    with open_vault(root, agent="claude-code", session="4f2a9c31-demo") as vault:
        for n, (title, kind, content, more) in enumerate(MEMORIES):
            made = NOW - timedelta(days=(n * 5) % 29, hours=n)
            fields = {"memory_type": kind, "created_at": made, "on_duplicate": "keep_both", **more}
            vault.remember(content=content, title=title, **fields)
        for source, target, kind in RELATIONS:
            vault.relate(from_ref=source, to_ref=target, relation_type=kind)
        vault.verify(ref="Deploy with fly.io, not Heroku", verification="confirmed")
        longer = "Logs are kept for 90 days in the EU, then deleted. Audit logs stay for a year.\n"
        vault.remember(content=longer, title="Logs are kept for 90 days")
        vault.anchor_add(text="Never push to main. Ask before deleting data.", scope="global")
        vault.remember(content="The staging server is called otter.\n", title="Staging is called otter")
        vault.forget(ref="Staging is called otter")
