"""The training phase: the optimizer updates of a step, and a record of some examples with the loss of each token."""

import logging
import random
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import torch

from nanoproof.common.distributed import StopSignal
from nanoproof.inference.worker import cpu_threads
from nanoproof.rl.batch_sampler import Batch, BatchSampler
from nanoproof.rl.learner import PolicyLearner
from nanoproof.rl.options import RLConfig
from nanoproof.rl.recorder import Recorder
from nanoproof.training.options import BatchOptions
from nanoproof.training.setup import Stage

log = logging.getLogger(__name__)


SPARE_MEMORY = 0.05
"""Part of a GPU's memory that is left free beside training and the engine: for gaps between blocks, and for others."""


@dataclass
class GPUMemory:
    """Knows what training takes of a GPU's memory, and so whether the engine has to give up its own meanwhile.

    What the engine holds (keys, values, recorded steps) costs seconds to make again, so it is given up only where both
    do not fit: in the first step, when it is not known yet, and wherever it was short. All sizes are in bytes.
    """

    total: int
    allocated: Callable[[], int]
    """What is allocated now."""
    peak: Callable[[], int]
    """The most that was allocated since `reset_peak`."""
    reset_peak: Callable[[], None]
    training: int | None = None
    """The most that training took, beyond what was allocated before it; None before the first time."""

    @classmethod
    def of(cls, device: torch.device) -> Self | None:
        """Return that of a CUDA device; None for others, whose memory is not short in this way."""
        if device.type != "cuda":
            return None
        return cls(
            torch.cuda.mem_get_info(device)[1],
            lambda: torch.cuda.memory_allocated(device),
            lambda: torch.cuda.max_memory_allocated(device),
            lambda: torch.cuda.reset_peak_memory_stats(device),
        )

    def too_short(self) -> bool:
        """Return whether training may not fit beside what is allocated now."""
        if self.training is None:  # out of memory in the first step would cost more than making the engine's again
            return True
        return self.allocated() + self.training > (1 - SPARE_MEMORY) * self.total

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Note the peak of what trains inside, which raises it if it took more than ever."""
        self.reset_peak()
        before = self.allocated()
        yield
        self.training = max(self.training or 0, self.peak() - before)


@contextmanager
def training_threads(device: torch.device) -> Iterator[None]:
    """Train on the CPU threads that the engine leaves, where both compute at once: `cpu_threads` says why."""
    before = torch.get_num_threads()
    if device.type == "cpu":
        torch.set_num_threads(max(1, before - cpu_threads()))
    try:
        yield
    finally:
        torch.set_num_threads(before)


class Updates:
    """Trains the learner. The network must not be used by others meanwhile."""

    def __init__(self, config: RLConfig, learner: PolicyLearner, sampler: BatchSampler, stop: StopSignal) -> None:
        self._config, self._learner, self._sampler, self._stop = config, learner, sampler, stop

    def run(self, stage: Stage, recorder: Recorder, progress: float) -> dict[str, float]:
        """Make the updates of a step at `progress` (0 to 1) through the run, fewer after a signal; returns mean losses.

        All ranks call it together. Raises what `Trainer.failures_explained` does.
        """
        learner, state, metrics = self._learner, self._learner.state, []
        for update in range(self._config.rl.num_updates_per_step):
            # One update is made in any case: a step without a loss could not be recorded.
            if update > 0 and self._stop.agreed():
                break
            with learner.failures_explained(stage.run):
                batch = self._sampler.batch(state.step, update)
                record_training(recorder, learner, self._config.batch, batch, state.step)
                losses = learner.update(batch.examples, progress)
            metrics.append({**losses, **batch.metrics})
        state.sft_position = self._sampler.position()
        values: dict[str, list[float]] = {}
        for of_update in metrics:
            for name, value in of_update.items():  # a batch without replay has fewer than others
                values.setdefault(name, []).append(value)
        return {name: statistics.fmean(of_name) for name, of_name in values.items()}


def record_training(recorder: Recorder, learner: PolicyLearner, options: BatchOptions, batch: Batch, step: int) -> None:
    """Hand some examples of an update with their losses to the recorder, if it is due; before the weights change."""
    examples = batch.examples
    if not recorder.wants_training or not examples:
        return
    began = time.monotonic()
    # One row for each at most, so that it is one forward pass of a shape that training has.
    count = min(recorder.samples_per_step, options.device_batch_size, len(examples))
    chosen = random.Random(step).sample(range(len(examples)), count)
    kinds = [batch.kind(number) for number in chosen]
    try:
        losses = learner.token_losses([examples[number] for number in chosen])
    except torch.OutOfMemoryError:  # training has ways to do with less; this is not worth them
        recorder.trained([], float("inf"))
        return
    written_at = round(time.time(), 3)
    samples: list[dict[str, Any]] = []
    for kind, of_example in zip(kinds, losses, strict=True):
        samples.append({"step": step, "time": written_at, "kind": kind, **of_example})
    recorder.trained(samples, time.monotonic() - began)
