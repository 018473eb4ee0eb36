"""The evaluation phase: every benchmark of `--eval-datasets`, and which checkpoint was best so far."""

import hashlib
import itertools
import json
import logging
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from nanoproof.actors.pool import AttemptPool
from nanoproof.common.distributed import DistInfo, on_main
from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_json, read_json, read_object
from nanoproof.common.run_dir import repo_name, versions
from nanoproof.data.theorems.theorem_sets import list_theorems, parse_set_names, set_name
from nanoproof.data.theorems.whitelists import LeanChoice
from nanoproof.evaluation.evaluate import evaluate
from nanoproof.evaluation.results import SETTINGS, SUMMARY, EvalSettings, EvaluationFiles, Mode
from nanoproof.evaluation.summary import event_fields
from nanoproof.lean.types import Theorem
from nanoproof.rl.learner import BEST, PolicyLearner, RLState, checkpoint_name
from nanoproof.rl.options import RLConfig
from nanoproof.training.setup import Stage

log = logging.getLogger(__name__)
SPLIT: Final = "valid"
"""The best checkpoint is chosen by these scores, so that they must not come of the test split."""
MODEL = "model_sha256"
"""The setting in which evaluations of one run differ."""


class Evaluations:
    """The benchmarks, and how they are evaluated with the weights of a step."""

    def __init__(self, config: RLConfig, lean: LeanChoice, dist: DistInfo, learner: PolicyLearner) -> None:
        """List the theorems of `--eval-datasets`; a repository that is too small for a split is left out.

        Raises UserError if there is no such benchmark, or nothing in it.
        """
        self._config, self._dist, self._learner = config, dist, learner
        self.benchmarks: dict[str, list[Theorem]] = {}
        names: list[str] = []
        if config.rl.eval_datasets:  # `parse_set_names` refuses an empty list
            names = parse_set_names(config.rl.eval_datasets)
        for name in names:
            theorems = list_theorems(name, SPLIT, lean.version_for(name))[: config.rl.max_eval_theorems]
            if theorems:
                self.benchmarks[set_name(name)] = theorems
            elif repo_name(name) is None:
                raise UserError(f"--eval-datasets {name}: {SPLIT} holds no theorems")
            else:
                # A benchmark without theorems is a mistake, while a small repository has none to hold out.
                log.warning("--eval-datasets %s: too small to have theorems in %s; it is left out", name, SPLIT)
        self._about = {"versions": versions(), **dist.decisions()}
        self._count = itertools.count()

    def decision(self) -> str:
        """Describe the benchmarks, for the log."""
        if not self.benchmarks:
            return "nothing"
        return ", ".join(f"{name} {SPLIT} ({len(theorems)})" for name, theorems in self.benchmarks.items())

    def run(self, pool: AttemptPool, stage: Stage, lean: str | None, state: RLState) -> None:
        """Evaluate on every benchmark; note in `state` and `best.json` if these weights solve most theorems so far.

        All ranks call it together. Raises Interrupted on all of them if one was asked to end.
        """
        scores: dict[str, dict[str, int]] = {}
        if not self.benchmarks:
            return
        compared = []
        digest = on_main(lambda: self._learner.weights_digest(stage.run.path))
        for name in self.benchmarks:
            tag = f"{next(self._count)}_{name}"  # a step may be evaluated twice, a counter is good for once
            files = self._files(name, stage, lean, state.step, digest)
            compared.append({setting: value for setting, value in files.plain.items() if setting != MODEL})
            mode: Mode = "force"
            if on_main(partial(_can_continue, files)):
                mode = "continue"
            summary = evaluate(pool, tag, files, self._dist, mode, self._about, {"step": state.step})
            scores[name] = {"solved": summary["solved"], "total": summary["total"]}
            self._report(stage, name, summary, state.step)
        solved = sum(score["solved"] for score in scores.values())
        # A run may be resumed with other benchmarks or budgets: 40 of 200 is not better than 35 of 100.
        settings_digest = hashlib.sha256(json.dumps(compared, sort_keys=True).encode()).hexdigest()[:16]
        are_others = state.best_of not in ("", settings_digest)
        if are_others and self._dist.is_main:
            log.info("evaluations are not what they were: the best checkpoint is chosen anew")
        # Of steps that solve as many the last one is best: some forty theorems say little, and it has learned from more
        # proofs. (Of a quickstart whose step 12 drew level with its start here, 8 of 40, test had 43 and 14 of 50 for
        # step 12, 36 and 7 for the start.)
        if solved >= state.best_solved or are_others:
            state.best_solved, state.best_step, state.best_of = solved, state.step, settings_digest
            if self._dist.is_main:
                _write_best(stage.run.path, state, scores)

    def restore_best(self, stage: Stage, state: RLState) -> None:
        """Replace a damaged `best.json` from the checkpoint and the summaries of evaluations (rank 0)."""
        scores = {}
        for name in self.benchmarks:
            summary = read_object(self._path(name, stage, state.best_step) / SUMMARY) or {}
            if "solved" in summary and "total" in summary:
                scores[name] = {"solved": summary["solved"], "total": summary["total"]}
        (stage.run.path / BEST).unlink(missing_ok=True)
        what_is_known = "none was evaluated yet"
        if state.best_step >= 0:
            _write_best(stage.run.path, state, scores)
            what_is_known = f"step {state.best_step} was best when the checkpoint was saved"
        log.warning("%s was damaged and is written anew: %s", BEST, what_is_known)

    def unfinished(self, stage: Stage, step: int) -> bool:
        """Return whether this step's evaluation was begun by an earlier part of the run, and not ended everywhere."""
        paths = [self._path(name, stage, step) for name in self.benchmarks]
        begun = on_main(lambda: [path.exists() for path in paths])
        ended = on_main(lambda: [(path / SUMMARY).exists() for path in paths])  # a summary is written last
        return any(begun) and not all(ended)

    def best_lines(self, run_path: Path) -> list[str]:
        """Describe the best checkpoint, for the last lines of a run."""
        if not (run_path / BEST).exists():
            return []
        best = read_json(run_path / BEST)
        scores = [f"{name} {score['solved']}/{score['total']}" for name, score in best.get("benchmarks", {}).items()]
        text = f"best: step {best['step']}"
        if scores:
            text += f" with {', '.join(scores)}"
        return [f"{text}, {run_path / best['checkpoint']}"]

    def _report(self, stage: Stage, name: str, summary: dict[str, Any], step: int) -> None:
        if not self._dist.is_main:
            return
        stage.run.event("evaluation", **event_fields(summary))
        stage.tracker.log({f"eval/{name}": summary["solved"] / summary["total"]}, step)
        errors = ""
        if summary["errors"]:
            errors += f", {summary['errors']} errors"
        if summary["lost_proofs"]:
            errors += f" ({summary['lost_proofs']} found proofs lost)"
        log.info("step %d: %s %s %d/%d%s", step, name, SPLIT, summary["solved"], summary["total"], errors)

    def _files(self, name: str, stage: Stage, lean: str | None, step: int, digest: str) -> EvaluationFiles:
        theorems = self.benchmarks[name]
        settings = EvalSettings(
            dataset=name,
            split=SPLIT,
            num_simulations=self._config.rl.num_simulations_eval,
            seed=self._config.run.seed,
            # As `Collection.spec` has it for evaluations: what a score says must not hang on how a run collects.
            search=replace(self._config.search, finisher_use="candidate"),
            sampling=self._config.sampling,
            model_sha256=digest,
            dtype=str(self._dist.dtype).removeprefix("torch."),
            lean=lean,
            premises=self._config.retrieving.settings(),
            text_model=self._learner.evaluation_settings(),
        )
        return EvaluationFiles(self._path(name, stage, step), theorems, settings)

    def _path(self, name: str, stage: Stage, step: int) -> Path:
        return stage.run.path / "evals" / f"{step}_{name}_{SPLIT}"


def _write_best(run_path: Path, state: RLState, scores: dict[str, dict[str, int]]) -> None:
    step, solved, of = state.best_step, state.best_solved, state.best_of
    name = checkpoint_name(run_path, step)
    best = {"step": step, "solved": solved, "of": of, "checkpoint": name, "benchmarks": scores}
    atomic_write_json(run_path / BEST, best)


def _can_continue(files: EvaluationFiles) -> bool:
    """Return whether there is a part of this very evaluation, or all of it: then errors are tried again."""
    if not (files.path / SETTINGS).exists():
        return False
    try:
        files.check("continue")
    except UserError:
        return False
    return True
