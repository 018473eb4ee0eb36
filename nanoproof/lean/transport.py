"""The client's side of LeanTree's HTTP API: requests to one server, reading of answers, and leases.

A session returns its lease when it is closed. For all other cases each client has a thread while it holds leases. It
returns the leases of threads that have ended and of sessions that were garbage-collected, retries failed returns, and
sends heartbeats to servers that expire idle leases.
"""

import atexit
import json
import logging
import re
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from typing import Any, Literal

from nanoproof.common.config import opt, validated
from nanoproof.common.web.http_client import BUSY_STATUSES, MAX_ANSWER_BYTES, Address, HttpClient
from nanoproof.lean.local_socket import LocalSocket
from nanoproof.lean.repl_goals import ran_out
from nanoproof.lean.types import AccessDenied, LeanError, ProofState, ProtocolError, ServerTimeout, ServerUnavailable

log = logging.getLogger(__name__)

TOKEN_VARIABLE = "NANOPROOF_LEAN_TOKEN"
"""Environment variable with the token that servers require and clients send."""
LEASE_SECONDS = 60.0
"""How long a server may wait for a heartbeat before it takes a process back: a client that was killed sends none."""
_TICK_SECONDS = 0.5
_CALL_SECONDS = 10.0
_EXIT_SECONDS = 3.0
"""How long a return may take at the end of the program: who presses Ctrl-C does not wait for a dead server."""
_GIVE_UP_SECONDS = 600.0
"""For how long a return that failed is tried again; a server that was away longer has lost its processes as well."""
_MAX_PAUSE_SECONDS = 60.0
_HEARTBEAT_SECONDS = 60.0
"""Time between heartbeats to a server that does not say how long a lease may be idle."""

# -- Requests to one server ------------------------------------------------------------------------------------------


@validated("lean")
class ClientConfig:
    """Lean client"""

    tactic_seconds: float = opt(5.0, "How long one tactic may run.", above=0)
    command_seconds: float = opt(300.0, "How long a statement or a final check may take.", above=0)
    connect_seconds: float = opt(10.0, "How long connecting to a server may take.", above=0)
    slack_seconds: float = opt(30.0, "How much longer than its own deadlines a server may take to answer.", above=0)


class Transport(HttpClient):
    """Requests to one Lean server."""

    server = "Lean server"
    unavailable = ServerUnavailable
    denied = AccessDenied
    garbled = ProtocolError
    late = ServerTimeout

    def __init__(self, address: Address, token: str | None, connect_seconds: float) -> None:
        super().__init__(address, token, connect_seconds)
        self._local: LocalSocket | None = None
        self._refused: set[str] = set()

    def offer_local(self, name: object) -> None:
        """Take note of the socket for clients on the server's machine that came with a lease, if one did."""
        if not isinstance(name, str) or name in self._refused:
            return
        if self._local is None or self._local.name != name:
            self._local = LocalSocket(name, MAX_ANSWER_BYTES)

    def call(self, process: int, path: str, body: Any, seconds: float) -> tuple[int, Any]:
        """POST to a leased process, over the socket that its server offered, if there is one; see `post`."""
        path = f"/process/{process}/{path}"
        local = self._local
        if local is not None:
            try:
                status, answer = local.call(path, json.dumps(body, ensure_ascii=False).encode(), seconds)
                if status not in BUSY_STATUSES:
                    return status, self._parse(status, answer)
            except TimeoutError as error:
                raise self.late(f"{self.server} {self.address} did not answer {path} in {seconds:g} s") from error
            except ValueError as error:
                raise self.garbled(f"{self.server} {self.address} answered {path} with {error}") from error
            except OSError as error:
                # Another machine under this address, a server that ended or was started anew: HTTP tells which, and a
                # lease of a new server comes with its own socket.
                log.debug("the local socket of %s is given up: %s", self.address, error)
                self._refused.add(local.name)
                self._local = None
                local.close()
        return self.post(path, body, seconds)


# -- Answers ---------------------------------------------------------------------------------------------------------

ErrorKind = Literal["rejected", "timeout", "gone", "protocol"]

_MESSAGES = "REPL returned error messages:"
"""How LeanTree's server begins the text of a 500 that carries Lean's own error messages, as a JSON list."""
_REFUSALS = ("REPL returned error", "Step verification error", "Could not apply tactic")
_REPORTED = re.compile(r"\A(?:\w+: )?(?:REPL returned error|Could not apply tactic): ")
_TIMEOUTS = ("Tactic application timed out", "Command timed out")
_GONE = re.compile(
    r"Lean REPL process ended unexpectedly|Subprocess has terminated|Failed to send data to REPL|Process \d+ not found"
    # A process that does not know our proof states is another one than ours was.
    r"|Unknown proof state|Unknown environment|Proof state \d+ not found"
)
_BARE_METAVARIABLE = re.compile(r"\?[^\s()]*")


