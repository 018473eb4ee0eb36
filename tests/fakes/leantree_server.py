"""A LeanTree server as it is upstream, warts included, over any program that speaks the REPL's protocol.

One environment for each lease: every command and statement is sent with the `env` of the last answer, whatever it was,
until the process is returned; answers with an error message leave it as it was. HTTP/1.0 with a connection per call and
a short backlog; a single entry with all goals for an applied tactic; 200 with an `error` for whatever goes wrong in
`try_apply_tactic`; 500 with a pickled exception on the other routes; no batch call, no lease expiry, no recycling, and
no deadline but the `timeout` that the REPL itself keeps; `/status` with nothing but the four counts.
"""

import base64
import json
import pickle
import re
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from nanoproof.lean.types import parse_goal

_SORRY = re.compile(r"\b:=\s*sorry\b")
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
    """One REPL process, as naively driven as upstream does it, and the environment that the next text starts from."""

    def __init__(self, command: Sequence[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.env: int | None = None

    def run(self, text: str) -> dict[str, Any]:
        """Send a command in the environment that the last one left."""
        text = _SORRY.sub(lambda found: found.group().replace("sorry", "by sorry"), text)
        answer = self.ask({"cmd": text, **({} if self.env is None else {"env": self.env})})
        assert "env" in answer, f"no `env` in REPL response with keys: {answer.keys()}"
        self.env = answer["env"]
        return answer

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        if self.process.poll() is not None:
            raise UpstreamError(f"Subprocess has terminated with exit code {self.process.returncode}.")
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n\n")
            self.process.stdin.flush()
        except OSError as error:
            raise UpstreamError(f"Failed to send data to REPL: {error}") from error
        data = b""
        while line := self.process.stdout.readline():
            if not line.strip() and data:
                break
            data += line
        else:
            raise UpstreamError("Lean REPL process ended unexpectedly")
        answer = dict(json.loads(data))
        errors = [message for message in answer.get("messages", ()) if message["severity"] == "error"]
        if errors:
            raise UpstreamError(f"REPL returned error messages: {json.dumps(errors, ensure_ascii=False)}")
        if answer.get("message") == "Operation timed out":
            raise UpstreamError("Tactic application timed out.")
        if str(answer.get("message")).startswith("Lean error:"):
            raise UpstreamError(f"REPL returned error: {answer['message']}")
        return answer

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with suppress(OSError):  # what was not sent to a dead process
                pipe.close()


class LeanTreeServer:
    """Serves on a free port of loopback. Loading the pickles it sends creates the file `bomb`."""

    def __init__(self, command: Sequence[str], bomb: Path, max_processes: int = 2) -> None:
        self.bomb = Bomb(bomb)
        self._command = command
        self._changed = threading.Condition()
        self._idle: list[Repl] = []
        self._leases: dict[int, Repl] = {}
        self._locks: dict[int, threading.Lock] = {}
        self._next = 1
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
            counts = {"available_processes": len(self._idle), "used_processes": len(self._leases)}
        return {**counts, "starting_processes": 0, "max_processes": self.max_processes}

    def pids(self) -> list[int]:
        """Process ids of the REPLs that are leased."""
        with self._changed:
            return [repl.process.pid for repl in self._leases.values()]

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
            with self._changed:
                if number not in self._leases:
                    raise UpstreamError(f"Process {number} not found")
                repl, lock = self._leases[number], self._locks[number]
            with lock:
                return 200, self._run(repl, state, call, body)
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
        for repl in [*self._idle, *self._leases.values()]:
            repl.close()

    def _get(self, blocking: bool, seconds: float) -> int | None:
        with self._changed:
            self._changed.wait_for(
                lambda: self._idle or len(self._leases) < self.max_processes, seconds if blocking else 0
            )
            if not self._idle and len(self._leases) >= self.max_processes:
                return None
            number, self._next = self._next, self._next + 1
            self._leases[number] = self._idle.pop() if self._idle else Repl(self._command)
            self._locks[number] = threading.Lock()
            return number

    def _return(self, number: int) -> dict[str, Any]:
        with self._changed:
            repl = self._leases.pop(number, None)
            if repl is None:
                return {"status": "ok", "already_returned": True}
            if repl.process.poll() is None:
                repl.env = None
                self._idle.append(repl)
            else:
                repl.close()
            self._changed.notify()
        return {"status": "ok"}

    def _run(self, repl: Repl, state: str | None, call: str, body: Any) -> Any:
        match call:
            case "command":
                return repl.run(body["command"])
            case "proof_from_sorry":
                answer = repl.run(body["theorem_with_sorry"])
                if "sorries" not in answer:
                    raise UpstreamError("No `sorries` in REPL response.")
                gap = answer["sorries"][0]
                return {"value": _entry(gap["proofState"], [gap["goal"]])}
            case "state":
                return {"proof_state_id": int(state or 0)}
        message = {"tactic": body["tactic"], "proofState": int(state or 0)}
        answer = repl.ask({**message, "timeout": body["timeout"]} if "timeout" in body else message)
        verification = answer.get("stepVerification") or _verification(answer)
        if call == "try_apply_tactic" and verification != "OK":
            raise UpstreamError(f"Step verification error: {verification}")
        entry = _entry(answer["proofState"], answer["goals"])
        return {"value": [entry]} if call == "try_apply_tactic" else entry


def _verification(answer: dict[str, Any]) -> str:
    """What the fork would say of a step of the official REPL."""
    status = str(answer["proofStatus"])
    return status if "sorry" in status or status.startswith("Error") else "OK"


def _entry(state: int, goals: Sequence[str]) -> dict[str, Any]:
    return {"proof_state_id": state, "goals": [parse_goal(goal).to_wire() for goal in goals]}
