"""CUDA graphs of decoding steps: a small step costs more to launch than to compute, unless it is replayed.

A graph is for one shape, so shapes are rounded up to sizes that recur: rows, which cost little while a step is bound by
memory, more than slots. A shape is recorded when it is seen for the second time, unless a recording of a slightly
larger one serves; rare shapes, and all new ones once there are `MOST_RECORDINGS`, are computed without.
Tests run everything but the recording itself (`CudaRecorder`), with a stand-in for it; on a GPU
`benchmarks/gpu_parity.py` compares recorded steps with others (on an H200 they are equal).
"""

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
import torch

from nanoproof.inference.decode import Plan, PoolShape, SequenceGroups, StepOutput, StepShape, compute_step
from nanoproof.inference.fused import FusedNetwork
from nanoproof.inference.kv_cache import SlotPool, to_device
from nanoproof.model.gpt import GPT

log = logging.getLogger(__name__)

MOST_RECORDINGS = 64
WARMUP_RUNS = 2
MOST_WASTE = 1.3
"""How many times the columns that a step needs a recording may read."""


class Recorder(Protocol):
    """Records what a function does on the device."""

    def record(self, compute: Callable[[], StepOutput]) -> tuple[Callable[[], None], StepOutput]:
        """Return a function that replays the computation, and the tensors that hold its result each time.

        Raises RuntimeError if it cannot be recorded.
        """
        ...

    def forget(self) -> None:
        """Free the memory of recordings; none is used any more."""
        ...


class CudaRecorder:
    """CUDA graphs, which share their memory: only one runs at a time.

    All are recorded on one stream, which the libraries' work space belongs to, once warmed up: none is allocated while
    a graph is recorded. Other threads may use the device meanwhile, as the ranks' collectives do.
    """

    def __init__(self) -> None:
        self._memory = torch.cuda.graph_pool_handle()
        self._stream: torch.cuda.Stream | None = None

    def record(self, compute: Callable[[], StepOutput]) -> tuple[Callable[[], None], StepOutput]:
        if self._stream is None:
            self._stream = torch.cuda.Stream()
        stream = self._stream
        # What a first run allocates or compiles must not be part of the recording.
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARMUP_RUNS):
                compute()
        torch.cuda.current_stream().wait_stream(stream)
        graph, before = torch.cuda.CUDAGraph(), torch.cuda.current_stream()
        try:
            with torch.cuda.graph(graph, pool=self._memory, stream=stream, capture_error_mode="thread_local"):
                output = compute()
        except BaseException:
            self._stream = None
            raise
        finally:
            torch.cuda.set_stream(before)  # one that fails leaves its own, which waits for nobody
        return graph.replay, output

    def forget(self) -> None:
        self._memory = torch.cuda.graph_pool_handle()  # memory whose graphs are all gone may not be used again


def rounded_shape(shape: StepShape, pools: Sequence[SlotPool]) -> StepShape:
    """Round up to the shape to record: all columns; rows 16, 32, 64, ...; slots 4, 6, 8, 12, 16, ... or all."""
    sizes = []
    for needed, pool in zip(shape.pools, pools, strict=True):
        rows = max(16, _power_of_two(needed.rows))
        slots = max(4, _power_of_two(needed.slots))
        # Attention reads all columns of every slot, so that half of them in vain would be dear: a step in between.
        if needed.slots <= slots * 3 // 4:
            slots = slots * 3 // 4
        sizes.append(PoolShape(needed.size, rows, min(slots, pool.num_slots), pool.size.columns))
    return StepShape(tuple(sizes), shape.windowed, shape.shaped, nucleus=shape.nucleus)


def _power_of_two(number: int) -> int:
    return 1 << (number - 1).bit_length()


def covers(large: StepShape, small: StepShape) -> bool:
    """Tell whether a recording of the shape `large` serves `small` without reading much more."""
    # Each of these is other kernels, so that it is a recording of its own.
    if (large.windowed, large.shaped, large.nucleus) != (small.windowed, small.shaped, small.nucleus):
        return False
    if len(large.pools) != len(small.pools):
        return False
    read = needed = 0
    for recorded, wanted in zip(large.pools, small.pools):
        if recorded.size != wanted.size or recorded.rows < wanted.rows or recorded.slots < wanted.slots:
            return False
        read += recorded.slots * recorded.columns
        needed += wanted.slots * wanted.columns
    return read <= MOST_WASTE * needed and large.rows <= 2 * small.rows