def classify(error: str) -> ErrorKind:
    """Classify the error text of a server: a refusal by Lean, a timeout, a lost process, or something else."""
    # In this order: Lean's messages may mention anything, `timed out` and `Unknown environment` included; and the text
    # of a process that ended may hold the refusal that it wrote last.
    if error.startswith(_MESSAGES):
        return "rejected"
    if _GONE.search(error):
        return "gone"
    # LeanTree's server takes all that its REPL says of a tactic for a refusal.
    if any(text in error for text in _TIMEOUTS) or ran_out(_REPORTED.sub("", error)):
        return "timeout"
    if any(text in error for text in _REFUSALS):
        return "rejected"
    return "protocol"


def error_text(body: Any) -> str | None:
    """Return the error text of an answer, None if it has none.

    Other fields are ignored: LeanTree's server adds its exception as a pickle, which runs code where it is loaded.
    """
    if isinstance(body, Mapping) and body.get("error") is not None:
        return str(body["error"])
    return None


def refused_messages(error: str) -> list[dict[str, Any]] | None:
    """Parse Lean's messages in the error text of a command that LeanTree's server refuses; None if it has none."""
    if not error.startswith(_MESSAGES):
        return None
    try:
        messages = json.loads(error.removeprefix(_MESSAGES))
    except ValueError:
        return None
    if not isinstance(messages, list) or not messages or not all(isinstance(message, dict) for message in messages):
        return None
    return messages


def read_branch(value: Any) -> tuple[int, ProofState]:
    """Read id and goals of a `{"proof_state_id", "goals"}` object; raises `ProtocolError`."""
    if not isinstance(value, Mapping) or not isinstance(value.get("proof_state_id"), int):
        raise ProtocolError(f"not a proof state: {str(value)[:200]!r}")
    return value["proof_state_id"], ProofState.from_wire(value.get("goals") or ())


def read_branches(value: Any) -> list[tuple[int, ProofState]]:
    """Read the open branches in the `value` of an applied tactic; entries without goals are closed and left out."""
    if not isinstance(value, list):
        raise ProtocolError(f"not a list of proof states: {str(value)[:200]!r}")
    return [(number, state) for number, state in map(read_branch, value) if state.goals]


def bare_metavariable(state: ProofState) -> bool:
    """Tell whether some goal is a metavariable and nothing else, so that it is unknown what is to be proved."""
    return any(_BARE_METAVARIABLE.fullmatch(goal.type.strip()) for goal in state.goals)


# -- Leases ----------------------------------------------------------------------------------------------------------


class Lease:
    """A leased process: its number (None once it is given up), the thread that used it last, and when."""

    def __init__(self, process: int, lease_seconds: object = None) -> None:
        """`lease_seconds` is how long the lease may be idle, from the server's answer, if that has it."""
        self.process: int | None = process
        self.heartbeat_seconds = _HEARTBEAT_SECONDS
        if isinstance(lease_seconds, int | float) and lease_seconds > 0:
            self.heartbeat_seconds = float(lease_seconds) / 3  # one heartbeat may be lost, and the next one be late
        self.unreachable = False
        self.forget_holder: Callable[[], object] = lambda: None
        self._lock = threading.Lock()
        self.touch()

    def touch(self) -> int | None:
        """Record that this thread uses the lease now; return the number of its process."""
        with self._lock:
            self._owner = threading.current_thread()
            self.last_used = time.monotonic()
            return self.process

    def give_up(self) -> int | None:
        """Give the lease up; return the number of the process to the first caller, None to others."""
        self.forget_holder()
        with self._lock:
            process, self.process = self.process, None
            return process

    def give_up_if_orphaned(self) -> int | None:
        """Give the lease up, as `give_up`, if nobody else will: its thread has ended, or its session is gone."""
        with self._lock:
            if self._owner.is_alive() and not self.unreachable:
                return None
            process, self.process = self.process, None
            return process

    def note_unreachable(self) -> None:
        """Mark the session as gone."""
        # Without a lock: the garbage collector may call it at any point of any thread, also one that holds the lock.
        self.unreachable = True


