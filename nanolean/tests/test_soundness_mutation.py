"""Mutated proofs: the kernel accepts one only where a second checker finds that it has the type, and never a false one.

`NANOPROOF_NIGHTLY=1 pytest ...` takes the full number, 20 twenty times as many; `NANOPROOF_SEED` draws others.
"""

import gc
from collections import Counter
from functools import cache
from random import Random

import pytest

from nanolean.kernel.budget import BudgetExceeded, KernelError, allow_deep_recursion
from nanolean.kernel.declaration import Constants, TheoremInfo
from nanolean.kernel.env import OpaqueDecl
from nanolean.kernel.expr import Const, Expr, Lit
from nanolean.tests import stuck_prop
from nanolean.tests.kernel_prelude import prelude
from nanolean.tests.library import NIGHTLY, SEED, base, run, sized
from nanolean.tests.mutants import Claim, Mutator, claims
from nanolean.tests.reference import OutOfFuel, Reference, Theory
from nanolean.tests.reference.theory import entry
from nanolean.tests.truth import falsified

COUNT = sized(2_000)
FUEL = 10_000
LIBRARY_FUEL = 200_000
STEPS = 20_000

TACTIC_PROOFS = """
theorem and_swap (p q : Prop) (h : p ∧ q) : q ∧ p := by
  obtain ⟨hp, hq⟩ := h
  exact ⟨hq, hp⟩
theorem or_swap (p q : Prop) (h : p ∨ q) : q ∨ p := by
  cases h with
  | inl h => right; exact h
  | inr h => left; exact h
theorem add_swap (a b c : Nat) : a + b + c = c + (b + a) := by
  rw [Nat.add_comm a b, Nat.add_comm]
theorem sum_zero (a b : Nat) (h : a + b = 0) : a = 0 := by
  cases a with
  | zero => rfl
  | succ a => simp at h
theorem zero_plus (n : Nat) : 0 + n = n := by
  induction n with
  | zero => rfl
  | succ n ih => rw [Nat.add_succ, ih]
theorem exists_swap (r : Nat → Nat → Prop) (h : ∃ x, ∃ y, r x y) : ∃ y, ∃ x, r x y := by
  rcases h with ⟨x, y, h⟩
  exact ⟨y, x, h⟩
theorem not_both (p : Prop) : ¬ (p ∧ ¬ p) := by
  intro h
  exact h.2 h.1
theorem le_step (a b : Nat) (h : a ≤ b) : a ≤ b + 1 := Nat.le_succ_of_le h
theorem decided : 2 + 2 = 4 ∧ ¬ 3 ∣ 10 := by decide
"""


def verdict(env: Constants, claim: Claim, type_: Expr, value: Expr) -> bool | None:
    """Whether the kernel accepts a value at a type; None when it does not finish."""
    try:
        env.add(OpaqueDecl("mutant", claim.level_params, type_, value), STEPS)  # type: ignore[attr-defined]
    except BudgetExceeded:
        return None
    except KernelError:
        return False
    return True


def second_opinion(env: Constants, type_: Expr, value: Expr) -> bool | None:
    """Whether the second checker finds the type; None when it does not finish."""
    try:
        return Reference(env, FUEL).has_type(value, type_)
    except OutOfFuel:
        return None


@cache
def environment() -> Constants:
    result = run(TACTIC_PROOFS)
    assert not [m.text for m in result.messages if m.severity == "error"], result.messages
    return result.state.env


def test_the_second_checker_accepts_the_library():
    """Every declaration in its order, with the recursors that the kernel has made; of theorems of the library, whose
    number is what takes the time, every sixth (nightly all)."""
    allow_deep_recursion()
    theory = Theory(LIBRARY_FUEL)
    claims = {info.name: info for info in environment()}
    theorems = [name for name, info in claims.items() if isinstance(info, TheoremInfo) and name in base().env]
    left_out = set() if NIGHTLY else set(theorems) - set(theorems[SEED % 6 :: 6])
    gc.disable()  # the values of a check are full of cycles, and all of them are in use until it ends
    try:
        for name, info in claims.items():
            if name in left_out:
                theory.entries[name] = entry(theory.reader, info)
            else:
                theory.declare(info, claims)
    finally:
        gc.enable()
    assert len(theory.entries) == len(environment()) > 1_000 > len(left_out)


