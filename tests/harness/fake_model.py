"""A model on loopback that speaks four dialects and calls the one tool it was told to call, once a conversation.

Anthropic Messages, OpenAI Responses, OpenAI chat completions and Gemini `generateContent`, streamed or not, as far as
the coding agents need them. It keeps every request, so that a test can look at what an agent sent.
"""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
ANSWER = "All done."


@dataclass
class FakeModel:
    """The script (a tool's name and arguments, or None to only answer) and the requests seen so far."""

    url: str
    tool: str | None = None
    arguments: Json = field(default_factory=dict)
    requests: list[Json] = field(default_factory=list)

    @property
    def conversations(self) -> list[Json]:
        """The requests that offered tools: those of the agent's own conversation, not of its side jobs."""
        return [request for request in self.requests if tool_names(request)]

    def text(self) -> str:
        """Everything that was sent to the model, for looking up what it got to see."""
        return "\n".join(json.dumps(request, ensure_ascii=False) for request in self.requests)

    def call(self, body: Json) -> tuple[str, Json] | None:
        """The tool call for this request: none without the tool, and none after its result came back."""
        if self.tool is None or any(mark in json.dumps(body) for mark in _RESULT_MARKS):
            return None
        name = next((name for name in tool_names(body) if name.replace("/", "_").endswith(self.tool)), None)
        return None if name is None else (name, self.arguments)


_RESULT_MARKS = ('"tool_result"', '"function_call_output"', '"functionResponse"', '"role": "tool"')


def tool_names(body: Json) -> list[str]:
    """The names of the tools a request offers; those inside a namespace as `namespace/name`."""
    names: list[str] = []
    for tool in body.get("tools") or []:
        names += [item["name"] for item in tool.get("functionDeclarations") or []]
        inner = tool.get("tools") or []
        names += [f"{tool.get('name')}/{item.get('name')}" for item in inner]
        name = tool.get("name") or (tool.get("function") or {}).get("name")
        if name and not inner:
            names.append(name)
    return names


@contextmanager
def fake_model() -> Iterator[FakeModel]:
    """A running model; it stops with the block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    model = FakeModel(f"http://127.0.0.1:{server.server_address[1]}")
    server.model = model  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test output quiet."""

    def do_HEAD(self) -> None:
        self._json({}, body=False)

    def do_GET(self) -> None:
        self._json({"data": [], "models": [], "has_more": False})

    def do_POST(self) -> None:
        raw = self._body()
        try:
            body = json.loads(raw)
        except ValueError:
            body = {}
        model: FakeModel = self.server.model  # type: ignore[attr-defined]
        path = self.path.split("?")[0]
        if path.endswith("/count_tokens"):
            return self._json({"input_tokens": 100})
        if "countTokens" in path:
            return self._json({"totalTokens": 100})
        model.requests.append(body)
        call = model.call(body)
        if path.endswith("/v1/messages"):
            return self._anthropic(body, call)
        if path.endswith("/responses"):
            return self._responses(call)
        if path.endswith("/chat/completions"):
            return self._chat(body, call)
        if "enerateContent" in path:
            return self._gemini(path, call)
        return self._json({})

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("transfer-encoding", ""):
            raw = b""
            while size := int(self.rfile.readline().strip() or b"0", 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        return gzip.decompress(raw) if self.headers.get("content-encoding") == "gzip" else raw

    def _json(self, data: Json, *, body: bool = True) -> None:
        payload = json.dumps(data).encode() if body else b""
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def _stream(self, events: list[tuple[str | None, Json]], *, end: str = "") -> None:
        """Server-sent events; `end` is the dialect's last line, where it has one."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for name, data in events:
            head = f"event: {name}\n" if name else ""
            self.wfile.write(f"{head}data: {json.dumps(data)}\n\n".encode())
        self.wfile.write(end.encode())
        self.close_connection = True

    def _anthropic(self, body: Json, call: tuple[str, Json] | None) -> None:
        usage = {"input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        message: Json = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": body.get("model"),
            "usage": usage,
        }
        stop = "tool_use" if call else "end_turn"
        if call:
            block: Json = {"type": "tool_use", "id": f"toolu_{len(json.dumps(body))}", "name": call[0], "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
        else:
            block = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": ANSWER}
        if not body.get("stream"):
            whole = block | ({"input": call[1]} if call else {"text": ANSWER})
            return self._json(message | {"content": [whole], "stop_reason": stop, "stop_sequence": None})
        start = message | {"content": [], "stop_reason": None, "stop_sequence": None}
        events: list[tuple[str | None, Json]] = [
            ("message_start", {"message": start}),
            ("content_block_start", {"index": 0, "content_block": block}),
            ("content_block_delta", {"index": 0, "delta": delta}),
            ("content_block_stop", {"index": 0}),
            ("message_delta", {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 5}}),
            ("message_stop", {}),
        ]
        return self._stream([(name, {"type": name, **data}) for name, data in events])

    def _responses(self, call: tuple[str, Json] | None) -> None:
        if call:
            namespace, slash, name = call[0].rpartition("/")
            item: Json = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": name}
            item |= {"arguments": json.dumps(call[1])} | ({"namespace": namespace} if slash else {})
        else:
            text = {"type": "output_text", "text": ANSWER, "annotations": []}
            item = {"type": "message", "role": "assistant", "id": "m_1", "content": [text]}
        usage = {"input_tokens": 10, "input_tokens_details": None, "output_tokens": 5, "output_tokens_details": None}
        response = {"id": "resp_1", "usage": usage | {"total_tokens": 15}}
        events: list[tuple[str | None, Json]] = [
            ("response.created", {"response": {"id": "resp_1"}}),
            ("response.output_item.done", {"output_index": 0, "item": item}),
            ("response.completed", {"response": response}),
        ]
        self._stream([(name, {"type": name, **data}) for name, data in events])

    def _chat(self, body: Json, call: tuple[str, Json] | None) -> None:
        message: Json = {"role": "assistant", "content": None if call else ANSWER}
        if call:
            function = {"name": call[0], "arguments": json.dumps(call[1])}
            message["tool_calls"] = [{"index": 0, "id": "call_1", "type": "function", "function": function}]
        reason = "tool_calls" if call else "stop"
        whole = {"id": "chat_1", "object": "chat.completion", "created": 1, "model": body.get("model")}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": reason}
            return self._json(whole | {"choices": [choice], "usage": usage})
        piece = whole | {"object": "chat.completion.chunk"}
        first = piece | {"choices": [{"index": 0, "delta": message, "finish_reason": None}]}
        last = piece | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}
        return self._stream([(None, first), (None, last)], end="data: [DONE]\n\n")

    def _gemini(self, path: str, call: tuple[str, Json] | None) -> None:
        part: Json = {"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": ANSWER}
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
        answer = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "fake"}
        if "stream" in path:
            return self._stream([(None, answer)])
        return self._json(answer)
