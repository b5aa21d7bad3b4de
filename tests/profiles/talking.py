"""A client of one profile: a real server process on stdin and stdout, spoken to by the protocol's own client."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


class Refused(Exception):
    """The tool answered with a problem object."""

    def __init__(self, problem: dict[str, Any]) -> None:
        super().__init__(problem.get("detail"))
        self.problem = problem


class Talk:
    """One session with a server."""

    def __init__(self, client: ClientSession) -> None:
        self.client = client

    async def __call__(self, tool: str, **given: Any) -> Any:
        """The JSON that a tool answers."""
        result = await self.client.call_tool(tool, given)
        document = json.loads(result.content[0].text)
        if result.is_error:
            raise Refused(document)
        return document

    async def refused(self, tool: str, **given: Any) -> dict[str, Any]:
        """The problem that a tool answers."""
        try:
            answer = await self(tool, **given)
        except Refused as refusal:
            return refusal.problem
        raise AssertionError(f"{tool} was not refused: {answer}")

    async def text(self, uri: str) -> str:
        """The text of a resource."""
        return str((await self.client.read_resource(uri)).contents[0].text)


@asynccontextmanager
async def talking(vault: Path, profile: str, *, project: str = "acme", actor: str | None = None) -> AsyncIterator[Talk]:
    """Start a server with the profile, as an agent would."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    home = vault.parent
    arguments = ["-m", "vault_memory", "mcp", "--vault", str(vault), "--project", project, "--profile", profile]
    server = StdioServerParameters(
        command=sys.executable,
        args=[*arguments, *(("--actor", actor) if actor else ())],
        env={**kept, "HOME": str(home), "VAULT_MEMORY_CONFIG": str(home / "none.toml")},
        cwd=str(home),
    )
    async with stdio_client(server) as (incoming, outgoing), ClientSession(incoming, outgoing) as client:
        await client.initialize()
        yield Talk(client)
