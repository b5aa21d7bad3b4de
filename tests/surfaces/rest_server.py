"""A real server process over a real vault, and a client that says exactly what goes over the wire."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from vault_memory.operations.init import init_vault


class Reply:
    """A status, headers by lower-case name, and a body."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self) -> Any:
        """The body, which must be strict JSON."""

        def refuse(constant: str) -> None:
            raise AssertionError(f"{constant} is not JSON")

        return json.loads(self.body, parse_constant=refuse)


class Server:
    """A running `vault-memory serve`."""

    def __init__(self, root: Path, *options: str, environ: Mapping[str, str] | None = None) -> None:
        self.root = root
        self.environ = {**os.environ, "VAULT_MEMORY_CONFIG": str(root.parent / "mine.toml"), **(environ or {})}
        command = [sys.executable, "-m", "vault_memory", "serve", "--vault", str(root), "--json", *options]
        if "--port" not in options:
            command += ["--port", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environ)
        lines = []
        for line in self.process.stdout or ():
            lines.append(line)
            if line.strip() == b"}":
                break
        if not lines:
            _, errors = self.process.communicate(timeout=30)
            raise AssertionError(errors.decode())
        self.url = str(json.loads(b"".join(lines))["url"])
        self.port = urlsplit(self.url).port or 0
        self.token = (root / ".vault-memory" / "state" / "token").read_text().strip()

    def connect(self, timeout: float = 60) -> http.client.HTTPConnection:
        host = urlsplit(self.url).hostname or ""
        return http.client.HTTPConnection(host, self.port, timeout=timeout)

    def raw(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None = None) -> Reply:
        """One request with these headers and no others but Host (unless given) and the length."""
        connection = self.connect()
        try:
            connection.putrequest(method, path, skip_host="Host" in headers, skip_accept_encoding=True)
            for name, value in headers.items():
                connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return Reply(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def ask(self, method: str, path: str, document: Any = None, *, token: str | None = None, **headers: str) -> Reply:
        """A request as a good client sends it; underscores in header names stand for hyphens."""
        sent = {"Authorization": f"Bearer {token or self.token}"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        if document is None:
            return self.raw(method, path, sent)
        return self.raw(method, path, {"Content-Type": "application/json", **sent}, json.dumps(document).encode())

    def post(self, operation: str, document: Any, **options: Any) -> Reply:
        """Call an operation at /v1."""
        return self.ask("POST", f"/v1/{operation}", document, **options)

    def stop(self, kind: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """End the server; its exit code and what it said on stderr."""
        if self.process.poll() is None:
            self.process.send_signal(kind)
        _, errors = self.process.communicate(timeout=30)
        return self.process.returncode, errors.decode()


@contextmanager
def serving(root: Path, *options: str, environ: Mapping[str, str] | None = None) -> Iterator[Server]:
    """A server for as long as the block lasts; it must end well."""
    if not root.exists():
        init_vault(root, git=False)
    server = Server(root, *options, environ=environ)
    try:
        yield server
    finally:
        code, errors = server.stop()
    assert "Traceback" not in errors, errors
    assert code == 0, errors
