"""GRPO on networks of ours: tactics are sampled in groups, and those with more reward than their group become likelier.

Of a batch of states each gets G completions by the present network. The advantage of one is A = (r - mean) / (std +
1e-4), with mean and standard deviation (of a sample: G - 1) over its group; the loss is the clipped surrogate -min(rho
A, clip(rho, 1 - eps, 1 + eps) A), with rho the ratio of a token's probability now to that when it was sampled, summed
over the tokens and divided by the number of all tokens of the batch (Shao et al. 2024, arXiv:2402.03300; the divisor is
that of Yu et al. 2025, arXiv:2503.14476). There is no reference model. A batch whose advantages are all 0 changes
nothing.

The completions of a state share its tokens in a row, and equal ones are computed once.

Shapes: G completions of a state, N positions with a target, V vocabulary.
"""

import logging
import math
import random
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F

from nanoproof.common.distributed import DistInfo, all_reduce_sum
from nanoproof.common.errors import UserError
from nanoproof.data.transitions.packing import Continuation, Example, PackedBatch, to_device
from nanoproof.inference.engine import Engine
from nanoproof.inference.sampling import SamplingOptions
from nanoproof.lean.types import Transition
from nanoproof.model.gpt import GPT
from nanoproof.model.lora import seed_dropout
from nanoproof.model.network_options import LoraOptions
from nanoproof.model.optim import NonFiniteLoss
from nanoproof.policy.prompt import prompt_tokens
from nanoproof.training import batches, options
from nanoproof.training.hub_examples import load_data
from nanoproof.training.loop import TrainingLoop
from nanoproof.training.options import RewardOptions
from nanoproof.training.rewards import LeanReward, Reward, open_reward, opened, rewards_of, shares
from nanoproof.training.step import MicroBatches

log = logging.getLogger(__name__)

ADVANTAGE_EPS = 1e-4
MAX_PROMPT = 640
"""Longest prompt of a network of ours, in tokens; longer states lose their beginning, as in search."""


