"""Continuous batching: all active sequence groups are decoded together, one step at a time.

`launch` computes a step and `read` processes its result. Nothing in a launch waits for the result of the one before, so
on a GPU a step can be launched before the last one is read: rows that ended meanwhile are computed once in vain.

Shapes: G sequence groups, Q sequences, N rows of a step, S requests whose first tokens are sampled, K samples of each,
T tokens to generate, V tokens that a tactic may consist of.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from nanoproof.inference.batch_invariance import pad_rows
from nanoproof.inference.cuda_graphs import RecordedSteps
from nanoproof.inference.decode import Plan, SequenceGroups, StepOutput, compute_step, plan_step
from nanoproof.inference.fused import FusedNetwork
from nanoproof.inference.kv_cache import HostCopy, KVCache, SlotPool, SlotSize, to_device
from nanoproof.inference.sampling import EngineRequest, Noise, SamplingOptions, first_tokens, shaped_logits
from nanoproof.model.gpt import GPT
from nanoproof.model.tokenizer import Tokenizer


@dataclass(frozen=True)
class Launched:
    """A step whose result is to be read: `result_2N` holds tokens and log-probabilities, `values_SB` value bins.

    `serial_N` and `serial_S` identify rows of groups that were closed since.
    """

    num_rows: int
    group_N: np.ndarray
    sequence_N: np.ndarray
    time_N: np.ndarray
    serial_N: np.ndarray
    result_2N: HostCopy
    value_group_S: np.ndarray
    serial_S: np.ndarray
    values_SB: HostCopy | None


@dataclass(frozen=True)
class StepResult:
    """Groups whose samples have all ended, groups with output that is not finite, and value distributions by group."""

    ended: list[int]
    broken: list[int]
    values: dict[int, list[float]]
    num_sampled: int


@dataclass(frozen=True)
class _Started:
    """Samples that begin in a step: group, sequence, first token and its log-probability."""

    group_N: np.ndarray
    sequence_N: np.ndarray
    tokens_N: torch.Tensor
    logprobs_N: torch.Tensor


class BatchDecoder:
    """Decodes all active groups together, step by step. Which requests are active is decided by the engine."""

    def __init__(
        self,
        network: GPT,
        tokenizer: Tokenizer,
        cache: KVCache,
        recorded: RecordedSteps | None,
        batch_invariant: bool = False,
        fused: FusedNetwork | None = None,
    ) -> None:
        self._batch_invariant, self._fused = batch_invariant, fused
        self._network, self._tokenizer, self._eos, self._bins = network, tokenizer, tokenizer.eos, tokenizer.bins
        self._windows = network.config.windows
        self.cache, self.recorded = cache, recorded
        self.groups = SequenceGroups(network.device)
        self.active: set[int] = set()
        self._cached_by_size: list[tuple[SlotSize, np.ndarray]] | None = None

    def changed(self) -> None:
        """Drop what is cached about the active groups; call it when some were opened or closed."""
        self._cached_by_size = None

    @property
    def num_samples(self) -> int:
        """Number of samples whose end was not read yet."""
        return int(self.groups.unread.sum())

    def launch(self) -> Launched | None:
        """Compute a step of all running sequences; None if there are none."""
        groups = self.groups
        by_pool: list[tuple[SlotPool, np.ndarray]] = []
        for size, members in self._by_slot_size():
            if groups.running[members].any():
                by_pool.append((self.cache[size], members))
        if not by_pool:
            return None
        plan = plan_step(groups, by_pool, self._windows)
        output = self._compute(plan, [pool for pool, _ in by_pool])
        # The tables of the host move on before anything of the result is known: how far a group gets does not depend on
        # which tokens were drawn. Only whether a sample has ended does, and that is read later.
        marking_N, time_N = groups.marking[plan.group_N], groups.time[plan.group_N]
        order_G = np.concatenate([members for _, members in by_pool])
        moving = plan.counts_G > 0
        groups.filled[order_G] += plan.counts_G
        groups.position[order_G] += moving
        groups.time[order_G] += moving
        tokens, logprobs = output.tokens_N, output.logprobs_N
        group_N, sequence_N = plan.group_N, plan.sequence_N
        value_group_S, values = group_N[:0], None
        if marking_N.any():
            # Rows of markers draw no samples themselves. Of a group's two the value's is the second
            # (`Engine._allocate`), so the row before it is that of the tactic, whose logits all samples of the request
            # begin from.
            samples = np.flatnonzero(~marking_N)
            value_rows = np.flatnonzero(marking_N & (sequence_N == 1))
            value_group_S = group_N[value_rows]
            started = self._start_samples(
                order_G[groups.marking[order_G]], output.places(value_rows - 1), value_group_S, output
            )
            values = self._value_distributions(output.hidden_NC[self._index(output.places(value_rows))])
            tokens = torch.cat([tokens[self._index(samples)], started.tokens_N])
            logprobs = torch.cat([logprobs[self._index(samples)], started.logprobs_N])
            group_N = np.append(group_N[samples], started.group_N)
            sequence_N = np.append(sequence_N[samples], started.sequence_N)
            time_N = np.append(time_N[samples], np.zeros_like(started.group_N))
        over = groups.time[order_G] >= groups.steps[order_G]
        groups.running[order_G[over]] = False
        return Launched(
            len(plan.group_N),
            group_N,
            sequence_N,
            time_N,
            groups.serial[group_N],
            HostCopy(torch.stack([tokens.float(), logprobs])),
            value_group_S,
            groups.serial[value_group_S],
            values,
        )

    def read(self, launched: Launched) -> StepResult:
        """Process the tokens of a step; samples that ended take no part in further ones."""
        groups = self.groups
        # One small tensor, one copy: fp32 holds tokens exactly, up to 2^24.
        tokens_N, logprobs_N = launched.result_2N.read()
        group_N, sequence_N, time_N = launched.group_N, launched.sequence_N, launched.time_N
        # Rows of groups that were closed since the launch, and of samples whose end was in the step before, which was
        # not read yet when this one was launched.
        current = (groups.serial[group_N] == launched.serial_N) & groups.unread[group_N, sequence_N]
        if not current.all():
            group_N, sequence_N, time_N = group_N[current], sequence_N[current], time_N[current]
            tokens_N, logprobs_N = tokens_N[current], logprobs_N[current]
        # NaN logits make the log-probability of whatever is drawn NaN.
        broken = set(group_N[~np.isfinite(logprobs_N)].tolist())
        groups.tokens[group_N, sequence_N, time_N] = tokens_N
        groups.logprobs[group_N, sequence_N] += logprobs_N
        ends = tokens_N == self._eos
        groups.lengths[group_N[ends], sequence_N[ends]] = time_N[ends]
        stopped = self._stopped(group_N, sequence_N, time_N) & ~ends
        groups.lengths[group_N[stopped], sequence_N[stopped]] = time_N[stopped] + 1
        done = ends | stopped | (time_N + 1 == groups.steps[group_N])
        groups.unread[group_N[done], sequence_N[done]] = False
        groups.running[group_N[done], sequence_N[done]] = False
        touched = np.unique(group_N[done])
        ended = touched[~groups.unread[touched].any(axis=1)]
        values = {}
        if launched.values_SB is not None:
            for group, serial, bins in zip(launched.value_group_S, launched.serial_S, launched.values_SB.read()):
                if groups.serial[group] == serial:
                    values[int(group)] = bins.tolist()
                    if not np.isfinite(bins).all():
                        broken.add(int(group))
        return StepResult(ended.tolist(), sorted(broken), values, len(group_N))

    def _stopped(self, group_N: np.ndarray, sequence_N: np.ndarray, time_N: np.ndarray) -> np.ndarray:
        """Tell which samples hold a `stop` text of their request with the token that was read; a bool for each row."""
        groups, stopped_N = self.groups, np.zeros(len(group_N), dtype=bool)
        for group in np.unique(group_N).tolist():
            stop = groups.info(group).request.options.stop
            if not stop:
                continue
            # Tokens have a byte or more: so many hold every stop text that this token may have completed.
            longest = max(len(text.encode()) for text in stop)
            for row in np.flatnonzero(group_N == group):
                end = int(time_N[row]) + 1
                last_tokens = groups.tokens[group, sequence_N[row], max(0, end - longest) : end]
                tail = self._tokenizer.decode(last_tokens.tolist())
                stopped_N[row] = any(text in tail for text in stop)
        return stopped_N

    def _compute(self, plan: Plan, pools: Sequence[SlotPool]) -> StepOutput:
        if self.recorded is not None:
            output = self.recorded.compute(plan, self.groups, pools, (self.groups.generation, self.cache.generation))
            if output is not None:
                return output
        num_rows = plan.shape.rows
        if self._batch_invariant:
            plan, _ = plan.padded(plan.shape.batch_invariant(), self.groups, pools)
        rows_5N, slots_4S = self._index(plan.rows_5N), self._index(plan.slots_4S)
        output = compute_step(
            self._network, self._eos + 1, self.groups, pools, plan.shape, rows_5N, slots_4S, self._fused
        )
        return output.first(num_rows)

    def _by_slot_size(self) -> list[tuple[SlotSize, np.ndarray]]:
        """Return the active groups by size of their slots, in the order of these; moves slots together first."""
        if self._cached_by_size is None:
            by_size = defaultdict(list)
            for group in self.active:
                by_size[self.groups.info(group).size].append(group)
            self._cached_by_size = []
            for size, members in sorted(by_size.items()):
                group_G = np.array(members)
                new_slots = dict(self.cache[size].compact(int(self.groups.filled[group_G].max()) + 1))
                for group in members:
                    slot = int(self.groups.slot[group])
                    if slot in new_slots:
                        self.groups.slot[group] = new_slots[slot]
                self._cached_by_size.append((size, group_G[np.argsort(self.groups.slot[group_G])]))
        return self._cached_by_size

    def _start_samples(
        self, groups_G: np.ndarray, tactic_rows: np.ndarray, first_groups: np.ndarray, output: StepOutput
    ) -> _Started:
        """Turn markers into samples with first tokens. `tactic_rows` have the logits of the first in `first_groups`."""
        groups = self.groups
        groups.marking[groups_G] = groups.running[groups_G] = False
        # Back to one column behind the prompt: that of the value's marker is free once the value was computed.
        groups.filled[groups_G] = groups.position[groups_G]
        self._drop_values(first_groups)
        members: dict[EngineRequest, list[int]] = defaultdict(list)
        for group in groups_G.tolist():
            members[groups.info(group).request].append(group)
        # First tokens are drawn for a request as a whole, over its groups: their cap is on all of its samples. Requests
        # of equal options have noise of one shape, and are drawn for together.
        by_options: dict[SamplingOptions, list[tuple[int, EngineRequest]]] = defaultdict(list)
        for row, group in zip(tactic_rows.tolist(), first_groups.tolist()):
            request = groups.info(group).request
            by_options[request.options].append((row, request))
        started = []
        for options, rows in by_options.items():
            group_SK = np.empty((len(rows), options.num_samples), dtype=np.int64)
            sequence_SK = np.empty_like(group_SK)
            for index, (_, request) in enumerate(rows):
                for group in members[request]:
                    info = groups.info(group)
                    samples = slice(info.first, info.first + info.count)
                    group_SK[index, samples], sequence_SK[index, samples] = group, np.arange(info.count)
            logits_SV = output.logits(self._index(np.array([row for row, _ in rows])), self._eos + 1)
            seeds = [request.seed for _, request in rows]
            started.append(self._draw_first_tokens(options, seeds, group_SK, sequence_SK, logits_SV))
        return _Started(
            np.concatenate([part.group_N for part in started]),
            np.concatenate([part.sequence_N for part in started]),
            torch.cat([part.tokens_N for part in started]),
            torch.cat([part.logprobs_N for part in started]),
        )

    def _draw_first_tokens(
        self,
        options: SamplingOptions,
        seeds: list[int],
        group_SK: np.ndarray,
        sequence_SK: np.ndarray,
        logits_SV: torch.Tensor,
    ) -> _Started:
        """Draw the first tokens, and the noise of the others."""
        groups = self.groups
        noise = Noise.draw(seeds, self._eos + 1, options, self._network.device)
        shaped_SV = shaped_logits(logits_SV, options.shaping, options.top_p < 1)
        tokens_SK = first_tokens(shaped_SV, noise.arrivals_SVC, options.num_samples)
        logprobs_SK = logits_SV.log_softmax(dim=-1).gather(1, tokens_SK)
        group, sequence = self._index(group_SK), self._index(sequence_SK)
        groups.noise_GTQ[group, : options.max_new_tokens, sequence] = noise.uniforms_TSK.permute(1, 2, 0)
        groups.last_GQ[group, sequence] = tokens_SK
        groups.running[group_SK, sequence_SK] = True
        return _Started(group_SK.ravel(), sequence_SK.ravel(), tokens_SK.flatten(), logprobs_SK.flatten())

    def _drop_values(self, first_groups: np.ndarray) -> None:
        by_size = defaultdict(list)
        for group in first_groups.tolist():
            by_size[self.groups.info(group).size].append(group)
        for size, members in by_size.items():
            slots, lengths = self.groups.slot[members], self.groups.position[members] - 1
            self.cache[size].drop_value(self._index(slots), self._index(lengths))

    def _value_distributions(self, hidden_SC: torch.Tensor) -> HostCopy:
        bins = slice(self._bins[0], self._bins[-1] + 1)
        rows = hidden_SC
        if self._batch_invariant:
            rows = pad_rows(hidden_SC)
        return HostCopy(self._network.logits(rows, bins)[: len(hidden_SC)].softmax(dim=-1))

    def _index(self, numbers: np.ndarray) -> torch.Tensor:
        return to_device(numbers, self._network.device)
