"""Reinforcement learning with conjectures (`python -m nanoproof.rl --conjectures 0.3`): collection and loop.

They are those of `nanoproof.rl`. What differs: a part of the attempts goes to conjectures of the network, and a part of
each batch teaches it to state them. After each collection the main thread chooses seeds for the next one, scores what
waits, and chooses which conjectures teach; none of that is state, the log of attempts is.
"""

import logging
import random
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import fmean

import numpy as np

from nanoproof.actors.actor import JOIN_SECONDS
from nanoproof.actors.fleet import Fleet
from nanoproof.actors.tasks import Observer, Worker
from nanoproof.common.distributed import DistInfo, broadcast_json, gather_json
from nanoproof.common.errors import UserError
from nanoproof.common.files import append_whole, json_line
from nanoproof.conjectures.experience import Conjecture, ConjectureExperience, Shown, lesson
from nanoproof.conjectures.filters import Statements, statements_of
from nanoproof.conjectures.guide import scores
from nanoproof.conjectures.source import ConjectureSource, Examiner, Proposal, Writing, random_of
from nanoproof.data.theorems.theorem_sets import parse_set_names
from nanoproof.data.theorems.whitelists import LeanChoice
from nanoproof.data.transitions.conjecture_pairs import lemma_statements, statement_text
from nanoproof.data.transitions.packing import Example, ExampleLimits, encode_conjectures
from nanoproof.inference.language_model import LanguageModel
from nanoproof.inference.own_model import OwnModel
from nanoproof.lean.types import Theorem
from nanoproof.policy.tactic_policy import TacticPolicy
from nanoproof.rl.collection import Collection, training_theorems
from nanoproof.rl.learner import Learner
from nanoproof.rl.loop import ReinforcementLearning
from nanoproof.rl.options import RLConfig
from nanoproof.selfplay.formulas import match_weights, matched
from nanoproof.training.batches import ConjectureSet, load_conjectures, transitions_path
from nanoproof.training.setup import Stage

log = logging.getLogger(__name__)

CONJECTURES_FILE = "conjectures.jsonl"
"""File of a run with the conjectures that were attempted in each step, by what is known of them then; to read."""
SEED_TOKENS = 32
"""Tokens that a conjecture should have room for behind its prompt: longer prompts are left out."""


def network_of(policy: TacticPolicy) -> LanguageModel:
    """Return the network of a policy as a model that writes texts; it shares the engine and its pauses."""
    return OwnModel("network", policy.engine.model, policy.engine.tokenizer, worker=policy.worker)