def test_mutants_are_accepted_only_where_they_have_the_type():
    allow_deep_recursion()
    env, rng = environment(), Random(SEED)
    pool = claims(env)
    mutator = Mutator(env, pool, rng)
    seen: Counter[tuple[bool | None, bool | None]] = Counter()
    wrong = []
    while seen.total() < COUNT:
        claim = rng.choice(pool)
        value = mutator.mutant(claim, claim.value, rng.choice([1, 1, 1, 2, 3]))
        if value is None:
            continue
        pair = verdict(env, claim, claim.type, value), second_opinion(env, claim.type, value)
        seen[pair] += 1
        if pair[0] is True and pair[1] is False:
            wrong.append((claim.name, value))
    assert not wrong, wrong[:3]
    ill_typed = sum(count for (_, second), count in seen.items() if second is False)
    refused = sum(count for (first, second), count in seen.items() if second is False and first is not True)
    assert ill_typed > 0.5 * COUNT
    assert refused == ill_typed
    well_typed = sum(count for (first, second), count in seen.items() if second is True and first is not None)
    assert seen[True, True] >= 0.98 * well_typed  # the kernel sees nearly every equality that the slow checker sees
    assert seen[True, None] <= 0.02 * COUNT


def test_mutants_around_a_stuck_sort_are_accepted_only_where_they_have_the_type():
    """Mutants of the proof of `False` that a stuck sort gives (lean4#14807), its last steps included."""
    allow_deep_recursion()
    env = prelude()
    for decl in stuck_prop.honest():
        env = env.add(decl)
    proofs = [Claim(decl.name, (), decl.type, decl.value) for decl in stuck_prop.contradiction()]
    known = {info.name for info in prelude()}
    pool = [claim for claim in claims(env, ("theorem", "def", "opaque")) if claim.name not in known]
    rng = Random(SEED + 2)
    mutator = Mutator(env, [*pool, *proofs], rng)
    seen: Counter[tuple[bool | None, bool | None]] = Counter()
    while seen.total() < sized(300):
        claim = rng.choice([*pool, *proofs])
        value = mutator.mutant(claim, claim.value, rng.choice([1, 1, 2]))
        if value is not None:
            pair = verdict(env, claim, claim.type, value), second_opinion(env, claim.type, value)
            seen[pair] += 1
            assert pair != (True, False), (claim.name, value)
    assert seen[True, True] and seen[False, False] > 0.5 * seen.total()
    assert verdict(env, proofs[0], proofs[0].type, proofs[0].value) is False
    assert second_opinion(env, proofs[0].type, proofs[0].value) is False


def test_false_statements_do_not_accept_any_mutant():
    allow_deep_recursion()
    env, rng = environment(), Random(SEED + 1)
    pool = claims(env, ("theorem",))
    mutator = Mutator(env, pool, rng)
    tried = 0
    while tried < COUNT // 5:
        claim = rng.choice(pool)
        false = mutator.mutant(claim, claim.type, rng.choice([1, 1, 2]))
        if false is None or not falsified(false):
            continue
        values = [claim.value, rng.choice(pool).value]
        values += [mutator.mutant(claim, claim.value, rng.choice([1, 2, 3])) for _ in range(4)]
        for value in values:
            if value is not None:
                tried += 1
                assert verdict(env, claim, false, value) is not True, (claim.name, false, value)


@pytest.mark.parametrize("name", ["Nat.add_comm", "and_swap"])
def test_every_library_proof_is_refused_at_another_theorem(name):
    env = environment()
    info = env[name]
    claim = Claim(name, info.level_params, info.type, Lit(0))
    for other in claims(env, ("theorem",)):
        if other.type is not info.type and len(other.level_params) == len(info.level_params):
            accepted = verdict(env, claim, info.type, other.value)
            assert accepted is not True or second_opinion(env, info.type, other.value) is not False, other.name


def test_every_library_proof_is_refused_at_false():
    env = environment()
    for claim in claims(env):
        assert verdict(env, claim, Const("False"), claim.value) is False
        assert verdict(env, claim, Const("False"), Const(claim.name, ())) is False
    assert base().env.get("False") is not None
