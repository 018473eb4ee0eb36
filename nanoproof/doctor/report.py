"""Findings, and the checks that make them: each in a process of its own, with a deadline, so that nothing broken here
(a torch that crashes, a disk that does not answer) keeps the others from being told."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Literal

State = Literal["ok", "absent", "broken"]


@dataclass(frozen=True)
class Finding:
    """One line of the page.

    `absent` is what is not there and may not be needed, `broken` what is there and does not work. `fix` is the command
    that mends it. `usable` says that what needs it will do all the same.
    """

    key: str
    state: State
    text: str
    fix: str = ""
    usable: bool = False

    @property
    def suffices(self) -> bool:
        """Whether a stage that needs it can start."""
        return self.state == "ok" or self.usable


@dataclass(frozen=True)
class Asked:
    """What the command line says about what to look at."""

    lean_servers: tuple[str, ...] = ()
    lean_token: str | None = None
    lean_project: str | None = None
    datasets: tuple[str, ...] = ()


Check = Callable[[Asked], list[Finding]]


@dataclass(frozen=True)
class CheckPlace:
    """A check by the place of its function (`module:function`), and the keys of what it always reports."""

    where: str
    keys: tuple[str, ...]


def attempt(key: str, find: Callable[[], Finding], fix: str = "") -> Finding:
    """What `find` says; if it fails, that. `fix` goes with a failure."""
    try:
        return find()
    except Exception as error:  # whatever it is, the page tells it
        return Finding(key, "broken", describe(error), fix)


def describe(error: BaseException) -> str:
    """An exception in one line."""
    text = " ".join(str(error).split())
    name = type(error).__name__
    return text if name == "UserError" and text else f"{name}: {text}" if text else name


def run_check(place: CheckPlace, asked: Asked, seconds: float) -> list[Finding]:
    """The findings of a check that runs in a new process; its failure to give any is a finding too."""
    command = [sys.executable, "-m", "nanoproof.doctor.worker", place.where]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONIOENCODING": "utf-8"}
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
    except OSError as error:
        return _failed(place, f"cannot be looked at: {describe(error)}")
    try:
        out, err = process.communicate(json.dumps(asdict(asked)).encode(), timeout=seconds)
    except subprocess.TimeoutExpired:
        return _failed(place, f"gave no answer in {seconds:g} s")
    finally:
        _kill(process)
    try:
        return [Finding(**record) for record in json.loads(out)]
    except (ValueError, TypeError):
        words = " ".join(err.decode("utf-8", "replace").split())[-300:]
        return _failed(place, f"{_ending(process.returncode)}; its last words: {words or '(nothing)'}")


def _failed(place: CheckPlace, text: str) -> list[Finding]:
    return [Finding(key, "broken", text) for key in place.keys]


def _ending(code: int) -> str:
    if code >= 0:
        return f"the check ended with status {code}"
    try:
        return f"the check was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"the check was ended by signal {-code}"


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the process and whatever it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def missing_for(needs: Iterable[tuple[str, ...]], findings: Iterable[Finding]) -> list[str]:
    """The needs that nothing meets; one is met if any of its keys is, a key if all of its findings are."""
    states: dict[str, bool] = {}
    for finding in findings:
        states[finding.key] = states.get(finding.key, True) and finding.suffices
    return [" or ".join(keys) for keys in needs if not any(states.get(key, False) for key in keys)]


def to_json(finding: Finding) -> dict[str, Any]:
    """For `--json`."""
    return asdict(finding)
