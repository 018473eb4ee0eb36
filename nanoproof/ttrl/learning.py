"""Test-time learning on one theorem, the target: reinforcement learning on its variants, with tries at it in between.

The loop, the collection, the updates and the logs are those of `nanoproof.rl`. What differs is the set of theorems,
which grows, and that the target is not drawn by weight: it gets a share of all simulations, and each try at it more of
them. The network that learns is a copy in memory; its checkpoints are deleted in the end, unless they are to be kept.
"""

import logging
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any, ClassVar, Literal, NamedTuple

from nanoproof.actors.actor import wait_together
from nanoproof.actors.fleet import Fleet
from nanoproof.actors.tasks import NULL_OBSERVER, Observer, Task, Trace
from nanoproof.common.distributed import DistInfo, broadcast_json, gather_json
from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_json, atomic_write_text, json_line, read_jsonl, read_object
from nanoproof.common.run_dir import FINISHED, run_name
from nanoproof.data.nanolean import statement_key, statement_variants
from nanoproof.data.theorems.whitelists import LeanChoice
from nanoproof.lean.source import parse_declaration, rename_theorem, theorem_name
from nanoproof.lean.types import Theorem
from nanoproof.prover.attempt import Attempt
from nanoproof.rl.collection import Collection, CollectSource, Experience, name_of
from nanoproof.rl.learner import Learner, PolicyLearner, checkpoint_spec, delete_all_checkpoints
from nanoproof.rl.loop import ReinforcementLearning
from nanoproof.rl.matchmaker import Assignment, is_settled
from nanoproof.rl.options import RLConfig
from nanoproof.search.node import Node
from nanoproof.training.schedule import clock
from nanoproof.training.setup import Stage
from nanoproof.ttrl.ttrl_options import TTRLOptions
from nanoproof.ttrl.variants import Counts, Variant, VariantMaker, open_in_trees

log = logging.getLogger(__name__)
TARGET_FILE, VARIANTS_FILE, RESULT_FILE, PROOF_FILE = "target.json", "variants.jsonl", "result.json", "proof.lean"
DATASET = "variants"
"""The data set that variants are logged under."""
TARGET = 0
"""Index of the target among the theorems."""
ELABORATION_SECONDS = 60.0
"""Variants that Lean has not elaborated by then are attempted as they are."""


# -- Experience and the source of tasks ------------------------------------------------------------------------------


class Try(NamedTuple):
    """A try at the target: its budget, the simulations that it took, how it ended."""

    budget: int
    simulations: int
    outcome: str


class Spent(NamedTuple):
    """Tries at the target, all simulations, and those of the tries."""

    tries: int = 0
    simulations: int = 0
    of_target: int = 0


class TargetExperience(Experience):
    """Experience whose first theorem is the target, with the tries at it; the matchmaker draws the others only.

    `pending` is what this rank spent in a collection that has ended and is still to be learned from. Without it a try
    would be missing in between, and the actors, which go on meanwhile, would begin another one of the same budget.
    """

    tries: list[Try]
    simulations: int
    pending: Spent

    @classmethod
    def of_target(cls, config: RLConfig, target: Theorem) -> "TargetExperience":
        """Make the experience before the first try."""
        experience = cls.create(config, [target])
        experience.matchmaker.withhold(TARGET)
        experience.tries, experience.simulations, experience.pending = [], 0, Spent()
        return experience

    @property
    def outcome(self) -> str:
        """`proven` or `disproven` once the target is; else empty."""
        for target_try in self.tries:
            if target_try.outcome != "unproven":
                return target_try.outcome
        return ""

    @property
    def all_settled(self) -> bool:
        """Whether no variant is left that has something to teach."""
        maker = self.matchmaker
        return all(is_settled(maker.standing(index), maker.config) for index in range(1, len(self.theorems)))

    @property
    def target_simulations(self) -> int:
        """The simulations of all tries at the target."""
        return sum(target_try.simulations for target_try in self.tries)

    def learn(self, step: int, attempts: Sequence[Attempt]) -> int:
        for attempt in attempts:
            self.simulations += attempt.simulations
            if name_of(attempt.theorem) == name_of(self.theorems[TARGET]) and attempt.outcome != "error":
                self.tries.append(Try(attempt.budget, attempt.simulations, attempt.outcome))
        self.pending = Spent()
        return super().learn(step, attempts)


