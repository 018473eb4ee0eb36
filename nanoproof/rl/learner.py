"""The learner of reinforcement learning: what the loop asks of one, and the one that trains networks of ours.

The loop, its buffers, logs and matchmaker know a learner and its policy, and not which kind of network these have:
`hub_learner.py` has that for models of transformers.
"""

import hashlib
import shutil
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, Self

import torch
from torch.distributed import ProcessGroup

from nanoproof.common.distributed import DistInfo, among, broadcast_tensors, first_ranks, gather_json
from nanoproof.common.errors import UserError
from nanoproof.common.files import read_object
from nanoproof.common.run_dir import resolve_model_path, resolve_run_dir, run_name
from nanoproof.data.transitions.packing import Example, ExampleLimits, encode_transitions
from nanoproof.lean.types import Transition
from nanoproof.model.checkpoint import delete_checkpoints, load_model
from nanoproof.model.checkpoint_files import finished_steps, weights_sha256
from nanoproof.model.compute import choose_compute
from nanoproof.model.gpt import GPT
from nanoproof.model.optim import MuonAdamW
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.policy.models import model_policy
from nanoproof.policy.tactic_policy import PolicyLoad
from nanoproof.rl.options import RLConfig
from nanoproof.search.policy import Policy
from nanoproof.training.hub_network import checkpoint_steps
from nanoproof.training.loss import LossWeights, tactic_logprobs, token_losses
from nanoproof.training.options import ComputeOptions
from nanoproof.training.setup import PREFIX
from nanoproof.training.step import MicroBatches, StepSettings, memory_snapshots, train_step
from nanoproof.training.trainer import BaseTrainer, LoopState, Trainer

BEST = "best.json"
"""File of a run: which step solved most in evaluations."""


# -- Checkpoints of either kind in a run directory -------------------------------------------------------------------


def checkpoint_name(run_path: Path, step: int) -> str:
    """Name the checkpoint of a step: a folder of transformers, or the file of weights of a network of ours."""
    folder = f"checkpoint-{step}"
    if (run_path / folder).is_dir():
        return folder
    return f"model_{step}.pt"


def checkpoint_spec(run_path: Path, step: int | None = None) -> str:
    """Return what `--model-path` takes for the checkpoint of a step; without a step for the last one."""
    if is_hub_run(run_path):
        if step is None:
            step = checkpoint_steps(run_path)[-1]
        return f"{PREFIX}{run_path / checkpoint_name(run_path, step)}"
    run = run_name(run_path)
    if step is None:
        return run
    return f"{run}/{checkpoint_name(run_path, step)}"


def is_hub_run(run_path: Path) -> bool:
    """Tell whether the checkpoints of a run are folders of transformers."""
    return bool(checkpoint_steps(run_path))


def delete_all_checkpoints(run_path: Path) -> None:
    """Delete all checkpoints of a run. One rank calls it."""
    delete_checkpoints(run_path)
    for step in checkpoint_steps(run_path):
        shutil.rmtree(run_path / checkpoint_name(run_path, step), ignore_errors=True)


def has_checkpoint(run_path: Path) -> bool:
    """Tell whether a run can be resumed."""
    return run_path.is_dir() and (is_hub_run(run_path) or bool(finished_steps(run_path)))


# -- The learner -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Roles:
    """Which ranks learn and which serve the network to actors: the last `serving` ranks do only that, all others only
    learn. Without these every rank does both."""

    dist: DistInfo
    serving: int = 0
    group: ProcessGroup | None = None
    """The ranks that learn, for collectives; None if that is all."""

    @classmethod
    def choose(cls, serving: int, dist: DistInfo) -> Self:
        """Let the last ranks only serve (a collective). Raises UserError if no rank would be left to learn."""
        if not serving:
            return cls(dist)
        if serving >= dist.world_size:
            hint = "one has to learn"
            if dist.world_size == 1:
                hint = "torchrun starts them"
            raise UserError(f"--inference-gpus {serving} needs more ranks than the {dist.world_size} here: {hint}")
        # The last, not the first: rank 0 writes metrics and checkpoints, and so has to know the losses.
        return cls(dist, serving, first_ranks(dist.world_size - serving))

    @property
    def learns(self) -> bool:
        return self.dist.rank < self.learners.world_size

    @property
    def serves(self) -> bool:
        return not self.serving or not self.learns

    @property
    def learners(self) -> DistInfo:
        """This rank among those that learn."""
        return replace(self.dist, world_size=self.dist.world_size - self.serving)

    @property
    def provers(self) -> DistInfo:
        """This rank among those that prove; one that does not counts as their first."""
        if not self.serving:
            return self.dist
        return replace(self.dist, rank=max(0, self.dist.rank - self.learners.world_size), world_size=self.serving)

    def learning(self) -> AbstractContextManager[None]:
        """Hold collectives inside among the ranks that learn; for these alone."""
        return among(self.group)

    def decisions(self) -> dict[str, str]:
        """Describe the roles for the log."""
        if not self.serving:
            return {}
        learn, ranks = self.learners.world_size, self.dist.world_size
        return {"roles": f"ranks 0 to {learn - 1} learn, ranks {learn} to {ranks - 1} prove (--inference-gpus)"}


