"""Prover processes: searches run beside the learner, which then has an interpreter to itself.

Each process has threads for its share of the Lean processes and one connection to the learner, a pair of local sockets
that nobody else can reach. Lines of JSON go over it: tasks and answers of the policy one way, questions to the policy
and attempts the other. A process that ends is started again, and what it worked on is handed out again.
"""

import json
import logging
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from nanoproof.actors.actor import JOIN_SECONDS, SWITCH_SECONDS
from nanoproof.actors.fleet import Reach
from nanoproof.actors.pool import Pauses
from nanoproof.actors.remote import Link, ProverSpec, Purpose, RelayPool, RemotePool, from_plain, policy_error
from nanoproof.actors.tasks import Stopped
from nanoproof.common.errors import UserError
from nanoproof.lean.client import ClientConfig, FleetServer, LeanFleet
from nanoproof.lean.transport import TOKEN_VARIABLE
from nanoproof.policy.protocol import suggestion_from_json, suggestion_to_json
from nanoproof.prover.prover import Prover
from nanoproof.search.policy import Policy, PolicyClosed, Suggestion

log = logging.getLogger(__name__)

STATUS_SECONDS = 1.0
MAX_ENDS = 5
"""So many times in a row a prover process may end before one of its attempts does: then the run ends."""
RESTART_SECONDS = 0.5
"""How long a process that has ended is left before it is started again; doubled each time in a row."""
Specs = Mapping[Purpose, ProverSpec]

# -- The connection --------------------------------------------------------------------------------------------------


class Lines:
    """JSON objects over a socket, one a line. Safe for many threads that send, and one that reads."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket, self._lock = connection, threading.Lock()
        self._file = connection.makefile("rb", buffering=1 << 16)

    def send(self, message: Mapping[str, Any]) -> None:
        """Send an object; does nothing once the other end is gone, which the reader is told."""
        data = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        with self._lock, suppress(OSError):
            self._socket.sendall(data)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Read objects until the other end is gone; a line that was cut off is none."""
        with suppress(OSError, ValueError):
            for line in self._file:
                if line.endswith(b"\n"):
                    yield json.loads(line)

    def close(self) -> None:
        """Close this end: the other one and our own reader see the end of it."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


# -- A prover process ------------------------------------------------------------------------------------------------


@dataclass
class _Question:
    """A question to the policy that waits for its answer: a suggestion, or kind and message of an error."""

    answered: threading.Event = field(default_factory=threading.Event)
    suggestion: Any = None
    error_kind: str = ""
    error_message: str = ""

    def answer(self, suggestion: Any, error_kind: str, error_message: str) -> None:
        self.suggestion, self.error_kind, self.error_message = suggestion, error_kind, error_message
        self.answered.set()


class AskingPolicy:
    """The policy of the learner, asked over the connection by many threads."""

    def __init__(self, lines: Lines) -> None:
        self._lines, self._lock = lines, threading.Lock()
        self._number = 0
        self._waiting: dict[int, _Question] = {}
        self._closed = False
        self.revision = 0

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        """Ask for the suggestion for a state; blocks. Raises what the policy raised, and PolicyClosed."""
        question = _Question()
        with self._lock:
            if self._closed:
                raise PolicyClosed("the policy is closed")
            self._number += 1
            number = self._number
            self._waiting[number] = question
        self._lines.send({"ask": [number, state_text, seed]})
        question.answered.wait()
        if question.error_kind:
            raise policy_error(question.error_kind, question.error_message)
        return suggestion_from_json(question.suggestion)

    def answer(self, number: int, suggestion: Any, error_kind: str, error_message: str) -> None:
        """Take the answer to a question: a suggestion, or kind and message of an error."""
        with self._lock:
            question = self._waiting.pop(number)
        question.answer(suggestion, error_kind, error_message)

    def close(self) -> None:
        """Answer all questions with PolicyClosed."""
        with self._lock:
            self._closed = True
            waiting, self._waiting = self._waiting, {}
        for question in waiting.values():
            question.answer(None, PolicyClosed.__name__, "the policy is closed")


def work(lines: Lines, slots: Sequence[FleetServer], specs: Specs, lost_proofs: int = 0) -> None:
    """Be a prover process with an actor for each slot, until the other end says `stop` or is gone."""
    policy = AskingPolicy(lines)
    ending = threading.Event()

    def make_prover(purpose: str, policy_of_actor: Policy) -> Prover:
        spec = specs["evaluate"]
        if purpose == "collect":
            spec = specs["collect"]
        return spec.make(policy_of_actor, lambda: f"step {policy.revision}")

    pool = RelayPool(slots, policy, make_prover, lines.send, lost_proofs)

    # The main thread reads lines, so that another one has to notice an actor that failed and tell the learner.
    def watch() -> None:
        try:
            while True:
                pool.wait(ending.is_set, STATUS_SECONDS)
                if ending.is_set():
                    return
        except Exception as error:
            lines.send({"failed": f"{type(error).__name__}: {error}"})

    def report() -> None:
        while not ending.wait(STATUS_SECONDS):
            lines.send({"status": pool.status()})

    for task in (watch, report):
        threading.Thread(target=task, name=task.__name__, daemon=True).start()
    pause = None
    for message in lines:
        if "answer" in message:
            policy.answer(*message["answer"])
        elif "task" in message:
            policy.revision = message["revision"]
            pool.give(message["task"])
        elif "pause" in message:
            # A process that was started again in a pause hears of its end alone.
            if message["pause"] and pause is None:
                pause = pool.pauses.paused()
                pause.__enter__()
            elif not message["pause"] and pause is not None:
                pause.__exit__(None, None, None)
                pause = None
        elif "weights" in message:
            policy.revision = message["weights"]
        elif "stop" in message:
            break
    pool.stop()
    ending.set()
    policy.close()
    pool.join(JOIN_SECONDS)


def main(argv: Sequence[str]) -> int:
    """Work over the socket whose descriptor is the only argument: the first line says with what."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: prover process %(process)d: %(message)s")
    sys.setswitchinterval(SWITCH_SECONDS)
    lines = Lines(socket.socket(fileno=int(argv[0])))
    for first in lines:
        config = from_plain(ClientConfig, first["client"])
        servers = {server.address: server for server in LeanFleet(dict.fromkeys(first["slots"]), config=config).servers}
        specs: dict[Purpose, ProverSpec] = {
            "collect": ProverSpec.from_json(first["collect"]),
            "evaluate": ProverSpec.from_json(first["evaluate"]),
        }
        work(lines, [servers[address] for address in first["slots"]], specs, first["lost_proofs"])
        break
    return 0


