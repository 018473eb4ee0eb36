"""The loop of reinforcement learning: collect, exchange, train, evaluate, save.

The phases are in `collection.py`, `updates.py` and `evaluations.py`.
"""

import logging
import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, ClassVar

import torch

from nanoproof.actors.fleet import Fleet
from nanoproof.actors.tasks import Interrupted, ProofsLost
from nanoproof.common.distributed import DistInfo, SharedCounter, StopSignal, broadcast_json
from nanoproof.common.errors import UserError, is_full_disk
from nanoproof.common.process import freeze_gc, gpu_status, peak_memory_bytes
from nanoproof.common.run_dir import FINISHED, SCRIPTS, run_name
from nanoproof.data.theorems.theorem_sets import parse_set_names, splits_of
from nanoproof.data.theorems.whitelists import LeanChoice, choose_lean
from nanoproof.lean.solvers import AUTO
from nanoproof.rl.batch_sampler import BatchSampler
from nanoproof.rl.collection import Collection, Experience, training_theorems
from nanoproof.rl.evaluations import Evaluations
from nanoproof.rl.hub_learner import HubLearner, trains_hub_model
from nanoproof.rl.learner import (
    Learner,
    PolicyLearner,
    RLState,
    Roles,
    Served,
    checkpoint_name,
    checkpoint_spec,
    has_checkpoint,
)
from nanoproof.rl.options import RLConfig
from nanoproof.rl.recorder import Recorder
from nanoproof.rl.start_states import StartStates
from nanoproof.rl.updates import GPUMemory, Updates, training_threads
from nanoproof.training.schedule import Trigger, clock, duration, short
from nanoproof.training.setup import Stage

log = logging.getLogger(__name__)

# -- When a run evaluates and saves ----------------------------------------------------------------------------------


class EvalAndSaveTriggers:
    """When to evaluate and to save. All ranks ask together, once after each step, and get the same answers."""

    def __init__(self, config: RLConfig) -> None:
        """Read the options. Raises UserError that names the one which cannot be read."""
        triggers = config.triggers
        self._evaluation = Trigger.parse(triggers.eval_every, "--eval-every")
        self._save = Trigger.parse(triggers.save_every, "--save-every")
        self._first: Trigger | None = None
        if config.rl.eval_start not in ("now", "never"):
            self._first = Trigger.parse(config.rl.eval_start, "--eval-start")
        self.at_start = config.rl.eval_start == "now"
        """Whether to evaluate before the first step."""
        self._waiting = self._first is not None

    def resume(self, state: RLState) -> None:
        """Continue where `state` was."""
        self._evaluation.resume(state.since_evaluation)
        self._save.resume(state.since_save)
        self._waiting = self._waiting and not self._has_come(state.step, state.seconds)

    def due(self, step: int, seconds: float) -> tuple[bool, bool]:
        """Return whether to evaluate, and whether to save, after this step of a run that took `seconds` so far."""
        evaluation, save = self._evaluation.due(step), self._save.due(step)
        if self._waiting:
            evaluation = self._has_come(step, seconds)
            self._waiting = not evaluation
        return evaluation, save

    def _has_come(self, step: int, seconds: float) -> bool:
        """Tell whether it is time for the first evaluation."""
        assert self._first is not None
        if self._first.every_steps is not None:
            return step >= self._first.every_steps
        # By rank 0's clock: a rank that goes into an evaluation alone waits there for the others.
        return bool(broadcast_json(seconds >= (self._first.every_seconds or 0.0)))

    def until_evaluation(self, step: int) -> dict[str, float] | None:
        """Return the `steps` or `seconds` until the next evaluation, for the status; None where none is to come."""
        if self._waiting:
            return None
        return self._evaluation.left(step)

    def elapsed(self) -> tuple[float, float]:
        """Return the seconds since the last evaluation and the last save that were due by time, for a checkpoint."""
        return self._evaluation.elapsed(), self._save.elapsed()


# -- How a run ends --------------------------------------------------------------------------------------------------


