"""Tactics that ran out of time, tried once more after the search."""

import random

import pytest

from nanoproof.lean.types import CheckReport, TacticApplied, TacticFailed, Theorem
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.prover import Prover, ProverOptions
from nanoproof.prover.replay import MAX_TRIES, SecondTry, run_second_tries, second_tries
from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import or_node
from nanoproof.search.search import search
from tests.fakes.lean import Outcome, ScriptedLean, branch, crash
from tests.fakes.policy import ScriptedPolicy, suggestion
from tests.fakes.world import RandomLean, RandomPolicy, state

THEOREM = Theorem("theorem foo : A := by sorry", "toys", "foo")
Script = dict[str, dict[str, Outcome]]
SPLIT: Script = {
    "A": {"s": ["B", "C", "D"]},
    "B": {"b": []},
    "C": {"c": ["E"]},
    "D": {"d": []},
    "E": {"slow": "timeout"},
}


def searched(script: Script, simulations: int = 40) -> tuple[SecondTry, ...]:
    """What is to be tried once more after a search over a script, all of whose tactics are suggested."""
    policy = ScriptedPolicy({name: [suggestion([*tactics])] for name, tactics in script.items()})
    log = SearchLog()
    search(or_node(branch("A")), policy, ScriptedLean(script), SearchConfig(), simulations, log)
    return second_tries(log)


def with_answers(script: Script, **slow: Outcome) -> Script:
    """The script with what a tactic does that has more time."""
    return {name: {tactic: slow.get(tactic, does) for tactic, does in known.items()} for name, known in script.items()}


def again(script: Script, tries: tuple[SecondTry, ...], lean: ScriptedLean | None = None) -> Attempt:
    prover = Prover(ScriptedPolicy({}), SearchConfig(), ProverOptions())
    before = Attempt(THEOREM, "unproven", "no proof found", counts={"simulations": 40, "timeouts": 3}, budget=40)
    return prover.try_again(lean or ScriptedLean(script), before, tries)


def test_a_tactic_that_closes_its_branch_now_makes_the_proof_that_lacked_it_alone() -> None:
    result = again(with_answers(SPLIT, slow=[]), searched(SPLIT))
    assert (result.outcome, result.stop_reason) == ("proven", "retry")
    assert result.proof == "s\n· b\n· c\n  slow\n· d"
    assert [(each.tactic, each.depth) for each in result.transitions][2:4] == [("c", 2), ("slow", 1)]
    assert (result.counts["retried"], result.counts["passed_on_retry"]) == (1, 1)
    assert (result.simulations, result.budget, result.counts["timeouts"]) == (40, 40, 3)


@pytest.mark.parametrize(
    ("slow", "passed"), [("timeout", 0), ("reject", 0), (["F"], 1)], ids=["still slow", "refused", "leaves a goal"]
)
def test_a_tactic_that_does_not_close_its_branch_counts_and_proves_nothing(slow: Outcome, passed: int) -> None:
    result = again(with_answers(SPLIT, slow=slow), searched(SPLIT))
    assert (result.outcome, result.message, result.check) == ("unproven", "no proof found", None)
    assert (result.counts["retried"], result.counts["passed_on_retry"]) == (1, passed)


def test_where_more_is_missing_a_tactic_counts_and_proves_nothing() -> None:
    script: Script = {**SPLIT, "D": {"d": "reject"}}
    result = again(with_answers(script, slow=[]), searched(script))
    assert (result.outcome, result.counts["passed_on_retry"]) == ("unproven", 1)


def test_a_server_that_is_lost_meanwhile_is_an_error() -> None:
    result = again(SPLIT, searched(SPLIT), ScriptedLean(SPLIT, crashes={1: crash()}))
    assert (result.outcome, result.stop_reason, result.lost) == ("error", "ProcessLost", "")


def test_a_proof_that_the_check_refuses_is_none() -> None:
    script = with_answers(SPLIT, slow=[])
    refusing = ScriptedLean(script, report=CheckReport(("type mismatch",), 0, ()))
    result = again(script, searched(SPLIT), refusing)
    assert (result.outcome, result.lost) == ("unproven", "refused")


def test_what_may_finish_the_proof_comes_first_then_what_is_likelier_and_few_in_all() -> None:
    names = [f"t{number}" for number in range(MAX_TRIES + 2)]
    script: Script = {"A": {"s": ["B", "C"]}, "B": dict.fromkeys(names, "timeout"), "C": {}}
    policy = ScriptedPolicy(
        {
            "A": [suggestion(["s"]), suggestion(["x"])],
            "B": [suggestion(names, logprobs=[-9.0 * number for number in (3, 1, 5, 0, 2, 4)])],
            "C": [suggestion([])],
        }
    )
    log = SearchLog()
    root = or_node(branch("A"))
    search(root, policy, ScriptedLean(script), SearchConfig(), 12, log)
    assert [one.tactic for one in second_tries(log)] == ["t3", "t1", "t4", "t0"]
    script["A"]["slow"] = "timeout"
    policy.script["A"] = [suggestion(["slow"], logprobs=[-99.0])]
    search(root, policy, ScriptedLean(script), SearchConfig(), 60, log)
    assert [(one.tactic, bool(one.proof)) for one in second_tries(log)][:2] == [("slow", True), ("t3", False)]


def test_a_tactic_that_was_fast_enough_later_in_the_search_is_not_tried_again() -> None:
    script: Script = {"A": {"slow": "timeout"}}
    policy = ScriptedPolicy({}, default=suggestion(["slow"]))
    log, root = SearchLog(), or_node(branch("A"))
    search(root, policy, ScriptedLean(script), SearchConfig(), 1, log)
    assert [one.tactic for one in second_tries(log)] == ["slow"]
    search(root, policy, ScriptedLean({"A": {"slow": ["B"]}}), SearchConfig(), 40, log)
    assert second_tries(log) == ()


class Patient(RandomLean):
    """The same world, where nothing takes too long: what did closes its branch."""

    def _draw(self, rng: random.Random) -> TacticApplied | TacticFailed:
        drawn = super()._draw(rng)
        return TacticApplied(()) if isinstance(drawn, TacticFailed) and drawn.kind == "timeout" else drawn


def test_in_any_tree_what_may_finish_the_proof_does_so_in_time() -> None:
    finished = 0
    for seed in range(60):
        log, root = SearchLog(), or_node(state(0))
        search(root, RandomPolicy(seed), RandomLean(seed, 60, close=0.05), SearchConfig(), 30, log)
        for one in second_tries(log):
            found = run_second_tries(Patient(seed, 60, close=0.05), state(0), [one])
            assert (found.retried, found.passed) == (1, 1)
            assert (found.proof is not None) == bool(one.proof)
            finished += bool(one.proof)
        assert not root.solved or second_tries(log) == ()
    assert finished > 10
