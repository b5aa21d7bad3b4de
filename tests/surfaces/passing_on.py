"""A proxy that adds the owner's token to what passes, for programs that can be told no header. Streams answers."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.surfaces.rest_server import Server


@contextmanager
def passing_on(server: Server) -> Iterator[str]:
    """The address of the proxy, which passes everything else on as it is, `Host` and `Origin` included."""

    class Handler(BaseHTTPRequestHandler):
        def _pass(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            connection = server.connect(timeout=120)
            try:
                connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
                for name, value in self.headers.items():
                    if name.lower() not in ("authorization", "connection", "transfer-encoding"):
                        connection.putheader(name, value)
                connection.putheader("Authorization", f"Bearer {server.token}")
                connection.endheaders(body or None)
                self._answer(connection.getresponse())
            except (OSError, http.client.HTTPException):
                self.close_connection = True
            finally:
                connection.close()

        def _answer(self, answer: http.client.HTTPResponse) -> None:
            self.send_response_only(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                    self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            while part := answer.read1(65536):
                self.wfile.write(part)
                self.wfile.flush()
            self.close_connection = True

        do_GET = do_POST = do_DELETE = do_OPTIONS = _pass

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        running.daemon_threads = True
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()
