"""Continuous batching: which sequences are decoded, one step at a time, and what came out of it.

Shapes: P parts, Q places, N rows of a step, S requests that begin to be sampled, K samples of each, T tokens to
generate, V tokens that a tactic may consist of.

`launch` computes a step and `read` looks at its result. Nothing in a launch waits for the result of the one before, so
on a GPU a step can be launched before the last one is read: rows that ended meanwhile are computed once for nothing.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from nanoproof.inference.cuda_graphs import RecordedSteps
from nanoproof.inference.decode import Parts, Plan, StepOutput, compute_step, plan_step
from nanoproof.inference.kv_cache import OnItsWay, Pool, Pools, SlotSize, to_device
from nanoproof.inference.sampling import EngineRequest, Noise, SamplingOptions, first_tokens
from nanoproof.model.gpt import GPT
from nanoproof.model.tokenizer import Tokenizer


@dataclass(frozen=True)
class Launched:
    """A step whose result is to be read: `result_2N` holds tokens and log-probabilities, `values_SB` value bins.

    `serial_N` and `serial_S` tell rows of parts that were closed since.
    """

    num_rows: int
    part_N: np.ndarray
    place_N: np.ndarray
    time_N: np.ndarray
    serial_N: np.ndarray
    result_2N: OnItsWay
    value_part_S: np.ndarray
    serial_S: np.ndarray
    values_SB: OnItsWay | None


@dataclass(frozen=True)
class StepResult:
    """Parts whose samples have all ended, parts with output that is not finite, and values that were read, by part."""

    ended: list[int]
    broken: list[int]
    values: dict[int, list[float]]
    num_sampled: int


@dataclass(frozen=True)
class _Begun:
    """Samples that begin in a step: where they stand, their first tokens, and values."""

    part_N: np.ndarray
    place_N: np.ndarray
    tokens_N: torch.Tensor
    logprobs_N: torch.Tensor


class Decoding:
    """The parts in work. Who comes and goes is the engine's business."""

    def __init__(self, network: GPT, tokenizer: Tokenizer, pools: Pools, recorded: RecordedSteps | None) -> None:
        self._network, self._eos, self._bins = network, tokenizer.eos, tokenizer.bins
        self._windows = network.config.windows
        self.pools, self.recorded = pools, recorded
        self.parts = Parts(network.device)
        self.active: set[int] = set()
        self._groups: list[tuple[SlotSize, np.ndarray]] | None = None

    def changed(self) -> None:
        """Call it when parts were opened or closed."""
        self._groups = None

    @property
    def num_samples(self) -> int:
        """Samples whose end was not read yet."""
        return int(self.parts.unread.sum())

    def launch(self) -> Launched | None:
        """Compute a step of all that is running; None if nothing is."""
        parts = self.parts
        groups = [(self.pools[size], members) for size, members in self._grouped() if parts.running[members].any()]
        if not groups:
            return None
        plan = plan_step(parts, groups, self._windows)
        output = self._compute(plan, [pool for pool, _ in groups])
        marking_N, time_N = parts.marking[plan.part_N], parts.time[plan.part_N]
        order_P = np.concatenate([members for _, members in groups])
        moving = plan.counts_P > 0
        parts.filled[order_P] += plan.counts_P
        parts.position[order_P] += moving
        parts.time[order_P] += moving
        tokens, logprobs = output.tokens_N, output.logprobs_N
        part_N, place_N = plan.part_N, plan.place_N
        value_part_S, values = part_N[:0], None
        if marking_N.any():
            samples = np.flatnonzero(~marking_N)
            value_rows = np.flatnonzero(marking_N & (place_N == 1))
            value_part_S = part_N[value_rows]
            begun = self._begin(order_P[parts.marking[order_P]], value_rows - 1, value_part_S, output.logits_NV)
            values = self._values(output.hidden_NC[self._index(value_rows)])
            tokens = torch.cat([tokens[self._index(samples)], begun.tokens_N])
            logprobs = torch.cat([logprobs[self._index(samples)], begun.logprobs_N])
            part_N, place_N = np.append(part_N[samples], begun.part_N), np.append(place_N[samples], begun.place_N)
            time_N = np.append(time_N[samples], np.zeros_like(begun.part_N))
        over = parts.time[order_P] >= parts.steps[order_P]
        parts.running[order_P[over]] = False
        return Launched(
            len(plan.part_N),
            part_N,
            place_N,
            time_N,
            parts.serial[part_N],
            OnItsWay(torch.stack([tokens.float(), logprobs])),
            value_part_S,
            parts.serial[value_part_S],
            values,
        )

    def read(self, launched: Launched) -> StepResult:
        """Take over the tokens of a step; samples that ended leave."""
        parts = self.parts
        tokens_N, logprobs_N = launched.result_2N.read()  # fp32 holds tokens exactly, up to 2^24
        part_N, place_N, time_N = launched.part_N, launched.place_N, launched.time_N
        counts = (parts.serial[part_N] == launched.serial_N) & parts.unread[part_N, place_N]
        if not counts.all():
            part_N, place_N, time_N, tokens_N, logprobs_N = (
                x[counts] for x in (part_N, place_N, time_N, tokens_N, logprobs_N)
            )
        broken = set(part_N[~np.isfinite(logprobs_N)].tolist())
        parts.tokens[part_N, place_N, time_N] = tokens_N
        parts.logprobs[part_N, place_N] += logprobs_N
        ends = tokens_N == self._eos
        parts.lengths[part_N[ends], place_N[ends]] = time_N[ends]
        done = ends | (time_N + 1 == parts.steps[part_N])
        parts.unread[part_N[done], place_N[done]] = False
        parts.running[part_N[done], place_N[done]] = False
        touched = np.unique(part_N[done])
        ended = touched[~parts.unread[touched].any(axis=1)]
        values = {}
        if launched.values_SB is not None:
            for part, serial, bins in zip(launched.value_part_S, launched.serial_S, launched.values_SB.read()):
                if parts.serial[part] == serial:
                    values[int(part)] = bins.tolist()
                    if not np.isfinite(bins).all():
                        broken.add(int(part))
        return StepResult(ended.tolist(), sorted(broken), values, len(part_N))

    def _compute(self, plan: Plan, pools: Sequence[Pool]) -> StepOutput:
        if self.recorded is not None:
            output = self.recorded.compute(plan, self.parts, pools, (self.parts.generation, self.pools.generation))
            if output is not None:
                return output
        rows_5N, positions_S = self._index(plan.rows_5N), self._index(plan.positions_S)
        return compute_step(self._network, self._eos + 1, self.parts, pools, plan.shape, rows_5N, positions_S)

    def _grouped(self) -> list[tuple[SlotSize, np.ndarray]]:
        """The active parts by size of their slots, in the order of these."""
        if self._groups is None:
            by_size = defaultdict(list)
            for part in self.active:
                by_size[self.parts.info(part).size].append(part)
            self._groups = []
            for size, members in sorted(by_size.items()):
                part_P = np.array(members)
                moves = dict(self.pools[size].compact(int(self.parts.filled[part_P].max()) + 1))
                for part in members if moves else ():
                    self.parts.slot[part] = moves.get(int(self.parts.slot[part]), self.parts.slot[part])
                self._groups.append((size, part_P[np.argsort(self.parts.slot[part_P])]))
        return self._groups

    def _begin(
        self, parts_P: np.ndarray, tactic_rows: np.ndarray, first_parts: np.ndarray, logits_NV: torch.Tensor
    ) -> _Begun:
        """Turn markers into samples with first tokens. `tactic_rows` are the rows of `<|tactic|>` in `first_parts`."""
        parts = self.parts
        parts.marking[parts_P] = parts.running[parts_P] = False
        parts.filled[parts_P] = parts.position[parts_P]
        self._close_values(first_parts)
        members: dict[EngineRequest, list[int]] = defaultdict(list)
        for part in parts_P.tolist():
            members[parts.info(part).request].append(part)
        by_options: dict[SamplingOptions, list[tuple[int, EngineRequest]]] = defaultdict(list)
        for row, part in zip(tactic_rows.tolist(), first_parts.tolist()):
            request = parts.info(part).request
            by_options[request.options].append((row, request))
        begun = []
        for options, rows in by_options.items():
            part_SK = np.empty((len(rows), options.num_samples), dtype=np.int64)
            place_SK = np.empty_like(part_SK)
            for index, (_, request) in enumerate(rows):
                for part in members[request]:
                    info = parts.info(part)
                    samples = slice(info.first, info.first + info.count)
                    part_SK[index, samples], place_SK[index, samples] = part, np.arange(info.count)
            logits_SV = logits_NV[self._index(np.array([row for row, _ in rows]))]
            begun.append(self._first(options, [request.seed for _, request in rows], part_SK, place_SK, logits_SV))
        return _Begun(
            np.concatenate([one.part_N for one in begun]),
            np.concatenate([one.place_N for one in begun]),
            torch.cat([one.tokens_N for one in begun]),
            torch.cat([one.logprobs_N for one in begun]),
        )

    def _first(
        self,
        options: SamplingOptions,
        seeds: list[int],
        part_SK: np.ndarray,
        place_SK: np.ndarray,
        logits_SV: torch.Tensor,
    ) -> _Begun:
        """Draw the first tokens, and the noise of the others."""
        parts = self.parts
        noise = Noise.draw(seeds, self._eos + 1, options, self._network.device)
        tokens_SK = first_tokens(logits_SV / options.temperature, noise.arrivals_SVC, options.num_samples)
        logprobs_SK = logits_SV.log_softmax(dim=-1).gather(1, tokens_SK)
        part, place = self._index(part_SK), self._index(place_SK)
        parts.noise_PTQ[part, : options.max_new_tokens, place] = noise.uniforms_TSK.permute(1, 2, 0)
        parts.last_PQ[part, place] = tokens_SK
        parts.running[part_SK, place_SK] = True
        return _Begun(part_SK.ravel(), place_SK.ravel(), tokens_SK.flatten(), logprobs_SK.flatten())

    def _close_values(self, first_parts: np.ndarray) -> None:
        by_size = defaultdict(list)
        for part in first_parts.tolist():
            by_size[self.parts.info(part).size].append(part)
        for size, members in by_size.items():
            slots, lengths = self.parts.slot[members], self.parts.position[members] - 1
            self.pools[size].close_values(self._index(slots), self._index(lengths))

    def _values(self, hidden_SC: torch.Tensor) -> OnItsWay:
        bins = slice(self._bins[0], self._bins[-1] + 1)
        return OnItsWay(self._network.logits(hidden_SC, bins).softmax(dim=-1))

    def _index(self, numbers: np.ndarray) -> torch.Tensor:
        return to_device(numbers, self._network.device)
