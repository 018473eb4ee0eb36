"""Proofs of the embedded prover's library and of its generator, laid out as text: Lean has to accept every one."""

import random
from collections.abc import Iterator
from functools import cache

import pytest

from nanolean.commands.runner import run_text
from nanolean.data import replay as nanolean
from nanolean.data.families import FAMILIES, family_problems
from nanolean.data.problem import Step as ProblemStep
from nanolean.data.statement_key import library_proofs
from nanoproof.lean.source import splice
from nanoproof.prover.linearize import linearize
from nanoproof.prover.proof import Proof, Step


def steps_of(node: nanolean.Node) -> Iterator[Step]:
    yield Step(node.tactic, len(node.children), node.goal, 1)
    for child in node.children:
        yield from steps_of(child)


def replayed(source: str, proof: ProblemStep) -> Proof:
    return tuple(steps_of(nanolean.replay(nanolean.start(source), proof)))


def complaints(source: str, proof: str) -> list[str]:
    messages = run_text(nanolean.library(), splice(source, proof)).messages
    return [message.text for message in messages if message.severity != "info"]


@cache
def library_sample() -> list[tuple[str, Proof]]:
    """Library proofs that split, and some that do not."""
    entries = [entry for entry in library_proofs() if entry.proof.size > 2]
    return [(entry.source, replayed(entry.source, entry.proof)) for entry in random.Random(0).sample(entries, 16)]


@pytest.mark.parametrize("plain", [False, True])
def test_library_proofs_are_accepted_as_laid_out(plain: bool) -> None:
    for source, proof in library_sample():
        text = linearize(proof, plain)
        assert not complaints(source, text), f"{source}\n{text}"


def test_generated_proofs_are_accepted_as_laid_out() -> None:
    count = 0
    for family in sorted(FAMILIES):
        for named in family_problems(family, 3, {2: 1, 4: 2}, frozenset(), patience=50):
            source = named.problem.source("t")
            text = linearize(replayed(source, named.problem.proof))
            assert not complaints(source, text), f"{source}\n{text}"
            count += 1
    assert count > 10


FIELDS = "theorem t (p q r : Prop) (h : p ∧ q) (k : r) : (q ∧ p) ∧ r := "


@pytest.mark.parametrize(
    "value",
    [
        "{ left := sorry, right := k }",
        "{ left := by sorry, right := k }",
        "{ right := k, left := sorry }",
        "by\n  exact { left := sorry\n          right := k }",
        "{\n  left := by sorry\n  right := k }",
        "have g : q ∧ p := sorry; ⟨g, k⟩",
        "let g : r → q ∧ p := fun _ => sorry; ⟨g k, k⟩",
        "⟨(calc (q ∧ p) = (q ∧ p) := sorry\n  _ = (q ∧ p) := rfl) ▸ ⟨h.2, h.1⟩, k⟩",
        "⟨match h with | ⟨_, _⟩ => sorry, k⟩",
        "by\n  have g : r → q ∧ p := by exact fun _ => sorry\n  exact ⟨g k, k⟩",
    ],
)
@pytest.mark.parametrize("proof", ["grind", "have g := h\ngrind", "first\n| exact k\n| grind"])
def test_proofs_fit_where_what_is_before_them_on_the_line_sets_a_column(value: str, proof: str) -> None:
    assert complaints(FIELDS + value, proof) == []


CASES = """theorem t (p q r : Prop) (h : p ∨ q) (n : Nat) : q ∨ p ∨ n = n := by
  sorry"""


@pytest.mark.parametrize(
    ("source", "proof", "text"),
    [
        (
            CASES,
            ProblemStep(
                "cases h",
                (
                    ProblemStep("rename_i x", (ProblemStep("exact Or.inr (Or.inl x)"),)),
                    ProblemStep("left", (ProblemStep("assumption"),)),
                ),
            ),
            "cases h\ncase inl x => exact Or.inr (Or.inl x)\ncase inr =>\n  left\n  assumption",
        ),
        (
            CASES,
            ProblemStep(
                "induction n",
                (
                    ProblemStep("simp"),
                    ProblemStep("rename_i m ih", (ProblemStep("cases h", (ProblemStep("simp"), ProblemStep("simp"))),)),
                ),
            ),
            "induction n\ncase zero => simp\ncase succ m ih =>\n  cases h\n  case inl => simp\n  case inr => simp",
        ),
        (
            CASES,
            ProblemStep(
                "have h2 : q ∨ p := ?_",
                (ProblemStep("exact h2.elim Or.inl (fun x => Or.inr (Or.inl x))"), ProblemStep("exact h.symm")),
            ),
            "have h2 : q ∨ p := by exact h.symm\nexact h2.elim Or.inl (fun x => Or.inr (Or.inl x))",
        ),
        (
            CASES,
            ProblemStep(
                "suffices h2 : n = n from ?_",
                (ProblemStep("right", (ProblemStep("exact Or.inr h2"),)), ProblemStep("rfl")),
            ),
            "suffices h2 : n = n by\n  right\n  exact Or.inr h2\nrfl",
        ),
        (
            CASES,
            ProblemStep(
                "cases h with | inr hq => exact Or.inl hq | inl hp => ?_",
                (ProblemStep("right", (ProblemStep("exact Or.inl hp"),)),),
            ),
            "cases h with\n| inr hq => exact Or.inl hq\n| inl hp =>\n  right\n  exact Or.inl hp",
        ),
    ],
)
def test_holes_are_filled_as_a_person_would(source: str, proof: ProblemStep, text: str) -> None:
    laid_out = linearize(replayed(source, proof))
    assert laid_out == text
    assert not complaints(source, laid_out)
