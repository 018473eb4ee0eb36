"""Conjectures as theorems of the experience: all that is known of them is in the log of attempts.

Each attempt at a conjecture holds its `origin`: `dataset` and `seed` (the id) of the theorem that it was made from,
`statement` and `lemma` as they were shown to the network, `prompt`, the whole text that it continued, and `key`, by
which equal statements are found. The first attempt at a conjecture that is learned adds it as a theorem; so all ranks
have the same ones, and a resumed run those whose first attempt had ended.

Seeds, and which conjectures teach the conjecturer, follow the formulas of STP (`selfplay/formulas.py`). A round of STP
is many samples of whole proofs, and an attempt here is a search: so many simulations (`--conjecture-simulations`)
count as one sample.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from nanoproof.data.transitions.conjecture_pairs import conjecture_prompt, mentioned_lemmas, statement_text
from nanoproof.lean.source import parse_declaration
from nanoproof.lean.types import SourceError, Theorem, Transition
from nanoproof.prover.attempt import Attempt
from nanoproof.rl.collection import Experience, name_of
from nanoproof.rl.matchmaker import Assignment, budget
from nanoproof.rl.options import ConjectureOptions, RLConfig
from nanoproof.selfplay import formulas

DATASET = "conjectures"
"""The data set that conjectures are logged under."""
Name = tuple[str, str]


@dataclass(frozen=True)
class Shown:
    """A seed as the network sees it: `prompt` is all of it, `before` what stands in front of its theorem."""

    prompt: str
    origin: Mapping[str, str]
    before: str = ""


@dataclass
class Conjecture:
    """A conjecture with what became of it: attempts, simulations, and of its proofs the shortest.

    `step` is that of the last attempt, `tries` counts those without an error; `records` are the samples in them.
    """

    theorem: Theorem
    origin: dict[str, str]
    step: int = 0
    tries: int = 0
    simulations: int = 0
    proof: str = ""
    outcome: str = "unproven"
    records: list[formulas.Record] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Proofs for each sample, as STP counts them; 0 before the first."""
        return next(iter(formulas.success_rates(self.records).values()), 0.0)

    def to_json(self) -> dict[str, Any]:
        """Return what people want to read of it."""
        shown = {name: self.origin.get(name, "") for name in ("dataset", "seed", "statement", "lemma")}
        return {
            "id": self.theorem.id,
            "conjecture": statement_text(self.theorem.source),
            "from": shown,
            "outcome": self.outcome,
            "rate": round(self.rate, 4),
            "simulations": self.simulations,
            "proof": self.proof,
        }


@dataclass
class _Given:
    """What became of a theorem of the data sets: attempts, proofs, and the last proof."""

    tries: int = 0
    proofs: int = 0
    proof: str = ""


