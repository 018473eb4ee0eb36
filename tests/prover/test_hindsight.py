"""Solved subgoals of failed searches: which are taken, and that each is a theorem of its own."""

import json
import random
from dataclasses import replace
from typing import Any

import pytest

from nanoproof.lean.source import negate
from nanoproof.lean.types import (
    Branch,
    CheckReport,
    Goal,
    Hypothesis,
    ProofState,
    ServerTimeout,
    Theorem,
    TheoremRejected,
    Transition,
)
from nanoproof.prover.attempt import Attempt, fault_of
from nanoproof.prover.hindsight import (
    Hindsight,
    HindsightLimits,
    solved_subgoals,
    statement_of_goal,
    theorem_of_subgoal,
    why_not_alone,
)
from nanoproof.prover.prover import Prover, ProverOptions
from nanoproof.search.config import SearchConfig
from nanoproof.search.node import Kind, Node, and_node, or_node
from tests.fakes.lean import ScriptedLean, branch
from tests.fakes.policy import ScriptedPolicy, suggestion

THEOREM = Theorem("theorem t : A := by sorry", "scripted", "t")
SCRIPT: dict[str, Any] = {
    "A": {"split": ("B", "C", "D")},  # D has no proof
    "B": {"to B1": ("B1",), "nothing": ("B",)},
    "B1": {"split": ("B2", "B3")},
    "B2": {"close B2": ()},
    "B3": {"close B3": ()},
    "C": {"close C": ()},
}


class StatedLean(ScriptedLean):
    """A scripted Lean that reads the statements of subgoals: `theorem subgoal_... : B`."""

    starts = 0

    def start(self, theorem: Theorem) -> Branch:
        self.starts += 1
        claim = theorem.source.partition(" : ")[2].partition(" := ")[0]
        return branch(claim if "subgoal_" in theorem.source else "A")


def policy_of(script: dict[str, Any]) -> ScriptedPolicy:
    return ScriptedPolicy({state: [suggestion(list(tactics), 2.0)] for state, tactics in script.items()})


def attempt(
    lean: ScriptedLean | None = None, script: dict[str, Any] = SCRIPT, hindsight: Hindsight | None = None, **search: Any
) -> Attempt:
    prover = Prover(
        policy_of(script),
        SearchConfig(**search),
        ProverOptions(keep_tree=False),
        hindsight=hindsight or Hindsight(HindsightLimits()),
    )
    return prover.prove(lean or StatedLean(script), THEOREM, 30, random.Random(0))


def counts(made: Attempt) -> dict[str, int]:
    return {
        name.removeprefix("hindsight_"): count for name, count in made.counts.items() if name.startswith("hindsight_")
    }


def test_the_largest_solved_subgoals_are_proved_as_theorems_of_their_own() -> None:
    made = attempt()
    assert (made.outcome, made.transitions, made.check) == ("unproven", (), None)
    large, small = made.hindsight
    assert large.source.startswith("set_option autoImplicit false in\ntheorem subgoal_")
    assert large.source.endswith(" : B := by\n  to B1\n  split\n  · close B2\n  · close B3\n")
    assert large.transitions == (
        Transition("⊢ B", "to B1", 3),
        Transition("⊢ B1", "split", 2),
        Transition("⊢ B2", "close B2", 1),
        Transition("⊢ B3", "close B3", 1),
    )
    assert small.transitions == (Transition("⊢ C", "close C", 1),)
    assert counts(made) == {"found": 2, "subgoals": 2, "transitions": 5, "tactics": made.counts["hindsight_tactics"]}
    assert "hindsight" in made.seconds


def test_the_record_is_read_as_it_was_written_and_holds_nothing_where_there_is_nothing() -> None:
    made = attempt()
    assert Attempt.from_json(json.loads(json.dumps(made.to_json()))) == made
    assert fault_of(made) == ""
    proved = Prover(policy_of(SCRIPT), SearchConfig(), ProverOptions()).prove(
        StatedLean(SCRIPT), THEOREM, 30, random.Random(0)
    )
    assert "hindsight" not in proved.to_json() and counts(proved) == {}