class TargetSource(CollectSource):
    """Hands out the target whenever it has had less than its share of the simulations, and variants otherwise.

    `trees` are those of the failed tries of this rank that have ended since they were last taken away.
    """

    def __init__(
        self,
        experience: TargetExperience,
        options: TTRLOptions,
        run_path: Path,
        dist: DistInfo,
        seed: int,
        first_step: int,
        observer: Observer = NULL_OBSERVER,
    ) -> None:
        super().__init__(experience, run_path, dist, seed, first_step, observer)
        self._shared += ("budget",)  # all ranks list the tries with their budgets
        self._target_experience, self._options, self._run_path = experience, options, run_path
        self.trees: list[Node] = []
        self.target_only = False
        """Whether variants have to wait, and a collection ends with a try at the target."""
        self._settled, self._refused_target = False, ""
        self._fresh_tries = self._fresh_simulations = self._fresh_target = 0

    def choose(self, rng: Random) -> Assignment | None:
        """Choose the target if it is due, else a variant."""
        if self._target_due():
            experience = self._target_experience
            number = len(experience.tries) + experience.pending.tries + self._fresh_tries
            return Assignment(TARGET, budget_of(number, self._options))
        if self.target_only:
            return None
        return super().choose(rng)

    def next(self) -> Task | None:
        """Return a task; the tree of a try at the target is always kept."""
        task = super().next()
        if task is None or task.index != TARGET or isinstance(task.trace, Trace):
            return task
        return replace(task, trace=Trace())

    def finish(self, task: Task, attempt: Attempt) -> None:
        """Log the attempt, and write the proof if it is one of the target."""
        super().finish(task, attempt)
        self._fresh_simulations += attempt.simulations
        if task.index != TARGET:
            return
        if attempt.refused:
            self._refused_target = attempt.message
        if attempt.outcome == "error":  # of a server: the try is made again, with the same budget
            return
        self._fresh_tries += 1
        self._fresh_target += attempt.simulations
        if attempt.outcome in ("proven", "disproven"):
            self._settled = True
            # Now, not at the end of the step: it is what was asked for, and a run may be killed.
            atomic_write_text(self._run_path / PROOF_FILE, attempt.source + "\n")
        elif isinstance(task.trace, Trace) and task.trace.root is not None:
            self.trees.append(task.trace.root)

    def enough(self) -> bool:
        """Return whether the collection ends: also with a proof of the target. Raises UserError if Lean refuses it."""
        if self._refused_target:
            raise UserError(f"Lean refuses the theorem: {' '.join(self._refused_target.split())}")
        if self.target_only and self._fresh_tries:
            return True
        if self._settled:
            self._transitions.add(self._target)
        return super().enough()

    def drain(self) -> list[dict[str, Any]]:
        """End the step and return its attempts."""
        spent = Spent(self._fresh_tries, self._fresh_simulations, self._fresh_target)
        self._target_experience.pending = spent
        self._fresh_tries = self._fresh_simulations = self._fresh_target = 0
        return super().drain()

    def _target_due(self) -> bool:
        experience = self._target_experience
        if self._settled or experience.outcome or TARGET in self._under_way:
            return False
        if self.target_only:
            return True
        spent = experience.target_simulations + experience.pending.of_target + self._fresh_target
        simulations = experience.simulations + experience.pending.simulations + self._fresh_simulations
        return spent < self._options.target_share * simulations


def budget_of(number: int, options: TTRLOptions) -> int:
    """Compute the simulations of the try after `number` others: `first * growth^number`, capped."""
    try:
        return min(options.target_max_simulations, round(options.target_simulations * options.target_growth**number))
    except OverflowError:  # after a thousand tries
        return options.target_max_simulations