def what_next(run_path: Path, state: RLState, config: RLConfig) -> list[str]:
    """Name the last checkpoint and the next command: to resume, or to score the best checkpoint on a test split."""
    run = run_name(run_path)
    lines = [f"checkpoint: {run_path / checkpoint_name(run_path, state.step)}"]
    if not (run_path / FINISHED).exists():
        return [*lines, f"to resume: python -m nanoproof.rl --resume-from {run}"]
    best_step: int | None = None
    if state.best_step >= 0:
        best_step = state.best_step
    best = checkpoint_spec(run_path, best_step)
    datasets = parse_set_names(config.rl.eval_datasets)
    flags = ["--model-path", best, "--datasets", *datasets]
    # A score on valid, by which the checkpoint was chosen, would be too good.
    if all("test" in splits_of(name) for name in datasets):
        flags += ["--split", "test"]
    if config.fleet.lean.servers:
        flags += ["--lean-servers", *config.fleet.lean.servers]
    return [*lines, f"next: {SCRIPTS}prover_eval {shlex.join(flags)}"]


@contextmanager
def full_disk_explained(run_path: Path) -> Iterator[None]:
    """End the run on a full disk with one line that says what to do; what is written so far is whole."""
    try:
        yield
    except (OSError, UserError) as error:
        # Writers of logs and checkpoints turn an OSError into a UserError that names the file.
        cause: BaseException | None = error
        if isinstance(error, UserError):
            cause = error.__cause__
        if not is_full_disk(cause):
            raise
        advice, flags = f"make room on the disk of {run_path}", resume_flags(run_path)
        if flags:
            what_to_do = f"nothing that was written is damaged: {advice}, then resume with {flags}"
        else:
            what_to_do = f"no checkpoint was saved yet: {advice}, delete that and start again"
        raise UserError(f"{error}; {what_to_do}") from error


def resume_flags(run_path: Path) -> str:
    """Return the flags that resume a run; empty if it has no checkpoint."""
    if has_checkpoint(run_path):
        return f"--resume-from {run_name(run_path)}"
    return ""


TRAINED_POLL_SECONDS = 0.05
"""How often ranks that only prove ask whether the others have trained."""
_ASIDE = {"errors": "errors", "stale": "more too old"}
"""By metric: what the line of a step says of attempts, where there are any."""

# -- The loop --------------------------------------------------------------------------------------------------------


