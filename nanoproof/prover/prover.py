"""The prover: one theorem in, one checked attempt out (search, replay, simplification, final check)."""

import hashlib
import math
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from nanoproof.common.config import opt, validated
from nanoproof.lean.source import negate
from nanoproof.lean.types import (
    Branch,
    CheckReport,
    LeanCalls,
    LeanError,
    ProtocolError,
    SourceError,
    TacticApplied,
    TacticFailed,
    Theorem,
    TheoremRejected,
)
from nanoproof.prover.attempt import NOT_REPLAYED, ON_RETRY, REFUSED, Attempt, FailedTactic, Outcome
from nanoproof.prover.check import Verdict, check_proof
from nanoproof.prover.disprove import StateDisprover
from nanoproof.prover.linearize import layouts
from nanoproof.prover.proof import Given, Proof, SolvedStates, transitions_of, untagged
from nanoproof.prover.replay import MemoizedLean, Replayed, SecondTry, replay, replay_tree, run_second_tries, simplify
from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import Estimate, SearchLog
from nanoproof.search.node import Node, or_node
from nanoproof.search.policy import Policy, Suggestion, members_of, policy_for
from nanoproof.search.search import search
from nanoproof.search.tree_json import tree_to_json

# -- Observers and instrumentation -----------------------------------------------------------------------------------


class AttemptObserver:
    """Callbacks on the progress of an attempt, which must be fast; these do nothing."""

    __slots__ = ()

    def begin(self, root: Node, log: SearchLog) -> None:
        """Note that a search begins, whose tree and log grow; earlier callbacks belong to another try."""

    def waiting(self, on: Literal["lean", "model"]) -> AbstractContextManager[object]:
        """Return a context for the time that the attempt waits for Lean or the policy."""
        return nullcontext()

    def suggested(self, state: str, suggestion: Suggestion) -> None:
        """Note the policy's suggestion for a state."""

    def applied(self, state: str, tactics: Sequence[str], results: Sequence[TacticApplied | TacticFailed]) -> None:
        """Note Lean's results of tactics in a state."""


NULL_ATTEMPT_OBSERVER = AttemptObserver()


