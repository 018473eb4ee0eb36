"""Runs the programs of a set-up: shows what they say, keeps the end of it, and leaves none of them behind."""

import os
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_TAIL_LINES = 40
_STOP_SECONDS = 5.0
_NETWORK = (
    "could not resolve",
    "couldn't resolve",
    "name resolution",
    "network is unreachable",
    "no route to host",
    "failed to connect",
    "could not connect",
    "connection refused",
    "connection timed out",
    "connection reset",
    "error during download",
    "unable to access",
    "could not download",
    "proxy",
)
_COMPLAINTS = ("error", "fatal", "failed", "cannot", "could not", "no space left")


@dataclass(frozen=True)
class Ended:
    """How a program ended: its exit status, and the last lines of what it wrote."""

    status: int
    lines: tuple[str, ...]
    timed_out: bool = False

    @property
    def reason(self) -> str:
        """One line that says why it failed: its last complaint, else its last line."""
        if self.timed_out:
            return "it took too long and was stopped"
        complaints = [line for line in self.lines if any(word in line.lower() for word in _COMPLAINTS)]
        last = (complaints or list(self.lines) or ["it wrote nothing"])[-1]
        how = f"signal {-self.status}" if self.status < 0 else f"exit status {self.status}"
        return f"{how}: {' '.join(last.split())[:300]}"

    @property
    def hint(self) -> str | None:
        """What to do about it, where the program's words tell."""
        text = "\n".join(self.lines).lower()
        if "no space left" in text:
            return "free disk space (a project with Mathlib needs several gigabytes)"
        if any(word in text for word in _NETWORK):
            return (
                "this machine does not reach the network: connect it, set `https_proxy`, or set the project up on a "
                "machine that has one and copy it to the same path"
            )
        return None


def run(
    command: Sequence[str], cwd: Path, environment: Mapping[str, str], seconds: float, text: str | None = None
) -> Ended:
    """Run a program, echoing its lines; it gets `text` as its input, and is stopped after `seconds`.

    The program has a process group of its own, which is killed when this is interrupted. Raises OSError if it cannot
    be started.
    """
    process = subprocess.Popen(
        list(command),
        cwd=cwd,
        env=dict(environment),
        stdin=subprocess.DEVNULL if text is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    late = threading.Event()
    timer = threading.Timer(seconds, _stop_late, (process, late))
    timer.daemon = True
    timer.start()
    lines: deque[str] = deque(maxlen=_TAIL_LINES)
    try:
        if process.stdin is not None:
            with suppress(BrokenPipeError):
                process.stdin.write(text or "")
                process.stdin.close()
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip():
                print(f"    {line.rstrip()}", flush=True)
                lines.append(line.rstrip())
        status = process.wait()
    except BaseException:
        stop(process)
        raise
    finally:
        timer.cancel()
        if process.stdout is not None:
            process.stdout.close()
    return Ended(status, tuple(lines), late.is_set())


def stop(process: subprocess.Popen[str]) -> None:
    """End a program and all that it started: asked first, then killed."""
    for sent in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, sent)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_STOP_SECONDS)


def _stop_late(process: subprocess.Popen[str], late: threading.Event) -> None:
    late.set()
    stop(process)
