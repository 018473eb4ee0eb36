"""Proofs cut by rule: each rule makes another proof of the same theorem, which NanoLean accepts."""

import random

from nanolean.data.cuts import RULES, applied_terms, cut_proofs
from nanolean.data.make import HELD_OUT_LIBRARY, HELD_OUT_PREMISES, make_classics
from nanolean.data.problem import Step, chain, render
from nanolean.data.replay import Node, replay, start
from nanolean.tests.each import each

POWER = "theorem t (c k : Nat) : 0 < (c + 1) ^ k := by\n  sorry"
BY_INDUCTION = Step(
    "induction k with | zero => ?_ | succ k ih => ?_",
    (
        Step("exact Nat.zero_lt_one"),
        Step("rw [Nat.pow_succ]", (Step("apply Nat.mul_pos", (Step("exact ih"), Step("exact Nat.zero_lt_succ c"))),)),
    ),
)
BOUND = (
    "theorem t (f : Nat → Nat) (k : Nat) (h0 : f 0 ≤ 2) (hs : ∀ i, f (i + 1) ≤ f i) : f (k + 1) ≤ f k := by\n  sorry"
)
PACKED = "theorem t (p q r : Prop) (h : p ∧ q ∨ r) : r → p ∨ r := by\n  sorry"
BY_CASES = Step(
    "intro h1",
    (
        Step(
            "cases h with | inl h2 => ?_ | inr h2 => ?_",
            (Step("cases h2 with | intro a b => ?_", (chain(["left", "exact a"]),)), chain(["right", "exact h2"])),
        ),
    ),
)


def cut(rule: str, source: str, proof: Step) -> Node:
    """The first proof that a rule makes and NanoLean accepts."""
    before = start(source)
    step = next(RULES[rule](replay(before, proof), random.Random(0)))
    return replay(before, step)


@each(
    ("rule", "source", "proof", "tactics"),
    [
        ("generalizing", POWER, BY_INDUCTION, ["induction k generalizing c with", " := ih c\n"]),
        ("strong", POWER, BY_INDUCTION, ["induction k using Nat.strongRecOn with", "cases k with", " := ih k ("]),
        ("forward", POWER, BY_INDUCTION, ["have h := Nat.mul_pos ih (Nat.zero_lt_succ c)", "exact h"]),
        (
            "have",
            BOUND,
            chain(["apply Nat.le_trans (hs k)", "exact Nat.le_refl (f k)"]),
            ["have h := hs k", "le_trans h"],
        ),
        ("obtain", PACKED, BY_CASES, ["rcases h with h2 | h2", "obtain ⟨a, b⟩ := h2"]),
        ("split", PACKED, BY_CASES, ["cases h with\n  | inl h2 =>\n    intro h1"]),
    ],
)
def test_each_rule_proves_the_theorem_another_way(rule: str, source: str, proof: Step, tactics: list[str]) -> None:
    text = render(cut(rule, source, proof).proof())
    for tactic in tactics:
        assert tactic in text


def test_rules_are_drawn_and_what_is_refused_is_left_out() -> None:
    before = start(POWER)
    root = replay(before, BY_INDUCTION)
    cuts = list(cut_proofs(before, root, random.Random(1), 9))
    assert {name for name, _ in cuts} == {"generalizing", "strong", "forward"}
    assert [name for name, _ in cut_proofs(before, root, random.Random(1), 1)] == [cuts[0][0]]


def test_a_type_is_written_down_as_the_goal_shows_it() -> None:
    texts = set()
    before = start(POWER)
    for seed in range(12):
        for _, node in cut_proofs(before, replay(before, BY_INDUCTION), random.Random(seed), 3):
            texts.update(render(node.proof()).split("\n"))
    assert any(text.strip().startswith("have h : 0 < (c + 1) ^ k := ih c") for text in texts)


def test_terms_that_may_be_stated_are_applications_without_holes() -> None:
    assert applied_terms("exact f (g x) (h (k y))") == ["g x", "k y", "h (k y)"]
    assert applied_terms("rw [f x, ← g y, h]") == ["f x", "g y"]
    assert applied_terms("rw [h] at h1") == applied_terms("exact f (a + 1) ⟨x, y⟩ (fun z => z)") == []


def test_a_proof_that_names_a_premise_is_data_unless_premises_are_held_out() -> None:
    source = "theorem t (a b n : Nat) : (a * b) % n = ((a % n) * (b % n)) % n := by\n  sorry"
    classics = [("t", source, source.replace("sorry", "exact Nat.mul_mod a b n"))]
    assert len(make_classics(classics, lambda goal: {"type": goal, "hypotheses": []}, HELD_OUT_LIBRARY)) == 1
    assert make_classics(classics, lambda goal: {"type": goal, "hypotheses": []}, HELD_OUT_PREMISES) == []
