"""What learns: model, optimizer and the state of the loop; loaded from a checkpoint, trained, saved to the next."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import torch

from nanoproof.common.distributed import DistInfo, gather_json
from nanoproof.common.errors import UserError
from nanoproof.common.files import read_object
from nanoproof.common.run_dir import resolve_model_path, resolve_run_dir
from nanoproof.data.transitions.packing import Example
from nanoproof.model.checkpoint import load_model, load_optimizer, prune_checkpoints, save_checkpoint
from nanoproof.rl.options import RLConfig
from nanoproof.training.loss import LossWeights, tactic_logprobs
from nanoproof.training.schedule import learning_rate_factor
from nanoproof.training.setup import check_stage
from nanoproof.training.step import Pieces, build_optimizer, memory_snapshots, train_step

BEST = "best.json"
"""In a run: which step solved most in evaluations."""
FIRST_WEIGHTS = "model_0.pt"
"""Of a run: those that it began with."""


@dataclass
class LoopState:
    """What a checkpoint stores beside weights and optimizer; experience is in the attempt logs.

    `best_step` solved the most theorems, `best_solved`, in evaluations whose settings have the digest `best_of`.
    `seconds` are those of the whole run so far, all its parts together; `since_evaluation` and `since_save` those from
    the last evaluation and save to the checkpoint.
    """

    step: int = 0
    seconds: float = 0.0
    sft_position: dict[str, int] = field(default_factory=dict)
    best_step: int = -1
    best_solved: int = -1
    best_of: str = ""
    since_evaluation: float = 0.0
    since_save: float = 0.0


class Learner:
    """Model, optimizer and `state`: of `--model-path`, or of the last checkpoint of `--resume-from`."""

    def __init__(self, config: RLConfig, dist: DistInfo) -> None:
        """Raises UserError if there is no such checkpoint, or if it is of another stage."""
        start = config.start
        if start.resume_from is None and start.checkpoint.model_path is None:
            raise UserError(
                "give either --model-path sft/RUN (a new run; python -m nanoproof.sft makes such a network) or "
                "--resume-from rl/RUN (go on with one)"
            )
        self._config, self._dist = config, dist
        resume = resolve_run_dir(start.resume_from, "--resume-from") if start.resume_from else None
        path = resume if resume is not None else resolve_model_path(start.checkpoint.model_path or "")
        self.model, self.tokenizer, manifest = load_model(path, dist.device, dist.dtype)
        self.optimizer = build_optimizer(self.model, config.optim)
        self.state = LoopState()
        self.saved_step = -1
        self.best_is_damaged = False
        """Whether `BEST` of the run that goes on cannot be read."""
        self._pieces = Pieces(config.batch.device_batch_size, memory_snapshots(config.rl.memory_profile, dist))
        if resume is not None:
            check_stage(manifest, "rl", resume)
            try:
                self.state = LoopState(**manifest["extra"]["loop"])
            except (KeyError, TypeError) as error:
                raise UserError(
                    f"--resume-from {path}: the checkpoint does not say where the run was: {error}"
                ) from error
            self.saved_step = self.state.step
            self._take_best(resume / BEST)
            if not start.resume_fresh_optimizer:
                load_optimizer(path, self.optimizer, dist)
            if config.rl.restart_from_sft_every is not None and not (resume / FIRST_WEIGHTS).exists():
                raise UserError(f"--restart-from-sft-every: {resume} has no {FIRST_WEIGHTS} (any more)")

    def _take_best(self, file: Path) -> None:
        """Which step was best so far: the file may tell of an evaluation after the checkpoint."""
        best = read_object(file)
        known = best is not None and type(best.get("step")) is int and type(best.get("solved")) is int
        self.best_is_damaged = file.exists() and not known
        if best is not None and known:
            self.state.best_step, self.state.best_solved = best["step"], best["solved"]
            self.state.best_of = str(best.get("of", ""))

    @property
    def saved(self) -> bool:
        """Whether there is a checkpoint of the present weights."""
        return self.saved_step == self.state.step

    def update(self, examples: Sequence[Example], progress: float) -> dict[str, float]:
        """One optimizer step at `progress` (0 to 1) through the run; all ranks call it together, each with its share.

        Returns the losses, those of `train_step`, and raises what it raises, with what a user can do.
        """
        config, optim = self._config, self._config.optim
        factor = learning_rate_factor(
            progress, optim.warmup_frac, optim.warmdown_frac, optim.init_lr_frac, optim.final_lr_frac
        )
        weights = LossWeights(config.batch.value_weight, config.rl.unlikelihood_weight)
        with self._single_rows_fit():
            return train_step(
                self.model,
                self.optimizer,
                examples,
                factor,
                config.batch,
                weights,
                optim.max_grad_norm,
                self._dist,
                self.tokenizer.pad,
                self._pieces,
            )

    def tactic_logprobs(self, examples: Sequence[Example]) -> list[float]:
        """How probable the present weights find the tactics of examples; in smaller pieces where memory is short."""
        batch = self._config.batch

        def compute(rows: int) -> list[float]:
            return tactic_logprobs(self.model, self.tokenizer.pad, examples, replace(batch, device_batch_size=rows))

        with self._single_rows_fit():
            return self._pieces.run(compute)

    @contextmanager
    def _single_rows_fit(self) -> Iterator[None]:
        try:
            yield
        except torch.OutOfMemoryError as error:
            raise UserError(
                f"step {self.state.step + 1}: out of memory on {self._dist.device} with a single row; "
                "try a smaller --row-length, or more ranks"
            ) from error

    def restart_due(self) -> bool:
        """Whether this step begins with `restart`."""
        every = self._config.rl.restart_from_sft_every
        return every is not None and self.state.step > 0 and self.state.step % every == 0

    def restart(self, run_path: Path) -> None:
        """Go back to the weights that the run began with, and forget what the optimizer knows of later ones."""
        first, _, _ = load_model(run_path / FIRST_WEIGHTS, torch.device("cpu"), self._dist.dtype)
        self.model.load_state_dict(first.state_dict())
        self.optimizer = build_optimizer(self.model, self._config.optim)

    def save(self, run_path: Path) -> Path:
        """Save a checkpoint, and prune older ones but for the best. All ranks call it together."""
        self.saved_step = self.state.step
        extra = {"stage": "rl", "loop": asdict(self.state)}
        path = save_checkpoint(run_path, self.state.step, self.model, self.tokenizer, self.optimizer, extra, self._dist)
        if self._dist.is_main:
            prune_checkpoints(run_path, self._config.cadence.keep_checkpoints, protect=self._protected())
        return path

    def _protected(self) -> set[int]:
        first = {0} if self._config.rl.restart_from_sft_every is not None else set()
        return {self.state.best_step} | first

    def digests(self) -> list[str]:
        """A digest of the weights of each rank (a collective)."""
        digest = hashlib.sha256()
        for parameter in self.model.parameters():
            digest.update(parameter.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
        return gather_json(digest.hexdigest())
