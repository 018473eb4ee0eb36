"""The schedule of a run: learning rates, triggers, steps, tokens in a step; and numbers as people read them."""

import math
import re
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

from nanoproof.common.config import check, opt, validated
from nanoproof.common.distributed import broadcast_json
from nanoproof.common.errors import UserError

UNITS = ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def clock(seconds: float) -> str:
    """Format seconds as `H:MM:SS`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"


def short(number: float) -> str:
    """Format a number with three digits and a unit: 1234567 is `1.23M`."""
    for size, unit in UNITS:
        if abs(number) >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:.3g}"


# -- Learning rates, and triggers of evaluation and saving -----------------------------------------------------------


def learning_rate_factor(progress: float, warmup: float, warmdown: float, init: float, final: float) -> float:
    """Compute the factor on the base learning rates at `progress` (0 to 1 through training).

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
        steps = re.fullmatch(r"(\d+)\s*steps?", text)
        if steps is not None and int(steps[1]) > 0:
            return cls(int(steps[1]), None)
        # `0:75:00` can mean nothing but 75 minutes; `1:75:00` may be a slip.
        clock_time = re.fullmatch(r"(\d+):((?<=\b0:)\d+|[0-5]?\d):([0-5]?\d)", text)
        if clock_time is not None:
            seconds = int(clock_time[1]) * 3600 + int(clock_time[2]) * 60 + int(clock_time[3])
            if seconds > 0:
                return cls(None, float(seconds))
        raise UserError(f"{option} must look like 100steps, 2:30:00 (hours, minutes, seconds) or never; got {text!r}")

    def left(self, step: int) -> dict[str, float] | None:
        """Return the `steps` or the `seconds` until it fires; None if it never does."""
        if self.every_steps is not None:
            return {"steps": self.every_steps - step % self.every_steps}
        if self.every_seconds is not None:
            return {"seconds": round(max(0.0, self.last_time + self.every_seconds - time.monotonic()), 1)}
        return None

    def due(self, step: int) -> bool:
        """Return whether it fires at `step`; it resets itself then. All ranks ask together, once for each step.

        Rank 0's clock decides: what the ranks do next is done together, and their clocks differ.
        """
        if self.every_steps is not None:
            return step > 0 and step % self.every_steps == 0
        if self.every_seconds is None or not broadcast_json(time.monotonic() - self.last_time >= self.every_seconds):
            return False
        self.last_time = time.monotonic()
        return True

    def elapsed(self) -> float:
        """Return the seconds since it fired last by time, or since it was made."""
        return time.monotonic() - self.last_time

    def resume(self, elapsed: float) -> None:
        """Continue where an earlier trigger was."""
        self.last_time = time.monotonic() - elapsed


def duration(text: str, option: str) -> float | None:
    """Parse `H:M:S` to seconds, `never` to None. Raises UserError that names the option."""
    trigger = Trigger.parse(text, option)
    if trigger.every_steps is not None:
        raise UserError(f"{option} must look like 2:30:00 (hours, minutes, seconds) or never; got {text!r}")
    return trigger.every_seconds


# -- Length of a stage, and size of its batches ----------------------------------------------------------------------

TOKENS_PER_PARAMETER = 12.0
FULL_BATCH = 491_520
"""Tokens in a step where there is enough text: about half a million."""

# The batch beyond which gradients gain little grows like (tokens of the run)^0.383 (Bergsma et al. 2025, "Power Lines",
# arXiv:2505.13738). The anchor: a full batch for the twelve billion tokens of the default model.
ANCHOR_TOKENS = 12e9
BATCH_EXPONENT = 0.383
FEWEST_STEPS = 100
SMALLEST_ROWS = 8


class Length(ABC):
    """How long a stage trains: a number of steps, or tokens that follow from the model or from the text."""

    num_steps: int | None
    rule_option: ClassVar[str]
    """The option that decides the length where `--num-steps` does not."""

    @abstractmethod
    def wanted(self, parameters: int, text_tokens: float) -> tuple[float, str]:
        """Return the tokens to train on by the rule, and the rule in words. `parameters` are those of matrix products,
        `text_tokens` the tokens of an epoch."""

    @abstractmethod
    def batch(self, tokens: float) -> tuple[float, str]:
        """Return the tokens in a step that suit a run over so many tokens, and why."""

    def _check_one_rule(self, value: float | None) -> None:
        message = f"--num-steps and {self.rule_option} both say how long to train: they clash; `none` takes one back"
        check(self.num_steps is None or value is None, message)


