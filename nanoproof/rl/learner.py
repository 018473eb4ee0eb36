"""The learner of reinforcement learning: the trainer of its policy network, and which checkpoint is the best so far."""

import hashlib
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import torch
from torch.distributed import ProcessGroup

from nanoproof.common.distributed import DistInfo, among, broadcast_tensors, first_ranks, gather_json
from nanoproof.common.errors import UserError
from nanoproof.common.files import read_object
from nanoproof.common.run_dir import resolve_model_path, resolve_run_dir
from nanoproof.data.transitions.packing import Example
from nanoproof.model.checkpoint import load_model
from nanoproof.model.gpt import GPT
from nanoproof.model.optim import MuonAdamW
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.rl.options import RLConfig
from nanoproof.training.loss import LossWeights, tactic_logprobs
from nanoproof.training.step import MicroBatches, StepSettings, memory_snapshots, train_step
from nanoproof.training.trainer import LoopState, Trainer

BEST = "best.json"
"""File of a run: which step solved most in evaluations."""


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


class Learner(Trainer[RLState]):
    """Model, optimizer and `state`: of `--model-path`, or of the last checkpoint of `--resume-from`."""

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
        self.best_is_damaged = False
        """Whether `BEST` of the resumed run cannot be read."""
        if start.resume_from is not None:
            run_path = resolve_run_dir(start.resume_from, "--resume-from")
            self._take_best(run_path / BEST)

    def _load_first(self) -> tuple[GPT, Tokenizer]:
        path = resolve_model_path(self.start.checkpoint.model_path or "")
        model, tokenizer, _ = load_model(path, self.dist.device, self.dist.dtype)
        return model, tokenizer

    def _take_best(self, file: Path) -> None:
        """Read which step was best so far: the file may be newer than the checkpoint."""
        # `type`, as `True` is an int, too. A file of a killed machine may be empty or cut off.
        best: dict[str, Any] = read_object(file) or {}
        is_readable = type(best.get("step")) is int and type(best.get("solved")) is int
        self.best_is_damaged = file.exists() and not is_readable
        if is_readable:
            self.state.best_step, self.state.best_solved = best["step"], best["solved"]
            self.state.best_of = str(best.get("of", ""))

    def update(self, examples: Sequence[Example], progress: float) -> dict[str, float]:
        """Make one optimizer step at `progress` (0 to 1) through the run; all ranks call it together, each with its
        share. Returns the losses, those of `train_step`, and raises what it raises."""
        return train_step(
            self.model,
            self.optimizer,
            examples,
            self.lr_factor_at(progress),
            self._step_settings,
            self.dist,
            self._micro_batches,
        )

    def tactic_logprobs(self, examples: Sequence[Example]) -> list[float]:
        """Score the tactics of examples by the present weights, in smaller pieces where memory is short (nats)."""
        batch = self._config.batch

        def compute(rows: int) -> list[float]:
            return tactic_logprobs(self.model, self.tokenizer.pad, examples, replace(batch, device_batch_size=rows))

        return self._micro_batches.run(compute)

    def save(self, run_path: Path) -> Path:
        """Save a checkpoint, and prune older ones but for the best. All ranks call it together."""
        return self.write_checkpoint(run_path, self._config.triggers.keep_checkpoints, self._protected())

    def _protected(self) -> set[int]:
        return {self.state.best_step}

    def hand_over(self) -> None:
        """Overwrite the trained weights of all other ranks by those of rank 0 (a collective)."""
        # With adapters of rank 16 these are 5.5% of the bytes (experiments.md, adapters against the whole network).
        broadcast_tensors(weight.detach() for weight in self.model.parameters() if weight.requires_grad)

    def digests(self) -> list[str]:
        """Hash the weights of each rank (a collective)."""
        # By bytes: the ranks have to agree to the last bit.
        digest = hashlib.sha256()
        for parameter in self.model.parameters():
            digest.update(parameter.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
        return gather_json(digest.hexdigest())


class Served(Learner):
    """The network of a rank that only serves it, which has no optimizer; its weights come by `hand_over`."""

    def fresh_optimizer(self) -> MuonAdamW:
        """Make an optimizer of nothing."""
        return MuonAdamW([])

    def load_optimizer(self, path: Path) -> None:
        """Leave the optimizer's state to the ranks that learn."""