def test_a_proof_leaves_nothing_to_look_back_at() -> None:
    made = attempt(script={**SCRIPT, "D": {"close D": ()}})
    assert (made.outcome, made.hindsight, counts(made)) == ("proven", (), {})


def test_a_subgoal_is_proved_again_only_with_a_shorter_proof() -> None:
    hindsight = Hindsight(HindsightLimits())
    assert len(attempt(hindsight=hindsight).hindsight) == 2
    again = attempt(hindsight=hindsight)
    assert again.hindsight == () and counts(again) == {"found": 2, "repeated": 1, "one_tactic": 1}
    shorter = {**SCRIPT, "B": {"at once": ("B2",)}}
    (found,) = attempt(script=shorter, hindsight=hindsight).hindsight
    assert [step.tactic for step in found.transitions] == ["at once", "close B2"]


def test_proofs_of_one_tactic_are_few() -> None:
    singles = {f"S{number}": {f"close {number}": ()} for number in range(8)}
    script = {"A": {"split": ("B", "D", *singles)}, "B": {"to C": ("C",)}, "C": {"halve": ("S0", "S1")}, **singles}
    made = attempt(script={"D": {}, **script})
    sizes = [subgoal.num_tactics for subgoal in made.hindsight]
    assert sizes == [4, 1]  # a second one would be 2 of 6 transitions
    only_singles = {**script, "B": {"close B": ()}}
    assert counts(attempt(script=only_singles)) == {"found": 9, "one_tactic": 9}


def test_what_finishers_prove_alone_is_left_out_and_their_steps_are_not_learned() -> None:
    script = {**SCRIPT, "B2": {"omega": ()}, "C": {"omega": ()}, "B3": {"close B3": ()}}
    made = attempt(StatedLean(script), {**SCRIPT, "B2": {}, "C": {}}, finishers=("omega",))
    (found,) = made.hindsight
    assert [step.tactic for step in found.transitions] == ["to B1", "split", "close B3"]
    assert fault_of(made) == "" and counts(made)["finisher"] == 1


@pytest.mark.parametrize(
    ("limits", "taken", "left"), [(HindsightLimits(subgoals=1), 1, 1), (HindsightLimits(tactics=3), 1, 1)]
)
def test_the_work_is_limited(limits: HindsightLimits, taken: int, left: int) -> None:
    made = attempt(hindsight=Hindsight(limits), script={**SCRIPT, "C": {"to C1": ("C1",)}, "C1": {"close": ()}})
    assert (len(made.hindsight), counts(made)["over_limit"]) == (taken, left)


# -- What is dropped -----------------------------------------------------------------------------------------------


class Refusing(StatedLean):
    """Refuses subgoals as statements."""

    def start(self, theorem: Theorem) -> Branch:
        if "subgoal_" in theorem.source:
            raise TheoremRejected("unknown identifier")
        return super().start(theorem)


class Misreading(StatedLean):
    """Reads another goal in the text of a subgoal."""

    def start(self, theorem: Theorem) -> Branch:
        return super().start(replace(theorem, source=theorem.source.replace(": B :=", ": B1 :=")))


class Forgetful(StatedLean):
    """Runs no tactic of the search once more."""

    def apply(self, branch: Branch, tactics: Any) -> Any:
        self.script = {} if self.starts > 1 else self.script
        return super().apply(branch, tactics)


class Dying(StatedLean):
    """Is gone at the first subgoal."""

    def start(self, theorem: Theorem) -> Branch:
        if "subgoal_" in theorem.source:
            raise ServerTimeout("no answer")
        return super().start(theorem)


@pytest.mark.parametrize(
    ("lean", "reason"), [(Refusing, "misread"), (Misreading, "misread"), (Forgetful, "refused"), (Dying, "lost")]
)
def test_a_subgoal_that_is_no_theorem_of_its_own_is_dropped(lean: type[ScriptedLean], reason: str) -> None:
    made = attempt(lean(dict(SCRIPT)))
    assert (made.outcome, made.stop_reason, made.hindsight) == ("unproven", "simulations", ())
    assert counts(made)[reason] == 1 and made.transitions == ()


