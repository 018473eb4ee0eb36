"""Attempts that begin inside of reference proofs, near their ends first: a reverse curriculum (`--start-states`).

A network that proves nothing of a theorem learns nothing from it, but it may know how to end its proof. Of each proof a
level counts the tactics that are left; attempts begin at the states of that level, and the level goes up as they are
solved, until it is the theorem itself (Salimans and Chen 2018, arXiv:1812.03381, do so with states of one game).

A state is attempted as a statement of its own. Where its text is none (`why_no_statement`), or Lean refuses it, the
attempt begins at the theorem with all other steps of the proof given. Levels are a function of the attempts in the
order (step, rank, sequence), as the matchmaker is: all ranks hold the same, and a resumed run rebuilds them.
"""

import hashlib
import logging
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import NamedTuple, Self

from nanoproof.common.distributed import on_main
from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_json, read_json
from nanoproof.common.run_dir import home, repo_name, traced_file
from nanoproof.common.terminal import Progress
from nanoproof.data import nanolean
from nanoproof.data.theorems.held_out import AUTO, HELD_OUT, HeldOut
from nanoproof.data.theorems.theorem_sets import REPO_TARGETS, jsonl_rows
from nanoproof.data.transitions.leantree import VALID_FRACTION, RecordedProof, recorded_proofs, records, split_lines
from nanoproof.lean.declarations import restate
from nanoproof.lean.types import SourceError, Theorem
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.attempt_log import START_STATES as DATASET
from nanoproof.prover.proof import Given, Proof, Step, depths
from nanoproof.prover.subgoals import statement_of_goal, why_no_statement
from nanoproof.rl.matchmaker import Matchmaker, MatchmakerConfig, event_of
from nanoproof.training.named_data import transitions_path

log = logging.getLogger(__name__)

NEEDED, OF_LAST = 2, 3
"""A level is done when so many of its last attempts were solved. One alone may be luck, above all where a level has
several states; waiting for more of them costs attempts that a proof's next level would teach more with."""
REFUSALS = 2
"""So often Lean refuses a state before it is left out: the server may be what was wrong once."""
MOST_PROOFS = 10_000
"""So many proofs at most are read of a file, evenly over it: more than a run attempts, and they are held in memory."""
_BLANK = "theorem start : True := by\n  sorry"

# -- Reference proofs ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReferenceProof:
    """A proof to begin in. `name` is its own among those of its data; `recorded` has the same steps with their goals.

    `source` is Lean text that states the theorem, or holds what stands before it if `is_stated` is false.
    """

    name: str
    source: str
    is_stated: bool
    steps: Proof
    recorded: RecordedProof

    @cached_property
    def depths(self) -> list[int]:
        """The tactics that are left at each step, along the longest branch."""
        return depths(self.steps)

    @cached_property
    def levels(self) -> dict[int, list[int]]:
        """The positions of the steps with so many tactics left."""
        levels = defaultdict(list)
        for position, depth in enumerate(self.depths):
            levels[depth].append(position)
        return dict(levels)

    def id_of(self, position: int, given: bool = False) -> str:
        """Return the id of the attempts at a position."""
        name = f"{self.name}@{position}"
        return f"{name}+given" if given else name

    def statement(self, position: int) -> Theorem | None:
        """Return the state at a position as a theorem of its own; None where its text is no statement."""
        state = self.recorded.steps[position].state
        if why_no_statement(state) is not None:
            return None
        try:
            source = restate(self.source, "start", statement_of_goal(state.goals[0]))
        except SourceError:
            return None
        return Theorem(source, DATASET, self.id_of(position))

    def whole(self, position: int) -> Theorem | None:
        """Return the theorem under the name of a position; None where it cannot be stated."""
        if not self.is_stated:
            return None
        return Theorem(self.source, DATASET, self.id_of(position, given=True))


def reference_proof(name: str, recorded: RecordedProof, source: str | None) -> ReferenceProof:
    """Make a proof to begin in; without the theorem's `source` it is stated by the first goal of the proof, if it can.

    Raises SourceError for a source that is none.
    """
    steps = []
    for step in recorded.steps:
        steps.append(Step(step.tactic, step.branches, step.state.text, len(step.state.goals)))
    if source is not None:
        return ReferenceProof(name, source, True, tuple(steps), recorded)
    blank = "\n".join([*recorded.context, _BLANK])
    root = recorded.steps[0].state
    if why_no_statement(root) is not None:
        return ReferenceProof(name, blank, False, tuple(steps), recorded)
    stated = restate(blank, "start", statement_of_goal(root.goals[0]))
    return ReferenceProof(name, stated, True, tuple(steps), recorded)