class RecordedSteps:
    """Records decoding steps by shape, and computes steps by replaying these."""

    def __init__(self, recorder: Recorder, network: GPT, num_tokens: int, fused: FusedNetwork | None = None) -> None:
        self._recorder, self._network, self._num_tokens, self._fused = recorder, network, num_tokens, fused
        self._seen: Counter[StepShape] = Counter()
        self._recordings: dict[StepShape, _Recording] = {}
        self._generation: tuple[int, int] | None = None
        self._works = True
        self.replays = 0
        recorder.forget()

    def __len__(self) -> int:
        return len(self._recordings)

    def compute(
        self, plan: Plan, groups: SequenceGroups, pools: Sequence[SlotPool], generation: tuple[int, int]
    ) -> StepOutput | None:
        """Compute a step by a recording; None if there is none. `generation` changes when tensors were replaced."""
        # A graph holds addresses: of tensors that were replaced it would write into memory that is another's by now.
        if generation != self._generation:
            self._recordings.clear()
            self._recorder.forget()
            self._generation = generation
        shape = rounded_shape(plan.shape, pools)
        if shape not in self._recordings:
            for recorded in self._recordings:
                if covers(recorded, shape):
                    shape = recorded
                    break
        recording = self._recordings.get(shape)
        self._seen[shape] += 1
        enough = len(self._recordings) >= MOST_RECORDINGS or not self._works
        # To record costs several times what the step does, which a shape that comes once never earns back.
        if recording is None and (self._seen[shape] < 2 or enough):
            return None
        padded, where_N = plan.padded(shape, groups, pools)
        if recording is None:
            recording = _Recording(padded, self._network.device)
            try:
                recording.record(self._recorder, self._network, self._num_tokens, groups, pools, self._fused)
            except RuntimeError:
                log.warning(
                    "a step could not be recorded; from now on new shapes are computed as they come", exc_info=True
                )
                self._works = False
                return None
            self._recordings[shape] = recording
        self.replays += 1
        return recording.replay(padded, where_N)


class _Recording:
    """One recorded step with the tensors it reads and writes."""

    def __init__(self, plan: Plan, device: torch.device) -> None:
        self._shape, self._device = plan.shape, device
        # Copied on a CPU, too: `replay` writes into them, which must not reach the plan that they were made from.
        self._rows_5N = torch.from_numpy(plan.rows_5N).to(device, copy=True)
        self._slots_4S = torch.from_numpy(plan.slots_4S).to(device, copy=True)

    def record(
        self,
        recorder: Recorder,
        network: GPT,
        num_tokens: int,
        groups: SequenceGroups,
        pools: Sequence[SlotPool],
        fused: FusedNetwork | None,
    ) -> None:
        # What recording runs must not count: it changes the latest tokens; whatever else it writes is written again.
        latest = groups.last_GQ.clone()
        try:
            self._replay, self._output = recorder.record(
                lambda: compute_step(
                    network, num_tokens, groups, pools, self._shape, self._rows_5N, self._slots_4S, fused
                )
            )
        finally:
            groups.last_GQ.copy_(latest)

    def replay(self, plan: Plan, where_N: np.ndarray) -> StepOutput:
        self._rows_5N.copy_(torch.from_numpy(plan.rows_5N), non_blocking=True)
        self._slots_4S.copy_(torch.from_numpy(plan.slots_4S), non_blocking=True)
        self._replay()
        where, output = to_device(where_N, self._device), self._output
        # Logits and hidden states are not copied: the few that count are read before the next replay overwrites them.
        tokens_N, logprobs_N = output.tokens_N[where], output.logprobs_N[where]
        return replace(output, tokens_N=tokens_N, logprobs_N=logprobs_N, places_N=where_N)
