"""The phase that collects: actors, the policy they ask, and what their attempts teach."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from nanoproof.common.dist import DistInfo
from nanoproof.common.errors import UserError
from nanoproof.common.run_dir import resolve_run_dir
from nanoproof.data.theorems import list_theorems, split_names
from nanoproof.data.whitelist import LeanChoice
from nanoproof.policy.opening import model_policy
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.prover import Prover, ProverOptions
from nanoproof.search.policy import Policy
from nanoproof.selfplay.actor_pool import ActorPool, wait_together
from nanoproof.selfplay.buffers import Buffers
from nanoproof.selfplay.collect import CollectSource, Experience, relearn, relearn_other
from nanoproof.selfplay.config import RLConfig
from nanoproof.selfplay.fleet import Fleet
from nanoproof.selfplay.learner import Learner
from nanoproof.selfplay.matchmaker import Matchmaker
from nanoproof.selfplay.records.observer import Observer
from nanoproof.training.setup import Stage

log = logging.getLogger(__name__)

JOIN_SECONDS = 10.0
"""How long the end of a run waits for actors that are in the middle of a call: whoever sent a signal waits as well."""


class Collection:
    """Holds the experience from the start, and actors and policy while `working`."""

    def __init__(self, config: RLConfig, learner: Learner, lean: LeanChoice, dist: DistInfo) -> None:
        """Raises UserError if there is no theorem to train on."""
        self._config, self._learner, self._dist = config, learner, dist
        self._staleness: dict[str, float] = {}
        options = config.rl
        datasets = split_names(options.datasets)
        theorems = [item for name in datasets for item in list_theorems(name, "train", lean.version_for(name))]
        if not theorems:
            raise UserError(f"--datasets {' '.join(datasets)}: no theorem is left to train on")
        buffers = Buffers(options.replay_buffer_window_size, options.negative_window, config.solvers_left_out)
        self.experience = Experience(theorems, Matchmaker(len(theorems), config.matchmaker), buffers)

    @contextmanager
    def working(
        self,
        stage: Stage,
        fleet: Fleet,
        asked_to_end: Callable[[], bool],
        check: Callable[[], None],
        observer: Observer,
    ) -> Iterator[None]:
        """Rebuild the experience from logs and start actors and policy; stop them in the end, whatever happens.

        `check` is called now and then by who waits for actors; what it raises ends the wait. `observer` is told what
        the actors do.
        """
        run_path = stage.run.path
        config, learner = self._config, self._learner
        self.policy = model_policy(learner.model, learner.tokenizer, config.sampling)
        first_step = self._relearn(run_path)
        self.source = CollectSource(self.experience, run_path, self._dist, config.run.seed, first_step, observer)

        def check_all() -> None:
            fleet.check()
            check()

        self.pool = ActorPool(
            fleet.slots,
            self.policy,
            self._make_prover,
            check=check_all,
            asked_to_end=asked_to_end,
            observer=observer,
            tell_server=lambda address, state, actors: stage.run.event(
                "server", address=address, state=state, actors=actors
            ),
            lost_proofs=config.fleet.lean_lost_proofs,
        )
        try:
            yield
        finally:
            self.pool.stop()
            self.policy.close()
            self.pool.join(JOIN_SECONDS)
            self.source.close()

    def _relearn(self, run_path: Path) -> int:
        """Fill buffers and matchmaker from logs: `--load-buffer` first, then those of the run that goes on."""
        if self._config.rl.load_buffer is not None:
            earlier = resolve_run_dir(self._config.rl.load_buffer, "--load-buffer")
            relearn_other(self.experience, earlier, self._dist.is_main)
        if self._config.start.resume_from is None:
            return 0
        return relearn(self.experience, run_path, self._dist.is_main)

    def _make_prover(self, purpose: str, policy: Policy) -> Prover:
        collect, config, state = purpose == "collect", self._config, self._learner.state
        options = ProverOptions(
            proof_simplification=config.rl.prover.proof_simplification or not collect,
            disprove_fraction=config.rl.prover.disprove_fraction if collect else 0.0,
            keep_tree=False,
        )
        search = replace(config.search, finisher_use="leaf" if collect else "candidate")
        return Prover(policy, search, options, lambda: f"step {state.step}")

    def gather(self, max_seconds: float | None) -> None:
        """Collect the transitions of a step, for at most so many seconds. All ranks call it together.

        Actors go on meanwhile and afterwards. Raises Interrupted on all ranks if one was asked to end.
        """
        self.source.begin(self._config.rl.collect_transitions, max_seconds)
        self.pool.set_source(self.source)
        wait_together(self.pool, self.source.enough)

    def exchange(self) -> dict[str, float]:
        """Learn from the attempts of all ranks in the step that was gathered (a collective); returns its metrics."""
        with self.pool.locked():
            fresh = self.source.drain()
        step, attempts = self.source.exchange(fresh)
        with self.pool.locked():
            transitions = self.experience.learn(step, attempts)
        buffers = self.experience.buffers
        self._staleness = {"replay": buffers.replay.staleness(step), "negative": buffers.negative.staleness(step)}
        return {
            "attempts": len(attempts),
            "proofs": sum(attempt.outcome == "proven" for attempt in attempts),
            "errors": sum(attempt.outcome == "error" for attempt in attempts),
            **self._lost(attempts),
            "transitions": transitions,
            "simulations": sum(attempt.simulations for attempt in attempts),
            "theorems_proven": len(self.experience.ever_proven),
            "replay": len(self.experience.buffers.replay),
            "staleness": self._staleness["replay"],
        }

    def _lost(self, attempts: Sequence[Attempt]) -> dict[str, float]:
        """How many proofs were found that are none after the final check, by whose word; the first reasons are told."""
        lost = [attempt for attempt in attempts if attempt.lost_by_server]
        refused = [attempt for attempt in attempts if attempt.lost and not attempt.lost_by_server]
        for how, found in (("lost", lost), ("refused", refused)):
            if found and self._dist.is_main:
                first, check = found[0], found[0].check or {}
                reason = f"{first.lost} on {check.get('server')}, {check.get('reason')}"
                log.info(
                    "found proofs %s by the final check: %d; that of %s: %s", how, len(found), first.theorem.id, reason
                )
        return {"lost_proofs": len(lost), "refused_proofs": len(refused)}

    def go_on(self) -> None:
        """Give the actors theorems to train on again after an evaluation, if the run collects at all."""
        if self._config.rl.collect_transitions > 0:
            self.pool.set_source(self.source)

    def snapshot(self) -> dict[str, Any]:
        """What is collected so far and what the actors are doing, for whoever watches."""
        experience = self.experience
        return {
            "collected": self.source.collected,
            "collect_transitions": self._config.rl.collect_transitions,
            "attempts": experience.attempts,
            "proofs": experience.proofs,
            "theorems_proven": len(experience.ever_proven),
            "theorems": len(experience.theorems),
            "replay": len(experience.buffers.replay),
            "negative": len(experience.buffers.negative),
            "staleness": self._staleness,
            "servers": self.pool.servers.snapshot(),
            "actors": [actor.snapshot() for actor in self.pool.actors],
        }
