"""What self-play chooses and weighs: seeds, conjectures, attempts, examples and their weights, as pure functions.

The formulas are those of the Self-play Theorem Prover (arXiv 2502.00212). A problem is a statement to prove, of the
data set or a conjecture; a record is one distinct text that was tried as its proof, in one round. Nothing here reads
or writes a file, and what is random draws from the generator that is given. Whoever calls keeps records in an order
that does not depend on chance, oldest round first: the results follow it.

Shapes: N conjectures, Q unproved problems, C numbers of an embedding.
"""

import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

import numpy as np

from nanoproof.data.weighted_rows import ASKS_FOR_CONJECTURE, Row, conjecture_text
from nanoproof.lean.lexical import blank_comments, find_arms, find_top_level, mask
from nanoproof.lean.source import MODIFIERS

HARD_RATE = 0.25
"""A conjecture that is proved in less of its tries is barely provable, and teaches the conjecturer."""
SEED_RATE = 0.35
"""A proved problem is a seed if more of its tries prove it, and is tried in every round if fewer do."""
LEMMA_SHARE = 10
"""One lemma may be in a tenth as many pairs as the round has problems."""
TRIVIAL_CHANCE, AGAIN_CHANCE = 0.5, 0.05
"""How often a proof is a seed without a lemma, and how often a proved problem of the data set is tried again."""
CONJECTURES_PER_PROBLEM, MOST_PER_PAIR = 3, 8
"""Conjectures that are aimed at for each problem of the round, and the most of one pair for that."""
TRIVIAL_LEMMA, TRIVIAL_STATEMENT = "", "theorem true: True"
"""The lemma of a pair that has none, and how it is stated to the conjecturer."""
UNUSED_FACTOR, UNUSED_LEAST = 20, 4096
"""Conjectures whose proofs leave their lemma aside: at most so many for each other one, or so many in all."""
INELEGANT_PART = 5
"""One in so many conjectures of a lemma, those with the shortest proofs for their length, is left out."""
MOST_WEIGHT = 4
"""A conjecture is matched no more once its weight has reached this."""
WINDOW = 3
"""Rounds whose proofs are learned from."""
EASY_RATE = 0.5
"""Problems that are proved in more of their tries are not learned from."""
PER_CHARACTER, PER_SECOND = 0.001, 0.01
"""How much less a proof weighs, as an exponent, for each character and for each second of its verification."""
MOST_PROOFS = 16
"""Proofs of one statement in a final training."""
CONJECTURE = "conjecture"
HARD_END = "</hard theorem>"


# -- Records ---------------------------------------------------------------------------------------------------------

Key = tuple[str, str]
"""What tells problems apart: header and statement, as they are written."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A statement to prove: Lean text from `theorem` to its `:=` or `:= by`.

    `label` has the split and tags, and `conjecture N` for a conjecture at level N; `matching_weight` says how often it
    counts in matching and as a seed. `seed` is what a conjecture came from.
    """

    statement: str
    header: str | None = None
    label: tuple[str, ...] = ()
    matching_weight: int = 1
    seed: "Seed | None" = None

    @property
    def key(self) -> Key:
        """What tells it from other problems."""
        return (self.header or "", self.statement)

    @property
    def level(self) -> int:
        """0 for a problem of the data set, else the number of conjectures on the way to it."""
        level = 0
        for label in self.label:
            if not label.startswith(CONJECTURE):
                continue
            parts = label.split()
            if len(parts) > 1 and parts[1].isdecimal():
                level = max(level, int(parts[1]))
            else:  # `conjecture` alone, as in the published data
                level = max(level, 1)
        return level


@dataclass(frozen=True, slots=True)
class Seed:
    """A proved problem and a lemma that its proof uses, or the trivial one: what the conjecturer is shown."""

    problem: Problem
    proof: str
    lemma: str = TRIVIAL_LEMMA
    lemma_statement: str = TRIVIAL_STATEMENT


