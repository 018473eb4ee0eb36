"""The library for tests, built or read from the cache once per process; and how much the random tests take."""

import os

from nanolean.commands.messages import CommandResult
from nanolean.commands.runner import run_text
from nanolean.data import replay
from nanolean.env_state import EnvState

NIGHTLY = int(os.environ.get("NANOPROOF_NIGHTLY", "0"))
"""How many times their full number random tests take; those of soundness take ten minutes at 20. 0 takes a part."""
PART = 0.15
SEED = int(os.environ.get("NANOPROOF_SEED", "0"))
"""What they are drawn from."""


def sized(count: int) -> int:
    """A number of random inputs, as many times as `NANOPROOF_NIGHTLY` says; without it a part."""
    return count * NIGHTLY if NIGHTLY else max(1, int(count * PART))


def base() -> EnvState:
    """The state that a new process starts from; all tests of a process look at the same."""
    return replay.library()


def run(text: str, state: EnvState | None = None) -> CommandResult:
    """Run a text over the library, or over another state."""
    return run_text(base() if state is None else state, text)


def errors(text: str) -> list[str]:
    """The error messages of a text."""
    return [message.text for message in run(text).messages if message.severity == "error"]