def read_reference_proofs(data: str, most: int = MOST_PROOFS) -> list[ReferenceProof]:
    """Read the proofs of `nanolean-hard` (train's classics), `nanolean`, `leantree`, `repo:NAME` or LeanTree JSONL.

    Those of one tactic are left out, as their only state is the theorem, and so are lines for validation. Raises
    UserError where the data cannot be read or hold no proof.
    """
    path, sources = transitions_path(data), _sources(data)
    fraction = VALID_FRACTION
    if data == nanolean.HARD:  # of which nothing is for validation
        fraction = 0.0
    _, first_valid = split_lines(path, fraction)
    chosen: list[ReferenceProof] = []
    names: Counter[str] = Counter()
    count, every = 0, 1
    for number, (_, record) in enumerate(records(path)):
        if number >= first_valid:
            break
        for recorded in recorded_proofs(record):
            if len(recorded.steps) < 2:
                continue
            names[recorded.name] += 1
            # Of a theorem with several `by`, and of files that declare one name twice.
            name = recorded.name if names[recorded.name] == 1 else f"{recorded.name}/{names[recorded.name]}"
            if count % every == 0:
                try:
                    chosen.append(reference_proof(name, recorded, sources.get(name)))
                except SourceError:
                    log.debug("%s: the source of %s is no theorem", data, name)
            count += 1
            if len(chosen) > most:
                chosen, every = chosen[::2], 2 * every
    if not chosen:
        raise UserError(f"{data} holds no whole proof of two tactics or more to begin in ({path})")
    return chosen


def _sources(data: str) -> dict[str, str]:
    """Return the text that states each theorem, by name, where the data have more of it than the first goal."""
    if data == nanolean.HARD:
        return {theorem.id: theorem.source for theorem in nanolean.fixed_theorems(data, "train")}
    repo = repo_name(data)
    if repo is None:
        return {}
    return {record["id"]: record["source"] for _, record in jsonl_rows(traced_file(repo, REPO_TARGETS))}


# -- What of them may be attempted -----------------------------------------------------------------------------------

Refused = Mapping[str, str]
"""By the id of a position, why its statement is not to be attempted."""


def refused_statements(proofs: Sequence[ReferenceProof], held_out: Sequence[str], embedded: bool) -> Refused:
    """Find the states whose statements a benchmark has, or NanoLean refuses. All ranks call it together.

    To elaborate one takes NanoLean a hundredth of a second, so that the result is kept in the cache.
    """
    statements = {}
    for proof in proofs:
        for position in range(len(proof.steps)):
            theorem = proof.statement(position)
            if theorem is not None:
                statements[theorem.id] = theorem.source
    digest = hashlib.sha256(f"{embedded} {' '.join(held_out)} {nanolean.made_directory().name}".encode())
    for name, source in statements.items():
        digest.update(f"\0{name}\0{source}".encode("utf-8", "surrogatepass"))
    file = home() / "cache" / f"start_states_{digest.hexdigest()[:16]}.json"

    def find() -> dict[str, str]:
        if file.exists():
            return dict(read_json(file))
        known, refused = HeldOut(held_out, embedded, with_train=False), {}
        # On the screen: a run has no log yet when its data are read.
        title = "comparing start states with benchmarks"
        with Progress(len(statements), title, "states", screen=sys.stderr) as progress:
            for number, (name, source) in enumerate(statements.items(), start=1):
                reason = known.reason(source)
                if reason is not None:
                    refused[name] = reason
                progress.reach(number, len(statements))
        file.parent.mkdir(parents=True, exist_ok=True)
        atomic_write_json(file, refused)
        return refused

    return on_main(find)


class Start(NamedTuple):
    """Where an attempt begins: at a theorem, or inside of a known proof of it.

    `proof` is the number of the proof, `position` that of its step.
    """

    proof: int
    position: int
    theorem: Theorem
    given: Given | None
    num_simulations: int


class StartForms:
    """In which form a state is attempted: as a statement, or else with all other steps of its proof given."""

    def __init__(self, refused: Refused | None = None, refusals: int = REFUSALS) -> None:
        """`refused` are the statements that must not be attempted; after so many `refusals` a form is left out."""
        self._refused, self._most = dict(refused or {}), refusals
        self._refusals: Counter[str] = Counter()

    def refuse(self, theorem_id: str) -> None:
        """Note that Lean refused what was attempted under this id."""
        self._refusals[theorem_id] += 1

    def form(self, proof: ReferenceProof, position: int) -> str:
        """Tell how a state is attempted: as a `statement`, `given` the other steps, as `neither`, or `held out`."""
        name = proof.id_of(position)
        reason = self._refused.get(name)
        if reason == HELD_OUT:
            return HELD_OUT
        if reason is None and self._refusals[name] < self._most and proof.statement(position) is not None:
            return "statement"
        # At the first step nothing is given: what cannot be stated as it is cannot be attempted.
        if position > 0 and proof.is_stated and self._refusals[proof.id_of(position, given=True)] < self._most:
            return "given"
        return "neither"

    def start(self, number: int, proof: ReferenceProof, position: int, num_simulations: int) -> Start | None:
        """Return where to begin for a position of the proof of this number; None if there is no way."""
        form = self.form(proof, position)
        theorem = given = None
        if form == "statement":
            theorem = proof.statement(position)
        elif form == "given":
            theorem, given = proof.whole(position), Given(proof.steps, position)
        if theorem is None:
            return None
        return Start(number, position, theorem, given, num_simulations)


