"""A LeanTree server as it is upstream, warts included, over any program that speaks the REPL's protocol.

HTTP/1.0 with a connection per call and a short backlog; a single entry with all goals for an applied tactic; 200 with
an `error` for whatever goes wrong in `try_apply_tactic`; 500 with a pickled exception on the other routes; no batch
call, no lease expiry, no recycling; `/status` with nothing but the four counts.
"""

import base64
import json
import pickle
import re
import select
import subprocess
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from nanoproof.lean.state import parse_goal

_COMMAND_SECONDS = 60.0
_ROUTE = re.compile(
    r"/process/(?P<pid>\d+)/(?:return|command|proof_from_sorry|proof/(?P<state>\d+)/(?:try_apply_tactic|apply_tactic|state))"
)


class UpstreamError(Exception):
    """What goes wrong upstream; only the text travels (and a pickle, which nobody may open)."""


class Bomb:
    """An object whose pickle creates a file when it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


class Repl:
    """One REPL process, as naively driven as upstream does it."""

    def __init__(self, command: Sequence[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)

    def ask(self, message: dict[str, Any], seconds: float, timeout_text: str) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        if self.process.poll() is not None:
            raise UpstreamError("Subprocess has terminated")
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n\n")
        except OSError as error:
            raise UpstreamError(f"Failed to send data to REPL: {error}") from error
        deadline, data = time.monotonic() + seconds, b""
        while b"\n\n" not in data.lstrip():
            readable, _, _ = select.select([self.process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            if not readable:
                self.process.kill()
                raise UpstreamError(timeout_text)
            chunk = self.process.stdout.read(1 << 16)
            if not chunk:
                raise UpstreamError("Lean REPL process ended unexpectedly")
            data += chunk
        answer = json.loads(data)
        if "message" in answer:
            raise UpstreamError(f"REPL returned error: {answer['message']}")
        return dict(answer)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()


class LeanTreeServer:
    """Serves on a free port of loopback. Loading the pickles it sends creates the file `bomb`."""

    def __init__(self, command: Sequence[str], bomb: Path, max_processes: int = 2) -> None:
        self.bomb = Bomb(bomb)
        self._command = command
        self._changed = threading.Condition()
        self._free = list(range(max_processes))
        self._used: set[int] = set()
        self._repls: dict[int, Repl] = {}
        self._locks = [threading.Lock() for _ in range(max_processes)]
        self.max_processes = max_processes
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(*((200, server.status()) if self.path == "/status" else (404, None)))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"null")
                self._answer(*server.answer(self.path, body))

            def _answer(self, status: int, answer: Any) -> None:
                self.send_response(status)
                self.end_headers()  # no Content-Length: the end of the connection is the end of the answer
                self.wfile.write(b"<h1>Not Found</h1>" if answer is None else json.dumps(answer).encode())

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            request_queue_size = 5

            def handle_error(self, *_: object) -> None:
                pass  # a client that goes away is none of its business

        self._server = Server(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def status(self) -> dict[str, Any]:
        with self._changed:
            counts = {"available_processes": len(self._free), "used_processes": len(self._used)}
        return {**counts, "starting_processes": 0, "max_processes": self.max_processes}

    def pids(self) -> list[int]:
        """Process ids of the REPLs that are leased."""
        return [self._repls[number].process.pid for number in self._used]

    def answer(self, path: str, body: Any) -> tuple[int, Any]:
        """Status and body for a POST; None is a page that is no JSON."""
        if path == "/process/get":
            return 200, {"process_id": self._get(body.get("blocking", True), body.get("timeout", 60))}
        match = _ROUTE.fullmatch(path)
        if match is None:
            return 404, None
        number, state, call = int(match["pid"]), match["state"], path.rsplit("/", 1)[1]
        if call == "return":
            return 200, self._return(number)
        try:
            if number not in self._used:
                raise UpstreamError(f"Process {number} not found")
            with self._locks[number]:
                return 200, self._run(self._repls[number], state, call, body)
        except Exception as error:  # upstream catches everything, bugs included
            kind = "" if isinstance(error, UpstreamError) else f"{type(error).__name__}: "
            text = f"{kind}{error}"
            if call == "try_apply_tactic" or (call == "proof_from_sorry" and "REPL returned error" in text):
                return 200, {"error": text}
            pickled = base64.b64encode(pickle.dumps(self.bomb)).decode()
            return 500, {"error": text, "exception": pickled}

    def close(self) -> None:
        """Stop serving and end the processes."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        for repl in self._repls.values():
            repl.close()

    def _get(self, blocking: bool, seconds: float) -> int | None:
        with self._changed:
            self._changed.wait_for(lambda: self._free, seconds if blocking else 0)
            if not self._free:
                return None
            number = self._free.pop(0)
            repl = self._repls.get(number)
            if repl is None or repl.process.poll() is not None:
                if repl is not None:
                    repl.close()
                self._repls[number] = Repl(self._command)
            self._used.add(number)
            return number

    def _return(self, number: int) -> dict[str, Any]:
        with self._changed:
            if number not in self._used:
                return {"status": "ok", "already_returned": True}
            self._used.discard(number)
            self._free.append(number)
            self._changed.notify()
        return {"status": "ok"}

    def _run(self, repl: Repl, state: str | None, call: str, body: Any) -> Any:
        match call:
            case "command":
                return repl.ask({"cmd": body["command"]}, _COMMAND_SECONDS, "Command timed out")
            case "proof_from_sorry":
                answer = repl.ask({"cmd": body["theorem_with_sorry"]}, _COMMAND_SECONDS, "Command timed out")
                _refuse_errors(answer)
                (gap,) = answer["sorries"]
                return {"value": _entry(gap["proofState"], [gap["goal"]])}
            case "state":
                return {"proof_state_id": int(state or 0)}
        message = {"tactic": body["tactic"], "proofState": int(state or 0)}
        answer = repl.ask(message, body.get("timeout", 1000) / 1000, "Tactic application timed out")
        _refuse_errors(answer)
        if "sorry" in answer.get("proofStatus", "") or answer["proofStatus"].startswith("Error"):
            raise UpstreamError(f"Step verification error: {answer['proofStatus']}")
        entry = _entry(answer["proofState"], answer["goals"])
        return {"value": [entry]} if call == "try_apply_tactic" else entry


def _refuse_errors(answer: dict[str, Any]) -> None:
    errors = [message["data"] for message in answer.get("messages", ()) if message["severity"] == "error"]
    if errors:
        raise UpstreamError(f"REPL returned error: {errors}")


def _entry(state: int, goals: Sequence[str]) -> dict[str, Any]:
    return {"proof_state_id": state, "goals": [parse_goal(goal).to_wire() for goal in goals]}
