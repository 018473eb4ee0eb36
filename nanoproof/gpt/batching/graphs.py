"""Recorded steps: on a GPU a small step costs more to launch than to compute, unless it is recorded once and replayed.

A recording is for one shape, so shapes are rounded up to sizes that come again. A shape is recorded when it is seen for
the second time; rare ones, and all when there are as many recordings as we keep, are computed as they come. The
recording itself (`CudaRecorder`) has not been run yet; everything around it is tested with a stand-in.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import torch

from nanoproof.gpt.batching.decode import Plan, PoolShape, StepOutput, StepShape, compute_step
from nanoproof.gpt.batching.parts import Parts
from nanoproof.gpt.batching.pools import Pool
from nanoproof.gpt.model import GPT

MOST_RECORDINGS = 64
WARMUP_RUNS = 2


class Recorder(Protocol):
    """Records what a function does on the device."""

    def record(self, compute: Callable[[], StepOutput]) -> tuple[Callable[[], None], StepOutput]:
        """What does it again, and the tensors that will hold the result each time."""
        ...


class CudaRecorder:
    """CUDA graphs, which share their memory: only one runs at a time."""

    def __init__(self) -> None:
        self._memory = torch.cuda.graph_pool_handle()

    def record(self, compute: Callable[[], StepOutput]) -> tuple[Callable[[], None], StepOutput]:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARMUP_RUNS):
                compute()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._memory):
            output = compute()
        return graph.replay, output


def rounded(number: int, most: int | None = None) -> int:
    """The next of the sizes 1, 2, ... 8, 10, 12, 14, 16, 20, ...: eighths to quarters of a power of two."""
    step = max(1, 2 ** (number - 1).bit_length() // 8)
    size = -(-number // step) * step
    return size if most is None else min(size, most)


def rounded_shape(shape: StepShape, pools: Sequence[Pool]) -> StepShape:
    """The shape to record for this one: all columns, and rounded numbers of rows and slots."""
    sizes = [
        PoolShape(part.size, rounded(part.rows), rounded(part.slots, pool.num_slots), pool.size.columns)
        for part, pool in zip(shape.pools, pools, strict=True)
    ]
    return StepShape(tuple(sizes), shape.windowed, shape.tempered)


class RecordedSteps:
    """Computes steps, by recordings where there are some."""

    def __init__(self, recorder: Recorder, network: GPT, num_tokens: int) -> None:
        self._recorder, self._network, self._num_tokens = recorder, network, num_tokens
        self._seen: Counter[StepShape] = Counter()
        self._recordings: dict[StepShape, _Recording] = {}
        self._generation: tuple[int, int] | None = None
        self.replays = 0

    def __len__(self) -> int:
        return len(self._recordings)

    def compute(
        self, plan: Plan, parts: Parts, pools: Sequence[Pool], generation: tuple[int, int]
    ) -> StepOutput | None:
        """The step by a recording, or None if there is none. `generation` changes when tensors were replaced."""
        if generation != self._generation:
            self._recordings.clear()
            self._generation = generation
        shape = rounded_shape(plan.shape, pools)
        recording = self._recordings.get(shape)
        self._seen[shape] += 1
        if recording is None and (self._seen[shape] < 2 or len(self._recordings) >= MOST_RECORDINGS):
            return None
        padded, where_N = plan.padded(shape, parts, pools)
        if recording is None:
            recording = _Recording(padded, self._network.device)
            recording.record(self._recorder, self._network, self._num_tokens, parts, pools)
            self._recordings[shape] = recording
        self.replays += 1
        return recording.replay(padded, where_N)


class _Recording:
    """One recorded step with the tensors it reads and writes."""

    def __init__(self, plan: Plan, device: torch.device) -> None:
        self._shape, self._device = plan.shape, device
        self._rows_5N = torch.from_numpy(plan.rows_5N).to(device, copy=True)
        self._positions_S = torch.from_numpy(plan.positions_S).to(device, copy=True)

    def record(self, recorder: Recorder, network: GPT, num_tokens: int, parts: Parts, pools: Sequence[Pool]) -> None:
        # What recording runs must not count: it changes the latest tokens; whatever else it writes is written again.
        latest = parts.last_PQ.clone()
        self._replay, self._output = recorder.record(
            lambda: compute_step(network, num_tokens, parts, pools, self._shape, self._rows_5N, self._positions_S)
        )
        parts.last_PQ.copy_(latest)

    def replay(self, plan: Plan, where_N: np.ndarray) -> StepOutput:
        self._rows_5N.copy_(torch.from_numpy(plan.rows_5N))
        self._positions_S.copy_(torch.from_numpy(plan.positions_S))
        self._replay()
        where = torch.from_numpy(where_N).to(self._device)
        output = self._output
        # Copies: the next replay overwrites the originals.
        return StepOutput(
            output.tokens_N[where], output.logprobs_N[where], output.logits_NV[where], output.hidden_NC[where]
        )
