"""The generator: true, graded, distinct, repeatable."""

import random
from collections import Counter
from functools import cache

import pytest

from nanolean.commands.runner import run_text
from nanolean.data.families import FAMILIES, LEVELS, Named, family_problems
from nanolean.data.logic_search import LogicSearch, holds
from nanolean.data.problem import (
    FALSE,
    Formula,
    Names,
    Step,
    arg,
    atom,
    chain,
    level_of_size,
    render,
    show,
    substitute,
    var,
)
from nanolean.data.replay import replay, start
from nanolean.env_state import EnvState
from nanolean.tests.each import each
from nanolean.tests.library import NIGHTLY, base

P, Q, R = atom("p"), atom("q"), atom("r")


@pytest.fixture(scope="module")
def library() -> EnvState:
    return base()


@cache
def problems_of(family: str) -> list[Named]:
    """Some problems of every level."""
    return family_problems(family, 11, dict.fromkeys(LEVELS, 3 if NIGHTLY else 2), frozenset())


@pytest.mark.parametrize("family", FAMILIES)
def test_generated_problems_are_true_their_proofs_replay_and_the_kernel_accepts_them(
    family: str, library: EnvState
) -> None:
    assert len(problems_of(family)) >= 6
    for named in problems_of(family):
        node = replay(start(named.source()), named.problem.proof)
        assert 1 <= node.size <= named.problem.proof.size


@pytest.mark.nightly
@each("family", FAMILIES)
def test_a_family_gives_the_same_for_the_same_seed_and_something_else_for_another(family: str) -> None:
    quota = {1: 2, 2: 2}
    sources = [[named.source() for named in family_problems(family, seed, quota, frozenset())] for seed in (1, 1, 2)]
    assert sources[0] == sources[1] != sources[2]


def test_problems_are_distinct_and_carry_family_and_level_in_the_name() -> None:
    problems = family_problems("order", 3, dict.fromkeys(LEVELS, 20), frozenset())
    assert len({named.key for named in problems}) == len(problems)
    assert len({named.id for named in problems}) == len(problems)
    for named in problems:
        assert named.id.startswith(f"order_l{named.level}_")
        assert named.source().split()[1] == named.id


def test_excluded_statements_do_not_come_back() -> None:
    quota = {1: 10, 2: 10}
    first = {named.key for named in family_problems("prop", 3, quota, frozenset())}
    again = {named.key for named in family_problems("prop", 3, quota, frozenset(first))}
    assert first and again and not first & again


@pytest.mark.nightly
def test_levels_follow_the_length_of_the_plain_proof() -> None:
    assert [level_of_size(size) for size in (1, 2, 3, 6, 8, 11, 14, 15)] == [1, 1, 2, 3, 4, 5, 6, 7]
    counts = Counter(named.level for named in family_problems("mixed", 3, dict.fromkeys(LEVELS, 5), frozenset()))
    assert counts == dict.fromkeys(LEVELS, 5)


