"""One theorem in, one checked attempt out."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from nanoproof.common.config import opt, validate
from nanoproof.common.suggestion import Policy
from nanoproof.lean.errors import LeanError
from nanoproof.lean.source import negate
from nanoproof.lean.theorem import Theorem
from nanoproof.lean.wire import Branch, LeanSession
from nanoproof.prover.attempt import Attempt, FailedTactic, Outcome, Transition
from nanoproof.prover.check import Verdict, check_proof
from nanoproof.prover.linearize import linearize
from nanoproof.prover.meter import MeteredLean, MeteredPolicy, Stopwatch
from nanoproof.prover.proof import Proof, depths
from nanoproof.prover.replay import Replayed, replay
from nanoproof.prover.simplify import simplify
from nanoproof.prover.targets import SolvedStates, extract_proof, proof_depths
from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Node, or_node
from nanoproof.search.search import search
from nanoproof.search.tree_json import tree_to_json


@dataclass(frozen=True)
class ProverOptions:
    """Prover"""

    proof_simplification: bool = opt(True, "Shorten proofs before they are stored and learned from.")
    simplification_tactics: int = opt(500, "Tactics that may be run to shorten one proof.", min=0)
    disprove_fraction: float = opt(0.0, "Fraction of attempts that try to prove the negated statement.", min=0, max=1)
    keep_tree: bool = opt(True, "Store the search tree with each attempt.")

    def __post_init__(self) -> None:
        validate(self, "prover")


class Prover:
    """Proves theorems with one policy and one configuration; safe to use from many threads, one session each."""

    def __init__(self, policy: Policy, search_config: SearchConfig, options: ProverOptions) -> None:
        self.policy = policy
        self.search_config = search_config
        self.options = options

    def prove(
        self,
        session: LeanSession,
        theorem: Theorem,
        num_simulations: int,
        rng: random.Random,
        should_stop: Callable[[], bool] | None = None,
        on_start: Callable[[Node, SearchLog], None] | None = None,
    ) -> Attempt:
        """Search for a proof of `theorem` (or of its negation: `rng` decides) and check what was found.

        Never raises for what Lean or its servers do: a refused statement and a lost server are attempts with outcome
        `error`. `should_stop` ends the search, and the shortening of its proof, early. `on_start` is given the root and
        the log of the search when it begins, to watch both grow.
        """
        disproving = rng.random() < self.options.disprove_fraction
        run = _Run(
            theorem,
            MeteredLean(session),
            MeteredPolicy(self.policy, rng.getrandbits(48)),
            should_stop or (lambda: False),
            on_start or (lambda root, log: None),
        )
        try:
            self._search_and_check(run, negate(theorem) if disproving else theorem, num_simulations)
        except LeanError as error:
            run.outcome, run.message, run.stop_reason = "error", str(error), type(error).__name__
        if disproving and run.outcome == "proven":
            run.outcome = "disproven"
        return self._attempt(run, num_simulations, disproving)

    def _search_and_check(self, run: "_Run", theorem: Theorem, num_simulations: int) -> None:
        with run.phase("search"):
            start = run.lean.start(theorem)
            run.root = or_node(start)
            run.on_start(run.root, run.log)
            run.stop_reason = search(
                run.root, run.policy, run.lean, self.search_config, num_simulations, run.log, run.should_stop
            )
        if not run.root.solved:
            run.message = "no proof found"
            return
        with run.phase("simplify"):
            proofs = self._replayed_proofs(run, start, run.root)
        run.message = "the proof in the tree did not replay"
        with run.phase("check"):
            for proof in proofs:
                run.proof_text = linearize(proof)
                run.verdict = check_proof(run.lean, theorem, run.proof_text)
                run.message = run.verdict.reason
                if run.verdict.accepted:
                    run.outcome, run.steps = "proven", proof
                    return

    def _replayed_proofs(self, run: "_Run", start: Branch, root: Node) -> list[Proof]:
        """The proofs to check, best first: the simplified one, and the one it was made from in case that one fails."""
        original = replay(run.lean, start, extract_proof(root, proof_depths(root)))
        if original is None:
            return []
        simplified = original
        if self.options.proof_simplification:
            simplified = self._simplified(run, original, root)
        return [simplified.steps] if simplified is original else [simplified.steps, original.steps]

    def _simplified(self, run: "_Run", proof: Replayed, root: Node) -> Replayed:
        limit = run.lean.tactics + self.options.simplification_tactics
        return simplify(run.lean, proof, SolvedStates(root), lambda: run.lean.tactics < limit and not run.should_stop())

    def _attempt(self, run: "_Run", budget: int, disproving: bool) -> Attempt:
        found = run.outcome in ("proven", "disproven")
        return Attempt(
            theorem=run.theorem,
            outcome=run.outcome,
            message=run.message,
            disproving=disproving,
            proof=run.proof_text if found else "",
            source=run.verdict.source if found and run.verdict else "",
            num_tactics=len(run.steps),
            transitions=transitions_of(run.steps),
            failed_tactics=tuple(FailedTactic(*key) for key in run.log.failed_tactics),
            budget=budget,
            stop_reason=run.stop_reason,
            counts=run.log.counts.to_json(),
            seconds=run.seconds(),
            check=run.verdict.to_json() if run.verdict else None,
            tree=tree_to_json(run.root) if run.root is not None and self.options.keep_tree else None,
        )


@dataclass
class _Run:
    """What is known about an attempt while it runs."""

    theorem: Theorem
    lean: MeteredLean
    policy: MeteredPolicy
    should_stop: Callable[[], bool]
    on_start: Callable[[Node, SearchLog], None]
    log: SearchLog = field(default_factory=SearchLog)
    watches: dict[str, Stopwatch] = field(default_factory=dict)
    outcome: Outcome = "unproven"
    message: str = ""
    root: Node | None = None
    stop_reason: str = ""
    proof_text: str = ""
    steps: Proof = ()
    verdict: Verdict | None = None

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        with self.watches.setdefault(name, Stopwatch()):
            yield

    def seconds(self) -> dict[str, float]:
        watches = {**self.watches, "lean": self.lean.watch, "policy": self.policy.watch}
        return {name: round(watch.seconds, 4) for name, watch in watches.items()}


def transitions_of(steps: Proof) -> tuple[Transition, ...]:
    """What a checked proof teaches: (state, tactic, tactics still needed); steps of finishers teach nothing."""
    return tuple(
        Transition(step.state, step.tactic, depth)
        for step, depth in zip(steps, depths(steps), strict=True)
        if not step.finisher
    )
