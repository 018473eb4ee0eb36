"""The phase that evaluates: every benchmark of `--eval-datasets`, and which checkpoint was best so far."""

import itertools
import logging
from dataclasses import replace
from typing import Any, Final

from nanoproof.common.dist import DistInfo
from nanoproof.common.files import atomic_write_json
from nanoproof.data.theorems import list_theorems, split_names
from nanoproof.data.whitelist import LeanChoice
from nanoproof.lean.theorem import Theorem
from nanoproof.selfplay.actors import ActorPool
from nanoproof.selfplay.config import RLConfig
from nanoproof.selfplay.eval_files import EvaluationFiles
from nanoproof.selfplay.eval_plan import eval_settings
from nanoproof.selfplay.eval_summary import event_fields
from nanoproof.selfplay.evaluate import evaluate
from nanoproof.selfplay.learner import LoopState
from nanoproof.training.setup import Stage

log = logging.getLogger(__name__)
SPLIT: Final = "valid"


class Evaluations:
    """The benchmarks, and how they are evaluated with the weights of a step."""

    def __init__(self, config: RLConfig, lean: LeanChoice, dist: DistInfo) -> None:
        """Raises UserError if there is no such benchmark."""
        self._config, self._dist = config, dist
        self.benchmarks: dict[str, list[Theorem]] = {
            name: list_theorems(name, SPLIT, lean.version_for(name))[: config.rl.max_eval_theorems]
            for name in split_names(config.rl.eval_datasets)
        }
        self._count = itertools.count()

    def decision(self) -> str:
        """What is evaluated on, for the log."""
        return ", ".join(f"{name} {SPLIT} ({len(theorems)})" for name, theorems in self.benchmarks.items())

    def run(self, pool: ActorPool, stage: Stage, lean: str | None, state: LoopState) -> None:
        """Evaluate on every benchmark; note in `state` and `best.json` if these weights solve most theorems so far.

        All ranks call it together. Raises Interrupted on all of them if one was asked to end.
        """
        solved = 0
        for name in self.benchmarks:
            tag = f"{next(self._count)}_{name}"  # a step may be evaluated twice, a counter is good for once
            files = self._files(name, stage, lean, state.step)
            summary = evaluate(pool, tag, files, self._dist, mode="force", extra={"step": state.step})
            solved += summary["solved"]
            self._report(stage, name, summary, state.step)
        if solved > state.best_solved:
            state.best_solved, state.best_step = solved, state.step
            if self._dist.is_main:
                atomic_write_json(stage.run.path / "best.json", {"step": state.step, "solved": solved})

    def _report(self, stage: Stage, name: str, summary: dict[str, Any], step: int) -> None:
        if self._dist.is_main:
            stage.run.event("evaluation", **event_fields(summary))
            stage.tracker.log({f"eval/{name}": summary["solved"] / summary["total"]}, step)
            log.info("step %d: %s %s %d/%d", step, name, SPLIT, summary["solved"], summary["total"])

    def _files(self, name: str, stage: Stage, lean: str | None, step: int) -> EvaluationFiles:
        theorems = self.benchmarks[name]
        settings = eval_settings(
            name,
            SPLIT,
            theorems,
            self._config.rl.num_simulations_eval,
            self._config.run.seed,
            replace(self._config.search, finisher_use="candidate"),
            sampling=self._config.sampling,
            dtype=str(self._dist.dtype).removeprefix("torch."),
            lean=lean,
        )
        return EvaluationFiles(stage.run.path / "evals" / f"{step}_{name}_{SPLIT}", theorems, settings)
