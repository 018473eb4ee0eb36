"""Whatever tactics are tried in whatever order, a proof without goals is one that the kernel accepts."""

import random

from nanolean.proof_errors import ProofError
from nanolean.tactic_state import TacticState, proof_status, run_tactic
from nanolean.tests.each import each
from nanolean.tests.proving import start

STATEMENTS = [
    "(p q r : Prop) (h : p ∧ q ∨ r) : r ∨ q",
    "(p q : Prop) (h : p ↔ q) (x : q) : p",
    "(p q : Prop) (h : ¬(p ∨ q)) : ¬p",
    "(a b : Nat) (h : a = b) : b + 1 = a + 1",
    "(n m : Nat) (h : n + 2 = m + 2) : m = n",
    "(n m : Nat) (h : n ≤ m) (x : m ≤ 0) : n = 0",
    "(P : Nat → Prop) (h : ∃ x, P x) (x : ∀ n, P n → P (n + 1)) : ∃ y, P (y + 1)",
    "(a b : Nat) (h : a ∣ b) : a ∣ b * 2",
    "(α : Type) (x : α) (l m : List α) (h : x :: l = x :: m) : l = m",
    "(f : Nat → Nat) (h : ∀ x, f x = x + 2) (a : Nat) : f a = 2 + a",
]
TACTICS = [
    "intro x",
    "intros",
    "constructor",
    "left",
    "right",
    "exfalso",
    "cases h",
    "cases h with | intro x h => ?_",
    "cases a",
    "cases x",
    "rcases h with ⟨x, h⟩ | h",
    "obtain ⟨x, rfl⟩ := h",
    "induction n with | zero => ?_ | succ n ih => ?_",
    "induction n generalizing m",
    "rw [h]",
    "rw [← h]",
    "rw [h] at x",
    "rw [Nat.add_comm]",
    "rw [Nat.mul_comm] at h",
    "simp",
    "simp at h",
    "simp [h]",
    "simp [h] at x",
    "simp [Nat.add_comm]",
    "simp_all",
    "subst h",
    "injection h with x",
    "symm",
    "symm at h",
    "apply h",
    "apply x",
    "exact h",
    "exact ⟨_, h⟩",
    "exact x _ h",
    "refine ⟨?_, ?_⟩",
    "exists 1",
    "assumption",
    "contradiction",
    "trivial",
    "rfl",
    "ac_rfl",
    "decide",
    "specialize x 1",
    "have y := h",
    "revert h",
    "by_cases y : a = 0",
    "apply Exists.intro",
    "rotate_left",
    "all_goals simp_all",
    "repeat constructor",
    "constructor <;> assumption",
    "intro ⟨x, h⟩",
    "rintro (⟨x, h⟩ | rfl)",
    "have ⟨x, k⟩ := h",
    "let y := a",
    "suffices y : a = 0 from by simp_all",
    "generalize y : a + 1 = z",
    "generalize a = z",
    "clear x",
    "rename _ = _ => h",
    "simpa using h",
    "simpa [h]",
    "calc a = b := h",
    "calc a\n  _ ≤ a + 1 := Nat.le_succ a\n  _ = b + 1 := ?_",
    "congr",
    "funext z",
    "ext z",
    "nomatch h",
    "nofun",
    "injections",
    "subst_vars",
    "and_intros",
    "iterate 2 constructor",
    "repeat' constructor",
    "solve | rfl | assumption | simp_all",
    "rw (occs := .pos [1]) [h]",
    "induction n using Nat.strongRecOn with | ind n ih => ?_",
    "change ¬_ at h",
    "match h with | ⟨x, h⟩ => ?_",
]


def random_walk(state: TacticState, rng: random.Random) -> TacticState:
    for _ in range(80):
        if not state.goals:
            break
        try:
            state = run_tactic(state, rng.choice(TACTICS)).state
        except ProofError:
            continue
        assert all("⊢" in text for text in state.goal_texts())
    return state


@each("seed", range(10))
def test_random_tactics_prove_only_what_the_kernel_accepts(seed):
    rng = random.Random(seed)
    for statement in STATEMENTS:
        end = random_walk(start(statement), rng)
        if not end.goals:
            assert proof_status(end) == "Completed"


def test_random_tactics_do_find_proofs():
    rng = random.Random(1)
    statuses = [proof_status(random_walk(start(statement), rng)) for statement in STATEMENTS]
    assert statuses.count("Completed") >= 3