class ConjectureCollection(Collection):
    """The collection phase with conjectures. `lessons` are the examples that teach to state them, with weights."""

    experience: ConjectureExperience
    source: ConjectureSource

    def __init__(
        self,
        config: RLConfig,
        learner: Learner,
        experience: ConjectureExperience,
        dist: DistInfo,
        limits: ExampleLimits,
    ) -> None:
        super().__init__(config, learner, experience, dist)
        self._options, self._limits = config.conjectures, limits
        self.lessons: list[Example] = []
        self._statements: Statements | None = None
        self._written = 0
        self._embedded_lean = False

    @contextmanager
    def working(
        self,
        stage: Stage,
        fleet: Fleet,
        asked_to_end: Callable[[], bool],
        check: Callable[[], None],
        observer: Observer,
    ) -> Iterator[None]:
        """Collect what no conjecture may equal, then do as any collection."""
        experience, sets = self.experience, parse_set_names(self._config.rl.eval_datasets)
        self._embedded_lean = not fleet.is_real
        self._statements = statements_of(experience.theorems, experience.lemmas, sets, embedded=self._embedded_lean)
        writing = None
        try:
            with super().working(stage, fleet, asked_to_end, check, observer):
                if self.source.written is not None:
                    writing = Writing(self.pool, self.source)
                    writing.start()
                yield
        finally:
            if writing is not None:
                writing.join(JOIN_SECONDS)

    def worker(self) -> Callable[[], Worker]:
        """Return what makes the one who examines conjectures on other machines."""
        return partial(Examiner, self._config.search.finishers, self._embedded_lean)

    def make_source(self, run_path: Path, first_step: int, observer: Observer) -> ConjectureSource:
        """Make the source of tasks, over what the log has taught."""
        assert self._statements is not None
        self.model, self._path = network_of(self.policy), run_path
        for conjecture in self.experience.conjectures:
            self._know(conjecture)
        seed, dist = self._config.run.seed, self._dist
        source = ConjectureSource(
            self.experience, self._options, self._propose, run_path, dist, seed, first_step, observer
        )
        source.seeds = self._seeds(first_step)
        if self._config.cluster.cluster is not None and dist.is_main:
            source.written = deque()  # its hosts examine; the network is here
        return source

    def _know(self, conjecture: Conjecture) -> None:
        assert self._statements is not None
        self._statements.know(conjecture.origin.get("form", ""), conjecture.origin.get("key", ""))

    def _propose(self, seeds: Sequence[Shown], seed: int) -> Proposal:
        assert self._statements is not None
        return Proposal(seeds, self.model, self._statements, self._config.search.finishers, self._options, seed)

    def _seeds(self, step: int) -> list[Shown]:
        """Choose this rank's seeds for a step, each once, with prompts that leave room for a conjecture."""
        chosen = self.experience.seeds(random_of(self._config.run.seed, self._dist.rank, step))
        distinct = {shown.prompt: shown for shown in chosen}
        tokens = self._learner.tokenizer.encode_batch(list(distinct))
        room = self._limits.sequence - SEED_TOKENS
        return [shown for shown, encoded in zip(distinct.values(), tokens, strict=True) if len(encoded) <= room]

    def exchange(self) -> dict[str, float]:
        """Learn from the attempts of all ranks, then choose seeds, conjectures to try, and those that teach."""
        metrics = super().exchange()
        experience, step = self.experience, self.source.step
        with self.pool.locked():
            told, ready = self.source.take_counts(), list(self.source.ready)
        verdicts, lengths = Counter[str](), list[int]()
        for share in gather_json(told):
            verdicts.update(share["verdicts"])
            lengths += share["lengths"]
        for conjecture in experience.conjectures[self._written :]:
            self._know(conjecture)
        self._written = len(experience.conjectures)
        draw = random_of(self._config.run.seed, 0, step)
        unproved = experience.unproved()
        targets = draw.sample(unproved, min(len(unproved), self._options.conjecture_targets))
        targets_QC = self._embedded(targets)
        seeds, set_aside = self._seeds(step), 0
        if self._options.guide:
            theorems = [each.theorem for each in ready]
            rated = scores([each.source for each in theorems], self._embedded(theorems), targets_QC)
            for each, score in zip(ready, rated, strict=True):
                each.score = score
            worst = sorted(ready, key=lambda each: each.score or 0.0)[: len(ready) // 2]
        with self.pool.locked():
            self.source.seeds = seeds
            if self._options.guide:
                aside = {each.theorem.id for each in worst}
                kept = [each for each in self.source.ready if each.theorem.id not in aside]
                set_aside = len(self.source.ready) - len(kept)
                self.source.ready = kept
        found = self._teach(targets_QC, draw)
        of_step = [each for each in experience.conjectures if each.step == step - 1]
        self._write(step - 1, of_step)
        if self._options.guide:
            found["conjectures/set_aside"] = sum(gather_json(set_aside))
        return {**metrics, **counted(verdicts, lengths), **tried(of_step), **found}

    def _teach(self, targets_QC: np.ndarray, draw: random.Random) -> dict[str, float]:
        """Choose and weigh the conjectures that teach; returns metrics. The weights are those of rank 0."""
        examples = self.experience.teaching()
        statements = [Theorem(f"theorem conjecture {each.problem.statement} := by sorry") for each in examples]
        weights = match_weights(self._embedded(statements), targets_QC, [1] * len(targets_QC), draw)
        chosen = matched(examples, broadcast_json(weights))
        made = encode_conjectures(
            self._learner.tokenizer, list(map(lesson, chosen)), self._limits, [each.weight for each in chosen]
        )
        self.lessons = [example for example in made if example is not None]
        return {"conjectures/barely_proved": len(examples), "conjectures/lessons": len(self.lessons)}

    def _embedded(self, theorems: Sequence[Theorem]) -> np.ndarray:
        """Return embeddings of statements by the present network, float32 (N, C). The policy must not be training."""
        network = self._learner.model
        compiled, network.compiled_block = network.compiled_block, None  # it would be compiled anew for each length
        try:
            return self.model.embed([statement_text(theorem.source) for theorem in theorems])
        finally:
            network.compiled_block = compiled

    def _write(self, step: int, conjectures: Sequence[Conjecture]) -> None:
        """Write what was attempted in a step, for people; rank 0 does."""
        if not self._dist.is_main or not conjectures:
            return
        file = self._path / CONJECTURES_FILE
        try:
            with open(file, "ab", buffering=0) as target:
                append_whole(
                    target, "".join(json_line({"step": step, **each.to_json()}) for each in conjectures).encode()
                )
        except OSError as error:
            raise UserError(f"{file} cannot be written: {error}") from error


def counted(verdicts: Mapping[str, int], lengths: Sequence[int]) -> dict[str, float]:
    """Count how many proposals of a step passed each filter and those before it, and the length of what passed all."""
    proposed = sum(verdicts.values())
    well_formed = proposed - verdicts.get("unreadable", 0) - verdicts.get("refused", 0)
    novel = well_formed - verdicts.get("known", 0) - verdicts.get("held out", 0)
    not_vacuous = novel - verdicts.get("vacuous", 0)
    not_trivial = not_vacuous - verdicts.get("trivial", 0)
    found: dict[str, float] = {
        "proposed": proposed,
        "well_formed": well_formed,
        "held_out": verdicts.get("held out", 0),
        "novel": novel,
        "not_vacuous": not_vacuous,
        "not_trivial": not_trivial,
        "not_false": not_trivial - verdicts.get("false", 0),
    }
    if lengths:
        found["length"] = round(fmean(lengths), 2)
    return {f"conjectures/{name}": value for name, value in found.items()}


def tried(conjectures: Sequence[Conjecture]) -> dict[str, float]:
    """Count the conjectures that a step attempted, and those of them that have a proof by now."""
    proved = sum(each.outcome == "proven" for each in conjectures)
    return {"conjectures/attempted": len(conjectures), "conjectures/proved": proved}


class ConjecturingLearning(ReinforcementLearning):
    """One rank of a run with conjectures."""

    collection: ConjectureCollection

    def __init__(self, config: RLConfig, dist: DistInfo, check: Callable[[], None] = lambda: None) -> None:
        """Raises UserError if the network was not finetuned to state conjectures, or has no data for that."""
        super().__init__(config, dist, check)
        pairs, _ = load_conjectures(config.rl.sft_data)
        self._pairs = ConjectureSet(self.learner.tokenizer, pairs, self.collection._limits).examples
        if not self._pairs:
            raise UserError(f"--sft-data {config.rl.sft_data}: no conjecture with its prompt fits in --row-length")
        self.batch_sampler.draw_conjectures = self._draw
        self._sums: Counter[str] = Counter()

    def make_collection(self, lean: LeanChoice) -> ConjectureCollection:
        """Make the collection phase, over the theorems of `--datasets` and conjectures."""
        config, model = self.config, self.learner.model
        if not model.config.whole_proofs:
            raise UserError(
                "--conjectures: this network does not know how to state any; finetune it first: python -m "
                "nanoproof.sft --continuations conjecture"
            )
        most = model.config.sequence_len - 2
        if config.conjectures.conjecture_tokens >= most:
            raise UserError(f"--conjecture-tokens must be less than {most} for this network")
        lemmas = lemma_statements(transitions_path(config.rl.sft_data))
        experience = ConjectureExperience.with_conjectures(config, training_theorems(config, lean), lemmas)
        limits = ExampleLimits(sequence=min(config.batch.row_length, model.config.sequence_len))
        return ConjectureCollection(config, self.learner, experience, self.dist, limits)

    def decisions(self) -> dict[str, str]:
        """Describe what was decided from options and data, for the log."""
        options = self.config.conjectures
        guide = ", chosen by the guide" if options.guide else ""
        told = f"{options.conjectures:.0%} of the attempts{guide}, {len(self._pairs)} pairs to learn from"
        return {**super().decisions(), "conjectures": told}

    def _draw(self, rng: np.random.Generator, count: int) -> list[Example]:
        """Draw examples that teach to state conjectures: up to half of those that were barely proved, each once."""
        lessons = self.collection.lessons
        chosen = rng.permutation(len(lessons))[: count // 2]
        others = rng.integers(len(self._pairs), size=count - len(chosen))
        return [lessons[index] for index in chosen] + [self._pairs[index] for index in others]

    def _record(self, metrics: dict[str, float]) -> None:
        """Record a step, with a line on its conjectures."""
        super()._record(metrics)
        found = {name.removeprefix("conjectures/"): value for name, value in metrics.items() if "/" in name}
        self._sums.update({name: found[name] for name in _SHOWN if name in found})
        if self.dist.is_main and found.get("proposed"):
            log.info(
                "  conjectures: %s", ", ".join(f"{found[name]:.0f} {_SHOWN[name]}" for name in _SHOWN if name in found)
            )

    def _summarize(self) -> None:
        """The last lines, and what became of all conjectures of this part of the run."""
        super()._summarize()
        conjectures = self.collection.experience.conjectures
        proved = sum(each.outcome == "proven" for each in conjectures)
        log.info("conjectures: %d attempted, %d proved, in %s", len(conjectures), proved, self.stage.run.path)
        total = self._sums["proposed"]
        if total:
            shares = (f"{_SHOWN[name]} {self._sums[name] / total:.1%}" for name in list(_SHOWN)[1:6])
            log.info("of %d proposed: %s", total, ", ".join(shares))


_SHOWN = {
    "proposed": "proposed",
    "well_formed": "well-formed",
    "novel": "novel",
    "not_vacuous": "not vacuous",
    "not_trivial": "not trivial",
    "not_false": "not refuted",
    "attempted": "attempted",
    "proved": "proved",
    "lessons": "to learn from",
}
