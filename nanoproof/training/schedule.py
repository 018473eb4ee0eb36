"""Learning-rate schedule, and the `Nsteps` or `H:M:S` triggers of evaluation and saving."""

import re
import time
from dataclasses import dataclass, field

from nanoproof.common.dist import broadcast_json
from nanoproof.common.errors import UserError


def learning_rate_factor(progress: float, warmup: float, warmdown: float, init: float, final: float) -> float:
    """Factor on the base learning rates at `progress` (0 to 1 through training).

    Rises linearly from 0 to `init` over the first `warmup`, stays, and falls linearly to `final` over the last
    `warmdown`.
    """
    if progress < warmup:
        return init * progress / warmup
    if warmdown > 0 and progress > 1 - warmdown:
        left = (1 - progress) / warmdown
        return init * left + final * (1 - left)
    return init


@dataclass
class Trigger:
    """Fires every so many steps or seconds; `None` for both never fires."""

    every_steps: int | None
    every_seconds: float | None
    last_time: float = field(default_factory=time.monotonic)

    @classmethod
    def parse(cls, text: str, option: str) -> "Trigger":
        """Read `100steps`, `2:30:00` or `never`. Raises UserError that names the option."""
        if text == "never":
            return cls(None, None)
        if match := re.fullmatch(r"(\d+)\s*steps?", text):
            if int(match[1]) > 0:
                return cls(int(match[1]), None)
        elif match := re.fullmatch(r"(\d+):([0-5]?\d):([0-5]?\d)", text):
            seconds = int(match[1]) * 3600 + int(match[2]) * 60 + int(match[3])
            if seconds > 0:
                return cls(None, float(seconds))
        raise UserError(f"{option} must look like 100steps, 2:30:00 (hours, minutes, seconds) or never; got {text!r}")

    def due(self, step: int) -> bool:
        """Whether it fires at `step`; resets itself when it does. All ranks ask together, once for each step.

        Rank 0's clock decides: what the ranks do next is done together, and their clocks differ.
        """
        if self.every_steps is not None:
            return step > 0 and step % self.every_steps == 0
        if self.every_seconds is None or not broadcast_json(time.monotonic() - self.last_time >= self.every_seconds):
            return False
        self.last_time = time.monotonic()
        return True

    def elapsed(self) -> float:
        """Seconds since it fired last by time, or since it was made."""
        return time.monotonic() - self.last_time

    def resume(self, elapsed: float) -> None:
        """Go on where an earlier trigger was."""
        self.last_time = time.monotonic() - elapsed


def duration(text: str, option: str) -> float | None:
    """The seconds of `H:M:S`; None for `never`. Raises UserError that names the option."""
    trigger = Trigger.parse(text, option)
    if trigger.every_steps is not None:
        raise UserError(f"{option} must look like 2:30:00 (hours, minutes, seconds) or never; got {text!r}")
    return trigger.every_seconds
