"""Rewards of completions for GRPO: Lean's verdict on tactics, or a function of the user's.

A reward function takes `completions` (texts), `prompts` and `states` (a text for each completion) by name, and returns
a number for each, or None where it cannot tell: a completion without a number teaches nothing.

Lean's reward opens each state again, as a statement of its own, and tries the tactics there:

    0                 refused, banned, unfinished, or the goals are as before
    changed           (0.5) Lean accepts the tactic, and the goals are others
    changed + shorter (0.5 + 0.25) and a value head expects fewer tactics than before
    closed            (1) no goal is left
    none              the tactic ran out of time, the server was lost, or the state cannot be opened

With `--reward-shared` the tactics of a state that leave the same goals share what one of them is worth: a search tries
a successor once, however many samples lead to it.
"""

import hashlib
import importlib.util
import logging
import math
import sys
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from nanoproof.common.distributed import DistInfo
from nanoproof.common.errors import UserError
from nanoproof.lean.client import LeanFleet
from nanoproof.lean.declarations import restate
from nanoproof.lean.embedded import start_embedded
from nanoproof.lean.types import (
    LeanError,
    LeanSession,
    ProofState,
    ProtocolError,
    SourceError,
    TacticApplied,
    TacticResult,
    Theorem,
    TheoremRejected,
    parse_state,
)
from nanoproof.policy.models import open_values
from nanoproof.policy.policy_options import TextModelOptions
from nanoproof.policy.text_policy import ValueSource
from nanoproof.prover.subgoals import statement_of_goal, why_no_statement
from nanoproof.training.options import LEAN, RewardOptions

log = logging.getLogger(__name__)

MAX_KNOWN_STATES = 20_000
Kind = Literal["closed", "changed", "unchanged", "rejected", "banned", "unfinished", "timeout", "lost", "misread"]
UNKNOWN: frozenset[Kind] = frozenset({"timeout", "lost", "misread"})
"""Verdicts that are no reward."""


class Reward(Protocol):
    """What GRPO asks of a reward."""

    def __call__(self, completions: list[str], **context: Any) -> Sequence[float | None]:
        """Return a number for each completion; `context` has `prompts` and `states`, lists as long."""
        ...


# -- A function of the user's ------------------------------------------------------------------------------------------


def load_function(spec: str) -> Reward:
    """Load `FILE.py:FUNCTION`. Raises UserError where there is no such file or function."""
    file, _, name = spec.rpartition(":")
    path = Path(file).expanduser()
    if not file or not name.isidentifier():
        raise UserError(f"--reward {spec}: expected lean, or FILE.py:FUNCTION")
    if not path.is_file():
        raise UserError(f"--reward {spec}: there is no file {path}")
    module_spec = importlib.util.spec_from_file_location(f"reward_{path.stem}", path)
    assert module_spec is not None and module_spec.loader is not None
    module = importlib.util.module_from_spec(module_spec)
    # As an import would: dataclasses in the file look their module up there.
    sys.modules[module_spec.name] = module
    try:
        module_spec.loader.exec_module(module)
    except Exception as error:
        raise UserError(f"--reward {spec}: {path} fails: {type(error).__name__}: {error}") from error
    function: Reward | None = getattr(module, name, None)
    if not callable(function):
        raise UserError(f"--reward {spec}: {path} has no function {name}")
    return function


MOST_REWARD = 1e15
"""A deviation squares them, trl's in float32: beyond 1e19 advantages, and then weights, would not be finite."""


def rewards_of(reward: Reward, completions: list[str], **context: Any) -> list[float | None]:
    """Ask a reward function, and check what it returns. Raises UserError for anything but a number for each."""
    try:
        returned = list(reward(completions, **context))
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"the reward function fails: {type(error).__name__}: {reason}") from error
    if len(returned) != len(completions):
        raise UserError(f"the reward function returned {len(returned)} numbers for {len(completions)} completions")
    rewards: list[float | None] = []
    try:
        for value in returned:
            # NaN is none, as it is for trl, which writes None so.
            if value is None or math.isnan(float(value)):
                rewards.append(None)
            elif abs(float(value)) > MOST_REWARD:
                raise UserError(f"the reward function returned {float(value):g}, beyond {MOST_REWARD:g}")
            else:
                rewards.append(float(value))
    except (TypeError, ValueError) as error:
        raise UserError(f"the reward function returned what is no number: {error}") from error
    return rewards


# -- Lean ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Judgement:
    """What Lean said of a tactic, and the states that it leaves."""

    kind: Kind
    after: tuple[str, ...] = ()


