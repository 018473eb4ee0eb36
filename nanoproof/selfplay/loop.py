"""The loop of reinforcement learning: collect, exchange, train, evaluate, save; a checkpoint keeps its `LoopState`."""

import hashlib
import itertools
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nanoproof.common.dist import DistInfo, broadcast_json, gather_json
from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_json, read_json
from nanoproof.common.run_dir import resolve_model_path, resolve_run_dir
from nanoproof.common.suggestion import Policy
from nanoproof.data.packing import Example, ExampleLimits, encode_transition
from nanoproof.data.theorems import Split, list_theorems, split_names
from nanoproof.data.transitions import Transition
from nanoproof.data.whitelist import LeanChoice
from nanoproof.gpt.checkpoint import load_model, load_optimizer, prune_checkpoints, save_checkpoint
from nanoproof.lean.theorem import Theorem
from nanoproof.policy.opening import model_policy
from nanoproof.policy.sampling import SamplingConfig
from nanoproof.prover.prover import Prover, ProverOptions
from nanoproof.search.config import SearchConfig
from nanoproof.selfplay.actors import ActorPool, Interrupted
from nanoproof.selfplay.buffers import Buffers
from nanoproof.selfplay.collect import CollectSource, Experience, relearn
from nanoproof.selfplay.eval_files import EvaluationFiles
from nanoproof.selfplay.eval_plan import eval_settings
from nanoproof.selfplay.eval_summary import event_fields
from nanoproof.selfplay.evaluate import evaluate
from nanoproof.selfplay.fleet import Fleet
from nanoproof.selfplay.matchmaker import Matchmaker, MatchmakerConfig
from nanoproof.selfplay.options import RLOptions
from nanoproof.selfplay.status import StatusWriter
from nanoproof.training.batches import EpochSampler, TransitionSet, deal
from nanoproof.training.data import load_transitions
from nanoproof.training.loss import LossWeights
from nanoproof.training.options import BatchOptions, CadenceOptions, OptimizerOptions, RunOptions, StartOptions
from nanoproof.training.resume import check_stage
from nanoproof.training.schedule import Trigger, duration, learning_rate_factor
from nanoproof.training.setup import Stage
from nanoproof.training.step import build_optimizer, train_step

log = logging.getLogger(__name__)


@dataclass
class LoopState:
    """What a checkpoint stores beside weights and optimizer; experience is in the attempt logs."""

    step: int = 0
    seconds: float = 0.0
    sft_position: dict[str, int] = field(default_factory=dict)
    best_step: int = -1
    best_solved: int = -1