class Elaboration:
    """Has Lean elaborate statements, each once: an attempt without simulations. `refused` are the ids of the rest."""

    purpose: Literal["collect", "evaluate"] = "evaluate"

    def __init__(self, theorems: Sequence[Theorem]) -> None:
        self._waiting, self._left = list(enumerate(theorems)), len(theorems)
        self._deadline = time.monotonic() + ELABORATION_SECONDS
        self.refused: list[str] = []

    def next(self) -> Task | None:
        """Return the next statement."""
        if not self._waiting:
            return None
        index, theorem = self._waiting.pop(0)
        # Without simulations: the attempt ends once Lean has taken the statement.
        return Task(theorem, 0, index, seed=0)

    def finish(self, task: Task, attempt: Attempt) -> None:
        """Note what became of a statement."""
        self._left -= 1
        if attempt.refused:
            self.refused.append(task.theorem.id)

    def hand_over(self, task: Task) -> bool:
        """Return False: each rank has its share."""
        return False

    def done(self) -> bool:
        """Return whether all are elaborated, or the time for it is over."""
        return self._left == 0 or time.monotonic() > self._deadline


class TargetCollection(Collection):
    """The collection phase over the target and its variants."""

    experience: TargetExperience
    source: TargetSource

    def __init__(
        self, config: RLConfig, options: TTRLOptions, learner: PolicyLearner, target: Theorem, dist: DistInfo
    ) -> None:
        super().__init__(config, learner, TargetExperience.of_target(config, target), dist)
        self._options = options
        self.variants: list[Variant] = []

    def make_source(self, run_path: Path, first_step: int, observer: Observer) -> TargetSource:
        """Make the source of tasks."""
        seed = self._config.run.seed
        return TargetSource(self.experience, self._options, run_path, self._dist, seed, first_step, observer)

    def _relearn(self, run_path: Path) -> int:
        """Read the variants of an earlier part of the run, then its log."""
        if (run_path / VARIANTS_FILE).exists():
            self._add([Variant(**line) for line in read_jsonl(run_path / VARIANTS_FILE)])
        return super()._relearn(run_path)

    def add(self, variants: Sequence[Variant]) -> None:
        """Add variants to choose from; all ranks add the same."""
        with self.pool.locked():
            self._add(variants)

    def _add(self, variants: Sequence[Variant]) -> None:
        self.variants += variants
        self.experience.extend([Theorem(variant.source, DATASET, variant.id) for variant in variants])

    def elaborate(self, variants: Sequence[Variant]) -> set[str]:
        """Have Lean elaborate variants, each rank its share; returns the ids of those refused (a collective)."""
        share = variants[self._dist.rank :: self._dist.world_size]
        elaboration = Elaboration([Theorem(variant.source, DATASET, variant.id) for variant in share])
        self.pool.set_source(elaboration)
        wait_together(self.pool, elaboration.done)
        with self.pool.locked():
            refused = list(elaboration.refused)
        self.pool.set_source(self.source)
        return set().union(*gather_json(refused))

    def take_trees(self) -> list[Node]:
        """Return the trees of the tries that failed since the last call."""
        with self.pool.locked():
            trees, self.source.trees = self.source.trees, []
        return trees


# -- The loop --------------------------------------------------------------------------------------------------------


class TargetLearner(Learner):
    """The learner of a copy of the network."""

    stage_name = "ttrl"


class TargetSettled(Exception):
    """The target was proved or disproved in the collection that ended."""


