"""A prover process whose Lean processes are scripted; a theorem called `deadly...` ends the process.

The descriptor of its socket is its argument. `tests/actors/test_prover_processes.py` starts it.
"""

import os
import signal
import socket
import sys
import time
from collections.abc import Sequence
from typing import Any

from nanoproof.actors.processes import Lines, work
from nanoproof.actors.remote import ProverSpec
from nanoproof.lean.types import Branch, Theorem
from tests.fakes.lean import ScriptedLean
from tests.rl.small import ScriptedClient


class Session(ScriptedLean):
    """Takes a moment for a theorem called `slow...`."""

    def start(self, theorem: Theorem) -> Branch:
        if theorem.id.startswith("deadly"):
            os.kill(os.getpid(), signal.SIGKILL)
        if theorem.id.startswith("slow"):
            time.sleep(0.5)
        return super().start(theorem)


class Client(ScriptedClient):
    def lease(self, timeout: float) -> Session:
        return Session(super().lease(timeout).script)


def main(argv: Sequence[str]) -> None:
    lines = Lines(socket.socket(fileno=int(argv[0])))
    for first in lines:
        slots: list[Any] = [Client() for _ in first["slots"]]
        specs = {purpose: ProverSpec.from_json(first[purpose]) for purpose in ("collect", "evaluate")}
        work(lines, slots, specs)  # type: ignore[arg-type]
        break


if __name__ == "__main__":
    main(sys.argv[1:])
