"""A LeanTree server as it is found upstream: HTTP/1.0, a new connection per call, no batch call, answers on cue."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, Any]


class UpstreamServer:
    """Answers each POST with `answer(path, body) -> (status, JSON)`, or 404 where that returns None; keeps a list."""

    def __init__(self, answer: Callable[[str, dict[str, Any]], Answer | None]) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        calls = self.calls

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
                calls.append((self.path, body))
                answered = answer(self.path, body)
                status, data = answered or (404, "<h1>Not Found</h1>")
                payload = (json.dumps(data) if answered else str(data)).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