class Timer:
    """Adds up the seconds spent inside its `with` blocks."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._started = 0.0

    def __enter__(self) -> "Timer":
        self._started = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds += time.perf_counter() - self._started


class InstrumentedLean:
    """A Lean session that counts tactics, measures time and calls the observer."""

    def __init__(self, session: LeanCalls, observer: AttemptObserver = NULL_ATTEMPT_OBSERVER) -> None:
        self._session, self._observer = session, observer
        self.timer = Timer()
        self.tactics = 0

    def start(self, theorem: Theorem) -> Branch:
        with self.timer, self._observer.waiting("lean"):
            return self._session.start(theorem)

    def apply(self, branch: Branch, tactics: Sequence[str]) -> list[TacticApplied | TacticFailed]:
        self.tactics += len(tactics)
        with self.timer, self._observer.waiting("lean"):
            results = self._session.apply(branch, tactics)
        self._observer.applied(branch.state.text, tactics, results)
        return results

    def check(self, source: str, seconds: float | None = None, since: int = 0) -> CheckReport:
        with self.timer, self._observer.waiting("lean"):
            return self._session.check(source, seconds, since)


class InstrumentedPolicy:
    """A policy with seeds of its own for each attempt, which measures time (batching included) and calls the observer.

    A state that is expanded again gets fresh samples; what is drawn depends on `seed`, the state and how often this
    attempt has expanded it, not on other attempts.
    """

    def __init__(self, policy: Policy, seed: int, observer: AttemptObserver = NULL_ATTEMPT_OBSERVER) -> None:
        self._policy, self._seed, self._observer = policy, seed, observer
        self._expansions: Counter[str] = Counter()
        self.timer = Timer()

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        expansions = self._expansions[state_text]
        self._expansions[state_text] += 1
        # From the state's text and not from the order of states: what is drawn is the same however many actors there
        # are (experiments.md, equal seeds).
        key = f"{self._seed}/{seed}/{expansions}\n{state_text}"
        digest = hashlib.blake2b(key.encode(), digest_size=8).digest()
        with self.timer, self._observer.waiting("model"):
            # Of 63 bits, which every server and JSON reader of ours takes.
            suggestion = self._policy.suggest(state_text, int.from_bytes(digest, "little") >> 1)
        self._observer.suggested(state_text, suggestion)
        return suggestion


# -- The prover ------------------------------------------------------------------------------------------------------


@validated("prover")
class ProverOptions:
    """Prover"""

    proof_simplification: bool = opt(True, "Shorten proofs before they are stored and learned from.", advanced=True)
    simplification_tactics: int = opt(500, "Tactics that may be run to shorten one proof.", min=0, advanced=True)
    disprove_fraction: float = opt(
        0.0, "Fraction of attempts that try to prove the negated statement.", min=0, max=1, advanced=True
    )
    keep_tree: bool = opt(True, "Store the search tree with each attempt.", advanced=True)


class Prover:
    """Proves theorems with one policy and one configuration; safe to use from many threads, one session each.

    `policy_revision` gives the revision of the policy's weights, for the record at the end of each attempt.
    """

    def __init__(
        self,
        policy: Policy,
        search_config: SearchConfig,
        options: ProverOptions,
        policy_revision: Callable[[], str] = str,
    ) -> None:
        self.policy = policy
        self.search_config = search_config
        self.options = options
        self.policy_revision = policy_revision

    def prove(
        self,
        session: LeanCalls,
        theorem: Theorem,
        num_simulations: int,
        rng: random.Random,
        should_stop: Callable[[], bool] | None = None,
        observer: AttemptObserver = NULL_ATTEMPT_OBSERVER,
        may_disprove: bool = True,
        given: Given | None = None,
    ) -> Attempt:
        """Search for a proof of `theorem` (or of its negation, if it may: `rng` decides) and check what was found.

        Never raises for what Lean or its servers do: a refused statement, a lost server, and a proof that was found and
        that the server neither accepts nor refuses are attempts with outcome `error`. `should_stop` ends the search,
        and the simplification of its proof, early.

        With `given` the search begins inside of a known proof. The proof that is checked and stored is then the whole
        one, and the transitions are those that were found: the others are known, and their depths are not this
        policy's. Where the given steps do not run, or lead elsewhere, the attempt is an error like a refused statement.
        """
        # Drawn in any case, so that `rng` goes on alike whatever the options are.
        disproving = rng.random() < self.options.disprove_fraction and may_disprove
        seed = rng.getrandbits(48)
        policies = []
        for member in members_of(policy_for(self.policy, theorem)):
            policies.append(InstrumentedPolicy(member, seed, observer))
        run = _Run(
            theorem,
            disproving,
            seed,
            InstrumentedLean(session, observer),
            policies,
            should_stop or (lambda: False),
            observer,
        )
        try:
            target, start = self._begin(run)
            if given is not None:
                start = self._go_to(run, start, given)
            if start.state.goals:
                self._search_and_check(run, target, start, num_simulations)
            else:
                self._check_closed(run, target)
        except LeanError as error:
            run.fail(error)
        return self._attempt(run, num_simulations)

    def try_again(
        self,
        session: LeanCalls,
        attempt: Attempt,
        tries: Sequence[SecondTry],
        should_stop: Callable[[], bool] | None = None,
        observer: AttemptObserver = NULL_ATTEMPT_OBSERVER,
    ) -> Attempt:
        """Retry the tactics of an attempt that ran out of time; returns it with a proof if that was all it lacked.

        Its counts have `retried` and `passed_on_retry` besides, and those of the search stay as they were. Never raises
        for what Lean or its servers do: then it is an attempt with outcome `error`.
        """
        lean, policy = InstrumentedLean(session, observer), InstrumentedPolicy(self.policy, attempt.seed, observer)
        run = _Run(attempt.theorem, False, attempt.seed, lean, [policy], should_stop or (lambda: False), observer)
        run.message, run.stop_reason = attempt.message, attempt.stop_reason
        try:
            with run.phase("search"):
                start = run.lean.start(attempt.theorem)
                results = run_second_tries(run.lean, start, tries)
                run.counts.update(retried=results.retried, passed_on_retry=results.passed)
            if results.proof is not None:
                run.stop_reason = ON_RETRY
                # Without the tree, which is long gone: simplification has the steps of the proof alone.
                self._check_found(run, attempt.theorem, lambda: results.proof, or_node(start))
        except LeanError as error:
            run.fail(error)
        retried = self._attempt(run, attempt.budget)
        seconds = Counter(attempt.seconds)
        seconds.update(retried.seconds)  # a Counter's `update` adds
        return replace(
            retried,
            counts={**attempt.counts, **run.counts},
            seconds={name: round(total, 4) for name, total in seconds.items()},
            policy=attempt.policy,
            failed_tactics=attempt.failed_tactics,
            estimates=attempt.estimates,
        )

    def _begin(self, run: "_Run") -> tuple[Theorem, Branch]:
        """Start the theorem, or its negation where Lean accepts one; returns what is to be proved and its goals."""
        with run.phase("search"):
            if run.disproving:
                # Our text of the negation may be one that Lean refuses, though it accepts the statement.
                with suppress(TheoremRejected):
                    negated = negate(run.theorem)
                    return negated, run.lean.start(negated)
                run.disproving = False
            return run.theorem, run.lean.start(run.theorem)

    def _go_to(self, run: "_Run", start: Branch, given: Given) -> Branch:
        """Run all given steps and return the branch at their position. Raises TheoremRejected if they do not work."""
        with run.phase("search"):
            replayed = replay(MemoizedLean(run.lean, patient=True), start, given.steps)
        # A step that closes more than it did leaves out what follows: then positions would mean something else.
        if replayed is None or len(replayed.steps) != len(given.steps):
            raise TheoremRejected("the steps of the proof that the attempt begins in do not run here")
        state = replayed.steps[given.position].state
        if untagged(state) != untagged(given.steps[given.position].state):
            raise TheoremRejected("the steps of the proof that the attempt begins in lead to another state here")
        # With the states and branches of this Lean, which the layout of the proof goes by.
        run.given = Given(replayed.steps, given.position)
        run.counts["given_tactics"] = given.others
        return replayed.branches[given.position]

    def _search_and_check(self, run: "_Run", target: Theorem, start: Branch, num_simulations: int) -> None:
        root = or_node(start)
        with run.phase("search"):
            for number, policy in enumerate(run.policies):
                # What a search leaves of its share, as it could go nowhere, is for those after it.
                done = run.log.counts.simulations
                limit = done + math.ceil((num_simulations - done) / (len(run.policies) - number))
                root = run.root = or_node(start)
                run.observer.begin(root, run.log)
                run.stop_reason = search(
                    root,
                    policy,
                    run.lean,
                    self.search_config,
                    limit,
                    run.log,
                    run.should_stop,
                    StateDisprover(policy, run.lean, self.search_config, run.log, run.should_stop),
                )
                if root.solved or run.stop_reason == "stopped":
                    break
        if not root.solved:
            run.message = "no proof found"
            return
        self._check_found(run, target, lambda: replay_tree(run.lean, start, root), root)

    def _check_found(self, run: "_Run", target: Theorem, replayed: Callable[[], Replayed | None], root: Node) -> None:
        """Check a proof that was found: `replayed` runs its steps again, the tree may have shorter proofs of states."""
        run.has_proof = True
        with run.phase("simplify"):
            proofs = self._replayed_proofs(run, replayed, root)
        # Kept only if there is no proof to check below.
        run.message, run.lost = "the proof in the tree did not replay", NOT_REPLAYED
        with run.phase("check"):
            for proof in proofs:
                whole = proof
                if run.given is not None:
                    whole = run.given.completed(proof)
                if self._accepts(run, target, layouts(whole)):
                    run.steps = proof
                    return

    def _check_closed(self, run: "_Run", target: Theorem) -> None:
        """Check a theorem without a goal at its `sorry`, for which there is nothing to search."""
        run.stop_reason = "solved"
        # Lean shows no goal where the statement closes itself, but a server that loses goals looks the same.
        with run.phase("check"):
            if not self._accepts(run, target, ["done"], replayed=False):
                raise ProtocolError(f"no goal is shown at the start, but something is left to prove: {run.message}")

    def _accepts(self, run: "_Run", target: Theorem, texts: Sequence[str], replayed: bool = True) -> bool:
        """Tell whether one of the texts passes the final check; the verdict on the last one tried is kept."""
        for text in texts:
            run.proof_text = text
            run.verdict = check_proof(run.lean, target, text, replayed)
            run.message, run.lost = run.verdict.reason, REFUSED
            if run.verdict.accepted:
                run.lost, run.outcome = "", "proven"
                if run.disproving:
                    run.outcome = "disproven"
                return True
            # Every step of it has just worked: such a refusal is the server's mistake, and no verdict on the theorem.
            if replayed and run.verdict.fault:
                raise ProtocolError(f"a proof is refused for what it cannot be blamed for: {run.verdict.reason}")
        return False

    def _replayed_proofs(self, run: "_Run", replayed: Callable[[], Replayed | None], root: Node) -> list[Proof]:
        """Return the proofs to check, best first: the simplified one, and the original in case that one fails."""
        before = run.lean.tactics
        original = replayed()
        run.counts["replay_tactics"] = run.lean.tactics - before
        if original is None:
            return []
        run.counts["tactics_found"] = len(original.steps)
        if not self.options.proof_simplification:
            return [original.steps]
        simplified = self._simplified(run, original, root)
        if simplified.steps == original.steps:
            return [original.steps]
        return [simplified.steps, original.steps]

    def _simplified(self, run: "_Run", proof: Replayed, root: Node) -> Replayed:
        """Simplify a proof; if the server fails it stays as it is, since that is no reason to lose it."""
        before = run.lean.tactics
        limit = before + self.options.simplification_tactics

        def may_continue() -> bool:
            return run.lean.tactics < limit and not run.should_stop()

        try:
            return simplify(run.lean, proof, SolvedStates(root), may_continue)
        except LeanError:
            return proof
        finally:
            run.counts["simplification_tactics"] = run.lean.tactics - before

    def _attempt(self, run: "_Run", budget: int) -> Attempt:
        proof = source = ""
        if run.outcome in ("proven", "disproven"):
            proof = run.proof_text
            source = run.verdict.source if run.verdict else ""
        tree = None
        if run.root is not None and self.options.keep_tree:
            tree = tree_to_json(run.root)
        return Attempt(
            theorem=run.theorem,
            outcome=run.outcome,
            message=run.message,
            disproving=run.disproving,
            proof=proof,
            source=source,
            num_tactics=len(run.steps),
            transitions=transitions_of(run.steps),
            failed_tactics=tuple(FailedTactic(*key) for key in run.log.failed_tactics),
            estimates=tuple(Estimate(count, round(mean, 3), round(best, 3)) for count, mean, best in run.log.estimates),
            budget=budget,
            seed=run.seed,
            policy=self.policy_revision(),
            stop_reason=run.stop_reason,
            counts={**run.log.counts.to_json(), **run.counts},
            seconds=run.seconds(),
            check=run.check(),
            tree=tree,
        )


@dataclass
class _Run:
    """The state of an attempt while it runs."""

    theorem: Theorem
    disproving: bool
    seed: int
    lean: InstrumentedLean
    policies: Sequence[InstrumentedPolicy]
    should_stop: Callable[[], bool]
    observer: AttemptObserver
    log: SearchLog = field(default_factory=SearchLog)
    counts: dict[str, int] = field(default_factory=dict)
    timers: dict[str, Timer] = field(default_factory=dict)
    outcome: Outcome = "unproven"
    message: str = ""
    root: Node | None = None
    stop_reason: str = ""
    proof_text: str = ""
    steps: Proof = ()
    verdict: Verdict | None = None
    given: Given | None = None
    has_proof: bool = False
    """Whether the search has found a proof, which then passes the final check or is `lost`."""
    lost: str = ""

    def fail(self, error: LeanError) -> None:
        """Record that the server failed; a proof that was found is lost with it."""
        self.outcome, self.message, self.stop_reason = "error", str(error), type(error).__name__
        if self.has_proof:
            self.lost = self.stop_reason
            if isinstance(error, SourceError):  # a text that we cannot build is no fault of the server
                self.lost = REFUSED

    def check(self) -> dict[str, Any] | None:
        """Build the record of the final check, and of how a proof was lost in it."""
        record = self.verdict.to_json() if self.verdict else None
        if not self.has_proof or not self.lost:
            return record
        return {**(record or {}), "accepted": False, "reason": self.message, "lost": self.lost}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the time inside the block to a phase."""
        with self.timers.setdefault(name, Timer()):
            yield

    def seconds(self) -> dict[str, float]:
        """Return the seconds of each phase, and of Lean and the policy in them."""
        seconds = {name: round(timer.seconds, 4) for name, timer in self.timers.items()}
        in_policies = sum(policy.timer.seconds for policy in self.policies)
        return {**seconds, "lean": round(self.lean.timer.seconds, 4), "policy": round(in_policies, 4)}