@dataclass(frozen=True, slots=True)
class Record:
    """A distinct text that was tried as the proof of a problem in a round, and what came of it.

    `multiplicity` samples gave it; `verify_time` is in seconds; `invokes` has the full names of the premises that a
    complete proof uses.
    """

    problem: Problem
    proof: str
    round: int = 0
    complete: bool = False
    multiplicity: int = 1
    verify_time: float = 0.0
    invokes: tuple[str, ...] = ()


@dataclass(frozen=True)
class State:
    """What the rounds so far amount to: keys that were ever proved, best rates, and the records that are kept."""

    round: int = -1
    proved: frozenset[Key] = frozenset()
    rates: Mapping[Key, float] = field(default_factory=dict)
    records: tuple[Record, ...] = ()


def success_rates(records: Iterable[Record]) -> dict[Key, float]:
    """Return the part of each problem's samples that is a proof; equal samples count as often as they came."""
    proved, tried = Counter[Key](), Counter[Key]()
    for record in records:
        tried[record.problem.key] += record.multiplicity
        proved[record.problem.key] += record.multiplicity * record.complete
    return {key: proved[key] / count for key, count in tried.items()}


def book(state: State, records: Sequence[Record], dataset: Set[Key]) -> State:
    """Return the state after one more round.

    Kept are records of the last three rounds and those of the data set, and of these all whose problem was ever
    proved: its failures too.
    """
    number = state.round + 1
    rates = dict(state.rates)
    for key, rate in success_rates(records).items():
        rates[key] = max(rates.get(key, 0.0), rate)
    # Failures of what was proved stay, as rates over the last rounds are of them too. All proofs of the data set stay,
    # however old they are: a problem that is proved is hardly tried again, and conjectures are made from its proofs.
    recent = number - WINDOW + 1
    kept = []
    for record in (*state.records, *records):
        key = record.problem.key
        if (record.round >= recent or key in dataset) and rates[key] > 0:
            kept.append(record)
    proved = set(state.proved)
    for record in records:
        assert record.round == number, (record.round, number)
        if record.complete:
            proved.add(record.problem.key)
    return State(number, frozenset(proved), rates, tuple(kept))


def replay(state: State) -> list[Record]:
    """Return the records that are learned from after a round: those of the last three that are kept."""
    return [record for record in state.records if record.round > state.round - WINDOW]


# -- Conjectures: what they are made from, and what is tried ---------------------------------------------------------


def conjecture_seeds(state: State, lemmas: Mapping[str, str], count: int, rng: random.Random) -> list[Seed]:
    """Choose what the conjecturer is shown: proofs of problems of the data set that are not hard any more.

    `lemmas` has the statements of the lemmas that may be shown, by full name; `count` is the number of problems of the
    round, and the most seeds.
    """
    candidates = []
    for record in reversed(state.records):
        problem = record.problem
        if record.complete and problem.level == 0 and state.rates[problem.key] > SEED_RATE:
            candidates.append(record)
    rng.shuffle(candidates)
    statements = {**lemmas, TRIVIAL_LEMMA: TRIVIAL_STATEMENT}
    uses: Counter[str] = Counter()
    pairs: set[tuple[Key, str]] = set()
    seeds: list[Seed] = []
    for record in candidates:
        names = list(record.invokes)
        if rng.random() < TRIVIAL_CHANCE:
            names.append(TRIVIAL_LEMMA)
        for name in names:
            pair = (record.problem.key, name)
            # A lemma that half of all proofs use would be in half of all conjectures.
            if name not in statements or LEMMA_SHARE * uses[name] >= count or pair in pairs:
                continue
            uses[name] += 1
            pairs.add(pair)
            seeds += [Seed(record.problem, record.proof, name, statements[name])] * record.problem.matching_weight
    return seeds[:count]