@dataclass
class _Level:
    """How far a proof has come: the tactics left where its attempts begin, and how the last ones ended."""

    number: int
    solved: list[bool]


class StartStates:
    """The states that attempts may begin at, and how far each proof has come."""

    def __init__(
        self,
        proofs: Sequence[ReferenceProof],
        config: MatchmakerConfig,
        fraction: float,
        refused: Refused | None = None,
    ) -> None:
        """`fraction` of all attempts shall begin at them. `refused` are the statements that must not be attempted."""
        self.fraction = fraction
        refused = refused or {}
        self._forms = StartForms(refused)
        # A proof of a benchmark's theorem is held out as a whole: its states are what its statement comes down to.
        self.proofs = [proof for proof in proofs if refused.get(proof.id_of(0)) != HELD_OUT]
        self.left_out = len(proofs) - len(self.proofs)
        self.matchmaker = Matchmaker(len(self.proofs), config)
        self._numbers = {proof.name: number for number, proof in enumerate(self.proofs)}
        self._levels = [_Level(1, []) for _ in self.proofs]
        self.attempts = 0
        self.solved: set[str] = set()
        """Ids of the states that were proved at some time."""
        for number in range(len(self.proofs)):
            self._skip_empty(number)

    @classmethod
    def open(
        cls, data: str, fraction: float, config: MatchmakerConfig, held_out: Sequence[str], embedded: bool
    ) -> Self:
        """Read reference proofs, without what the sets `held_out` and the benchmarks hold (a collective).

        Raises UserError as `read_reference_proofs` does, and where nothing of them may be attempted.
        """
        proofs = read_reference_proofs(data)
        states = cls(proofs, config, fraction, refused_statements(proofs, [AUTO, *held_out], embedded))
        if states.matchmaker.exhausted:
            raise UserError(f"--start-states {data}: none of {len(proofs)} proofs has a state that may be attempted")
        return states

    def describe(self) -> str:
        """Describe for the log what there is, and what of it can be attempted in which form."""
        forms: Counter[str] = Counter()
        for proof in self.proofs:
            for position in range(len(proof.steps)):
                forms[self._forms.form(proof, position)] += 1
        text = f"{len(self.proofs)} proofs with {forms['statement']} states as statements, "
        text += f"{forms['given']} after given tactics, {forms['neither']} as neither, {forms[HELD_OUT]} held out"
        if self.left_out:
            text += f"; {self.left_out} proofs of held-out theorems are left out"
        return text

    def choose(self, rng: Random) -> Start | None:
        """Draw a proof by weight, and a state of its level; None if all proofs are done."""
        assignment = self.matchmaker.assign(rng)
        if assignment is None:
            return None
        number = assignment.index
        proof = self.proofs[number]
        position = rng.choice(self._usable(number))
        return self._forms.start(number, proof, position, assignment.num_simulations)

    def learn(self, attempt: Attempt) -> None:
        """Take in an attempt, in the order of all; one at a state that is not there, of other data, is passed over."""
        name, _, place = attempt.theorem.id.rpartition("@")
        number, position = self._numbers.get(name), int(place.removesuffix("+given"))
        # Other data (--load-buffer) may have a longer proof of that name.
        if number is None or position >= len(self.proofs[number].steps):
            return
        self.attempts += 1
        event, level = event_of(attempt), self._levels[number]
        if event in ("error", "refused"):
            self.matchmaker.update(number, "error")
            if event == "refused":
                self._forms.refuse(attempt.theorem.id)
                self._skip_empty(number)
            return
        if attempt.outcome == "proven":
            self.solved.add(attempt.theorem.id)
        if self.proofs[number].depths[position] != level.number:
            return  # it began before the level went up
        level.solved = [*level.solved, attempt.outcome == "proven"][-OF_LAST:]
        # What one tactic proves has nothing to teach: once is enough.
        if event == "one tactic" or sum(level.solved) >= NEEDED:
            self._levels[number] = _Level(level.number + 1, [])
            self.matchmaker.renew(number)
            self._skip_empty(number)
        else:
            self.matchmaker.update(number, event)

    @property
    def position(self) -> float:
        """How far back the proofs have come on average: 0 at their ends, 1 where all their theorems were proved."""
        total = 0.0
        for proof, level in zip(self.proofs, self._levels):
            total += (level.number - 1) / proof.depths[0]
        return total / max(1, len(self.proofs))

    def level(self, name: str) -> int:
        """Return how many tactics are left where attempts in a proof begin; one more than it has if it is done."""
        return self._levels[self._numbers[name]].number

    def _usable(self, number: int) -> list[int]:
        proof = self.proofs[number]
        usable = []
        for position in proof.levels[self._levels[number].number]:
            if self._forms.form(proof, position) in ("statement", "given"):
                usable.append(position)
        return usable

    def _skip_empty(self, number: int) -> None:
        """Raise the level of a proof to the next with a state to attempt; leave the proof for good if there is none."""
        level, last = self._levels[number], self.proofs[number].depths[0]
        while level.number <= last and not self._usable(number):
            level.number += 1
            level.solved = []
        if level.number > last:
            self.matchmaker.withhold(number)
