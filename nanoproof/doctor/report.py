"""Findings, and how the checks that make them are run: each in a process of its own, with a deadline.

So a torch that crashes or a disk that does not answer cannot hide what the other checks find.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Literal

State = Literal["ok", "absent", "broken"]


@dataclass(frozen=True)
class Finding:
    """One line of the page.

    `absent` is what is not there and may not be needed, `broken` what is there and does not work. `fix` is the command
    that repairs it. With `usable`, stages that need it can start all the same.
    """

    key: str
    state: State
    text: str
    fix: str = ""
    usable: bool = False

    @property
    def suffices(self) -> bool:
        """Tell whether a stage that needs it can start."""
        return self.state == "ok" or self.usable


@dataclass(frozen=True)
class CheckInputs:
    """The options that checks receive."""

    lean_servers: tuple[str, ...] = ()
    lean_token: str | None = None
    lean_project: str | None = None
    datasets: tuple[str, ...] = ()
    device_type: str = ""


Check = Callable[[CheckInputs], list[Finding]]


@dataclass(frozen=True)
class CheckRef:
    """A check function by its name, `module:function`, and the keys that it always reports."""

    function: str
    keys: tuple[str, ...]


def try_check(key: str, find: Callable[[], Finding], fix: str = "") -> Finding:
    """Return the finding of `find`; if it raises, a broken finding with the error and `fix`."""
    try:
        return find()
    except Exception as error:  # whatever it is, the page tells it
        return Finding(key, "broken", describe(error), fix)


def describe(error: BaseException) -> str:
    """Return an exception as one line."""
    text = " ".join(str(error).split())
    name = type(error).__name__
    if not text:
        return name
    # A UserError is a sentence for users; of another error the kind says more than its text.
    return text if name == "UserError" else f"{name}: {text}"


def run_check(check: CheckRef, inputs: CheckInputs, seconds: float) -> list[Finding]:
    """Run a check in a new process and return its findings; a crash or a timeout is a finding too."""
    command = [sys.executable, "-m", "nanoproof.doctor.worker", check.function]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONIOENCODING": "utf-8"}
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,  # so that what it starts can be ended with it
        )
    except OSError as error:
        return _failed(check, f"cannot be looked at: {describe(error)}")
    try:
        out, err = process.communicate(json.dumps(asdict(inputs)).encode(), timeout=seconds)
    except subprocess.TimeoutExpired:
        return _failed(check, f"gave no answer in {seconds:g} s")
    finally:
        _kill(process)
    try:
        return [Finding(**record) for record in json.loads(out)]
    except (ValueError, TypeError):
        last = " ".join(err.decode("utf-8", "replace").split())[-300:]
        return _failed(check, f"{_ending(process.returncode)}; its last words: {last or '(nothing)'}")


def _failed(check: CheckRef, text: str) -> list[Finding]:
    return [Finding(key, "broken", text) for key in check.keys]


def _ending(code: int) -> str:
    if code >= 0:  # Python gives the number of a signal as a negative code
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
    """Return the needs that nothing meets; one is met if any of its keys is, a key if all of its findings are."""
    states: dict[str, bool] = {}
    for finding in findings:
        states[finding.key] = states.get(finding.key, True) and finding.suffices
    return [" or ".join(keys) for keys in needs if not any(states.get(key, False) for key in keys)]
