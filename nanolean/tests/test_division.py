"""Quotient, remainder and gcd: computed on numbers, not unfolded on variables, and not to be counterfeited."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanolean.tests.each import each
from nanolean.tests.proving import proves, refusal, with_commands

naturals = st.one_of(st.integers(0, 20), st.integers(0, 10**30))


@settings(max_examples=40, deadline=None)
@given(naturals, naturals)
def test_division_of_numbers_is_computed(a, b):
    quotient, remainder = (a // b, a % b) if b else (0, a)
    assert proves(f": {a} / {b} = {quotient} ∧ {a} % {b} = {remainder}", "decide")
    assert refusal(f": {a} % {b} = {remainder + 1}", "decide")


@settings(max_examples=40, deadline=None)
@given(naturals, naturals)
def test_the_gcd_of_numbers_is_computed(a, b):
    assert proves(f": Nat.gcd {a} {b} = {math.gcd(a, b)}", "rfl")
    assert refusal(f": Nat.gcd {a} {b} = {math.gcd(a, b) + 1}", "rfl")


@pytest.mark.parametrize("tactic", ["rfl", "decide", "simp", "exact rfl"])
def test_every_evaluation_knows_quotients(tactic):
    assert proves(": 17 / 5 + 17 % 5 = 5", tactic)


def test_simp_computes_the_gcd():
    assert proves(": Nat.gcd 12 18 + 1 = 7", "simp")
    assert proves("(n : Nat) (h : n = 6) : Nat.gcd 12 18 = n", "simp only [Nat.reduceGcd]", "exact h.symm")


def test_numbers_may_be_hidden_in_definitions():
    base = with_commands("def f (n : Nat) : Nat := n + 5")
    assert proves(": f 3 / 2 = 4", "rfl", base=base)
    assert proves(": Nat.gcd (f 3) (f 7) = Nat.gcd 4 8", "rfl", base=base)


@each("statement", ["0 % x = 0", "0 / x = 0", "Nat.gcd 0 x = x", "x % 0 = x", "Nat.gcd x 0 = x"])
@each("tactic", ["rfl", "exact rfl", "exact Eq.refl _"])
def test_on_variables_nothing_is_unfolded(statement, tactic):
    assert refusal(f"(x : Nat) : {statement}", tactic)


@pytest.mark.parametrize("tactic", ["unfold Nat.mod", "simp only [Nat.mod]", "rw [Nat.mod]"])
def test_tactics_do_not_unfold_it_either(tactic):
    assert refusal("(x : Nat) : 0 % x = 0", tactic)


@pytest.mark.parametrize("tactic", ["unfold Nat.add", "simp only [Nat.add]", "rw [Nat.add]"])
def test_operations_of_type_classes_do_not_unfold_by_their_names(tactic):
    assert refusal("(x : Nat) : x + 0 = x", tactic)


def test_the_facts_of_the_library_are_what_remains():
    assert proves("(x : Nat) : 0 % x + x / 1 = x", "rw [Nat.zero_mod, Nat.div_one, Nat.zero_add]")
    assert proves("(x y : Nat) : (x + y * x) % x = 0", "simp")


def test_an_irreducible_definition_stays_folded():
    text = "def g (n : Nat) : Nat := n\nattribute [irreducible] g\n@[irreducible] def h (n : Nat) : Nat := n"
    base = with_commands(text)
    assert refusal("(n : Nat) : g n = n", "rfl", base=base)
    assert refusal("(n : Nat) : h n = n", "rfl", base=base)


def test_a_function_that_only_looks_like_the_quotient_is_not_computed():
    text = """namespace My
def Nat.div (x y : Nat) : Nat := x
end My
def Nat.quot (x y : Nat) : Nat := 0"""
    base = with_commands(text)
    assert refusal(": My.Nat.div 8 2 = 4", "rfl", base=base)
    assert proves(": My.Nat.div 8 2 = 8", "rfl", base=base)
    assert refusal(": Nat.quot 8 2 = 4", "rfl", base=base)