@validated("pretrain")
class PretrainLength(Length):
    """Length of the run."""

    num_steps: int | None = opt(None, "Steps to train for; none derives them from --tokens-per-parameter.", min=0)
    tokens_per_parameter: float | None = opt(
        None, f"Tokens for each weight outside of the embedding; none: {TOKENS_PER_PARAMETER:g}.", above=0
    )

    rule_option = "--tokens-per-parameter"

    def __post_init__(self) -> None:
        self._check_one_rule(self.tokens_per_parameter)

    def wanted(self, parameters: int, text_tokens: float) -> tuple[float, str]:
        ratio = self.tokens_per_parameter or TOKENS_PER_PARAMETER
        return ratio * parameters, f"--tokens-per-parameter {ratio:g} x {short(parameters)} outside of the embedding"

    def batch(self, tokens: float) -> tuple[float, str]:
        return FULL_BATCH * (tokens / ANCHOR_TOKENS) ** BATCH_EXPONENT, "grows with the run's tokens ^ 0.383"


@validated("midtrain")
class MidtrainLength(Length):
    """Length of the run."""

    num_steps: int | None = opt(None, "Steps to train for; none derives them from --epochs.", min=0)
    epochs: float | None = opt(None, "How often the text is read; none: once.", above=0)

    rule_option = "--epochs"

    def __post_init__(self) -> None:
        self._check_one_rule(self.epochs)

    def wanted(self, parameters: int, text_tokens: float) -> tuple[float, str]:
        epochs = self.epochs or 1.0
        return epochs * text_tokens, f"--epochs {epochs:g}"

    def batch(self, tokens: float) -> tuple[float, str]:
        if tokens >= FULL_BATCH * FEWEST_STEPS:
            return FULL_BATCH, "the default"
        return tokens / FEWEST_STEPS, f"1/{FEWEST_STEPS} of the {short(tokens)} tokens that a whole run would read"


@dataclass(frozen=True)
class BatchPlan:
    """One optimizer step: `accumulation` micro-batches of `device_rows` rows of `row_length` tokens on each rank."""

    device_rows: int
    row_length: int
    ranks: int
    accumulation: int
    reason: str

    @property
    def rows(self) -> int:
        """Rows in a step, over all ranks."""
        return self.device_rows * self.ranks * self.accumulation

    @property
    def tokens(self) -> int:
        """Tokens in a step, over all ranks."""
        return self.rows * self.row_length

    def __str__(self) -> str:
        ranks = f"{self.ranks} ranks"
        if self.ranks == 1:
            ranks = "1 rank"
        shape = f"{self.accumulation} x {self.device_rows} rows x {self.row_length} tokens on {ranks}"
        return f"{self.tokens:,} tokens a step ({self.reason}) = {shape}"


def plan_batch(total: int, reason: str, device_rows: int, row_length: int, ranks: int) -> BatchPlan:
    """Plan a batch of exactly `total` tokens. Raises UserError naming the options whose product does not divide it."""
    smallest = device_rows * row_length * ranks
    if total % smallest != 0:
        raise UserError(
            f"--total-batch-size {total} is no multiple of --device-batch-size {device_rows} x {row_length} tokens "
            f"in a row (--sequence-len) x {ranks} rank(s) = {smallest}"
        )
    return BatchPlan(device_rows, row_length, ranks, total // smallest, reason)


def suit_batch(wanted: float, reason: str, device_rows: int, row_length: int, ranks: int) -> BatchPlan:
    """Plan a batch of about `wanted` tokens: the nearest power of two of rows, rounded up to whole micro-batches.

    So the usual numbers of ranks get the same batch.
    """
    rows = max(SMALLEST_ROWS, 2 ** round(math.log2(max(1.0, wanted / row_length))))
    accumulation = math.ceil(rows / (device_rows * ranks))
    if accumulation * device_rows * ranks != rows:
        reason += f", rounded up to a multiple of --device-batch-size {device_rows} x {ranks} rank(s)"
    return BatchPlan(device_rows, row_length, ranks, accumulation, reason)


def describe_schedule(num_steps: int, warmup: float, warmdown: float, init: float, final: float) -> str:
    """Describe the learning-rate schedule."""
    rising, falling = round(warmup * num_steps), num_steps - round(warmdown * num_steps)
    start = ""
    if rising:
        start = f"rise for {rising} steps, "
    return f"learning rates {start}stay at {init:g} of full until step {falling}, fall to {final:g} at step {num_steps}"