# -- The learner's end -----------------------------------------------------------------------------------------------


class TellingPauses(Pauses):
    """Pauses that others are told of."""

    def __init__(self, tell: Callable[[bool], None]) -> None:
        super().__init__()
        self._tell = tell

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Count the time in the block as a pause, here and at the others."""
        self._tell(True)
        try:
            with super().paused():
                yield
        finally:
            self._tell(False)


class ProverProcess:
    """One prover process and the threads that serve it: it is started again when it ends."""

    def __init__(self, number: int, slots: Sequence[FleetServer], pool: "ProcessPool") -> None:
        self._slots, self._pool = slots, pool
        self.link = Link(f"process {number}", len(slots))
        self._ends = 0
        self._free = threading.Semaphore(len(slots))
        self.process: subprocess.Popen[bytes] | None = None
        self.lines: Lines | None = None
        self.thread = threading.Thread(target=self._serve, name=f"prover-process-{number}", daemon=True)
        self.thread.start()

    def send(self, message: Mapping[str, Any]) -> None:
        """Tell the process something, if there is one."""
        if self.lines is not None:
            self.lines.send(message)

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        # It computes nothing: the network is the learner's, and torch would take threads, and memory of the GPU.
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
        for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"):
            environment.pop(name, None)  # it is none of the ranks
        token = self._slots[0].client.token
        if token is not None:
            environment[TOKEN_VARIABLE] = token  # command lines are shown to every user
        with theirs:
            self.process = subprocess.Popen(
                [*self._pool.command, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the learner, which ends this one
                env=environment,
            )
        self.lines = Lines(ours)
        first = self._slots[0].client.config
        self.send(
            {
                "slots": [slot.address for slot in self._slots],
                "client": asdict(first),
                "lost_proofs": self._pool.lost_proofs,
                **{purpose: spec.to_json() for purpose, spec in self._pool.specs.items()},
            }
        )

    def _serve(self) -> None:
        pool = self._pool
        try:
            while not pool.closing:
                self._start()
                self._free = threading.Semaphore(len(self._slots))
                pool.connect(self.link)
                self._converse()
                assert self.process is not None
                status = self.process.wait()
                if pool.closing:
                    return
                self._ends += 1
                reason = f"{self.link.name} ended with status {status}"
                log.warning("%s; its %d attempts are made again", reason, len(self.link.given))
                pool.disconnect(self.link, reason)
                # Now and then a process may die, of memory for one; five times without an attempt it cannot work here.
                if self._ends >= MAX_ENDS:
                    raise UserError(f"{reason}, {self._ends} times before any attempt of it did; its output says why")
                pool.servers_changed.wait(RESTART_SECONDS * 2 ** (self._ends - 1))
        except Exception as error:
            pool.fail(error)

    def _converse(self) -> None:
        """Hand out tasks, answer questions and take attempts, until the process ends or the pool closes."""
        lines = self.lines
        assert lines is not None
        gone = threading.Event()
        feeder = threading.Thread(target=self._feed, args=(lines, self._free, gone), name="feeder", daemon=True)
        feeder.start()
        # A thread for each actor: with fewer some questions would wait for answers to others, and the engine would have
        # smaller batches.
        with ThreadPoolExecutor(len(self._slots), thread_name_prefix="questions") as questions:
            for message in lines:
                if "ask" in message:
                    questions.submit(self._answer, lines, *message["ask"])
                elif "done" in message:
                    self._ends = 0
                    self._pool.accept(self.link, message["done"])
                    self._free.release()
                elif "status" in message:
                    self.link.status = message["status"]
                elif "returned" in message:
                    self._pool.take_back(self.link, message["returned"])
                    self._free.release()
                elif "server" in message:
                    self._pool.report_server(*message["server"])
                elif "failed" in message:
                    self._pool.fail(UserError(f"{self.link.name}: {message['failed']}"))
            gone.set()
            self._free.release()  # the feeder may be waiting for an actor that is free
        feeder.join()
        lines.close()

    def _feed(self, lines: Lines, free: threading.Semaphore, gone: threading.Event) -> None:
        """Hand out a task for each actor that is free."""
        pool = self._pool
        with suppress(Stopped):
            while True:
                free.acquire()
                while not gone.is_set():
                    granted = pool.grant(self.link, 1)
                    if granted:
                        lines.send({"task": granted[0], "revision": pool.revision})
                        break
                    pool.wait_for_tasks()
                if gone.is_set():
                    return

    def _answer(self, lines: Lines, number: int, state: str, seed: int) -> None:
        try:
            lines.send({"answer": [number, suggestion_to_json(self._pool.policy.suggest(state, seed)), "", ""]})
        except Exception as error:
            lines.send({"answer": [number, None, type(error).__name__, str(error)]})


class ProcessPool(RemotePool):
    """Prover processes on this machine, each with its share of the slots and of nobody's memory but its own."""

    def __init__(
        self,
        slots: Sequence[FleetServer],
        policy: Policy,
        specs: Specs,
        count: int,
        report_server: Callable[[str, Reach, int], None] | None = None,
        lost_proofs: int = 0,
        command: Sequence[str] = (sys.executable, "-m", "nanoproof.actors.processes"),
        **waits: Any,
    ) -> None:
        """Start `count` processes (fewer if there are fewer slots) by a `command`, which gets the descriptor of a
        socket besides. `waits` are the arguments of `RemotePool`.
        """
        sys.setswitchinterval(SWITCH_SECONDS)
        super().__init__([slot.address for slot in slots], lost_proofs=lost_proofs, **waits)
        self.policy, self.specs, self.command, self.lost_proofs = policy, specs, command, lost_proofs
        self.report_server = report_server or (lambda address, state, actors: None)
        self.servers_changed = threading.Event()
        self.processes: list[ProverProcess] = []
        self.pauses = TellingPauses(self._tell_pause)
        count = min(count, len(slots))
        self._size = len(slots)
        # In turn, so that each process has actors at each server, and none is without work if a server goes.
        self.processes = [ProverProcess(number, slots[number::count], self) for number in range(count)]

    @property
    def size(self) -> int:
        """How many attempts it works on at a time."""
        return self._size

    def _tell_pause(self, paused: bool) -> None:
        for process in self.processes:
            process.send({"pause": paused})

    def weights_changed(self, revision: int) -> None:
        """Note that the policy has new weights, and tell the processes, whose attempts name them."""
        super().weights_changed(revision)
        for process in self.processes:
            process.send({"weights": revision})

    def wait_for_tasks(self, seconds: float = 0.1) -> None:
        """Wait until there may be tasks again. Raises Stopped if the pool closes."""
        with self.locked():
            if self.closing:
                raise Stopped
            self._condition.wait(seconds)

    def stop(self) -> None:
        """Tell the processes to stop."""
        super().stop()
        self.servers_changed.set()
        for process in self.processes:
            process.send({"stop": True})

    def join(self, timeout: float = 20.0) -> None:
        """Wait for the processes to end; those that do not are killed."""
        deadline = time.monotonic() + timeout
        for prover in self.processes:
            if prover.process is not None:
                try:
                    prover.process.wait(max(0.1, deadline - time.monotonic()))
                except subprocess.TimeoutExpired:
                    prover.process.kill()
                    prover.process.wait()
            prover.thread.join(max(0.1, deadline - time.monotonic()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
