"""A server that speaks the OpenAI API on loopback, and misbehaves on cue."""

import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Choice = dict[str, Any]
FAULTS = ("busy", "error", "gateway", "half", "html", "wrong", "drop", "drop late", "slow", "short", "trickle")
"""What can be wrong with an answer: 429, 500, 502, JSON that breaks off, no JSON, other JSON than promised, a
connection that closes before or in the middle, an answer that takes too long, fewer texts than asked for, and an answer
that comes byte by byte."""
PIECE_SECONDS = 0.02


def text_of(prompt: str, seed: int, index: int) -> str:
    """What the server writes: it can be told from what it writes for other prompts."""
    return f"exact h{hashlib.sha256(f'{prompt}/{seed}/{index}'.encode()).hexdigest()[:12]}"


def write(body: Mapping[str, Any]) -> list[Choice]:
    """Write `n` texts of three tokens each, with log-probabilities -0.5."""
    prompt = body["messages"][-1]["content"] if "messages" in body else body["prompt"]
    count = body.get("n", 1)
    return [
        {"index": index, "text": text_of(prompt, body.get("seed", 0), index), "logprobs": [-0.5] * 3, "reason": "stop"}
        for index in range(count)
    ]


class OpenAIServer:
    """What the server knows: `fault(number)` says what is wrong with the answer to a request, "" for nothing."""

    def __init__(self) -> None:
        self.fault: Callable[[int], str] = lambda number: ""
        self.writer: Callable[[Mapping[str, Any]], list[Choice]] = write
        self.models: list[str] = ["tiny"]
        self.listed: bytes = b""  # in place of the list of its models
        self.token: str | None = None
        self.slow_seconds = 1.0
        self.silent_seconds = 0.0
        self.loading = 0  # how many times it answers that its model is not there yet, where its models are asked for
        self.retry_after = "0.1"
        self.refusal: Callable[[Mapping[str, Any]], tuple[int, Any] | None] = lambda body: None
        self.embedding: Callable[[str], list[float]] = lambda text: [3.0, 4.0]
        self.echo: Callable[[str], dict[str, Any]] | None = None
        self.requests: list[dict[str, Any]] = []
        self.faults: Counter[str] = Counter()
        self.at_once = self.most_at_once = 0
        self.lock, self.hung_up = threading.Lock(), threading.Event()
        self.base = ""

    def number(self, body: dict[str, Any]) -> int:
        with self.lock:
            self.requests.append(body)
            return len(self.requests) - 1


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, state: OpenAIServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.state = state

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that give up are part of the game."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server
    disable_nagle_algorithm = True

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        listed = self.server.state.listed or {"data": [{"id": name} for name in self.server.state.models]}
        time.sleep(self.server.state.silent_seconds)
        if self._denied():
            return
        if self.server.state.loading > 0:
            self.server.state.loading -= 1
            self._send(503, {"error": {"code": 503, "message": "Loading model"}})
            return
        self._send(200 if self.path == "/v1/models" else 404, listed)

    def do_POST(self) -> None:
        state = self.server.state
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self._denied():
            return
        refused = state.refusal(body)
        if refused is not None:
            self._send(*refused)
            return
        fault = state.fault(state.number(body))
        with state.lock:
            state.faults[fault] += 1
            state.at_once += 1
            state.most_at_once = max(state.most_at_once, state.at_once)
        try:
            self._answer(state, body, fault)
        finally:
            with state.lock:
                state.at_once -= 1

    def _denied(self) -> bool:
        token = self.server.state.token
        if token is None or self.headers.get("Authorization") == f"Bearer {token}":
            return False
        said = self.headers.get("Authorization", "nothing")
        self._send(401, {"error": {"message": f"you sent {said}"}})
        return True

    def _answer(self, state: OpenAIServer, body: dict[str, Any], fault: str) -> None:
        if self.path == "/v1/embeddings":
            rows = [{"index": i, "embedding": state.embedding(text)} for i, text in enumerate(body["input"])]
            self._send(200, {"data": rows[::-1]})
        elif fault == "busy":
            self._send(429, {"error": "full"}, {"Retry-After": state.retry_after})
        elif fault == "error":
            self._send(500, {"error": {"message": f"out of luck, {self.headers.get('Authorization')}"}})
        elif fault == "gateway":
            self._send(502, b"<html>Bad Gateway</html>")
        elif fault == "html":
            self._send(200, b"<html>welcome</html>")
        elif fault == "wrong":
            self._send(200, {"choices": [{"index": 0, "text": 7}]})
        elif fault == "trickling headers":
            self.close_connection = True
            try:
                for byte in b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100:
                    self.wfile.write(bytes([byte]))
                    time.sleep(PIECE_SECONDS)
            except OSError:
                state.hung_up.set()
        elif fault == "drop":
            self.close_connection = True
        elif body.get("echo") and state.echo is not None:
            self._send(200, {"choices": [{"index": 0, "text": body["prompt"], "logprobs": state.echo(body["prompt"])}]})
        else:
            if fault == "slow":
                time.sleep(state.slow_seconds)
            choices = state.writer(body)
            choices = choices[: max(1, len(choices) // 2)] if fault == "short" else choices
            chat = self.path == "/v1/chat/completions"
            if body.get("stream"):
                self._stream(choices, chat, fault)
            else:
                whole = {"choices": [_whole(choice, chat) for choice in choices]}
                tokens = sum(len(choice["logprobs"]) for choice in choices)
                self._send(200, {**whole, "usage": {"completion_tokens": tokens}}, fault=fault)

    def _send(self, code: int, body: Any, headers: Mapping[str, str] | None = None, fault: str = "") -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        if fault == "half":
            data = data[: len(data) // 2]  # as a proxy does that gives up: the length agrees, the JSON does not
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        if fault == "drop late":
            self.wfile.write(data[: len(data) // 2])
            self.close_connection = True
        elif fault == "trickle":
            for start in range(0, len(data), 2):
                self.wfile.write(data[start : start + 2])
                time.sleep(PIECE_SECONDS)
        else:
            self.wfile.write(data)

    def _stream(self, choices: list[Choice], chat: bool, fault: str) -> None:
        events = [event for choice in choices for event in _pieces(choice, chat)]
        if fault in ("half", "drop late"):
            events = events[: len(events) // 2]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        end = {"cr": b"\r", "crlf": b"\r\n"}.get(fault, b"\n") * 2
        self.wfile.write(b": keep-alive" + end)
        for event in events:
            self.wfile.write(b"data: " + json.dumps({"choices": [event]}).encode() + end)
            time.sleep(PIECE_SECONDS if fault == "trickle" else 0)
        if fault == "no line break":
            self.wfile.write(b"data: [DONE]")
        elif fault not in ("half", "drop late", "unsaid"):
            self.wfile.write(b"data: [DONE]" + end)


def _logprobs(values: list[float], chat: bool) -> dict[str, Any]:
    return {"content": [{"logprob": value} for value in values]} if chat else {"token_logprobs": values}


def _whole(choice: Choice, chat: bool) -> dict[str, Any]:
    said = {"message": {"role": "assistant", "content": choice["text"]}} if chat else {"text": choice["text"]}
    rest = {"logprobs": _logprobs(choice["logprobs"], chat), "finish_reason": choice["reason"]}
    return {"index": choice["index"], **said, **rest}


def _pieces(choice: Choice, chat: bool) -> Iterator[dict[str, Any]]:
    index, text = choice["index"], choice["text"]
    for start in range(0, len(text), 5):
        piece = text[start : start + 5]
        said = {"delta": {"content": piece}} if chat else {"text": piece}
        logprobs = _logprobs(choice["logprobs"], chat) if start == 0 else None
        yield {"index": index, **said, "logprobs": logprobs, "finish_reason": None}
    yield {"index": index, **({"delta": {}} if chat else {"text": ""}), "finish_reason": choice["reason"]}


@contextmanager
def openai_server() -> Iterator[OpenAIServer]:
    """Run a server on a free port of loopback; its address is `base`."""
    state = OpenAIServer()
    server = _Server(state)
    state.base = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