def samples_per_pair(count: int, pairs: int, least: int = 1) -> int:
    """Return how many conjectures each pair is asked for, given the number of problems of the round and of pairs."""
    if not pairs:
        return 0
    return max(least, min(CONJECTURES_PER_PROBLEM * count // pairs, MOST_PER_PAIR))


def conjecture_prompt(seed: Seed) -> str:
    """Write what the conjecturer is shown of a seed; the same in sampling and in training."""
    proof = seed.proof
    if not proof.startswith("\n"):  # a model's text may begin behind the `:= by` of its prompt, or on the next line
        proof = f"\n{proof}"
    return conjecture_text(seed.lemma_statement, f"{seed.problem.statement}{proof}".strip())


def conjecture_target(problem: Problem) -> str:
    """Write the conjecture that follows such a prompt."""
    return f"\n{problem.statement.strip()}\n{HARD_END}"


_HEAD = re.compile(rf"\s*(?:{MODIFIERS}(?:theorem|lemma)(?:\s+|\Z))?")


def read_conjecture(text: str) -> str | None:
    """Return the statement that a conjecturer's text has, ending in `:= by`; None if it has none.

    The text may begin with `theorem`, with comments, attributes and modifiers before it, or right behind it (the
    prompts of the published program end in `theorem`). What follows the `:=` of its value is left out, or the first
    one where brackets are never closed.
    """
    declaration = text.partition(HARD_END)[0]
    head = _HEAD.match(mask(declaration))
    assert head is not None, "it matches the empty text"
    declaration = declaration[head.end() :]
    masked = mask(declaration)
    assign = find_top_level(masked, ":=")
    if assign < 0:
        assign = f"{masked}:=".index(":=")
    arms = find_arms(masked, 0, assign)
    if arms >= 0:  # proved by equations, `| 0 => ..`
        assign = arms
    # Without a comment at its end, which would swallow the `:=`.
    statement = declaration[: len(blank_comments(declaration[:assign]).rstrip())]
    if not statement:
        return None
    return f"theorem {statement} := by"


def compact(problem: Problem) -> Key:
    """Return what tells a problem apart where spaces and line ends do not count."""
    return (problem.header or "", problem.statement.replace(" ", "").replace("\n", ""))


def conjecture_of(seed: Seed, statement: str) -> Problem:
    """Return the conjecture that a statement is, made from a seed: with its header, and one level higher."""
    parent = seed.problem
    return Problem(
        statement, parent.header, (*plain_labels(parent.label), f"{CONJECTURE} {parent.level + 1}"), seed=seed
    )


def plain_labels(labels: Iterable[str]) -> tuple[str, ...]:
    """Return the labels of a problem without those that say that it is a conjecture."""
    return tuple(label for label in labels if not label.startswith(CONJECTURE))


def new_conjectures(
    texts: Iterable[tuple[Seed, str]],
    dataset: Iterable[Problem],
    count: int,
    rng: random.Random,
    refuses: Callable[[Problem], bool] = lambda problem: False,
) -> tuple[list[Problem], Counter[str]]:
    """Return the conjectures to try, and how many texts were `proposed`, `unreadable`, `known`, `refused`,
    `surplus` and `kept`.

    Known is what is in the data set, or came before in a random order. More than `count` (the number of problems of
    the round) are thinned out at random.
    """
    tally: Counter[str] = Counter()
    proposed: list[Problem] = []
    for seed, text in texts:
        tally["proposed"] += 1
        statement = read_conjecture(text)
        if statement is None:
            tally["unreadable"] += 1
        else:
            proposed.append(conjecture_of(seed, statement))
    # One statement may come of several seeds, and the first of them gets it.
    rng.shuffle(proposed)
    seen = {compact(problem) for problem in dataset}
    new: list[Problem] = []
    for problem in proposed:
        key = compact(problem)
        if key in seen:
            tally["known"] += 1
            continue
        seen.add(key)
        if refuses(problem):
            tally["refused"] += 1
        else:
            new.append(problem)
    kept = new
    if len(new) > count:
        kept = rng.sample(new, count)
    tally["kept"] = len(kept)
    if len(kept) < len(new):
        tally["surplus"] = len(new) - len(kept)
    return kept, tally


def attempted(
    dataset: Sequence[Problem], conjectures: Sequence[Problem], state: State, rng: random.Random
) -> list[Problem]:
    """Choose what a round of self-play tries: what was never proved, and of the data set some that was.

    That is what is still hard, and one in twenty of the rest. Without conjectures this is not for a round that had no
    seeds, which tries the whole data set.
    """
    new = [problem for problem in (*dataset, *conjectures) if problem.key not in state.proved]
    again = []
    for problem in dataset:
        if problem.key in state.proved:
            # Drawn for each, so that the generator is in the same state whatever the rates are.
            is_drawn = rng.random() < AGAIN_CHANCE
            if is_drawn or state.rates[problem.key] < SEED_RATE:
                again.append(problem)
    return new + again


def attempted_by_experts(dataset: Sequence[Problem], state: State) -> list[Problem]:
    """Choose what a round of expert iteration tries: what was never proved."""
    return [problem for problem in dataset if problem.key not in state.proved]


# -- Which conjectures teach the conjecturer -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Example:
    """A conjecture that the conjecturer learns to state, from what it was shown, with a weight."""

    problem: Problem
    seed: Seed
    weight: float = 1.0


def hard_conjectures(records: Sequence[Record]) -> list[Example]:
    """Choose from the records of one round the conjectures that were barely proved.

    First those one of whose proofs uses the lemma that they were made from. Then the others, as if made from the
    trivial lemma, up to a limit.
    """
    rates = success_rates(records)
    proofs: list[tuple[Record, Seed]] = []
    for record in records:
        seed = record.problem.seed
        if seed is not None and record.complete and rates[record.problem.key] < HARD_RATE:
            proofs.append((record, seed))
    with_lemma: dict[Key, Example] = {}
    for record, seed in proofs:
        if seed.lemma in record.invokes:
            with_lemma.setdefault(record.problem.key, Example(record.problem, seed))
    # A conjecture whose proof has no use for its lemma would teach to state things that have nothing to do with it.
    most = max(UNUSED_FACTOR * len(with_lemma), UNUSED_LEAST)
    without_lemma: dict[Key, Example] = {}
    for record, seed in proofs:
        if record.problem.key not in with_lemma and len(without_lemma) < most:
            trivial = replace(seed, lemma=TRIVIAL_LEMMA, lemma_statement=TRIVIAL_STATEMENT)
            without_lemma.setdefault(record.problem.key, Example(record.problem, trivial))
    return [*with_lemma.values(), *without_lemma.values()]


def elegant(examples: Sequence[Example], records: Iterable[Record]) -> list[Example]:
    """Leave out, of the conjectures made from one lemma, the fifth with the shortest proofs for their length.

    `records` are those that are kept: the shortest complete proof in them counts, in characters.
    """
    shortest: dict[Key, int] = {}
    for record in records:
        if record.complete:
            key = record.problem.key
            shortest[key] = min(shortest.get(key, len(record.proof)), len(record.proof))

    # A long statement with a tiny proof is an artificial one: much of it has no part in the proof.
    def ratio(example: Example) -> float:
        return shortest[example.problem.key] / len(example.problem.statement)

    ratios_of_lemma: defaultdict[str, list[float]] = defaultdict(list)
    for example in examples:
        ratios_of_lemma[example.seed.lemma].append(ratio(example))
    cutoffs = {lemma: sorted(ratios)[len(ratios) // INELEGANT_PART] for lemma, ratios in ratios_of_lemma.items()}
    return [example for example in examples if ratio(example) >= cutoffs[example.seed.lemma]]


def match_weights(
    conjectures_NC: np.ndarray, unproved_QC: np.ndarray, multiplicities: Sequence[int], rng: random.Random
) -> list[float]:
    """Return a weight for each conjecture: how much it is like what is still unproved. Their mean is 1 or less.

    The unproved problems, in random order, each give their weight to the conjectures most similar by the cosine, a
    share to each of as many as the problem's multiplicity; one that has got 4 gets no more. All weights are 1 if
    nothing is unproved. The embeddings need not have length 1.
    """
    count, total = len(conjectures_NC), sum(multiplicities)
    if count == 0 or total == 0:
        return [1.0] * count
    conjectures_NC, unproved_QC = _unit(conjectures_NC), _unit(unproved_QC)
    shares = np.zeros(count, dtype=np.int64)
    order = list(range(len(multiplicities)))
    rng.shuffle(order)
    for number in order:
        similar_N = conjectures_NC @ unproved_QC[number]
        # Shares are whole numbers and become weights in the end: sums of floats would pass the limit, or not, by their
        # rounding. Minus infinity, not 0 as in the published code, which is more than any negative similarity: a
        # conjecture that has its weight would still get more.
        similar_N[shares * count >= MOST_WEIGHT * total] = -np.inf
        best = np.argsort(-similar_N, kind="stable")[: min(multiplicities[number], count)]
        shares[best[np.isfinite(similar_N[best])]] += 1
    return [int(share) * count / total for share in shares]


def _unit(vectors: np.ndarray) -> np.ndarray:
    """Scale the rows of a matrix to length 1; zeros stay zeros."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def matched(examples: Sequence[Example], weights: Sequence[float]) -> list[Example]:
    """Return the examples that got a weight, with it."""
    matched_examples = []
    for example, weight in zip(examples, weights, strict=True):
        if weight > 0:
            matched_examples.append(replace(example, weight=weight))
    return matched_examples


# -- Rows to train on ------------------------------------------------------------------------------------------------

ProofWriter = Callable[[Problem, str], tuple[str, str]]
"""Writes prompt and target for a problem and its proof."""
ConjectureWriter = Callable[[Seed, Problem], tuple[str, str]]
"""Writes prompt and target for what the conjecturer is shown, and the conjecture."""


def proof_weight(proof: str, verify_time: float = 0.0, per_second: float = PER_SECOND) -> float:
    """Return what a proof weighs: less if it is long, or takes Lean many seconds."""
    return math.exp(-PER_CHARACTER * len(proof) - per_second * verify_time)


def learned_from(records: Sequence[Record]) -> list[Record]:
    """Choose the complete records, newest first, of problems that are proved in at most half of their tries."""
    rates = success_rates(records)
    # Of equal texts of several rounds the first row stays (`shuffled`), which is then the newest.
    newest_first = reversed(records)
    return [record for record in newest_first if record.complete and rates[record.problem.key] <= EASY_RATE]


def proof_rows(records: Sequence[Record], write: ProofWriter, per_second: float = PER_SECOND) -> list[Row]:
    """Write the proofs of `learned_from(records)`.

    The weight of a problem is divided among its complete records. `records` are those of `replay`; `per_second` is how
    much less a proof weighs for each second of its verification.
    """
    # A proof that was found again in a later round counts again here, though only its newest row survives `distinct`:
    # so it is in the published code, and a problem that is proved in every round weighs less for it.
    complete = Counter(record.problem.key for record in records if record.complete)
    rows = []
    for record in learned_from(records):
        weight = proof_weight(record.proof, record.verify_time, per_second) / complete[record.problem.key]
        rows.append(Row(*write(record.problem, record.proof), weight))
    return rows


def conjecture_rows(examples: Iterable[Example], write: ConjectureWriter) -> list[Row]:
    """Write what the conjecturer learns from, with the weights of the examples."""
    return [Row(*write(example.seed, example.problem), example.weight) for example in examples]


def distinct(rows: Iterable[Row]) -> list[Row]:
    """Return the first of the rows with equal prompt and target."""
    first: dict[tuple[str, str], Row] = {}
    for row in rows:
        first.setdefault((row.prompt, row.target), row)
    return list(first.values())


def shuffled(rows: Iterable[Row], rng: random.Random) -> list[Row]:
    """Return distinct rows in random order: a training set. Of equal rows the first counts, so old data come first."""
    training_set = distinct(rows)
    rng.shuffle(training_set)
    return training_set


def final_records(
    rounds: Iterable[Sequence[Record]], dataset: Set[Key], include_conjectures: bool, rng: random.Random
) -> list[Record]:
    """Choose the proofs of a final training, from the records of rounds, of one run or several.

    Those of the data set; with conjectures also those that were proved in at most a quarter of the tries of their
    round. At most 16 of a statement, at random.
    """
    proofs = []
    for records in rounds:
        rates = success_rates(records)  # of this round alone, as in the published program
        for record in records:
            key = record.problem.key
            if record.complete and (key in dataset or (include_conjectures and rates[key] <= HARD_RATE)):
                proofs.append(record)
    # Otherwise the sixteen of an easy statement would all be of the first round.
    rng.shuffle(proofs)
    seen: set[tuple[Key, str]] = set()
    num_chosen: Counter[Key] = Counter()
    chosen = []
    for record in proofs:
        key = record.problem.key
        if (key, record.proof) not in seen and num_chosen[key] < MOST_PROOFS:
            seen.add((key, record.proof))
            num_chosen[key] += 1
            chosen.append(record)
    return chosen


def final_rows(records: Iterable[Record], write: ProofWriter) -> list[Row]:
    """Write the proofs of `final_records`; the time of their verification does not count in the weights."""
    return [Row(*write(record.problem, record.proof), proof_weight(record.proof)) for record in records]


# -- What is reported of a round -------------------------------------------------------------------------------------


def row_metrics(rows: Sequence[Row], prefix: str) -> dict[str, float]:
    """Count the rows of a training set by their kind, and give the mean characters of a target."""
    conjectures = characters = 0
    for row in rows:
        conjectures += ASKS_FOR_CONJECTURE in row.prompt
        characters += len(row.target)
    return {
        f"{prefix}/nr_examples_proof": len(rows) - conjectures,
        f"{prefix}/nr_examples_conjecture": conjectures,
        f"{prefix}/average length": characters / max(1, len(rows)),
    }


def round_metrics(
    records: Sequence[Record], replayed: Sequence[Record], examples: Sequence[Example]
) -> dict[str, float]:
    """Measure how varied a round is: its records, those of `replay`, and the conjectures that teach.

    The names and their meanings are those of the published code. All but the lemmas of the conjectures are taken over
    what is replayed: a problem that was never proved does not count.
    """
    replayed_problems: set[Key] = set()
    statements: set[str] = set()
    bodies: set[str] = set()
    for record in replayed:
        statement = record.problem.statement
        replayed_problems.add(record.problem.key)
        statements.add(statement)
        # `unique_statement_ratio`: the name of a theorem ends at its first colon; without one the whole text counts.
        bodies.add(statement.split(":", 1)[-1])
    # `average_unique_proofs`: distinct texts for each problem of this round, failures too.
    tried_texts: defaultdict[Key, set[str]] = defaultdict(set)
    for record in records:
        if record.problem.key in replayed_problems:
            tried_texts[record.problem.key].add(record.proof)
    num_texts = sum(len(texts) for texts in tried_texts.values())
    invoked: set[str] = set()
    for record in learned_from(replayed):
        invoked.update(record.invokes)
    return {
        "monitoring/unique_statement_ratio": len(bodies) / max(1, len(statements)),
        "monitoring/average_unique_proofs": num_texts / max(1, len(tried_texts)),
        "monitoring/unique_invokes_in_Pprime": len({example.seed.lemma for example in examples}),
        "monitoring/unique_invokes_in_proofs": len(invoked),
    }


def cumulative_rate(state: State, dataset: Set[Key]) -> float:
    """Return the percentage of the data set that was ever proved."""
    if not dataset:
        return 0.0
    return 100 * len(state.proved & dataset) / len(dataset)


def success_histogram(records: Iterable[Record]) -> dict[str, int]:
    """Count the problems by their success rate, written with three digits behind the point."""
    counts = Counter(f"{rate:.3f}" for rate in success_rates(records).values())
    return dict(sorted(counts.items()))