def whole_groups(batch_size: int, group_size: int, ranks: int = 1) -> int:
    """Round a number of completions up to whole groups for each rank, and say so where that changes it."""
    unit = group_size * ranks
    rounded = -(-batch_size // unit) * unit
    if rounded != batch_size:
        groups = f"groups of {group_size}"
        if ranks > 1:
            groups += f" on {ranks} ranks"
        log.warning("batch size %d is rounded up to %d: whole %s", batch_size, rounded, groups)
    return rounded


def group_advantages(rewards: Sequence[float | None]) -> list[float]:
    """Compute the advantages of a group: A = (r - mean) / (std + 1e-4), std with divisor n - 1.

    Those without a reward have 0 and do not count; so have all where rewards are equal, or fewer than two are known.
    """
    known = [reward for reward in rewards if reward is not None]
    # Equal rewards are told by comparing them: their mean may round, and a difference of 1e-17 by 1e-4 is no advantage.
    if len(known) < 2 or max(known) == min(known):
        return [0.0] * len(rewards)
    mean = math.fsum(known) / len(known)
    std = math.sqrt(math.fsum((reward - mean) ** 2 for reward in known) / (len(known) - 1))
    advantages = []
    for reward in rewards:
        if reward is None:
            advantages.append(0.0)
        else:
            advantages.append((reward - mean) / (std + ADVANTAGE_EPS))
    return advantages


def clipped_surrogate(
    logprobs_N: torch.Tensor, old_N: torch.Tensor, weights_N: torch.Tensor, epsilon: float
) -> torch.Tensor:
    """Compute -min(rho w, clip(rho, 1 - eps, 1 + eps) w) of each token, (N,); `weights_N` are the advantages."""
    # In the first update with a batch all ratios are 1: what counts is their gradient, that of the log-probabilities.
    ratios_N = torch.exp(logprobs_N - old_N)
    return -torch.minimum(ratios_N * weights_N, ratios_N.clamp(1 - epsilon, 1 + epsilon) * weights_N)


def choose_states(transitions: Sequence[Transition], what: str, only_openable: bool) -> list[str]:
    """List the distinct states of transitions, in order; with `only_openable` those that Lean can open alone.

    Raises UserError if none is left.
    """
    states = list(dict.fromkeys(item.state for item in transitions))
    usable = states
    if only_openable:
        usable = [state for state in states if opened(state) is not None]
    missing = len(states) - len(usable)
    if missing:
        log.info("%s: %d of %d states are no statements of their own, left out", what, missing, len(states))
    if not usable:
        raise UserError(f"{what} has no state to sample tactics for")
    return usable


def tactics_of(transitions: Sequence[Transition]) -> dict[str, tuple[str, ...]]:
    """List the different tactics of each state, in order."""
    by_state: dict[str, dict[str, None]] = {}
    for item in transitions:
        by_state.setdefault(item.state, {})[item.tactic] = None
    return {state: tuple(tactics) for state, tactics in by_state.items()}


@dataclass
class Group:
    """A state with its completions: their tokens (with the end, where it was written), texts, and advantages."""

    state: str
    prompt: list[int]
    tokens: list[tuple[int, ...]]
    texts: list[str]
    finished: list[bool]
    rewards: list[float | None] = field(default_factory=list)
    advantages: list[float] = field(default_factory=list)
    demonstrations: dict[tuple[int, ...], float] = field(default_factory=dict)
    """Tokens of the data's own tactics, and the advantage that they are given."""

    def examples(self, marker: int, row_length: int) -> list[Example]:
        """Lay the completions behind the state, equal ones once with the sum of their advantages."""
        # Equal completions have equal ratios and rewards: once with the sum of advantages, their loss is the same.
        weights = dict(self.demonstrations)
        for tokens, advantage in zip(self.tokens, self.advantages, strict=True):
            weights[tokens] = weights.get(tokens, 0.0) + advantage
        examples: list[Example] = []
        for tokens, weight in weights.items():
            if weight == 0:
                continue
            part = Continuation([marker, *tokens], "tactic", weight)
            if not examples or len(examples[-1]) + len(part.tokens) > row_length:
                examples.append(Example(self.prompt))
            examples[-1].continuations.append(part)
        return examples


class GRPO(TrainingLoop):
    """GRPO on a network of ours."""

    stage_name = "grpo"
    memory_advice = "try a smaller --device-batch-size or --row-length"

    def __init__(
        self,
        run_options: options.RunOptions,
        start: options.StartOptions,
        triggers: options.TriggerOptions,
        grpo: options.GRPOOptions,
        reward: RewardOptions,
        lora: LoraOptions,
        optim: options.OptimizerOptions,
        dist: DistInfo,
    ) -> None:
        if start.checkpoint.model_path is None and start.resume_from is None:
            raise UserError("give --model-path: the network that GRPO trains on")
        self.options, self.reward_options = grpo, reward
        train, valid = load_data(grpo.data)
        by_lean = reward.reward == "lean"
        super().__init__(run_options, start, triggers, options.ModelOptions(), optim, dist, lora)
        self.states = choose_states(train, f"--data {grpo.data}", by_lean)
        self.tactics: dict[str, tuple[str, ...]] = {}
        if grpo.demonstration_weight:
            self.tactics = tactics_of(train)
        held_out: list[str] = []
        if len(valid):
            held_out = choose_states(valid, f"the held-out part of {grpo.data}", by_lean)
        # The split is by theorem: a state of another theorem may still be the same text.
        to_train = set(self.states)
        held_out = [state for state in held_out if state not in to_train]
        random.Random(run_options.seed).shuffle(held_out)
        self.valid = held_out[: grpo.eval_states]
        self.batch_size = whole_groups(grpo.batch_size, grpo.num_generations, dist.world_size)
        self.states_per_step = self.batch_size // grpo.num_generations
        steps = math.ceil(grpo.epochs * len(self.states) / self.states_per_step)
        self.num_steps = min(steps, grpo.max_steps or steps)
        # Two more: the marker, and EOS. A prompt is BOS, a token of the state and a line break at least.
        room = min(grpo.row_length, self.model.config.sequence_len) - grpo.max_completion_length - 2
        if room < 3:
            raise UserError(f"--max-completion-length {grpo.max_completion_length} leaves no room for states")
        self.max_prompt = min(room, MAX_PROMPT)
        self.micro_batches = MicroBatches(grpo.device_batch_size)
        self._packing = options.BatchOptions(device_batch_size=grpo.device_batch_size, row_length=grpo.row_length)
        self.sampler = batches.EpochSampler(len(self.states), run_options.seed, len(self.states))
        # The value head is that of the network at first, also in a resumed run: the reward of a state stays what it
        # was.
        default = start.checkpoint.model_path
        if self.state.data:
            default = self.state.data.get("value_model")
            try:
                self.sampler.restore(self.state.data["sampler"])
            except (ValueError, KeyError) as error:
                raise UserError(f"--data {grpo.data} is not as in the resumed run: {error}") from error
            flag = f"--batch-size {grpo.batch_size}, {self.states_per_step} groups,"
            self.sampler.require_steps_of(self.states_per_step, self.state.step, flag, start.resume_from)
        self._stack = ExitStack()
        self._value_model = default
        self.reward: Reward = self._stack.enter_context(open_reward(reward, dist, default))
        self.engine = Engine(self.model, self.tokenizer)

    def decisions(self) -> dict[str, str]:
        """Describe what was decided from options and data, for the log."""
        grpo = self.options
        groups = f"{self.states_per_step} groups of {grpo.num_generations} completions"
        return {
            "model": self.model.describe(),
            **self.adapter_decisions(),
            "states": f"{grpo.data}, {len(self.states)} to train, {len(self.valid)} to evaluate on",
            "steps": f"{self.num_steps} of {groups}",
            "reward": self.reward_options.reward,
        }

    # -- sampling ----------------------------------------------------------------------------------------------------

    def sample(self, states: Sequence[str], seeds: Sequence[int]) -> list[Group]:
        """Sample completions for states with the present weights."""
        self.model.eval()
        self.engine.refresh()
        sampling = SamplingOptions(self.options.num_generations, self.options.max_completion_length)
        prompts = [prompt_tokens(self.tokenizer, state, self.max_prompt + 1) for state in states]
        with torch.no_grad():
            answers = self.engine.generate(prompts, sampling, seeds)
        # On a GPU training needs the memory of the KV cache; a CPU's is for the engine alone.
        if self.dist.device.type == "cuda":
            self.engine.release()
        groups = []
        for state, prompt, answer in zip(states, prompts, answers, strict=True):
            group = Group(state, prompt, [], [], [])
            for sample in answer.samples:
                group.tokens.append((*sample.tokens, self.tokenizer.eos))
                group.texts.append(self.tokenizer.decode(sample.tokens))
                group.finished.append(True)
            for sample in answer.unfinished:  # that they did not end is not learned: no EOS was written
                group.tokens.append(tuple(sample.tokens))
                group.texts.append(self.tokenizer.decode(sample.tokens))
                group.finished.append(False)
            groups.append(group)
        return groups

    def demonstrations(self, state: str) -> dict[tuple[int, ...], float]:
        """Return the data's own tactics of a state as tokens, too long ones left out, with their advantages."""
        tactics: list[tuple[int, ...]] = []
        for tactic in self.tactics.get(state, ()):
            tokens = self.tokenizer.encode(tactic)
            if len(tokens) <= self.options.max_completion_length:
                tactics.append((*tokens, self.tokenizer.eos))
        # Shared, so that a state with many tactics in the data weighs no more than one with a single tactic.
        return {tokens: self.options.demonstration_weight / len(tactics) for tokens in tactics}

    def judge(self, groups: Sequence[Group]) -> dict[str, float]:
        """Set rewards and advantages of groups; returns sums of what is reported (of this rank)."""
        counts: Counter[str] = Counter()
        if isinstance(self.reward, LeanReward):
            counts = self.reward.counts
        counts.clear()
        # One call for all groups: Lean's processes work on different states at a time.
        texts: list[str] = []
        states: list[str] = []
        finished: list[bool] = []
        for group in groups:
            texts += group.texts
            states += [group.state] * len(group.texts)
            finished += group.finished
        prompts = [state + "\n" for state in states]
        rewards = rewards_of(self.reward, texts, prompts=prompts, states=states, finished=finished)
        known = [reward for reward in rewards if reward is not None]
        num_tokens = mixed = 0
        for group in groups:
            group.rewards, rewards = rewards[: len(group.texts)], rewards[len(group.texts) :]
            group.advantages = group_advantages(group.rewards)
            num_tokens += sum(map(len, group.tokens))
            mixed += any(group.advantages)
        sums = {
            "reward": math.fsum(known),
            "known": float(len(known)),
            "tokens": float(num_tokens),
            "mixed": float(mixed),
            "groups": float(len(groups)),
        }
        for kind in COUNTED:
            sums[f"count_{kind}"] = float(counts[kind])
        return sums

    # -- steps -------------------------------------------------------------------------------------------------------

    def train_one(self) -> dict[str, float]:
        states, seeds = [], []
        for pick in batches.shard(self.sampler.picks(self.states_per_step), self.dist):
            states.append(self.states[pick.index])
            seeds.append(self._seed("train", self.state.step, pick.index))
        groups = self.sample(states, seeds)
        sums = self._summed(self.judge(groups))
        metrics = {**_means(sums), "epoch": (self.state.step + 1) * self.states_per_step / len(self.states)}
        # The sums are those of all ranks, which so decide alike. Without a step momentum and decay do nothing either.
        if not sums["mixed"] and not self.tactics:
            return {"loss": 0.0, "grad_norm": 0.0, "lr_factor": self.lr_factor, **metrics}
        marker, length = self.tokenizer.tactic, self.options.row_length
        examples: list[Example] = []
        for group in groups:
            group.demonstrations = self.demonstrations(group.state)
            examples += group.examples(marker, length)
        if not examples:
            # Other ranks have some, and wait for this one's gradients: of an example that weighs nothing.
            idle = Continuation([marker, self.tokenizer.eos], "tactic", 0.0)
            examples = [Example(groups[0].prompt, [idle])]
        loss, norm = self._update(examples, sums["tokens"])
        return {"loss": loss, "grad_norm": norm, "lr_factor": self.lr_factor, **metrics}

    def _update(self, examples: Sequence[Example], num_tokens: float) -> tuple[float, float]:
        """Make the updates with a batch; returns loss and gradient norm of the last one."""
        packed = batches.pack_for(self.model, examples, self._packing, self.tokenizer.pad)
        # With one update the old log-probabilities are those of the same forward pass, without their gradient.
        old: torch.Tensor | None = None
        if self.options.iterations > 1:
            self.model.eval()
            pieces = batches.split_for(self.model, packed, self._packing, self.micro_batches.rows)
            with torch.set_grad_enabled(self.model.compiled_block is not None):  # compiled for training, not once more
                old = torch.cat([token_logprobs(self.model, piece)[0].detach() for piece in pieces])
        loss = norm = 0.0
        for _ in range(self.options.iterations):
            self.model.train()
            share = self.micro_batches.run(lambda rows: self._accumulate(packed, old, num_tokens, rows))
            (loss,) = all_reduce_sum([share])
            if not math.isfinite(loss):
                raise NonFiniteLoss(f"the loss is {loss}; the weights were left as they were before this step")
            self.optimizer.set_lr_factor(self.lr_factor)
            norm = self.optimizer.step(self.optim.max_grad_norm)
        return loss, norm

    def _accumulate(self, packed: PackedBatch, old: torch.Tensor | None, num_tokens: float, rows: int) -> float:
        """Add up the gradients of this rank; returns its share of the loss. `old` are log-probabilities, (N,)."""
        self.optimizer.zero_grad()
        seed_dropout(self.model, self.optimizer.steps_done, self.dist.rank)
        total, start = 0.0, 0
        for piece in batches.split_for(self.model, packed, self._packing, rows):
            logprobs_N, weights_N = token_logprobs(self.model, piece)
            before_N = logprobs_N.detach()
            if old is not None:
                before_N = old[start : start + len(logprobs_N)]
            start += len(logprobs_N)
            share = clipped_surrogate(logprobs_N, before_N, weights_N, self.options.epsilon).sum() / num_tokens
            share.backward()
            total += float(share.detach())
        return total

    def evaluate(self) -> dict[str, float]:
        """Sample tactics for the held-out states, the same seeds each time, and judge them."""
        if not self.valid:
            return {}
        own = self.valid[self.dist.rank :: self.dist.world_size]
        totals: Counter[str] = Counter()
        size = max(1, self.states_per_step // self.dist.world_size)
        # As many rounds on each rank, with states left or not: all are asked together whether to stop.
        longest_share = math.ceil(len(self.valid) / self.dist.world_size)
        for number in range(math.ceil(longest_share / size)):
            if self.stop.agreed():
                return {}
            states = own[number * size : (number + 1) * size]
            if states:
                groups = self.sample(states, [self._seed("valid", 0, state) for state in states])
                totals.update(self.judge(groups))
        means = _means(self._summed({name: totals[name] for name in SUMMED}))
        del means["mixed_groups"]  # of training alone: nothing is learned from these
        return means

    def _summed(self, own: dict[str, float]) -> dict[str, float]:
        return dict(zip(own, all_reduce_sum(list(own.values())), strict=True))

    def _seed(self, *parts: object) -> int:
        # Of seed, step and state, not of a generator: a resumed run samples what it would have sampled.
        return random.Random(" ".join(map(str, (self.run_options.seed, *parts)))).getrandbits(48)

    def note(self, metrics: dict[str, float]) -> str:
        return f"reward {metrics['reward']:.3f}"

    def data_state(self) -> dict[str, Any]:
        return {"sampler": self.sampler.state(), "value_model": self._value_model}

    def close(self) -> None:
        self._stack.close()


COUNTED = (
    "closed",
    "changed",
    "unchanged",
    "rejected",
    "banned",
    "unfinished",
    "timeout",
    "lost",
    "misread",
    "shorter",
    "successors",
)
SUMMED = ("reward", "known", "tokens", "mixed", "groups", *(f"count_{kind}" for kind in COUNTED))


def _means(sums: dict[str, float]) -> dict[str, float]:
    """Return the mean reward, the share of groups that teach anything, and the shares of Lean's verdicts."""
    counts = Counter({kind: int(sums[f"count_{kind}"]) for kind in COUNTED})
    reward, mixed = sums["reward"] / max(1.0, sums["known"]), sums["mixed"] / max(1.0, sums["groups"])
    return {"reward": reward, "mixed_groups": mixed, **shares(counts)}


def token_logprobs(model: GPT, piece: PackedBatch) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute the log-probabilities of the targets of packed rows, and their weights; both (N,)."""
    chosen_N, batch = to_device(piece.chosen(), model.device), piece.to(model.device)
    targets_N, weights_N = batch.targets.flatten()[chosen_N], batch.weights.flatten()[chosen_N]
    logits_NV = model(batch.tokens, batch.layout(model.config.prefix_lm, piece), chosen_N)
    return -F.cross_entropy(logits_NV.float(), targets_N, reduction="none"), weights_N