def opened(state_text: str) -> tuple[Theorem, ProofState] | None:
    """Write a state as a theorem that opens it again; None where its text does not say all of it."""
    try:
        state = parse_state(state_text)
    except ProtocolError:
        return None
    if why_no_statement(state) is not None:
        return None
    statement = statement_of_goal(state.goals[0])
    # A name of its own for each statement, as Lean takes a name once.
    digest = hashlib.sha256(statement.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    try:
        return Theorem(restate("theorem goal : True := by\n  sorry\n", f"goal_{digest}", statement)), state
    except SourceError:
        return None


class LeanJudge:
    """Tries tactics in states, several states at a time; what was said of a state and tactic is kept.

    Processes are leased for each batch, and given back while a network learns. Safe to use from one thread.
    """

    def __init__(self, lease: Callable[[], LeanSession], processes: int) -> None:
        self._lease, self._processes = lease, processes
        self._threads = ThreadPoolExecutor(processes, "lean-judge")
        self._known: OrderedDict[str, dict[str, Judgement]] = OrderedDict()

    def judge(self, states: Sequence[str], tactics: Sequence[str]) -> list[Judgement]:
        """Say what each tactic does in the state beside it. Raises LeanError if no server can be asked at all."""
        wanted: dict[str, dict[str, None]] = {}
        for state, tactic in zip(states, tactics, strict=True):
            if tactic not in self._known.get(state, {}):
                wanted.setdefault(state, {})[tactic] = None
        work = [(state, list(new_tactics)) for state, new_tactics in wanted.items()]
        shares = [work[first :: self._processes] for first in range(min(self._processes, len(work)))]
        fresh: dict[str, dict[str, Judgement]] = {}
        errors: list[LeanError] = []
        for judgements, share_errors in self._threads.map(self._judge_share, shares):
            fresh |= judgements
            errors += share_errors
        # Some states without a verdict cost those alone; with none at all there is nothing to learn from.
        if errors and not fresh:
            raise errors[0]
        for state, by_tactic in fresh.items():
            self._known.setdefault(state, {}).update(by_tactic)
            self._known.move_to_end(state)
        lost = Judgement("lost")  # not kept: next time it is tried again
        result = [self._known.get(state, {}).get(tactic, lost) for state, tactic in zip(states, tactics)]
        # Only now: the states of this batch may be more than are kept.
        while len(self._known) > MAX_KNOWN_STATES:
            self._known.popitem(last=False)
        return result

    def _judge_share(
        self, work: Sequence[tuple[str, list[str]]]
    ) -> tuple[dict[str, dict[str, Judgement]], list[LeanError]]:
        """Judge on one process; returns what was said, by state and tactic, and why nothing was said of others."""
        judgements: dict[str, dict[str, Judgement]] = {}
        errors: list[LeanError] = []
        try:
            with self._lease() as session:
                for state, tactics in work:
                    try:
                        judgements[state] = dict(zip(tactics, _judge_state(session, state, tactics), strict=True))
                    except LeanError as error:
                        errors.append(error)
        except LeanError as error:
            errors.append(error)
        return judgements, errors

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown()


def _judge_state(session: LeanSession, state_text: str, tactics: list[str]) -> list[Judgement]:
    misread = [Judgement("misread")] * len(tactics)
    theorem_and_state = opened(state_text)
    if theorem_and_state is None:
        return misread
    theorem, state = theorem_and_state
    try:
        start = session.start(theorem)
    except TheoremRejected:
        return misread
    # A printed state does not say all: with implicit arguments or coercions left out, Lean may read another one from
    # it.
    if start.state.merge_key != state.merge_key:
        return misread
    return [_judgement(start.state, result) for result in session.apply(start, tactics)]


def _judgement(before: ProofState, result: TacticResult) -> Judgement:
    if not isinstance(result, TacticApplied):
        return Judgement(result.kind)
    if not result.branches:
        return Judgement("closed")
    after = tuple(branch.state.text for branch in result.branches)
    # By merge key, as in the search: other names for the same goal are no progress.
    if [branch.state.merge_key for branch in result.branches] == [before.merge_key]:
        return Judgement("unchanged", after)
    return Judgement("changed", after)


class LeanReward:
    """The reward of tactics by Lean's verdict; `counts` says how often there was which."""

    def __init__(
        self,
        judge: LeanJudge,
        options: RewardOptions,
        values: ValueSource | None = None,
        read: Callable[[str], str] = str.strip,
    ) -> None:
        """`read` finds the tactic in a completion."""
        self._judge, self._options, self._values, self._read = judge, options, values, read
        self._known_values: dict[str, float] = {}
        self.counts: Counter[str] = Counter()

    def __call__(self, completions: list[str], **context: Any) -> list[float | None]:
        """Return a reward for each completion; `states` are theirs, and `finished` (optional) says which have ended."""
        states: Sequence[str] = context["states"]
        finished: Sequence[bool] = context.get("finished") or [True] * len(completions)
        # What is not given to Lean: cut off, or without a tactic in it.
        judgements: list[Judgement] = []
        tried: list[int] = []
        tactics: list[str] = []
        for number, (text, ended) in enumerate(zip(completions, finished, strict=True)):
            tactic = self._read(text)
            if not ended:
                judgements.append(Judgement("unfinished"))
                continue
            judgements.append(Judgement("rejected"))
            if tactic:
                tried.append(number)
                tactics.append(tactic)
        of_lean = self._judge.judge([states[number] for number in tried], tactics)
        for number, judgement in zip(tried, of_lean, strict=True):
            judgements[number] = judgement
        self.counts.update(judgement.kind for judgement in judgements)
        led_to: Counter[tuple[str, tuple[str, ...]]] = Counter()
        for state, judgement in zip(states, judgements):
            if judgement.kind == "changed":
                led_to[state, judgement.after] += 1
        self.counts["successors"] += len(led_to)
        rewards: list[float | None] = []
        for state, judgement in zip(states, judgements, strict=True):
            sharers = 1
            if self._options.reward_shared:
                sharers = led_to[state, judgement.after]
            rewards.append(self._worth(state, judgement, sharers))
        return rewards

    def _worth(self, state: str, judgement: Judgement, sharers: int) -> float | None:
        """Return what a tactic is worth; `sharers` lead to the same goals, itself among them."""
        if judgement.kind in UNKNOWN:
            return None
        if judgement.kind == "closed":
            return self._options.reward_closed
        if judgement.kind != "changed":
            return 0.0
        return self._worth_of_change(state, judgement) / sharers

    def _worth_of_change(self, state: str, judgement: Judgement) -> float:
        if self._values is None:
            return self._options.reward_changed
        shorter = max(map(self._value, judgement.after)) < self._value(state)
        self.counts["shorter"] += shorter
        return self._options.reward_changed + self._options.reward_shorter * shorter

    def _value(self, state: str) -> float:
        """Return the tactics that the value head expects from a state on; the worst one of several states counts."""
        assert self._values is not None
        if state not in self._known_values:
            if len(self._known_values) >= MAX_KNOWN_STATES:
                self._known_values.clear()
            self._known_values[state] = self._values.value(state).tactics
        return self._known_values[state]


def shares(counts: Counter[str]) -> dict[str, float]:
    """Return the shares of tactics that Lean accepted with other goals (`changed`, `closed` ones among them), that
    closed the goal, were refused, and got no verdict, and the number of different goals that the tactics of a state
    leave, by tactic (`successors`); empty where nothing was judged."""
    total = sum(count for kind, count in counts.items() if kind not in ("shorter", "successors"))
    if not total:
        return {}
    unknown = sum(counts[kind] for kind in UNKNOWN)
    known = max(1, total - unknown)
    return {
        "changed": (counts["changed"] + counts["closed"]) / known,
        "closed": counts["closed"] / known,
        "rejected": counts["rejected"] / known,
        "successors": counts["successors"] / known,
        "no_verdict": unknown / total,
    }


@contextmanager
def open_reward(
    options: RewardOptions, dist: DistInfo, value_model: str | None, read: Callable[[str], str] = str.strip
) -> Iterator[Reward]:
    """Open the reward that the options name, with its Lean processes; `value_model` is the default of that option.

    Raises UserError for a function that is not there, a checkpoint that cannot be loaded, or servers that do not
    answer.
    """
    if options.reward != LEAN:
        yield load_function(options.reward)
        return
    with ExitStack() as stack:
        addresses: Iterable[str] = options.servers.servers
        token = options.servers.token
        if not addresses:
            embedded = stack.enter_context(start_embedded(options.lean_processes))
            addresses, token = embedded.addresses, embedded.token
        fleet = LeanFleet(tuple(addresses), token)
        fleet.check()
        judge = LeanJudge(fleet.lease, options.lean_processes)
        stack.callback(judge.close)
        source = options.value_model or value_model
        values = None
        if options.reward_shorter > 0 and source is not None:
            values = stack.enter_context(open_values(TextModelOptions(value_model=source), dist))
        yield LeanReward(judge, options, values, read)