class ReinforcementLearning:
    """One rank of a run. Everything that can be wrong with the options is found in the constructor, before any file
    is written."""

    def __init__(
        self,
        run_options: RunOptions,
        start: StartOptions,
        cadence: CadenceOptions,
        options: RLOptions,
        search: SearchConfig,
        sampling: SamplingConfig,
        matchmaker: MatchmakerConfig,
        batch: BatchOptions,
        optim: OptimizerOptions,
        lean: LeanChoice,
        dist: DistInfo,
    ) -> None:
        self.run_options, self.start = run_options, start
        self.options, self.search, self.sampling = options, search, sampling
        self.batch, self.optim, self.dist = batch, optim, dist
        self.lean = lean
        self.eval_trigger = Trigger.parse(cadence.eval_every, "--eval-every")
        self.save_trigger = Trigger.parse(cadence.save_every, "--save-every")
        self.keep_checkpoints = cadence.keep_checkpoints
        self.collect_seconds = duration(options.collect_max_time, "--collect-max-time")
        self.max_seconds = duration(options.max_time, "--max-time")
        if batch.target_examples_per_step < dist.world_size:
            raise UserError("--target-examples-per-step must be at least the number of ranks")
        datasets, benchmarks = split_names(options.datasets), split_names(options.eval_datasets)
        self._load()
        self.theorems = [theorem for name in datasets for theorem in self._theorems(name, "train")]
        if not self.theorems:
            raise UserError(f"--datasets {' '.join(datasets)}: no theorem is left to train on")
        self.benchmarks = {name: self._benchmark(name) for name in benchmarks}
        buffers = Buffers(options.replay_buffer_window_size, options.negative_buffer_window_size)
        self.experience = Experience(self.theorems, Matchmaker(len(self.theorems), matchmaker), buffers)
        limits = ExampleLimits(sequence=min(batch.row_length, self.model.config.sequence_len))
        self.limits = limits
        transitions = load_transitions(options.sft_data)[0]
        self.sft = TransitionSet(
            self.tokenizer, transitions, limits, seed=run_options.seed, augment=options.augment_data
        )
        if len(self.sft) == 0:
            raise UserError(f"--sft-data {options.sft_data}: no transition fits in {limits.sequence} tokens")
        self.sft_sampler = EpochSampler(len(self.sft), run_options.seed, self.sft.fingerprint())
        if self.state.sft_position:
            try:
                self.sft_sampler.restore(self.state.sft_position)
            except ValueError as error:
                raise UserError(f"--sft-data {options.sft_data} is not as in the resumed run: {error}") from error
        self.phase = "starting"
        self._evaluations = itertools.count()

    def _load(self) -> None:
        """Model, optimizer and state: of `--model-path`, or of the last checkpoint of `--resume-from`."""
        start, dist = self.start, self.dist
        if start.resume_from is None and start.model_path is None:
            raise UserError("give either --model-path (a new run) or --resume-from (go on with one)")
        resume = resolve_run_dir(start.resume_from, "--resume-from") if start.resume_from else None
        path = resume if resume is not None else resolve_model_path(start.model_path or "")
        self.model, self.tokenizer, manifest = load_model(path, dist.device, dist.dtype)
        self.optimizer = build_optimizer(self.model, self.optim)
        self.state = LoopState()
        if resume is not None:
            check_stage(manifest, "rl", resume)
            self.state = LoopState(**manifest["extra"]["loop"])
            if (resume / "best.json").exists():  # it may be of an evaluation after the checkpoint
                best = read_json(resume / "best.json")
                self.state.best_step, self.state.best_solved = best["step"], best["solved"]
            if not start.resume_fresh_optimizer:
                load_optimizer(path, self.optimizer)

    def _theorems(self, name: str, split: Split) -> list[Theorem]:
        return list_theorems(name, split, self.lean.version_for(name))

    def _benchmark(self, name: str) -> list[Theorem]:
        return self._theorems(name, "valid")[: self.options.max_eval_theorems]

    def decisions(self) -> dict[str, str]:
        """What was decided from options and data, for the log."""
        evals = ", ".join(f"{name} valid ({len(items)})" for name, items in self.benchmarks.items())
        return {
            "model": f"{self.model.num_parameters():,} parameters",
            "theorems": f"{len(self.theorems)} to train on, evaluation on {evals}",
            "whitelists": self.lean.reason,
            "sft": f"{len(self.sft)} transitions mixed in",
        }

    @contextmanager
    def working(self, stage: Stage, fleet: Fleet) -> Iterator[None]:
        """Start actors, policy and status, and stop them in the end, whatever happens."""
        self.stage, self.fleet = stage, fleet
        self.policy = model_policy(self.model, self.tokenizer, self.sampling)
        first_step = self._relearn(stage.run.path)
        self.source = CollectSource(self.experience, stage.run.path, self.dist, self.run_options.seed, first_step)
        self.pool = ActorPool(fleet.slots, self.policy, self._make_prover, fleet.check)
        status = StatusWriter(stage.run.path / f"status_r{self.dist.rank}.json", self._snapshot)
        try:
            yield
        finally:
            self.phase = "stopped"
            self.pool.stop()
            self.policy.close()
            self.pool.join()
            self.source.close()
            status.close()

    def _relearn(self, run_path: Path) -> int:
        """Fill buffers and matchmaker from logs: `--load-buffer` first, then those of the run that goes on."""
        if self.options.load_buffer is not None:
            relearn(self.experience, resolve_run_dir(self.options.load_buffer, "--load-buffer"))
        return relearn(self.experience, run_path) if self.start.resume_from is not None else 0

    def _make_prover(self, purpose: str, policy: Policy) -> Prover:
        collect = purpose == "collect"
        options = ProverOptions(proof_simplification=self.options.proof_simplification or not collect, keep_tree=False)
        search = replace(self.search, finisher_use="leaf" if collect else "candidate")
        return Prover(policy, search, options, lambda: f"step {self.state.step}")

    def _snapshot(self) -> dict[str, Any]:
        experience = self.experience
        return {
            "phase": self.phase,
            "step": self.state.step,
            "num_steps": self.options.num_steps,
            "rank": self.dist.rank,
            "seconds": round(self.state.seconds, 1),
            "collected": self.source.collected,
            "collect_transitions": self.options.collect_transitions,
            "attempts": experience.attempts,
            "proofs": experience.proofs,
            "theorems_proven": len(experience.ever_proven),
            "theorems": len(self.theorems),
            "replay": len(experience.buffers.replay),
            "negative": len(experience.buffers.negative),
            "actors": [actor.snapshot() for actor in self.pool.actors],
        }

    def run(self) -> None:
        """Steps until the last one, the time limit, or `interrupt` (which saves and returns)."""
        try:
            if self.state.step == 0:
                self.save()  # a run can be resumed from its first attempt on
                if self.options.eval_start:
                    self.evaluate()
            while not self._is_over():
                started = time.monotonic()
                self.step()
                self.state.seconds += time.monotonic() - started
                if self.eval_trigger.due(self.state.step) and not self._is_over():
                    self.save()
                    self.evaluate()
                elif self.save_trigger.due(self.state.step):
                    self.save()
            self.save()
            self.evaluate()
        except Interrupted:
            log.warning("interrupted at step %d: saving", self.state.step)
            self.save()

    def interrupt(self) -> None:
        """End the run as soon as the step at hand allows it; what was collected meanwhile is in the log."""
        self.pool.interrupt()

    def _is_over(self) -> bool:
        out_of_time = self.max_seconds is not None and self.state.seconds >= self.max_seconds
        return self.state.step >= self.options.num_steps or self._agree(out_of_time)

    def _agree(self, flag: bool) -> bool:
        """Rank 0's opinion, so that all ranks stop together."""
        return bool(broadcast_json(flag))

    def step(self) -> None:
        """One collect-and-train step."""
        started = time.monotonic()
        collected = self._collect() if self.options.collect_transitions else {}
        middle = time.monotonic()
        losses = self._train()
        self.state.step += 1
        if self.options.check_ranks:
            self._check_ranks()
        self.state.sft_position = self.sft_sampler.state()
        times = {"seconds/collect": middle - started, "seconds/train": time.monotonic() - middle}
        metrics = {**collected, **losses, **times}
        if self.dist.is_main:
            self.stage.run.metrics(self.state.step, **metrics)
            self.stage.tracker.log(metrics, self.state.step)
            log.info(
                "step %d: loss %.3f, %d of %d attempts proved, %d theorems so far, replay %d, %.1f + %.1f s",
                self.state.step,
                losses["loss"],
                collected.get("proofs", 0),
                collected.get("attempts", 0),
                len(self.experience.ever_proven),
                len(self.experience.buffers.replay),
                times["seconds/collect"],
                times["seconds/train"],
            )

    def _collect(self) -> dict[str, float]:
        self.phase = "collect"
        self.policy.resume()
        self.pool.set_source(self.source)
        self.source.begin(self.options.collect_transitions, self.collect_seconds)
        self.pool.wait(self.source.enough)
        self.policy.pause()
        self.phase = "exchange"
        with self.pool.locked():
            fresh = self.source.drain()
        step, attempts = self.source.exchange(fresh)
        with self.pool.locked():
            transitions = self.experience.learn(step, attempts)
        return {
            "attempts": len(attempts),
            "proofs": sum(attempt.outcome == "proven" for attempt in attempts),
            "errors": sum(attempt.outcome == "error" for attempt in attempts),
            "transitions": transitions,
            "simulations": sum(attempt.simulations for attempt in attempts),
            "theorems_proven": len(self.experience.ever_proven),
            "replay": len(self.experience.buffers.replay),
            "staleness": self.experience.buffers.replay.staleness(step),
        }

    def _train(self) -> dict[str, float]:
        self.phase = "train"
        losses: dict[str, float] = {}
        options = self.optim
        factor = learning_rate_factor(
            self._progress(), options.warmup_frac, options.warmdown_frac, options.init_lr_frac, options.final_lr_frac
        )
        weights = LossWeights(self.batch.value_weight, self.options.unlikelihood_weight)
        for update in range(self.options.num_updates_per_step):
            rng = np.random.default_rng([self.run_options.seed, self.dist.rank, self.state.step, update])
            losses = train_step(
                self.model,
                self.optimizer,
                self._examples(rng),
                factor,
                self.batch,
                weights,
                options.max_grad_norm,
                self.dist,
                self.tokenizer.pad,
            )
        self.model.eval()
        return losses

    def _progress(self) -> float:
        """How much of the run is over, 0 to 1: by steps or by time, whichever is further; the same on all ranks."""
        by_time = self.state.seconds / self.max_seconds if self.max_seconds is not None else 0.0
        return min(1.0, float(broadcast_json(max(by_time, self.state.step / self.options.num_steps))))

    def _check_ranks(self) -> None:
        """Compare a digest of the weights over all ranks (a collective)."""
        digest = hashlib.sha256()
        for parameter in self.model.parameters():
            digest.update(parameter.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
        digests = gather_json(digest.hexdigest())
        self.stage.run.event("weights", step=self.state.step, digest=digests[self.dist.rank])
        assert len(set(digests)) == 1, f"the ranks' weights differ after step {self.state.step}"

    def _examples(self, rng: np.random.Generator) -> list[Example]:
        """This rank's share of a batch: SFT data, replayed transitions and failed tactics in their proportions."""
        sft_total = round(self.options.fraction_sft * self.batch.target_examples_per_step)
        replay, negative = self.experience.buffers.replay, self.experience.buffers.negative
        if len(replay) == 0:
            sft_total = self.batch.target_examples_per_step
        sft = self.sft.examples(list(deal(self.sft_sampler.picks(sft_total), self.dist)))
        rest = len(range(self.dist.rank, self.batch.target_examples_per_step, self.dist.world_size)) - len(sft)
        failed = int(rng.binomial(rest, self.options.negative_fraction)) if rest > 0 and len(negative) else 0
        drawn = [(item, False) for item in replay.sample(rng, max(0, rest - failed))] if rest > failed else []
        drawn += [(item, True) for item in negative.sample(rng, failed)] if failed else []
        return sft + self._encode(drawn)

    def _encode(self, drawn: list[tuple[Transition, bool]]) -> list[Example]:
        examples = [encode_transition(self.tokenizer, item, self.limits, failed) for item, failed in drawn]
        return [example for example in examples if example is not None]

    def evaluate(self) -> None:
        """Evaluate on every benchmark; remember the best checkpoint (by the sum of solved theorems)."""
        self.phase = "evaluate"
        self.policy.resume()
        solved = 0
        for name, theorems in self.benchmarks.items():
            tag = f"{next(self._evaluations)}_{name}"  # a step may be evaluated twice, a counter is good for once
            files = self._evaluation_files(name, theorems)
            summary = evaluate(self.pool, tag, files, self.dist, mode="force", extra={"step": self.state.step})
            solved += summary["solved"]
            if self.dist.is_main:
                self.stage.run.event("evaluation", **event_fields(summary))
                self.stage.tracker.log({f"eval/{name}": summary["solved"] / summary["total"]}, self.state.step)
                log.info("step %d: %s valid %d/%d", self.state.step, name, summary["solved"], summary["total"])
        if solved > self.state.best_solved:
            self.state.best_solved, self.state.best_step = solved, self.state.step
            if self.dist.is_main:
                atomic_write_json(self.stage.run.path / "best.json", {"step": self.state.step, "solved": solved})

    def _evaluation_files(self, name: str, theorems: list[Theorem]) -> EvaluationFiles:
        settings = eval_settings(
            name,
            "valid",
            theorems,
            self.options.num_simulations_eval,
            self.run_options.seed,
            replace(self.search, finisher_use="candidate"),
            sampling=self.sampling,
            dtype=str(self.dist.dtype).removeprefix("torch."),
            lean=self.fleet.lean,
        )
        return EvaluationFiles(self.stage.run.path / "evals" / f"{self.state.step}_{name}_valid", theorems, settings)

    def save(self) -> None:
        """Save a checkpoint. All ranks call it together."""
        extra = {"stage": "rl", "loop": asdict(self.state)}
        path = save_checkpoint(
            self.stage.run.path, self.state.step, self.model, self.tokenizer, self.optimizer, extra, self.dist
        )
        if self.dist.is_main:
            self.stage.run.event("checkpoint", step=self.state.step, path=path.name)
            prune_checkpoints(self.stage.run.path, self.keep_checkpoints, protect={self.state.best_step})
