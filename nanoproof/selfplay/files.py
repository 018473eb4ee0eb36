"""The files of an experiment of self-play: statements, attempts of rounds as JSON, prompts, and the report.

    EXP/selfplay.json                                          the options that decide, and the model
    EXP/round<r>/sampler_ckpt/conjectures.jsonl                what the conjecturer wrote
    EXP/round<r>/sampler_ckpt/attempted.json.gz                the problems of the round
    EXP/round<r>/sampler_ckpt/attempts/                        an evaluation by whole proofs: the log of attempts
    EXP/round<r>/sampler_ckpt/generated_proofs.json.gz         each distinct attempt with its verdict
    EXP/round<r>/{generated_proofs,conjecture_examples}.json.gz, train_ds.json, metrics.json, RL_model/

The attempts of rounds are the only state: what a round learns from is computed from them each time.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nanoproof.common.errors import UserError
from nanoproof.common.run_dir import is_foreign
from nanoproof.data.stp import whole_statement
from nanoproof.data.theorems.held_out import HeldOut
from nanoproof.data.weighted_rows import CONJECTURE_MARKER, read_packed_json
from nanoproof.evaluation.results import RESULTS, read_attempts
from nanoproof.evaluation.statements import Statement, read_dataset_config, read_statements, verdict_of
from nanoproof.lean.file_theorems import unusable_because
from nanoproof.lean.source import NAME
from nanoproof.lean.types import Theorem
from nanoproof.policy.factory import whole_proof_prompts
from nanoproof.policy.policy_options import TextModelOptions
from nanoproof.policy.prompt_formats import header_text
from nanoproof.prover.attempt import Attempt
from nanoproof.selfplay.formulas import (
    Example,
    Key,
    Problem,
    Record,
    Seed,
    State,
    book,
    conjecture_prompt,
    conjecture_target,
    cumulative_rate,
    plain_labels,
)

COMPLETE = "Complete the following Lean 4 code:\n\n```lean4\n"
SETTINGS_FILE = "selfplay.json"
NOT_LOST = ("ServerTimeout", "ProtocolError")
"""How an attempt ended that Lean was there for: it ran out of time twice, or it cannot state the theorem's proof, as
when the theorem has the name of another."""

# -- Statements ------------------------------------------------------------------------------------------------------


def theorem_of(problem: Problem, name: str = "problem") -> Theorem:
    """Return the theorem that a problem is to Lean. Its imports are left out: those of the Lean server count."""
    return Statement(problem.statement, problem.header, problem.label).theorem(name)


def renamed(problem: Problem, taken: Collection[str]) -> Problem:
    """Return a conjecture under another name where its own is taken: Lean declares no name twice."""
    own = re.match(rf"theorem\s+({NAME})", problem.statement)
    name = own_name = own[1] if own is not None else ""
    while name in taken:
        name += "_new"
    if own is None or name == own_name:
        return problem
    return replace(problem, statement=f"theorem {name}{problem.statement[own.end() :]}")


def load_problems(config: Path) -> list[Problem]:
    """Read the statements of a data-set configuration, each once. Raises UserError for those that cannot be tried."""
    problems: dict[Key, Problem] = {}
    for entry in read_dataset_config(config):
        for number, row in enumerate(read_statements(entry.path), start=1):
            problem = Problem(row.statement, row.header, row.label, entry.weight)
            reason = unusable_because(theorem_of(problem).source)
            if reason is not None:
                raise UserError(f"{entry.path}, row {number}: {reason}")
            problems.setdefault(problem.key, problem)
    if not problems:
        raise UserError(f"--dataset-config {config}: the data sets hold no statements")
    return list(problems.values())


# -- Lemmas, and what conjectures may not be -------------------------------------------------------------------------


def lemma_statements(dictionary: Mapping[str, Any]) -> dict[str, str]:
    """Return how each lemma of a theorem dictionary, name -> (file, text), is stated, as rows of `data.stp` show it."""
    return {name: whole_statement(str(entry[1])) for name, entry in dictionary.items()}


def load_lemmas(file: str | None) -> dict[str, str]:
    """Read a theorem dictionary; without one there are no lemmas but the trivial one. Raises UserError."""
    if file is None:
        return {}
    dictionary = read_packed_json(Path(file).expanduser())
    if not isinstance(dictionary, dict) or not all(map(_is_pair, dictionary.values())):
        raise UserError(f"--theorem-dict {file}: expected an object, full name -> [file, text]")
    return lemma_statements(dictionary)


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2


class Refusal:
    """Tells which conjectures are not to be tried: what cannot be read as a theorem, and what is held out.

    `reasons` counts them.
    """

    def __init__(self, held_out: Sequence[str], embedded: bool) -> None:
        self.reasons: Counter[str] = Counter()
        self._held_out = HeldOut(held_out, embedded)

    def __call__(self, problem: Problem) -> bool:
        reason = self._reason(theorem_of(problem).source)
        if reason is not None:
            self.reasons[reason] += 1
        return reason is not None

    def _reason(self, source: str) -> str | None:
        """Return why a conjecture is refused; None if it is not."""
        if unusable_because(source) is not None:
            return "not a theorem"
        return self._held_out.reason(source)


# -- Problems and records as JSON ------------------------------------------------------------------------------------


def problem_to_json(problem: Problem) -> dict[str, Any]:
    """Return the fields of a problem, with those of its seed if it is a conjecture."""
    data: dict[str, Any] = {
        "statement": problem.statement,
        "header": problem.header,
        "label": list(problem.label),
        "matching_weight": problem.matching_weight,
    }
    if problem.seed is not None:  # under the names of the published files
        seed = problem.seed
        data |= {"shared_lemma": seed.lemma, "shared_lemma_statement": seed.lemma_statement}
        data |= {"easy_statement": seed.problem.statement, "easy_proof": seed.proof}
    return data


def problem_from_json(data: Mapping[str, Any]) -> Problem:
    """Read what `problem_to_json` wrote. Raises KeyError or TypeError for other data."""
    label = tuple(data["label"])
    seed = None
    if "easy_statement" in data:
        parent = Problem(data["easy_statement"], data["header"], plain_labels(label))
        seed = Seed(parent, data["easy_proof"], data["shared_lemma"], data["shared_lemma_statement"])
    return Problem(data["statement"], data["header"], label, data.get("matching_weight", 1), seed)


def record_from_json(data: Mapping[str, Any]) -> Record:
    """Read a record of `generated_proofs.json`. Raises KeyError or TypeError for other data."""
    return Record(
        problem_from_json(data),
        data["proof"],
        data["round"],
        bool(data.get("complete")),
        data.get("multiplicity", 1),
        data.get("verify_time", 0.0),
        tuple(data.get("invokes") or ()),
    )


def example_to_json(example: Example) -> dict[str, Any]:
    """Return the fields of an example for the conjecturer."""
    seed = {"shared_lemma": example.seed.lemma, "shared_lemma_statement": example.seed.lemma_statement}
    return {**problem_to_json(example.problem), **seed, "weight": example.weight}


def distinct_attempts(results: Path, problems: Sequence[Problem], number: int) -> Iterator[dict[str, Any]]:
    """Yield a record for each distinct text of a round's log, in the order of problems and samples.

    Ids of theorems are numbers of problems; equal samples are counted in `multiplicity`.
    """
    # The log is in the order in which attempts ended, which two runs do not share; what is learned must not follow it.
    texts: dict[tuple[int, str], _DistinctText] = {}
    for attempt in read_attempts(results):
        index = int(attempt.theorem.id)
        text = texts.get((index, attempt.text))
        if text is None:
            texts[index, attempt.text] = _DistinctText(index, attempt, attempt.sample)
            continue
        text.multiplicity += 1
        text.first_sample = min(text.first_sample, attempt.sample)
        # Equal samples take their verdict from one that was verified: that one has the seconds.
        if attempt.seconds and not text.attempt.seconds:
            text.attempt = attempt
    for text in sorted(texts.values(), key=lambda text: (text.problem, text.first_sample, text.attempt.text)):
        record = {"lemma_id": text.problem, **problem_to_json(problems[text.problem]), **verdict_of(text.attempt)}
        if text.attempt.outcome == "error":
            record["stop_reason"] = text.attempt.stop_reason
        yield {**record, "multiplicity": text.multiplicity, "round": number}


@dataclass
class _DistinctText:
    """A text that was tried as the proof of the problem of a number, and how many samples gave it."""

    problem: int
    attempt: Attempt
    first_sample: int
    multiplicity: int = 1


def without_verdict(record: Mapping[str, Any]) -> bool:
    """Tell whether Lean, or the model, was lost over a record; what only took too long, twice, counts as refused."""
    return "system_errors" in record and record.get("stop_reason") not in NOT_LOST


@dataclass(frozen=True)
class RoundFiles:
    """The folder of a round."""

    folder: Path
    number: int

    @classmethod
    def of(cls, experiment: Path, number: int) -> "RoundFiles":
        """Return the folder of a round of an experiment."""
        return cls(experiment / f"round{number}", number)

    @property
    def work(self) -> Path:
        """Where its attempts are made."""
        return self.folder / "sampler_ckpt"

    @property
    def attempts(self) -> Path:
        """The evaluation that holds the log of attempts."""
        return self.work / "attempts"

    @property
    def generated(self) -> Path:
        """The distinct attempts with their verdicts."""
        return self.work / "generated_proofs.json.gz"

    @property
    def train_set(self) -> Path:
        """What is trained on after the round."""
        return self.folder / "train_ds.json"

    @property
    def model(self) -> Path:
        """The run that trains on it."""
        return self.folder / "RL_model"

    def collect(self, problems: Sequence[Problem]) -> list[dict[str, Any]]:
        """Collect the distinct attempts of the log."""
        if not problems:  # then there was no evaluation, and there is no log
            return []
        return list(distinct_attempts(self.attempts / RESULTS, problems, self.number))

    def read_generated(self) -> list[Record]:
        """Read the records of the round. Raises UserError if they are missing or damaged."""
        records = read_packed_json(self.generated)
        try:
            return [record_from_json(record) for record in records]
        except (KeyError, TypeError, AttributeError) as error:
            raise UserError(f"{self.generated} holds no attempts of a round: {error!r}") from error


def finished_rounds(experiment: Path, most: int | None = None) -> list[list[Record]]:
    """Read the records of the rounds from the first on whose attempts are complete; at most so many."""
    rounds: list[list[Record]] = []
    while most is None or len(rounds) < most:
        files = RoundFiles.of(experiment, len(rounds))
        if not files.generated.exists():  # it is written last, once nearly all attempts have verdicts
            break
        rounds.append(files.read_generated())
    return rounds


# -- Prompts ---------------------------------------------------------------------------------------------------------


class Prompts:
    """Writes the prompts of a model for proofs and conjectures, the same in sampling and in training.

    A network of ours gets the statement, or what the conjecturer is shown, and a marker; a model of others the prompts
    of the Self-play Theorem Prover. With `legacy` it samples conjectures as that program does, whose prompts have no
    header then.
    """

    def __init__(self, spec: str, texts: TextModelOptions, legacy: bool = False) -> None:
        self._own, self._legacy = not is_foreign(spec), legacy
        self._proof, _ = whole_proof_prompts(spec, texts)
        self._target = texts.format_for(spec, "proof").target

    def proof(self, problem: Problem, proof: str) -> tuple[str, str]:
        """Return prompt and target for a proof."""
        return self._proof(theorem_of(problem)), self._target(proof)

    def ask(self, seed: Seed) -> str:
        """Return the prompt for conjectures."""
        if self._legacy and not self._own:
            return f"{COMPLETE}{conjecture_prompt(seed)}\n theorem"
        return self.conjecture_prompt(seed)

    def conjecture_prompt(self, seed: Seed) -> str:
        """Return the prompt that is trained on."""
        if self._own:
            return f"{conjecture_prompt(seed)}\n{CONJECTURE_MARKER}"
        header = seed.problem.header
        return f"{COMPLETE}{header_text(header)}{conjecture_prompt(seed)}"

    def conjecture(self, seed: Seed, problem: Problem) -> tuple[str, str]:
        """Return prompt and target for a conjecture."""
        target = conjecture_target(problem)
        if self._own:  # whose prompt has the line end in front of its marker
            target = target.lstrip("\n")
        return self.conjecture_prompt(seed), target


# -- The report ------------------------------------------------------------------------------------------------------


def report(rounds: Iterable[Sequence[Record]], dataset: Sequence[Problem]) -> Iterator[str]:
    """Yield lines for each round: what is proved so far, what was tried, and complete proofs by labels and by kind.

    Proofs are distinct texts.
    """
    keys = {problem.key for problem in dataset}
    state = State()
    for number, records in enumerate(rounds):
        state = book(state, records, keys)
        samples = 0
        tried: dict[bool, set[Key]] = {False: set(), True: set()}
        proved: dict[bool, set[Key]] = {False: set(), True: set()}
        num_proofs: Counter[bool] = Counter()
        labels: Counter[str] = Counter()
        for record in records:
            is_conjecture = record.problem.level > 0
            samples += record.multiplicity
            tried[is_conjecture].add(record.problem.key)
            if record.complete:
                proved[is_conjecture].add(record.problem.key)
                num_proofs[is_conjecture] += 1
                labels[" + ".join(record.problem.label) or "(no label)"] += 1
        yield f"round {number}: {cumulative_rate(state, keys):.3f}% of {len(keys):,} statements proved so far"
        for name, is_conjecture in (("statements", False), ("conjectures", True)):
            counts = f"{len(tried[is_conjecture]):>10,}, {len(proved[is_conjecture]):,} of them proved"
            yield f"  {name + ' tried':<20}{counts}"
        yield f"  samples             {samples:>10,}, {len(records):,} distinct texts"
        yield f"  proofs of the data  {num_proofs[False]:>10,}"
        yield f"  proofs, conjectures {num_proofs[True]:>10,}"
        for label, count in sorted(labels.items(), key=lambda item: (-item[1], item[0])):
            yield f"    {count:>10,}  {label}"