class TargetLearning(ReinforcementLearning):
    """One rank of a run. `outcome` is what became of the target in the end."""

    learner_class: ClassVar[type[Learner]] = TargetLearner
    collection: TargetCollection

    def __init__(
        self, target: Theorem, options: TTRLOptions, config: RLConfig, dist: DistInfo, check: Any = lambda: None
    ) -> None:
        """`config` has no benchmarks to evaluate on."""
        self.target, self.ttrl = target, options
        super().__init__(config, dist, check)
        self.maker: VariantMaker | None = None
        self._counts: dict[str, Counts] = {}
        self.interrupted = False

    def make_collection(self, lean: LeanChoice) -> TargetCollection:
        """Make the collection phase; data sets of theorems have no part in it."""
        return TargetCollection(self.config, self.ttrl, self.learner, self.target, self.dist)

    @property
    def outcome(self) -> str:
        """`proven`, `disproven`, or empty."""
        return self.collection.experience.outcome

    def decisions(self) -> dict[str, str]:
        """Describe what was decided from options and data, for the log."""
        decided = {**super().decisions(), "theorem": f"{self.target.id} of {self.target.dataset}"}
        del decided["theorems"], decided["whitelists"]  # of data sets, which have no part in it
        return decided

    def run(self, stage: Stage, fleet: Fleet) -> None:
        """Learn until the target is proved or disproved, the time is over, or a signal comes (which saves)."""
        self._on_nanolean = not fleet.is_real
        if self.dist.is_main:
            target = {"source": self.target.source, "dataset": self.target.dataset, "id": self.target.id}
            atomic_write_json(stage.run.path / TARGET_FILE, target)
        super().run(stage, fleet)
        self.interrupted = bool(broadcast_json(not (stage.run.path / FINISHED).exists()))

    def step(self) -> None:
        """Try the target if it was not yet; make variants; then collect and train as in any reinforcement learning."""
        with suppress(TargetSettled):
            source, experience = self.collection.source, self.collection.experience
            source.target_only = True
            if not experience.tries:  # three of twelve theorems were proved at once (experiments.md)
                # The network has learned nothing when it ends: variants are tried in the same step.
                source.ends_step = False
                self._collect()
                source.ends_step = True
            self._add_variants()
            # Where rules make nothing more, all that is left is to try the target with ever larger budgets.
            source.target_only = experience.all_settled
            super().step()

    def evaluate(self) -> None:
        """Do nothing: the target is what counts."""

    def save(self) -> None:
        """Save a checkpoint, unless it is the last one and not to be kept."""
        # Those before the last are for `--resume-from`, and are deleted in the end.
        if self.ttrl.save or not self._is_over():
            super().save()

    def _collect(self) -> dict[str, float]:
        before = len(self.collection.experience.tries)
        metrics = super()._collect()
        experience = self.collection.experience
        if self.dist.is_main:
            for number, new_try in enumerate(experience.tries[before:], start=before + 1):
                log.info("try %d at the theorem: %s, %d simulations", number, new_try.outcome, new_try.simulations)
            self._write_result()
        if experience.outcome:
            raise TargetSettled
        return metrics

    def _add_variants(self) -> None:
        """Add variants by rules if none is left that teaches, and out of trees of failed tries (a collective)."""
        trees, tries = self.collection.take_trees(), len(self.collection.experience.tries)
        # Rank 0 alone knows which statements there were, so that no two ranks make one variant under two names.
        maker: VariantMaker | None = None
        if self.dist.is_main:
            maker = self._maker()
        new: list[Variant] = []
        if maker is not None and self.collection.experience.all_settled:
            self._enter("variants")
            new = maker.by_rules(self.ttrl.max_variants, self.config.run.seed)
        # More than are wanted, as some are known or cannot be read.
        limit = 4 * self.ttrl.tree_variants
        by_rank = gather_json(open_in_trees(trees, before_declaration_of(self.target), limit))
        if maker is not None:
            left_open = chain.from_iterable(by_rank)
            new += maker.take(left_open, self.ttrl.tree_variants, tries)
        variants = [Variant(**data) for data in broadcast_json([variant.to_json() for variant in new])]
        if not variants:
            return
        refused = self.collection.elaborate(variants)
        accepted = [variant for variant in variants if variant.id not in refused]
        if maker is not None:
            for variant in variants:
                maker.counts[variant.rule].refused += variant.id in refused
            # Before the first attempt at them: a resumed run learns nothing from attempts at what it does not know.
            with open(self.stage.run.path / VARIANTS_FILE, "a", encoding="utf-8") as file:
                file.write("".join(json_line(variant.to_json()) for variant in accepted))
            self._write_result()
            log.info("variants: %d new ones, %d in all", len(accepted), len(self.collection.variants) + len(accepted))
        self.collection.add(accepted)

    def _maker(self) -> VariantMaker:
        """Return rank 0's maker of variants, which knows those of earlier parts of the run."""
        if self.maker is not None:
            return self.maker
        source = self.target.source
        if theorem_name(source) is None:  # an `example`
            source = rename_theorem(source, "target")
        target = replace(self.target, source=source)
        if self._on_nanolean:
            maker = VariantMaker(target, statement_key, statement_variants)
        else:
            maker = VariantMaker(target)
        maker.know(self.collection.variants)
        earlier = (read_object(self.stage.run.path / RESULT_FILE) or {}).get("variants", {})
        for rule, counts in earlier.items():
            maker.counts[rule] = Counts(counts["made"], counts["duplicates"], counts["refused"])
        self.maker = maker
        return maker

    def _is_over(self) -> bool:
        """Tell whether the target is settled or time is over, by rank 0's clock."""
        out_of_time = self.max_seconds is not None and self._seconds() >= self.max_seconds
        over = self.state.step >= self.options.num_steps or bool(broadcast_json(out_of_time))
        return over or bool(self.collection.experience.outcome)

    # -- What is told of the run ---------------------------------------------------------------------------------------

    def result(self) -> dict[str, Any]:
        """Return the outcome, the tries, and by rule how many variants were made, kept and proved."""
        experience, collection = self.collection.experience, self.collection
        counts: dict[str, Counts] = {}
        if self.maker is not None or collection.variants:
            counts = self._maker().counts
        rules: dict[str, dict[str, int]] = {}
        for rule, of_rule in counts.items():
            kept = [variant for variant in collection.variants if variant.rule == rule]
            proved = sum((DATASET, variant.id) in experience.ever_proven for variant in kept)
            rules[rule] = {**vars(of_rule), "kept": len(kept), "proved": proved}
        return {
            "outcome": experience.outcome or "unproven",
            "seconds": round(self._seconds(), 1),
            "tries": [target_try._asdict() for target_try in experience.tries],
            "simulations": experience.simulations,
            "variants": rules,
        }

    def _write_result(self) -> None:
        atomic_write_json(self.stage.run.path / RESULT_FILE, self.result())

    def _summarize(self) -> None:
        """Write the result; delete the checkpoints of a run that has ended, unless they are to be kept."""
        path = self.stage.run.path
        self._write_result()
        if not (path / FINISHED).exists():
            log.info("to resume: python -m nanoproof.ttrl --resume-from %s", run_name(path))
        elif self.ttrl.save:
            log.info("the network is kept: --model-path %s", checkpoint_spec(path))
        else:
            delete_all_checkpoints(path)