class ReinforcementLearning:
    """One rank of a run. What is wrong with the options is an error of the constructor, before any file is written."""

    learner_class: ClassVar[type[Learner]] = Learner

    def __init__(self, config: RLConfig, dist: DistInfo, check: Callable[[], None] = lambda: None) -> None:
        """`check` is called often while ranks wait for their actors; what it raises ends the run."""
        self.config, self.options, self.dist, self.check = config, config.rl, dist, check
        self.max_seconds = duration(config.rl.max_time, "--max-time")
        self.collect_seconds = duration(config.rl.collect_max_time, "--collect-max-time")
        self.triggers = EvalAndSaveTriggers(config)
        lean = choose_lean(config.fleet.lean.project, embedded=not config.fleet.lean.servers)
        self.whitelists = lean.reason
        self.roles = Roles.choose(config.rl.inference_gpus, dist)
        if self.roles.learns:
            # Its optimizer is sharded, and its batches are shared, over the ranks that learn alone.
            with self.roles.learning():
                self.learner: PolicyLearner = self._make_learner()
        else:
            self.learner = Served(config, dist)
        self.state = self.learner.state
        config.start.check_length(self.state.step, self.options.num_steps)
        if self.max_seconds is not None and self.state.seconds >= self.max_seconds and dist.is_main:
            spent, limit = clock(self.state.seconds), clock(self.max_seconds)
            log.warning("the run has had %s already, of --max-time %s: it ends without a step", spent, limit)
        self.triggers.resume(self.state)
        self.collection = self.make_collection(lean)
        self.collection.serves = self.roles.serves
        self.evaluations = Evaluations(config, lean, dist, self.learner)
        self.batch_sampler = BatchSampler(config, self.learner, self.collection.experience.buffers, self.roles.learners)
        self.stop = StopSignal()
        self.memory = GPUMemory.of(dist.device)
        self.updates = Updates(config, self.learner, self.batch_sampler, self.stop)
        self.phase = "starting"
        self._evaluated_step = -1
        self._started, self._seconds_before = time.monotonic(), self.state.seconds

    def _make_learner(self) -> PolicyLearner:
        """Make the learner of the kind of network that the options, or the run to resume, name."""
        if trains_hub_model(self.config):
            return HubLearner(self.config, self.roles.learners, self.learner_class.stage_name)
        self.config.hub.refuse_for_ours()
        return self.learner_class(self.config, self.roles.learners)

    def make_collection(self, lean: LeanChoice) -> Collection:
        """Make the collection phase, over the theorems of `--datasets`."""
        options, starts = self.config.rl, None
        if options.start_states is not None:
            # A benchmark that the run is measured on is as held out as those that come with the code.
            named = () if options.eval_datasets == (AUTO,) else parse_set_names(options.eval_datasets)
            embedded = not self.config.fleet.lean.servers
            starts = StartStates.open(
                options.start_states, options.start_fraction, self.config.matchmaker, named, embedded
            )
        experience = Experience.create(self.config, training_theorems(self.config, lean), starts)
        return Collection(self.config, self.learner, experience, self.dist)

    def decisions(self) -> dict[str, str]:
        """Describe what was decided from options and data, for the log."""
        experience = self.collection.experience
        starts = {} if experience.starts is None else {"start states": experience.starts.describe()}
        num_theorems = len(experience.theorems)
        out_of_reach = self.batch_sampler.sft.out_of_reach(self.learner.longest_tactic)
        return {
            **self.learner.decisions(),
            **self.roles.decisions(),
            **self._inference(),
            "theorems": f"{num_theorems} to train on, evaluation on {self.evaluations.decision()}",
            **starts,
            "whitelists": self.whitelists,
            "sft": ", ".join(filter(None, [f"{len(self.batch_sampler.sft)} transitions mixed in", out_of_reach])),
        }

    def _inference(self) -> dict[str, str]:
        if not self.options.asynchronous:
            return {}
        most = self.config.most_stale
        return {"inference": f"goes on while the network trains; attempts more than {most} steps old are dropped"}

    def run(self, stage: Stage, fleet: Fleet) -> None:
        """Make steps until the last one, the time limit, or a signal (which saves and returns).

        Raises ProofsLost, once it has saved, if the Lean servers lose the proofs that are found.
        """
        self.stage, self.lean = stage, fleet.lean
        self._started = time.monotonic()
        self.recorder = Recorder(stage.run, self.dist.rank, self.config.records)
        working = self.collection.working(stage, fleet, self.stop.asked, self.check, self.recorder)
        threads: AbstractContextManager[None] = nullcontext()
        if self.options.asynchronous and not self.roles.serving:
            threads = training_threads(self.dist.device)
        # In this order: signals are caught first, so that none is lost while actors start; the recorder ends before the
        # actors do, whose states it writes.
        with self.stop, full_disk_explained(stage.run.path), threads, working, self.recorder:
            if self.learner.best_is_damaged and self.dist.is_main:
                self.evaluations.restore_best(stage, self.state)
            policy = self.collection.policy
            self.recorder.watch(self._snapshot, self.collection.pool.watched(), policy.load, policy)
            # 1.5 million objects of model and data made collections so seldom that cycles piled up: memory grew by 2.3%
            # over 1,500 steps (experiments.md, memory over thousands of steps).
            freeze_gc()
            try:
                self._run()
            finally:
                with suppress(OSError):  # report what ended the run, not this
                    self._enter("stopped")
        if self.dist.is_main:
            self._summarize()

    def _enter(self, phase: str) -> None:
        self.phase = phase
        self.recorder.phase(phase, self.state.step)

    def _run(self) -> None:
        try:
            self._steps()
        except Interrupted:
            if self.dist.is_main:
                log.warning("stopped by a signal after step %d", self.state.step)
            self.collection.pool.stop()  # they end their calls of Lean while the checkpoint is written
            self.save()
        except ProofsLost as error:
            if self.dist.is_main:
                self.stage.run.event("lost_proofs", step=self.state.step, message=str(error))
            self.collection.pool.stop()
            self.save()
            raise ProofsLost(f"{error}; then resume with --resume-from {run_name(self.stage.run.path)}") from error
        else:
            if self.dist.is_main:
                self.stage.run.finish(self.state.step)

    def _steps(self) -> None:
        if self.state.step == 0:
            self.save()  # a run can be resumed from its first attempt on
            if self.triggers.at_start:
                self.evaluate()
        elif self.evaluations.unfinished(self.stage, self.state.step):
            self.evaluate()
        while not self._is_over():
            self.step()
            evaluation, save = self.triggers.due(self.state.step, self._seconds())
            # Saved first: the best checkpoint must be there when it is named, and an evaluation may be cut short.
            if evaluation or save:
                self.save()
            if evaluation:
                self.evaluate()
        self.save()
        self.evaluate()

    def step(self) -> None:
        """Make one collect-and-train step. Raises Interrupted on all ranks if one was asked to end."""
        if self.stop.agreed():
            raise Interrupted
        started = time.monotonic()
        collected: dict[str, float] = {}
        if self._collects():
            collected = self._collect()
        middle = time.monotonic()
        losses = self._train()
        self.state.step += 1
        if self.options.check_ranks:
            self._check_ranks()
        times = {"seconds/collect": middle - started, "seconds/train": time.monotonic() - middle}
        self._record({**collected, **losses, **times})

    def _collects(self) -> bool:
        return self.options.collect_transitions > 0 and self.state.step % self.options.collect_every == 0

    def _collect(self) -> dict[str, float]:
        self._enter("collect")
        limit = self.collect_seconds
        if self.max_seconds is not None:
            left = self.max_seconds - self._seconds()
            if limit is None or left < limit:
                limit = left
        self.collection.gather(limit)
        self._enter("exchange")
        return self.collection.exchange()

    def _train(self) -> dict[str, float]:
        """Train with the policy paused while the weights change: requests wait meanwhile. With `--asynchronous` the
        policy has weights of its own, answers meanwhile, and takes those of the learner in the end."""
        self._enter("train")
        policy = self.collection.policy
        if self.options.asynchronous:
            if self.roles.serving:
                losses = self._train_apart()
            else:
                losses = self._update()
            if self.dist.device.type == "cuda":
                torch.cuda.synchronize(self.dist.device)  # the engine's thread copies, on whatever stream it has
            policy.renew()
            self.collection.pool.weights_changed(self.state.step + 1)
            return losses
        with self.collection.pool.pauses.paused():
            policy.pause(release=self.memory is not None and self.memory.too_short())
            measured: AbstractContextManager[None] = nullcontext()
            if self.memory is not None:
                measured = self.memory.measured()
            with measured:
                losses = self._update()
            policy.resume()
            self.collection.pool.weights_changed(self.state.step + 1)
        return losses

    def _update(self) -> dict[str, float]:
        return self.updates.run(self.stage, self.recorder, self._progress())

    def _train_apart(self) -> dict[str, float]:
        """Train on the ranks that learn, and hand the weights to those that prove, which go on with it meanwhile."""
        progress, trained = self._progress(), SharedCounter(f"trained/{self.state.step}")
        losses = dict[str, float]()
        if self.roles.learns:
            with self.roles.learning():
                losses = self.updates.run(self.stage, self.recorder, progress)
            trained.add(1)
        # By a counter: a collective that is pending while others train for long would time out.
        while trained.add(0) < self.roles.learners.world_size:
            self.check()
            time.sleep(TRAINED_POLL_SECONDS)
        self.learner.hand_over()
        return losses

    def evaluate(self) -> None:
        """Evaluate on every benchmark, unless that was done with these weights (in this part of the run).

        Raises Interrupted on all ranks if one was asked to end.
        """
        if self._evaluated_step == self.state.step:
            return
        self._enter("evaluate")
        self.evaluations.run(self.collection.pool, self.stage, self.lean, self.state)
        self.collection.resume()
        self._evaluated_step = self.state.step

    def save(self) -> None:
        """Save a checkpoint, unless this step has one. All ranks call it together; those that learn do it."""
        if self.learner.saved or not self.roles.learns:
            return
        self._enter("save")
        # Durations, not times: the clock of the part of the run that resumes this one is another.
        self.state.seconds = self._seconds()
        self.state.since_evaluation, self.state.since_save = self.triggers.elapsed()
        with self.roles.learning():
            path = self.learner.save(self.stage.run.path)
        if self.dist.is_main:
            self.stage.run.event("checkpoint", step=self.state.step, path=path.name)
            log.info("saved %s", path)

    def _summarize(self) -> None:
        """Log the last lines: what was done, the best checkpoint, and what comes next."""
        experience, path = self.collection.experience, self.stage.run.path
        log.info("steps: %d in %s", self.state.step, clock(self._seconds()))
        log.info("theorems: %d of %d proved at some time", len(experience.ever_proven), len(experience.theorems))
        log.info("peak memory: %sB (%s, one rank)", short(peak_memory_bytes(self.dist.device)), self.dist.device.type)
        for line in [*self.evaluations.best_lines(path), *what_next(path, self.state, self.config)]:
            log.info("%s", line)

    def _record(self, metrics: dict[str, float]) -> None:
        if not self.dist.is_main:
            return
        self.stage.run.metrics(self.state.step, **metrics)
        self.stage.tracker.log(metrics, self.state.step)
        aside = ""
        if metrics.get("start_attempts"):
            aside += f" ({metrics['start_proofs']:.0f} of {metrics['start_attempts']:.0f} at start states)"
        for name, text in _ASIDE.items():
            if metrics.get(name):
                aside += f" ({metrics[name]:.0f} {text})"
        log.info(
            "step %d: loss %.3f, %d of %d attempts proved%s, %d theorems so far, replay %d, "
            "collected in %.1f s, trained in %.1f s",
            self.state.step,
            metrics["loss"],
            metrics.get("proofs", 0),
            metrics.get("attempts", 0),
            aside,
            len(self.collection.experience.ever_proven),
            len(self.collection.experience.buffers.replay),
            metrics["seconds/collect"],
            metrics["seconds/train"],
        )

    def _check_ranks(self) -> None:
        """Compare the weights of all ranks (a collective)."""
        digests = self.learner.digests()
        self.stage.run.event("weights", step=self.state.step, digest=digests[self.dist.rank])
        assert len(set(digests)) == 1, f"the ranks' weights differ after step {self.state.step}"

    def _seconds(self) -> float:
        """Return the seconds of the whole run so far, evaluations and saving too."""
        return self._seconds_before + time.monotonic() - self._started

    def _is_over(self) -> bool:
        """Tell whether the last step is done or time is over, by rank 0's clock."""
        out_of_time = self.max_seconds is not None and self._seconds() >= self.max_seconds
        if self.collection.experience.matchmaker.exhausted:
            if self.dist.is_main:
                log.warning("every theorem is disproved: nothing is left to try")
            return True
        return self.state.step >= self.options.num_steps or bool(broadcast_json(out_of_time))

    def _progress(self) -> float:
        """Return how much of the run is over, 0 to 1: by steps or by time, whichever is further.

        Learning rates depend on it, so that it has to be the same on all ranks.
        """
        progress = self.state.step / self.options.num_steps
        if self.max_seconds is not None:
            progress = max(progress, self._seconds() / self.max_seconds)
        return min(1.0, float(broadcast_json(progress)))

    def _snapshot(self) -> dict[str, Any]:
        return {
            "phase": self.phase,
            "step": self.state.step,
            "num_steps": self.options.num_steps,
            "max_seconds": self.max_seconds,
            "rank": self.dist.rank,
            "seconds": round(self._seconds(), 1),
            "until_evaluation": self.triggers.until_evaluation(self.state.step),
            "gpu": gpu_status(self.dist.device),
            **self.collection.snapshot(),
        }
