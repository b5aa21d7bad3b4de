"""An MCP server as a client starts it, spoken to line by line."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.integration.product import PROGRAM

INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


class Server:
    """One stdio server on a vault."""

    def __init__(self, vault: Path) -> None:
        self.process = subprocess.Popen(
            [*PROGRAM, "mcp", "--vault", str(vault), "--project", "*", "--profile", "full"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self.number = 0
        self.initialized = False

    def send(self, method: str, **params: Any) -> int:
        """Ask without waiting; the number of the question."""
        self.number += 1
        self._write({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        return self.number

    def answer(self, number: int) -> Any:
        """The answer to a question, whatever else the server says meanwhile."""
        assert self.process.stdout is not None
        while True:
            message = json.loads(self.process.stdout.readline())
            if message.get("id") == number:
                return message["result"]

    def start(self) -> float:
        """Shake hands; how long it took."""
        started = time.monotonic()
        self.answer(self.send("initialize", **INITIALIZE))
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return time.monotonic() - started

    def call(self, tool: str, **arguments: Any) -> Any:
        """What a tool answers, as JSON where it is JSON."""
        result = self.answer(self.ask(tool, **arguments))
        text = result["content"][0]["text"]
        try:
            return json.loads(text)
        except ValueError:
            return text

    def ask(self, tool: str, **arguments: Any) -> int:
        """Call a tool without waiting."""
        return self.send("tools/call", name=tool, arguments=arguments)

    def paths(self, query: str) -> list[str]:
        """What a search finds by words."""
        return [hit["memory"]["path"] for hit in self.call("search", query=query, mode="keyword", as_json=True)["hits"]]

    def end(self) -> None:
        """Kill it, as a client does that crashes."""
        self.process.kill()
        self.process.communicate()

    def _write(self, message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
