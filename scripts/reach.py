"""What a model can reach: how often it proves the states along known proofs, by the tactics that are left there.

python -m scripts.reach --model-path sft/RUN --data nanolean-hard --states 140
python -m scripts.reach --model-path rl/RUN --data mine.jsonl --seen nanolean --json reach.json
python -m scripts.reach --model-path hf:FOLDER --data repo:NAME --lean-servers host:8000

It is the first thing to run before training: where the rate falls to nothing, attempts at whole theorems teach nothing,
and the table below it says how many of the steps are out of reach whatever the network learns: banned, too long to be
written, or with names that the training data do not have. Proofs come from `nanolean-hard` (the classics of its train
split), `nanolean`, `leantree`, `repo:NAME`, or a file of LeanTree JSONL.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from nanoproof.actors.actor import ActorPool
from nanoproof.actors.fleet import FleetOptions, follow_lean, open_fleet
from nanoproof.actors.tasks import Task
from nanoproof.common.config import Parser, add_flags, change, from_args, group, opt, validated
from nanoproof.common.distributed import cleanup, init_distributed
from nanoproof.common.errors import run_main
from nanoproof.common.files import atomic_write_json
from nanoproof.common.run_dir import versions
from nanoproof.common.terminal import Paint, Progress, print_lines, table
from nanoproof.evaluation.summary import wilson
from nanoproof.lean.forbidden import banned_reason
from nanoproof.lean.solvers import AUTO
from nanoproof.lean.types import Transition
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.policy.factory import follow_network, open_policy
from nanoproof.policy.policy_options import PolicyOptions
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.prover import Prover, ProverOptions
from nanoproof.rl.start_states import ReferenceProof, Start, StartForms, read_reference_proofs
from nanoproof.search.config import ALGORITHM, NOT_FLAGS, SearchConfig
from nanoproof.training.named_data import load_transitions

MOST_LEFT = 7
"""States with so many tactics left or more are one row of the table."""
NAMES_SHOWN = 10
_NAME = re.compile(r"(?<![\w.'])[A-Za-z_][\w']*(?:\.[A-Za-z_][\w']*)*")


@validated("reach")
class ReachOptions:
    """What is measured."""

    suggesting: PolicyOptions = group(PolicyOptions)
    data: str = opt(
        "nanolean-hard",
        "Known proofs: `nanolean-hard` (the classics of its train split), `nanolean`, `leantree`, `repo:NAME`, or "
        "LeanTree JSONL.",
    )
    states: int = opt(140, "States to attempt, as many with each number of tactics left.", min=1)
    num_simulations: int = opt(32, "Simulations for each of them.", min=1)
    seed: int = opt(0, "Seed of all random choices.", min=0)
    seen: str | None = opt(None, "Training data: also count steps that name what these never do.", metavar="DATA")
    row_length: int | None = opt(None, "Tokens of a row in training (default: all that the network can read).", min=2)
    json: str | None = opt(None, "File to write all numbers to.", metavar="FILE")
    sampling: SamplingConfig = group(SamplingConfig)
    fleet: FleetOptions = group(FleetOptions, without=("lean_lost_proofs",))
    search: SearchConfig = group(
        SearchConfig,
        "search-",
        without=("finisher_use", *NOT_FLAGS),
        finishers=change(default=(AUTO,)),
        algorithm=change(default=ALGORITHM),
    )


# -- Attempts at states ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reached:
    """A state that was attempted: the tactics that are left in the known proof, and how the attempt ended."""

    id: str
    left: int
    outcome: str
    tactics: int


def choose_starts(proofs: Sequence[ReferenceProof], count: int, seed: int, num_simulations: int) -> list[Start]:
    """Choose states that can be attempted, by turns from those with 1, 2, 3, ... tactics left."""
    rng = random.Random(seed)
    places: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for number, proof in enumerate(proofs):
        for position, depth in enumerate(proof.depths):
            places[min(depth, MOST_LEFT)].append((number, position))
    for places_so_deep in places.values():
        rng.shuffle(places_so_deep)
    forms, chosen = StartForms(), list[Start]()
    # In turn: of all states most are one tactic from the end, and the long ones are what one wants to know about.
    while len(chosen) < count and any(places.values()):
        for left in sorted(places):
            start = None
            # Not every state can be attempted (`StartForms`): the next one so deep takes its place.
            while places[left] and start is None:
                number, position = places[left].pop()
                start = forms.start(number, proofs[number], position, num_simulations)
            if start is not None and len(chosen) < count:
                chosen.append(start)
    return chosen


class StatesSource:
    """Hands out states, each once, and keeps the attempts. A state that Lean refuses as a statement is tried again
    inside of its proof."""

    purpose: Literal["collect", "evaluate"] = "evaluate"

    def __init__(self, proofs: Sequence[ReferenceProof], starts: Sequence[Start], seed: int) -> None:
        self._proofs, self._starts, self._seed = proofs, list(starts), seed
        self._todo = list(range(len(starts)))
        self._forms = StartForms(refusals=1)
        self.attempts: dict[int, Attempt] = {}
        self.solved = 0

    def next(self) -> Task | None:
        """Return the next state."""
        if not self._todo:
            return None
        number = self._todo.pop(0)
        start = self._starts[number]
        # Of the theorem and not of the order, in which actors come by: the same state has the same search each time.
        seed = random.Random(f"{self._seed} {start.theorem.id}").getrandbits(48)
        return Task(start.theorem, start.num_simulations, number, seed, may_disprove=False, given=start.given)

    def finish(self, task: Task, attempt: Attempt) -> None:
        """Keep the attempt."""
        if attempt.refused:
            self._forms.refuse(task.theorem.id)
            start = self._starts[task.index]
            proof = self._proofs[start.proof]
            # A printed state need not parse again: then the other steps are given, and it is met inside of its proof.
            inside = self._forms.start(start.proof, proof, start.position, start.num_simulations)
            if inside is not None:
                self._starts[task.index] = inside
                self._todo.append(task.index)
                return
        self.attempts[task.index] = attempt
        self.solved += attempt.outcome == "proven"

    def hand_over(self, task: Task) -> bool:
        """Return False: there are no other ranks."""
        return False

    def reached(self) -> list[Reached]:
        """Return how each state ended, in the order in which they were chosen."""
        rows = []
        for number, attempt in sorted(self.attempts.items()):
            start = self._starts[number]
            left = self._proofs[start.proof].depths[start.position]
            rows.append(Reached(start.theorem.id, left, attempt.outcome, attempt.num_tactics))
        return rows


def attempt_all(options: ReachOptions) -> tuple[list[Reached], "Steps"]:
    """Attempt a sample of the states of known proofs; returns how they ended, and what all steps of these are like."""
    suggesting, search = options.suggesting, options.search
    dist = init_distributed(suggesting.device.device_type)
    network = None
    if suggesting.server.server is None:
        from nanoproof.policy.models import (
            load_network,  # what imports torch comes after the options, which may be mistyped
        )

        network = load_network(suggesting.name, suggesting.checkpoint.model_path, dist)
    proofs = read_reference_proofs(options.data)  # after what fails at once; it may take a minute
    steps = Steps(len(proofs))
    if network is None:
        steps.add_all(proofs, None, 0, 0)
    else:
        model, tokenizer = network
        row = options.row_length or model.config.sequence_len
        steps.add_all(proofs, tokenizer, row, options.sampling.max_gen_tokens)
    if options.seen is not None:
        steps.add_unseen(proofs, (step.tactic for step in load_transitions(options.seen)[0]))
    starts = choose_starts(proofs, options.states, options.seed, options.num_simulations)
    source = StatesSource(proofs, starts, options.seed)
    with (
        open_policy(
            suggesting.name,
            network,
            options.sampling,
            server=suggesting.server.server,
            token=suggesting.server.token,
            spec=suggesting.checkpoint.model_path,
            texts=suggesting.texts,
            dist=dist,
            retrieving=suggesting.retrieving,
        ) as policy,
        open_fleet(options.fleet, dist) as fleet,
    ):
        # Trees are megabytes each, and nobody looks at these.
        prover = ProverOptions(keep_tree=False)
        pool = ActorPool(fleet.slots, policy, lambda _, asked: Prover(asked, search, prover), check=fleet.check)
        try:
            pool.set_source(source)
            with Progress(len(starts), f"reach of {options.data}", "states") as progress:

                def all_attempted() -> bool:
                    progress.reach(len(source.attempts), len(starts), f"{source.solved} proved")
                    return len(source.attempts) == len(starts)

                pool.wait(all_attempted)
        finally:
            pool.stop()
            pool.join()
    return source.reached(), steps


# -- What steps are out of reach -------------------------------------------------------------------------------------


class Steps:
    """Counts of the steps of known proofs, and of those among them that a network cannot take."""

    def __init__(self, proofs: int) -> None:
        self.proofs = proofs
        self.total = 0
        self.counts: Counter[str] = Counter()
        self.proofs_with: Counter[str] = Counter()
        self.unseen: Counter[str] = Counter()

    def add_all(
        self, proofs: Iterable[ReferenceProof], tokenizer: Tokenizer | None, row_length: int, max_gen_tokens: int
    ) -> None:
        """Count the steps that are banned, and with a tokenizer those that are too long to be written or learned."""
        from nanoproof.data.transitions.packing import ExampleLimits, encode_transition

        limits = ExampleLimits(sequence=row_length)
        for proof in proofs:
            kinds: set[str] = set()
            for step in proof.steps:
                self.total += 1
                if banned_reason(step.tactic) is not None:
                    kinds.add(self._count("banned"))
                if tokenizer is None:
                    continue
                # With the token that ends it, as a sample that does not end in time is dropped.
                if len(tokenizer.encode(step.tactic)) + 1 > max_gen_tokens:
                    kinds.add(self._count(f"longer than --max-gen-tokens {max_gen_tokens}"))
                # Training leaves out what does not fit into a row: such a step is never learned.
                if encode_transition(tokenizer, Transition(step.state, step.tactic, 1), limits) is None:
                    kinds.add(self._count(f"longer than a row of {row_length} tokens with its state"))
            self.proofs_with.update(kinds)

    def add_unseen(self, proofs: Iterable[ReferenceProof], tactics: Iterable[str]) -> None:
        """Count the steps that begin with a word, or name a constant, that none of the tactics has."""
        known: set[str] = set()
        for tactic in tactics:
            known.update(_NAME.findall(tactic))
        for proof in proofs:
            kinds: set[str] = set()
            for step in proof.steps:
                names = dict.fromkeys(step_names(step.tactic, step.state))  # each once, in the order of the text
                unseen = [name for name in names if name not in known]
                self.unseen.update(unseen)
                if unseen:
                    kinds.add(self._count("with a name or tactic that --seen never has"))
            self.proofs_with.update(kinds)

    def _count(self, kind: str) -> str:
        self.counts[kind] += 1
        return kind

    def lines(self, paint: Paint) -> list[str]:
        """Render the table of what is out of reach."""
        rows = []
        for kind, count in self.counts.most_common():
            share = 100 * count / max(1, self.total)
            rows.append((kind, count, f"{share:.1f}%", self.proofs_with[kind]))
        title = f"{self.total} steps of {self.proofs} proofs"
        lines = [title, *table(("steps that are", ">steps", ">share", ">proofs with one"), rows, paint)]
        if self.unseen:
            names = ", ".join(f"{name} ({count})" for name, count in self.unseen.most_common(NAMES_SHOWN))
            lines.append(f"never seen most: {names}")
        return lines

    def to_json(self) -> dict[str, Any]:
        """Convert to plain JSON data."""
        kinds = {kind: {"steps": count, "proofs": self.proofs_with[kind]} for kind, count in self.counts.items()}
        return {"proofs": self.proofs, "steps": self.total, **kinds, "unseen": dict(self.unseen.most_common())}


def step_names(tactic: str, state: str) -> list[str]:
    """List what a step names besides variables: the word it begins with, and dotted names not of a hypothesis."""
    local = set(_NAME.findall(state))
    names = []
    for number, name in enumerate(_NAME.findall(tactic)):
        head = name.partition(".")[0]
        # `h.le` is a projection of what the state has; a name without a dot may be one that the tactic gives.
        if number == 0 or ("." in name and head not in local):
            names.append(name)
    return names


# -- The table of rates ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rate:
    """How many of the states with so many tactics left were proved; of the last row, with so many or more."""

    left: int
    states: int
    solved: int
    low: float
    high: float


def rates_of(reached: Sequence[Reached]) -> list[Rate]:
    """Count the proved states by the tactics that are left; errors, which say nothing, are left out."""
    rates = []
    for left in range(1, MOST_LEFT + 1):
        outcomes = Counter[str]()
        for state in reached:
            if min(state.left, MOST_LEFT) == left and state.outcome != "error":
                outcomes[state.outcome] += 1
        if outcomes:
            solved, states = outcomes["proven"], outcomes.total()
            rates.append(Rate(left, states, solved, *wilson(solved, states)))
    return rates


def rate_lines(rates: Sequence[Rate], paint: Paint) -> list[str]:
    """Render the table of rates."""
    rows = []
    for rate in rates:
        left = str(rate.left)
        if rate.left == MOST_LEFT:
            left += " or more"
        rows.append((left, rate.states, rate.solved, f"{100 * rate.low:.0f} - {100 * rate.high:.0f}%"))
    return table((">tactics left", ">states", ">proved", ">95% interval"), rows, paint)


def main(argv: list[str] | None = None) -> int:
    """Measure and print the tables; exit code 1 if no state could be attempted."""
    parser = Parser(prog="python -m scripts.reach", description=(__doc__ or "").splitlines()[0])
    add_flags(parser, ReachOptions)
    args = parser.parse_args(argv)
    if args.policy == "solver-only" and tuple(args.search_finishers) == (AUTO,):
        args.search_finishers = ()  # the policy suggests them: Lean would run each a second time at every node
    follow_lean(args)
    follow_network(args)
    options = from_args(ReachOptions, args)
    try:
        reached, steps = attempt_all(options)
    finally:
        cleanup()
    rates, paint = rates_of(reached), Paint()
    errors = sum(state.outcome == "error" for state in reached)
    lines = ["", f"{options.data}, {options.num_simulations} simulations", *rate_lines(rates, paint)]
    if errors:
        lines.append(f"{errors} states ended in errors, or are refused here: they do not count")
    print_lines([*lines, "", *steps.lines(paint)])
    if options.json is not None:
        data = {
            "data": options.data,
            "model": options.suggesting.checkpoint.model_path,
            "simulations": options.num_simulations,
            "seed": options.seed,
            "versions": versions(),
            "rates": list(map(asdict, rates)),
            "errors": errors,
            "steps": steps.to_json(),
            "states": list(map(asdict, reached)),
        }
        atomic_write_json(Path(options.json), data)
    return 0 if rates else 1


if __name__ == "__main__":
    run_main(main)