class LeaseKeeper:
    """All leases of a client, with the thread that looks after them; safe for many threads."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self._condition = threading.Condition()
        self._held: set[Lease] = set()
        self._unreturned: dict[int, float] = {}
        self._pause = _TICK_SECONDS
        self._next_return = 0.0
        self._has_heartbeat = True
        self._forgotten = False
        self._thread: threading.Thread | None = None
        _KEEPERS.add(self)

    @property
    def held(self) -> int:
        """Number of leases that are held, or were not returned yet."""
        with self._condition:
            return len(self._held) + len(self._unreturned)

    def add(self, lease: Lease, holder: object) -> None:
        """Register a lease; it is returned if `holder` is garbage-collected without giving it back."""
        finalizer = weakref.finalize(holder, lease.note_unreachable)
        finalizer.atexit = False  # at the end of the program `close` returns all of them
        lease.forget_holder = finalizer.detach
        with self._condition:
            self._held.add(lease)
            self._ensure_thread()

    def give_back(self, lease: Lease) -> None:
        """Return a lease. If the server cannot be reached, the thread retries; errors of servers are never raised."""
        process = lease.give_up()
        with self._condition:
            self._held.discard(lease)
            self._condition.notify_all()
        if process is not None and not self._forgotten and not self._return(process, _CALL_SECONDS):
            self._put_off(process)

    def forget(self) -> None:
        """Return nothing from now on: the server ends, with all of its processes."""
        with self._condition:
            self._forgotten = True
            self._held.clear()
            self._unreturned.clear()
            self._condition.notify_all()

    def close(self) -> None:
        """Return all leases now, as far as the server answers (for the end of the program)."""
        with self._condition:
            given_up = [lease.give_up() for lease in self._held]
            processes = [*self._unreturned, *(process for process in given_up if process is not None)]
            self._held.clear()
            self._unreturned.clear()
            self._condition.notify_all()
        for process in processes:
            if not self._return(process, _EXIT_SECONDS):
                return

    def _ensure_thread(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="lean-leases", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            with self._condition:
                if self._held or self._unreturned:
                    self._condition.wait(_TICK_SECONDS)
                # Decided under the lock that `_ensure_thread` is called with: no lease comes in between unseen.
                if not self._held and not self._unreturned:
                    self._thread = None
                    return
                leases = list(self._held)
            self._collect_orphans(leases)
            self._return_late()
            self._send_heartbeats(leases)

    def _collect_orphans(self, leases: list[Lease]) -> None:
        for lease in leases:
            process = lease.give_up_if_orphaned()
            if process is not None:
                log.warning("Lean process %d was left behind by its thread and is returned", process)
                with self._condition:
                    self._held.discard(lease)
                self._put_off(process)

    def _put_off(self, process: int) -> None:
        with self._condition:
            if not self._forgotten:
                self._unreturned[process] = time.monotonic() + _GIVE_UP_SECONDS
                self._ensure_thread()

    def _return_late(self) -> None:
        """Retry the returns that failed, one by one; after a failure all of them wait, longer each time."""
        with self._condition:
            if time.monotonic() < self._next_return:
                return
            waiting = dict(self._unreturned)
        for process, give_up_at in waiting.items():
            returned = self._return(process, _CALL_SECONDS)
            if returned or time.monotonic() >= give_up_at:
                with self._condition:
                    self._unreturned.pop(process, None)
            if not returned:
                self._next_return = time.monotonic() + self._pause
                self._pause = min(2 * self._pause, _MAX_PAUSE_SECONDS)
                return
            self._pause = _TICK_SECONDS

    def _send_heartbeats(self, leases: list[Lease]) -> None:
        for lease in leases:
            process = lease.process
            if not self._has_heartbeat or process is None:
                continue
            if time.monotonic() - lease.last_used < lease.heartbeat_seconds:
                continue
            try:
                code, answer = self.transport.post(f"/process/{process}/heartbeat", {}, _CALL_SECONDS, attempts=1)
            except LeanError as error:
                # The other leases are of the same server, and each try would take its seconds from the returns.
                log.info("a heartbeat for Lean process %d failed: %s", process, error)
                return
            # Our servers answer 404 as well, to a lease that has expired; that error has a text.
            if code in (404, 405, 501) and classify(error_text(answer) or "") != "gone":
                self._has_heartbeat = False
            elif code == 200:
                lease.last_used = time.monotonic()

    def _return(self, process: int, seconds: float) -> bool:
        """Return a process; tell whether the server accepted that (or does not know the process any more)."""
        try:
            code, answer = self.transport.post(f"/process/{process}/return", {}, seconds, attempts=2)
        except LeanError as error:
            if not self._forgotten:  # the server may have ended while the call was under way
                log.info("Lean process %d was not returned: %s", process, error)
            return False
        if code == 200 or classify(error_text(answer) or "") == "gone":
            return True
        log.info("Lean process %d was not returned (status %d): %s", process, code, error_text(answer) or "")
        # Any other refusal would be the same the next time.
        return code not in BUSY_STATUSES and code < 500


_KEEPERS: "weakref.WeakSet[LeaseKeeper]" = weakref.WeakSet()


def forget_leases_of(address: str) -> None:
    """Return nothing more to a server that is about to end, whichever clients and threads still hold leases of it.

    They would try for minutes, with a line each time.
    """
    for keeper in list(_KEEPERS):
        if str(keeper.transport.address) == address:
            keeper.forget()


@atexit.register
def _return_all() -> None:
    for keeper in list(_KEEPERS):
        keeper.close()
