"""Starts the server as a client would and asks it two questions, before anything is written and in doctor.

Owns one short conversation over stdin and stdout; it knows the protocol's first messages and nothing of the tools.
"""

from __future__ import annotations

import json
import queue
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final

from msgspec import Struct

from vault_memory.errors import InvalidRequest

TIMEOUT_SECONDS: Final = 30.0
_PROTOCOL: Final = "2025-06-18"


class ServerAnswer(Struct, frozen=True):
    """What the server said of itself."""

    name: str
    version: str
    protocol: str
    tools: tuple[str, ...]
    seconds: float
    """From its start to its list of tools."""


def ask_server(
    command: Sequence[str],
    *,
    cwd: Path | None = None,
    environ: Mapping[str, str] | None = None,
    timeout: float = TIMEOUT_SECONDS,
) -> ServerAnswer:
    """Start `command`, shake hands, list the tools, end it.

    Raises:
        InvalidRequest: it cannot be started, says something else than it should, or takes more than `timeout` seconds;
            the message ends with the last line of its stderr.
    """
    began = time.monotonic()
    try:
        process = subprocess.Popen(
            list(command),
            cwd=cwd,
            env=None if environ is None else dict(environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        raise InvalidRequest.of("command", f"{command[0]} cannot be started: {error.strerror}") from error
    talk = _Talk(process, began + timeout)
    try:
        hello = talk.ask(1, "initialize", protocolVersion=_PROTOCOL, capabilities={}, clientInfo=_CLIENT)
        talk.tell("notifications/initialized")
        tools = talk.ask(2, "tools/list")
    finally:
        talk.end()
    about = hello.get("serverInfo") or {}
    names = tuple(str(tool.get("name")) for tool in tools.get("tools") or [])
    spoken = str(hello.get("protocolVersion"))
    return ServerAnswer(str(about.get("name")), str(about.get("version")), spoken, names, time.monotonic() - began)


_CLIENT: Final = {"name": "vault-memory connect", "version": "1"}


class _Talk:
    """One conversation; two threads read, so that neither a silent nor a talkative server can block it."""

    def __init__(self, process: subprocess.Popen[str], deadline: float) -> None:
        self._process = process
        self._deadline = deadline
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._errors: list[str] = []
        assert process.stdout is not None
        assert process.stderr is not None
        self._readers = (
            threading.Thread(target=self._read, args=(process.stdout,), daemon=True),
            threading.Thread(target=self._read_errors, args=(process.stderr,), daemon=True),
        )
        for reader in self._readers:
            reader.start()

    def ask(self, number: int, method: str, **params: Any) -> Mapping[str, Any]:
        """The result of one request."""
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        while True:
            answer = self._next()
            if answer.get("id") != number:
                continue
            if "error" in answer:
                raise self._failure(f"refused {method}: {answer['error']}")
            return dict(answer.get("result") or {})

    def tell(self, method: str) -> None:
        """Send a notification."""
        self._send({"jsonrpc": "2.0", "method": method})

    def end(self) -> None:
        """Close its stdin, as a client that goes; kill it when it stays."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
        except OSError:
            self._process.kill()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for reader in self._readers:
            reader.join()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
        except OSError:
            raise self._failure("ended at once") from None

    def _next(self) -> Mapping[str, Any]:
        try:
            line = self._lines.get(timeout=max(0.0, self._deadline - time.monotonic()))
        except queue.Empty:
            raise self._failure("did not answer in time") from None
        if line is None:
            raise self._failure("ended without an answer")
        try:
            answer = json.loads(line)
        except ValueError:
            raise self._failure(f"printed something that is no message: {line[:80]!r}") from None
        return answer if isinstance(answer, dict) else {}

    def _read(self, stream: IO[str]) -> None:
        for line in stream:
            if line.strip():
                self._lines.put(line)
        self._lines.put(None)

    def _read_errors(self, stream: IO[str]) -> None:
        for line in stream:
            self._errors = [*self._errors[-20:], line.strip()]

    def _failure(self, what: str) -> InvalidRequest:
        self._process.kill()
        self._process.wait()
        self._readers[1].join(1)
        last = next((line for line in reversed(self._errors) if line), "")
        detail = f"the server {what}" + (f" ({last[:300]})" if last else "")
        return InvalidRequest.of("server", detail, hint="Run the command by hand to see more.")