def test_statements_and_tactics_are_short_enough_for_a_small_context() -> None:
    lengths, tactics = [], []
    for family in FAMILIES:
        for named in problems_of(family):
            lengths.append(len(named.problem.statement()))
            steps = [named.problem.proof]
            while steps:
                step = steps.pop()
                tactics.append(len(step.tactic))
                steps.extend(step.children)
    assert sorted(lengths)[len(lengths) // 2] < 100 and max(lengths) <= 140
    assert sorted(tactics)[len(tactics) // 2] < 30


# ---------------------------------------------------------------------------------------------------------------------
# Logic


@each(
    "formula",
    [
        ("→", P, P),
        ("not", ("not", ("∨", P, ("not", P)))),
        ("→", ("→", ("∨", P, Q), R), ("→", P, R)),
        ("not", ("not", ("→", ("→", ("→", P, Q), P), P))),
        ("↔", ("not", ("∨", P, Q)), ("∧", ("not", P), ("not", Q))),
        ("→", ("not", ("not", ("not", P))), ("not", P)),
    ],
)
def test_the_decision_procedure_accepts_intuitionistic_laws(formula: Formula) -> None:
    assert holds([], formula)


@each(
    "formula",
    [
        P,
        ("∨", P, ("not", P)),
        ("→", ("not", ("not", P)), P),
        ("→", ("→", ("→", P, Q), P), P),
        ("→", ("not", ("∧", P, Q)), ("∨", ("not", P), ("not", Q))),
        ("→", ("→", P, ("∨", Q, R)), ("∨", ("→", P, Q), ("→", P, R))),
    ],
)
def test_the_decision_procedure_refuses_what_needs_excluded_middle(formula: Formula) -> None:
    assert not holds([], formula)


def test_the_search_proves_what_the_decision_procedure_accepts(library: EnvState) -> None:
    rng = random.Random(0)
    context = (("h", ("→", P, ("∨", Q, R))), ("h1", ("not", Q)))
    names = Names(rng, used={"p", "q", "r", "h", "h1"})
    step = LogicSearch(names, rng, propositional=True).prove(context, ("→", P, R), (), 10)
    assert step is not None
    source = "theorem t (p q r : Prop) (h : p → q ∨ r) (h1 : ¬q) : p → r := by\n  sorry"
    assert replay(start(source), step).goal.endswith("⊢ p → r")


def test_the_search_gives_up_on_what_is_not_provable() -> None:
    rng = random.Random(0)
    names = Names(rng, used={"p", "q", "h"})
    assert LogicSearch(names, rng, propositional=True).prove((("h", ("∨", P, Q)),), P, (), 10) is None
    forall = ("all", "x", atom("P", var("x")))
    assert LogicSearch(names, rng, propositional=False).prove((("h", atom("P", var("a"))),), forall, (), 6) is None


# ---------------------------------------------------------------------------------------------------------------------
# Text


@each(
    ("formula", "text"),
    [
        (("→", ("→", P, Q), R), "(p → q) → r"),
        (("∧", P, ("∧", Q, R)), "p ∧ q ∧ r"),
        (("∧", ("∧", P, Q), R), "(p ∧ q) ∧ r"),
        (("not", ("∨", P, FALSE)), "¬(p ∨ False)"),
        (("=", ("*", ("+", var("a"), var("b")), var("c")), var("d")), "(a + b) * c = d"),
        (("=", ("+", var("a"), ("+", var("b"), var("c"))), var("d")), "a + (b + c) = d"),
        (("^", ("^", var("a"), var("b")), ("+", var("c"), ("num", 1))), "(a ^ b) ^ (c + 1)"),
        (("∨", ("all", "x", atom("P", var("x"))), P), "(∀ x : Nat, P x) ∨ p"),
        (("∣", var("a"), ("*", var("a"), var("b"))), "a ∣ a * b"),
    ],
)
def test_formulas_print_with_the_parentheses_that_lean_needs(formula: Formula, text: str) -> None:
    assert show(formula) == text


def test_terms_print_as_arguments_in_parentheses() -> None:
    assert arg(("+", var("a"), ("num", 1))) == "(a + 1)"
    assert show(atom("P", ("+", var("a"), ("num", 1)))) == "P (a + 1)"


def test_substitution_stops_at_a_binder_of_the_same_name() -> None:
    bound = ("all", "x", atom("P", var("x")))
    assert substitute(("∧", bound, atom("P", var("x"))), "x", var("a")) == ("∧", bound, atom("P", var("a")))


def test_rendered_proofs_are_accepted_as_text(library: EnvState) -> None:
    proof = Step(
        "cases h with | inl h1 => ?_ | inr h2 => ?_",
        (chain(["right", "exact h1"]), chain(["left", "exact h2"])),
    )
    text = f"theorem t (p q : Prop) (h : p ∨ q) : q ∨ p := by\n{render(proof)}"
    assert "| inl h1 =>\n    right\n    exact h1" in text
    assert not run_text(library, text).messages
    split = Step("constructor", (chain(["exact h.left"]), chain(["exact h.right"])))
    assert not run_text(library, f"theorem t (p q : Prop) (h : p ∧ q) : p ∧ q := by\n{render(split)}").messages