def before_declaration_of(theorem: Theorem) -> str:
    """Return the text in front of a theorem's declaration, in which its variants stand too."""
    return theorem.source[: parse_declaration(theorem.source, whole=False).start]


def describe(theorem_id: str, result: dict[str, Any], proof: str) -> list[str]:
    """Describe a result, line by line: outcome, variants by rule, tries with their budgets, the proof."""
    tries = result["tries"]
    outcome = {"proven": "proved", "disproven": "disproved"}.get(result["outcome"], "not proved")
    if proof:
        number = f"on try {len(tries)}"
    elif len(tries) == 1:
        number = "in 1 try"
    else:
        number = f"in {len(tries)} tries"
    lines = [f"{theorem_id}: {outcome} after {clock(result['seconds'])} {number}"]
    if result["variants"]:
        lines.append(_table_row("variants", _COLUMNS))
        sums = [0] * len(_COLUMNS)
        for rule, counts in result["variants"].items():
            cells = [counts[column] for column in _COLUMNS]
            lines.append(_table_row(rule, cells))
            sums = [total + cell for total, cell in zip(sums, cells)]
        lines.append(_table_row("all", sums))
    budgets = ", ".join(str(target_try["budget"]) for target_try in tries)
    lines.append(f"  tries at the theorem, by budget in simulations: {budgets or 'none'}")
    if proof:
        lines += ["", proof.rstrip(), ""]
    return lines


def _table_row(name: str, cells: Iterable[object]) -> str:
    return f"  {name:<20}" + "".join(f"{cell:>12}" for cell in cells)


_COLUMNS = ("made", "duplicates", "refused", "kept", "proved")