@dataclass
class RLState(LoopState):
    """State of reinforcement learning; experience is in the attempt logs.

    `best_step` solved the most theorems, `best_solved`, in evaluations whose settings have the digest `best_of`.
    `since_save` are the seconds from the last save that was due to the checkpoint.
    """

    sft_position: dict[str, int] = field(default_factory=dict)
    best_step: int = -1
    best_solved: int = -1
    best_of: str = ""
    since_save: float = 0.0


class TrainedPolicy(Policy, Protocol):
    """A policy whose network is being trained. Any number of threads may ask it."""

    def pause(self, release: bool = False) -> None:
        """Answer nothing from now on, as the weights change; returns when nothing is computed.

        With `release` memory that is not needed meanwhile is free until `resume`.
        """
        ...

    def resume(self) -> None:
        """Go on, with the present weights."""
        ...

    def renew(self) -> None:
        """Take the present weights without a pause."""
        ...

    def load(self) -> PolicyLoad:
        """Report how busy it is now."""
        ...

    def close(self) -> None:
        """End; who waits gets PolicyClosed."""
        ...


class PolicyLearner(BaseTrainer[RLState]):
    """What the loop asks of a learner: examples of transitions, updates, a policy with its weights, checkpoints."""

    longest: int
    """Most tokens of an example."""
    longest_tactic: int
    """Most tokens of a tactic that the policy writes."""
    best_is_damaged = False
    """Whether `BEST` of the resumed run cannot be read."""

    @abstractmethod
    def encode(
        self, transitions: Sequence[Transition], depth_weights: Sequence[float] | None = None, negative: bool = False
    ) -> list[Example | None]:
        """Make examples of transitions, or of failed tactics (`negative`), which have no value; None for too long ones.

        `depth_weights` are factors on the value losses of the depths from 1 on. A value is the last continuation.
        """

    @abstractmethod
    def update(self, examples: Sequence[Example], progress: float) -> dict[str, float]:
        """Make one optimizer step at `progress` (0 to 1) through the run; all ranks call it together, each with its
        share. Returns the losses. Raises NonFiniteLoss before the weights change."""

    @abstractmethod
    def tactic_logprobs(self, examples: Sequence[Example]) -> list[float]:
        """Score the tactics of examples by the present weights (nats)."""

    @abstractmethod
    def token_losses(self, examples: Sequence[Example]) -> list[dict[str, Any]]:
        """Return for each example its `tokens` as texts, their `losses`, and the mean `loss`; see `loss.py`."""

    @abstractmethod
    def make_policy(self, run_path: Path) -> TrainedPolicy:
        """Open the policy that answers with the present weights (a collective). Raises UserError if it cannot."""

    @abstractmethod
    def decisions(self) -> dict[str, str]:
        """Describe the network and what of it is trained, for the log."""

    @abstractmethod
    def compute_with(self, options: ComputeOptions) -> dict[str, str]:
        """Let the network compute as options say; returns what was decided, for the log."""

    @abstractmethod
    def weights_digest(self, run_path: Path) -> str:
        """Return what tells the weights of the present step's checkpoint from all others."""

    def evaluation_settings(self) -> dict[str, Any] | None:
        """Return how evaluations ask the model, if it is one of others; None where that is always the same."""
        return None

    @abstractmethod
    def parameters(self) -> Iterable[torch.Tensor]:
        """Yield all parameters, in an order that is the same on all ranks."""

    @abstractmethod
    def keep_checkpoints(self) -> int | None:
        """Return how many checkpoints are kept."""

    def save(self, run_path: Path) -> Path:
        """Save a checkpoint, and prune older ones but for the best. All ranks call it together."""
        return self.write_checkpoint(run_path, self.keep_checkpoints(), {self.state.best_step})

    def take_best(self, file: Path) -> None:
        """Read which step was best so far: the file may be newer than the checkpoint."""
        # `type`, as `True` is an int, too. A file of a killed machine may be empty or cut off.
        best: dict[str, Any] = read_object(file) or {}
        is_readable = type(best.get("step")) is int and type(best.get("solved")) is int
        self.best_is_damaged = file.exists() and not is_readable
        if is_readable:
            self.state.best_step, self.state.best_solved = best["step"], best["solved"]
            self.state.best_of = str(best.get("of", ""))

    def hand_over(self) -> None:
        """Overwrite the trained weights of all other ranks by those of rank 0 (a collective)."""
        # With adapters of rank 16 these are 5.5% of the bytes (experiments.md, adapters against the whole network).
        broadcast_tensors(weight.detach() for weight in self.parameters() if weight.requires_grad)

    def digests(self) -> list[str]:
        """Hash the weights of each rank (a collective)."""
        # By bytes: the ranks have to agree to the last bit.
        digest = hashlib.sha256()
        for parameter in self.parameters():
            digest.update(parameter.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
        return gather_json(digest.hexdigest())


class Learner(Trainer[RLState], PolicyLearner):
    """Trains a network of ours: that of `--model-path`, or of the last checkpoint of `--resume-from`."""

    stage_name = "rl"
    memory_advice = "a single row does not fit: try a smaller --row-length, or more ranks"

    def __init__(self, config: RLConfig, dist: DistInfo) -> None:
        """Load the network. Raises UserError if there is no such checkpoint, or if it is of another stage."""
        start = config.start
        if start.resume_from is None and start.checkpoint.model_path is None:
            raise UserError(
                "give either --model-path sft/RUN (a new run; python -m nanoproof.sft makes such a network) or "
                "--resume-from rl/RUN (resume one)"
            )
        self._config = config
        super().__init__(start, config.optim, dist, RLState(), self._load_first, config.lora, config.run.seed)
        self._micro_batches = MicroBatches(
            config.batch.device_batch_size, memory_snapshots(config.rl.memory_profile, dist)
        )
        weights = LossWeights(config.batch.value_weight, config.rl.unlikelihood_weight)
        self._step_settings = StepSettings(config.batch, weights, config.optim.max_grad_norm, self.tokenizer.pad)
        self.longest = min(config.batch.row_length, self.model.config.sequence_len)
        self.longest_tactic = config.sampling.max_gen_tokens
        if start.resume_from is not None:
            self.take_best(resolve_run_dir(start.resume_from, "--resume-from") / BEST)

    def _load_first(self) -> tuple[GPT, Tokenizer]:
        path = resolve_model_path(self.start.checkpoint.model_path or "")
        model, tokenizer, _ = load_model(path, self.dist.device, self.dist.dtype)
        return model, tokenizer

    def update(self, examples: Sequence[Example], progress: float) -> dict[str, float]:
        """Make one optimizer step; returns the losses, those of `train_step`, and raises what it raises."""
        losses = train_step(
            self.model,
            self.optimizer,
            examples,
            self.lr_factor_at(progress),
            self._step_settings,
            self.dist,
            self._micro_batches,
        )
        self.model.eval()
        return losses

    def encode(
        self, transitions: Sequence[Transition], depth_weights: Sequence[float] | None = None, negative: bool = False
    ) -> list[Example | None]:
        """Make examples as `encode_transitions` does."""
        limits = ExampleLimits(sequence=self.longest)
        return encode_transitions(self.tokenizer, transitions, limits, negative=negative, depth_weights=depth_weights)

    def tactic_logprobs(self, examples: Sequence[Example]) -> list[float]:
        """Score the tactics of examples by the present weights, in smaller pieces where memory is short (nats)."""
        batch = self._config.batch

        def compute(rows: int) -> list[float]:
            return tactic_logprobs(self.model, self.tokenizer.pad, examples, replace(batch, device_batch_size=rows))

        return self._micro_batches.run(compute)

    def token_losses(self, examples: Sequence[Example]) -> list[dict[str, Any]]:
        """Return the losses of tokens as `loss.token_losses` does."""
        return token_losses(self.model, self.tokenizer, examples, self._config.batch)

    def make_policy(self, run_path: Path) -> TrainedPolicy:
        """Open the policy over an engine of ours. With `--asynchronous` it has weights of its own: while the network
        trains, an engine would see them half updated."""
        config = self._config
        return model_policy(
            self.model, self.tokenizer, config.sampling, config.engine, own_weights=config.rl.asynchronous
        )

    def decisions(self) -> dict[str, str]:
        """Describe the network and its adapters, for the log."""
        return {"model": f"{self.model.num_parameters():,} parameters", **self.adapter_decisions()}

    def compute_with(self, options: ComputeOptions) -> dict[str, str]:
        """Choose attention and compilation."""
        compute = choose_compute(self.dist.device, self.dist.dtype, options.attention, options.compile, options.fp8)
        compute.apply(self.model)
        return compute.decisions()

    def weights_digest(self, run_path: Path) -> str:
        """Return the digest of the weights that the manifest has."""
        return weights_sha256(run_path / f"model_{self.state.step}.json")

    def parameters(self) -> Iterable[torch.Tensor]:
        """Yield the network's parameters."""
        return self.model.parameters()

    def keep_checkpoints(self) -> int | None:
        """Return how many checkpoints are kept."""
        return self._config.triggers.keep_checkpoints


class Served(Learner):
    """The network of a rank that only serves it, which has no optimizer; its weights come by `hand_over`."""

    def fresh_optimizer(self) -> MuonAdamW:
        """Make an optimizer of nothing."""
        return MuonAdamW([])

    def load_optimizer(self, path: Path) -> None:
        """Leave the optimizer's state to the ranks that learn."""