@pytest.mark.parametrize(
    "report",
    [
        CheckReport(errors=("type mismatch",), sorries=0, axioms=()),
        CheckReport(errors=(), sorries=1, axioms=()),
        CheckReport(errors=(), sorries=0, axioms=("sorryAx",)),
    ],
)
def test_nothing_is_learned_that_fails_the_final_check(report: CheckReport) -> None:
    made = attempt(StatedLean(SCRIPT, report=report))
    assert made.hindsight == () and counts(made)["refused"] == 1


# -- Which subgoals stand alone ------------------------------------------------------------------------------------


def solved(node: Node) -> Node:
    closed = Node(Kind.CLOSED, "", (), None, 1.0)
    closed.tactic = "close"
    node.children, node.solved = (closed,), True
    return node


def node_of(*goals: Goal) -> Node:
    return solved(or_node(Branch(ProofState(goals))))


P = Goal("p", (Hypothesis("p", "Prop"), Hypothesis("h", "p")))


@pytest.mark.parametrize(
    ("goals", "reason"),
    [
        ((P,), None),
        ((P, P), "coupled"),
        ((Goal("?w = 3"),), "metavariable"),
        ((Goal("x✝ = 3", (Hypothesis("x✝", "Nat"),)),), "inaccessible"),
        ((Goal("3 = 3", (Hypothesis("x✝", "Nat"),)),), "inaccessible"),
        ((Goal("x = 3", (Hypothesis("x", "Nat", "3"),)),), "let"),
        ((Goal("1 * x = x", (Hypothesis("G", "Type"), Hypothesis("inst✝¹", "Group G"), Hypothesis("x", "G"))),), None),
    ],
)
def test_a_text_that_does_not_say_all_is_no_statement(goals: tuple[Goal, ...], reason: str | None) -> None:
    assert why_not_alone(node_of(*goals)) == reason


def test_inside_of_what_does_not_stand_alone_may_be_what_does() -> None:
    outer = or_node(Branch(ProofState((Goal("q", (Hypothesis("x✝", "Nat"), *P.hypotheses)),))))
    inner = node_of(P)
    inner.tactic, outer.children, outer.solved = "clear x", (inner,), True
    root = or_node(branch("A"))
    split = and_node((branch("D"),), ("D",), 1.0, ("D",))
    split.children = (*split.children, outer, node_of(P))  # the same subgoal twice
    root.children = (split,)
    found, left_out = solved_subgoals(root)
    assert [(node.key[0], len(proof)) for node, proof in found] == [("p : Prop\nh : p\n⊢ p", 1)]
    assert left_out == {"found": 2, "inaccessible": 1}


def test_a_goal_is_stated_with_its_hypotheses_as_binders() -> None:
    goal = Goal(
        "a * b = b * a",
        (
            Hypothesis("G", "Type u_1"),
            Hypothesis("inst✝", "CommGroup G"),
            Hypothesis("a", "G"),
            Hypothesis("b", "G"),
            Hypothesis("h", "a =\n  b"),
        ),
    )
    statement = statement_of_goal(goal)
    assert statement == "(G : Type u_1) [CommGroup G] (a b : G) (h : a =\n  b) : a * b = b * a"
    source = "open Nat in\n/-- doc -/\n@[simp] theorem t : p := by\n  sorry\n\ntheorem u : p := t"
    head, _, rest = theorem_of_subgoal(Theorem(source), goal).source.partition("theorem subgoal_")
    assert head == "open Nat in\nset_option autoImplicit false in\n"
    negated = theorem_of_subgoal(negate(Theorem("theorem t : p := by sorry")), goal).source
    assert negated.startswith("set_option autoImplicit false in\ntheorem subgoal_")
    assert rest[16:] == (
        ".{u_1} (G : Type u_1) [CommGroup G] (a b : G) (h : a =\n      b) : a * b = b * a := by\n  sorry\n"
    )
