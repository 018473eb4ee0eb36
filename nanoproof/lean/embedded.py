"""Subprocesses of the embedded prover: Lean servers on loopback, which end with the program, and certificates.

Every user of a machine reaches its loopback addresses, so these servers need a token that only this program knows.
"""

import logging
import os
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

from nanoproof.common.commands import run
from nanoproof.common.errors import UserError
from nanoproof.common.process import Closing
from nanoproof.lean.client import LeanServerClient
from nanoproof.lean.nanolean import check_installed
from nanoproof.lean.transport import TOKEN_VARIABLE, forget_leases_of
from nanoproof.lean.types import LeanError, ServerUnavailable

log = logging.getLogger(__name__)

CERTIFICATE_SECONDS = 60.0
"""Time for the certificates of an evaluation; those that are not started by then are not written."""
LEAST_MOST_PROCESSES, MOST_PROCESSES_OF_CORE = 64, 16
"""Each has a thread that proves, and memory: with more, none of their proofs is found in time."""
_READY_SECONDS = 300.0  # the first start ever checks the library of the embedded prover
_STOP_SECONDS = 10.0
_TAIL_BYTES = 2000
_LISTENING = "listening on "


class EmbeddedServers(Closing):
    """Embedded servers that are running; `addresses` and `token` are arguments of `LeanServerClient`."""

    def __init__(self) -> None:
        self.addresses: list[str] = []
        self.token = secrets.token_hex(32)  # of token_urlsafe one in 64 begins with a dash, which reads as a flag
        self._processes: list[subprocess.Popen[str]] = []
        self._logs: list[IO[bytes]] = []

    def launch(self, num_processes: int) -> subprocess.Popen[str]:
        """Start one more server, without waiting for it. It ends when its standard input closes."""
        check_installed()
        command = [sys.executable, "-m", "nanoproof.lean.server", "--backend", "nanolean", "--port", "0"]
        command += ["--max-processes", str(num_processes), "--spares", "0", "--log-level", "error"]
        command += ["--warmup", "--exit-with-parent"]
        errors = tempfile.TemporaryFile()
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
            env={**os.environ, TOKEN_VARIABLE: self.token},  # command lines are shown to every user
        )
        self._processes.append(process)
        self._logs.append(errors)
        return process

    def wait_ready(self, seconds: float) -> None:
        """Wait until every server listens; raises `ServerUnavailable` with what a failed one wrote last."""
        deadline = time.monotonic() + seconds
        for process, log in zip(self._processes, self._logs):
            line = _read_line(process, deadline)
            if not line.startswith(_LISTENING):
                reason = f"did not start in {seconds:g} s"
                if process.poll() is not None:
                    reason = f"ended with status {process.returncode}"
                raise ServerUnavailable(f"the embedded Lean server {reason}; its last words: {_tail(log)}")
            address = line.removeprefix(_LISTENING).strip()
            LeanServerClient(address, self.token).status()
            self.addresses.append(address.removeprefix("http://"))

    def check(self) -> None:
        """Raise `ServerUnavailable`, with its last words, if a server has ended by itself."""
        for process, log in zip(self._processes, self._logs):
            if process.poll() is not None:
                status = f"ended with status {process.returncode}"
                raise ServerUnavailable(f"the embedded Lean server {status}; its last words: {_tail(log)}")

    def close(self) -> None:
        """Stop the servers and their processes; calling it again does nothing."""
        processes, self._processes = self._processes, []
        for address in self.addresses:
            forget_leases_of(address)
        for process in processes:
            assert process.stdin is not None
            with suppress(OSError):
                process.stdin.close()
            process.terminate()
        for process in processes:
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            assert process.stdout is not None
            process.stdout.close()
        for log in self._logs:
            log.close()
        self._logs.clear()


def start_embedded(num_processes: int, num_servers: int = 1, timeout: float = _READY_SECONDS) -> EmbeddedServers:
    """Start servers that share `num_processes` embedded provers, and wait until they are ready.

    Raises `ServerUnavailable` if one does not come up within `timeout` seconds; the others are stopped then. Raises
    UserError for more provers than the machine has room for.
    """
    cores = os.cpu_count() or 1
    most = max(LEAST_MOST_PROCESSES, MOST_PROCESSES_OF_CORE * cores)
    if num_processes > most:
        raise UserError(
            f"this machine has {cores} cores, too few for {num_processes} processes of NanoLean: give at most {most}, "
            "best one or two for each core (--lean-processes)"
        )
    if not 1 <= num_servers <= num_processes:
        raise LeanError(f"cannot deal {num_processes} Lean processes to {num_servers} servers")
    servers = EmbeddedServers()
    try:
        for index in range(num_servers):
            servers.launch((num_processes + num_servers - 1 - index) // num_servers)
        servers.wait_ready(timeout)
    except BaseException:
        servers.close()
        raise
    return servers


def write_certificates(proofs: Path, seconds: float = CERTIFICATE_SECONDS) -> int:
    """Write the certificate of every `.lean` file in a folder beside it, and return their number.

    Earlier certificates are removed. Those that cannot be written are left out, with a warning.
    """
    for old in proofs.glob("*.ndjson*"):
        old.unlink()
    files = list(proofs.glob("*.lean"))
    if not files:
        return 0
    command = [sys.executable, "-m", "nanolean", "export", "--format", "ndjson", str(proofs)]
    command += ["--seconds", f"{seconds:g}"]
    try:
        _, said = run(command, None, seconds + _READY_SECONDS)
        output = said.strip().rpartition("\n")[2]
    except (OSError, subprocess.TimeoutExpired) as error:
        output = str(error)
    written = sum(any(file.with_suffix(suffix).exists() for suffix in (".ndjson", ".ndjson.gz")) for file in files)
    if written < len(files):
        log.warning("%s: %d of %d proofs have a certificate (%s)", proofs, written, len(files), output)
    return written


def _read_line(process: subprocess.Popen[str], deadline: float) -> str:
    """Read the first line that the process writes; empty if it ends or the deadline passes first."""
    lines: list[str] = []
    assert process.stdout is not None
    reader = threading.Thread(target=lambda: lines.append(process.stdout.readline()), daemon=True)  # type: ignore[union-attr]
    reader.start()
    reader.join(max(0.0, deadline - time.monotonic()))
    if lines and not lines[0]:
        with suppress(subprocess.TimeoutExpired):
            process.wait(1.0)
    return lines[0] if lines else ""


def _tail(log: IO[bytes]) -> str:
    size = log.seek(0, 2)
    log.seek(max(0, size - _TAIL_BYTES))
    return " ".join(log.read().decode(errors="replace").split()) or "(nothing)"