class ConjectureExperience(Experience):
    """Experience with conjectures behind the theorems of the data sets; the matchmaker draws none of them by itself.

    `lemmas` has the statements of the lemmas that seeds may show.
    """

    options: ConjectureOptions
    lemmas: Mapping[str, str]
    conjectures: list[Conjecture]

    @classmethod
    def with_conjectures(cls, config: RLConfig, theorems: Sequence[Theorem], lemmas: Mapping[str, str]) -> Self:
        """Make the experience of a run that has no attempts yet."""
        made = cls.create(config, theorems)
        made.options, made.lemmas, made.conjectures = config.conjectures, lemmas, []
        made.step = 0
        made._given = {name_of(theorem): _Given() for theorem in theorems}
        made._by_name = {}
        return made

    step: int
    _given: dict[Name, _Given]
    _by_name: dict[Name, Conjecture]

    def theorem(self, index: int) -> Theorem:
        """Return a theorem, or a conjecture: their numbers follow."""
        given = len(self.theorems)
        return self.theorems[index] if index < given else self.conjectures[index - given].theorem

    def learn(self, step: int, attempts: Sequence[Attempt]) -> int:
        """Take in the attempts of one step, those at conjectures among them."""
        self.step = max(self.step, step)
        for attempt in attempts:
            name = name_of(attempt.theorem)
            if name[0] == DATASET and name not in self._by_name and attempt.origin is not None:
                self._add(Conjecture(attempt.theorem, attempt.origin))
            if (conjecture := self._by_name.get(name)) is not None:
                self._tried(conjecture, attempt, step)
            elif (given := self._given.get(name)) is not None and attempt.outcome in ("proven", "unproven"):
                if attempt.outcome == "proven" or not attempt.disproving:
                    given.tries += 1
                if attempt.outcome == "proven":
                    given.proofs, given.proof = given.proofs + 1, attempt.proof
        count = super().learn(step, attempts)
        self.ever_proven -= self._by_name.keys()
        return count

    def _add(self, conjecture: Conjecture) -> None:
        name, index = name_of(conjecture.theorem), len(self.theorems) + len(self.conjectures)
        self.conjectures.append(conjecture)
        self._by_name[name] = conjecture
        self._index[name] = index
        self.matchmaker.extend(1)
        self.matchmaker.withhold(index)

    def _tried(self, conjecture: Conjecture, attempt: Attempt, step: int) -> None:
        """Note an attempt as records of samples: one that is the proof, and those that came before in vain."""
        conjecture.step = max(step, 0)
        conjecture.simulations += attempt.simulations
        if attempt.outcome == "error":
            return
        conjecture.tries += 1
        proven = attempt.outcome == "proven"
        problem = problem_of(conjecture.theorem, conjecture.origin, self.lemmas)
        vain = -(-attempt.simulations // self.options.conjecture_simulations) - proven
        if vain > 0 or not proven:
            conjecture.records.append(formulas.Record(problem, "failed", step, False, max(1, vain)))
        if proven:
            used = tuple(mentioned_lemmas(attempt.proof, self.lemmas))
            conjecture.records.append(formulas.Record(problem, attempt.proof, step, True, 1, invokes=used))
            if not conjecture.proof or len(attempt.proof) < len(conjecture.proof):
                conjecture.proof = attempt.proof
        if attempt.outcome in ("proven", "disproven"):
            conjecture.outcome = attempt.outcome

    # -- What follows from it ------------------------------------------------------------------------------------------

    def open_conjectures(self) -> list[int]:
        """List the numbers of conjectures that are to be tried again: they have no proof, few tries, and are new."""
        first, oldest = len(self.theorems), self.step - self.options.conjecture_window
        return [
            first + number
            for number, each in enumerate(self.conjectures)
            if each.outcome == "unproven" and each.step >= oldest and each.tries < self.options.conjecture_tries
        ]

    def assignment(self, index: int) -> Assignment:
        """Return the next attempt at a conjecture, with the budget that the matchmaker gives its failures."""
        return Assignment(index, budget(self.matchmaker.standing(index), self.matchmaker.config))

    def seeds(self, rng: random.Random) -> list[Shown]:
        """Choose the seeds of a step: proved theorems that are not hard any more, each with a lemma of its proof."""
        records, rates = [], {}
        sources: dict[formulas.Key, Theorem] = {}
        for theorem in self.theorems:
            given = self._given[name_of(theorem)]
            if not given.proof:
                continue
            try:
                problem = formulas.Problem(statement_text(theorem.source))
            except SourceError:
                continue
            invokes = tuple(mentioned_lemmas(given.proof, self.lemmas))
            records.append(formulas.Record(problem, given.proof, complete=True, invokes=invokes))
            rates[problem.key], sources[problem.key] = given.proofs / given.tries, theorem
        state = formulas.State(0, frozenset(rates), rates, tuple(records))
        chosen = formulas.conjecture_seeds(state, self.lemmas, len(self.theorems), rng)
        return [_shown(seed, sources[seed.problem.key]) for seed in chosen]

    def unproved(self) -> list[Theorem]:
        """List the theorems of the data sets that no attempt has proved."""
        return [theorem for theorem in self.theorems if not self._given[name_of(theorem)].proofs]

    def teaching(self) -> list[formulas.Example]:
        """Choose the conjectures of the window that teach the conjecturer: barely proved, with proofs worth the words.

        They have no weights yet.
        """
        oldest = self.step - self.options.conjecture_window
        records = [record for each in self.conjectures if each.step >= oldest for record in each.records]
        return formulas.elegant(formulas.hard_conjectures(records), records)


def problem_of(theorem: Theorem, origin: Mapping[str, str], lemmas: Mapping[str, str]) -> formulas.Problem:
    """Return a conjecture as a problem of the formulas, with its seed."""
    lemma = origin.get("lemma", "")
    statement = lemmas.get(lemma, "") if lemma else formulas.TRIVIAL_STATEMENT
    seed = formulas.Seed(formulas.Problem(origin.get("statement", "")), "", lemma, statement)
    return formulas.Problem(statement_text(theorem.source), label=(f"{formulas.CONJECTURE} 1",), seed=seed)


def _shown(seed: formulas.Seed, theorem: Theorem) -> Shown:
    lemma_statement = seed.lemma_statement if seed.lemma else ""
    prompt = conjecture_prompt(seed.problem.statement, seed.lemma, lemma_statement)
    origin = {"dataset": theorem.dataset, "seed": theorem.id, "statement": seed.problem.statement}
    before = theorem.source[: parse_declaration(theorem.source).start]
    return Shown(prompt, {**origin, "lemma": seed.lemma, "prompt": prompt}, before)


def lesson(example: formulas.Example) -> Transition:
    """Write an example as what the network is to say: its prompt as the state, the conjecture as the tactic."""
    seed = example.seed
    prompt = conjecture_prompt(seed.problem.statement, seed.lemma, seed.lemma_statement if seed.lemma else "")
    return Transition(prompt, example.problem.statement, 1)
