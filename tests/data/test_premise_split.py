"""The premise-novel split: its proofs use library theorems that the training proofs do not use."""

import pytest

from nanolean.data.make import theorem_record
from nanolean.data.problem import Step
from nanolean.data.replay import replay, start
from nanolean.env_state import EnvState
from nanolean.tests.library import base
from nanoproof.data.transitions.leantree import goal_object
from scripts.make_nanolean_benchmark import (
    PREMISE_SPLITS,
    premise_problems,
    premise_theorems,
    premises_of_training,
    premises_used_in,
)


@pytest.fixture(scope="module")
def library() -> EnvState:
    return base()


@pytest.mark.parametrize("split", PREMISE_SPLITS)
def test_sixty_theorems_whose_proofs_name_their_premise(split: str) -> None:
    theorems = premise_theorems(PREMISE_SPLITS[split])
    assert len(theorems) == len({theorem.name for theorem in theorems}) == 60
    assert len({theorem.premise for theorem in theorems}) >= 40
    assert all(premises_used_in(theorem.proof, [theorem.premise]) for theorem in theorems)
    assert all(len(theorem.text.partition(" := by")[0]) <= 160 for theorem in theorems)


def test_no_premise_is_in_both_splits() -> None:
    valid, test = ({t.premise for t in premise_theorems(path)} for path in PREMISE_SPLITS.values())
    assert not valid & test


def test_a_sample_of_the_reference_proofs_is_as_said(library: EnvState) -> None:
    assert premise_problems(library, step=15) == []


def test_names_count_in_full_only() -> None:
    proof = "rw [\u2190 Nat.add_mod, Nat.pow_mul']; exact Nat.dvd_iff.mp (Nat.dvd_sub h)"
    premises = ["Nat.add_mod", "Nat.pow_mul", "Nat.dvd_sub", "Nat.dvd_iff", "Nat.add_mod_right", "add_mod"]
    assert premises_used_in(proof, premises) == {"Nat.add_mod", "Nat.dvd_sub", "Nat.dvd_iff"}


@pytest.mark.parametrize("tactic", ["exact Nat.dvd_sub h h1", "exact (Nat.dvd_sub (m := a) h h1)"])
def test_a_training_proof_that_uses_a_premise_is_found(library: EnvState, tactic: str) -> None:
    source = "theorem t_l1_s1 (a b d : Nat) (h : d \u2223 a) (h1 : d \u2223 b) : d \u2223 a - b := by\n  sorry"
    node = replay(start(source), Step(tactic))
    record = theorem_record("t_l1_s1", source, node, goal_object)
    assert premises_of_training(library, record, ["Nat.dvd_sub", "Nat.add_mod"]) == {"Nat.dvd_sub"}


def test_a_library_proof_that_uses_a_premise_is_found(library: EnvState) -> None:
    record = {"name": "Nat.gcd_mul_right", "by_blocks": [{"tree": {"nodes": []}}]}
    assert "Nat.gcd_mul_left" in premises_of_training(library, record, ["Nat.gcd_mul_left"])
