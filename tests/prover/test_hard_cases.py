"""Theorems that are no ordinary ones: nothing to prove, a server that dies of them, a thousand at once."""

import gc
import random
from concurrent.futures import ThreadPoolExecutor
from types import FunctionType, ModuleType

from nanoproof.lean.types import Branch, CheckReport, ProcessLost, ProofState, Theorem
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.prover import Prover, ProverOptions
from nanoproof.search.config import SearchConfig
from nanoproof.search.node import Node
from tests.fakes.lean import ScriptedLean, crash
from tests.fakes.policy import ScriptedPolicy, suggestion
from tests.prover.test_prover import CHAIN, DETOUR, THEOREM, attempt, policy_of


class NoGoals(ScriptedLean):
    """Shows no goal at the `sorry`."""

    def start(self, theorem: Theorem) -> Branch:
        return Branch(ProofState(()))


def test_a_theorem_without_a_goal_is_proven_if_lean_finds_nothing_left_to_do() -> None:
    result = attempt(CHAIN, NoGoals(CHAIN))
    assert (result.outcome, result.proof, result.stop_reason) == ("proven", "done", "solved")
    assert (result.num_tactics, result.simulations, result.transitions) == (0, 0, ())
    assert result.check is not None and result.check["accepted"]


def test_a_theorem_without_a_goal_that_is_not_proved_is_an_error_of_the_server() -> None:
    result = attempt(CHAIN, NoGoals(CHAIN, report=CheckReport(("unsolved goals",), 0, ())))
    assert (result.outcome, result.stop_reason) == ("error", "ProtocolError")
    assert "unsolved goals" in result.message and not result.refused


class DiesOf(ScriptedLean):
    """Its process ends at every theorem that says `bomb`."""

    def start(self, theorem: Theorem) -> Branch:
        if "bomb" in theorem.source:
            raise ProcessLost("lost 3 processes in a row")
        return super().start(theorem)


def test_a_theorem_that_kills_the_server_is_an_error_and_the_next_one_is_proved() -> None:
    lean = DiesOf(CHAIN)
    result = attempt(CHAIN, lean, theorem=Theorem("theorem bomb : A := by sorry"))
    assert (result.outcome, result.stop_reason, result.refused) == ("error", "ProcessLost", False)
    assert result.message == "lost 3 processes in a row"
    assert attempt(CHAIN, lean).outcome == "proven"


def test_a_server_lost_while_a_proof_is_shortened_does_not_lose_the_proof() -> None:
    whole = attempt(DETOUR, ScriptedLean(DETOUR))
    calls = whole.counts["expansions"] + whole.counts["replay_tactics"]
    result = attempt(DETOUR, ScriptedLean(DETOUR, crashes={calls + 1: crash()}))
    assert (result.outcome, result.proof) == ("proven", "a\nb\nc")


def test_where_the_nice_layout_is_refused_the_plain_one_is_the_proof() -> None:
    tactic = "cases h with | inl x => ?_ | inr y => ?_"
    script = {"A": {tactic: ["inl:B", "inr:C"]}, "B": {"b": []}, "C": {"c": []}}
    nice = f"{tactic.split(' |')[0]}\n| inl x => b\n| inr y => c"
    assert attempt(script).proof == nice
    refused = CheckReport(("unexpected token",), 0, ())
    lean = ScriptedLean(script, report=lambda text: refused if "| inl x => b" in text else CheckReport((), 0, ()))
    result = attempt(script, lean)
    assert (result.outcome, result.proof) == ("proven", f"{tactic}\n· b\n· c")
    assert result.message == ""


def thousand() -> list[Attempt]:
    """A thousand theorems by 16 threads, each with a session of its own; a third is refused, a third is unproven."""
    unproven = {**CHAIN, "C": {}}
    policy = ScriptedPolicy({state: [suggestion(list(options))] for state, options in CHAIN.items()})
    prover = Prover(policy, SearchConfig(), ProverOptions())

    def work(number: int) -> Attempt:
        lean = ScriptedLean((CHAIN, unproven, CHAIN)[number % 3], root=None if number % 3 == 2 else "A")
        theorem = Theorem(f"theorem t{number} : A := by sorry", "toys", str(number))
        return prover.prove(lean, theorem, 4, random.Random(number))

    with ThreadPoolExecutor(16) as pool:
        return list(pool.map(work, range(1000)))


def test_a_thousand_theorems_at_once_are_told_apart() -> None:
    attempts = thousand()
    assert [a.theorem.id for a in attempts] == [str(number) for number in range(1000)]
    expected = ("proven", "unproven", "error")
    assert all(a.outcome == expected[number % 3] for number, a in enumerate(attempts))
    assert all(f"theorem t{number} :" in a.source for number, a in enumerate(attempts) if a.outcome == "proven")


def test_attempts_hold_neither_nodes_nor_branches_of_their_search() -> None:
    kept = [attempt(CHAIN, policy=policy_of(CHAIN, also=("bad",))) for _ in range(3)]
    assert all(a.tree is not None and len(a.tree["kind"]) >= 4 for a in kept)
    held = reachable(kept)
    assert any(thing is kept[0].tree for thing in held)
    assert not [thing for thing in held if isinstance(thing, Node | Branch)]


def reachable(root: object) -> list[object]:
    """Everything that is kept because of an object, but for code."""
    found, waiting = {id(root): root}, [root]
    while waiting:
        for thing in gc.get_referents(waiting.pop()):
            if id(thing) not in found and not isinstance(thing, type | ModuleType | FunctionType):
                found[id(thing)] = thing
                waiting.append(thing)
    return list(found.values())


def test_the_record_says_what_the_attempt_was_made_with() -> None:
    prover = Prover(policy_of(DETOUR), SearchConfig(), ProverOptions(), policy_revision=lambda: "model_7")
    lean = ScriptedLean({**DETOUR, "A": {"a": ["A1"], "b": ["B"]}})
    result = prover.prove(lean, THEOREM, 64, random.Random(3))
    assert (result.policy, result.budget, result.num_tactics) == ("model_7", 64, 2)
    assert result.counts["tactics_found"] == result.counts["replay_tactics"] == 3
    assert result.counts["simplification_tactics"] > 0
    again = prover.prove(lean, THEOREM, 64, random.Random(3))
    assert result.seed == again.seed != prover.prove(lean, THEOREM, 64, random.Random(4)).seed
