"""The library as a whole: it builds from its text, rests on three axioms, and states what Lean 4 core states."""

from functools import cache

import pytest

from nanolean.kernel.declaration import TheoremInfo
from nanolean.library.loader import library_files
from nanolean.meta.lctx import EMPTY_CONTEXT
from nanolean.parser import parse_commands
from nanolean.printer import pp_expr
from nanolean.syntax import TheoremCmd
from nanolean.tests.each import each
from nanolean.tests.library import base, errors

ALLOWED = {"propext", "Classical.choice", "Quot.sound"}


@cache
def theorems() -> list[TheoremInfo]:
    return [info for info in base().env if isinstance(info, TheoremInfo)]


def statement(name: str) -> str:
    """The type of a constant on one line."""
    env = base().env
    return " ".join(pp_expr(env[name].type, EMPTY_CONTEXT, env).split())


def test_the_library_has_at_least_five_hundred_and_fifty_theorems():
    assert len(theorems()) >= 550


def test_every_name_is_stated_once():
    names = [
        command.signature.name
        for path in library_files()
        for command in parse_commands(path.read_text(encoding="utf-8"))
        if isinstance(command, TheoremCmd)
    ]
    assert len(names) == len(set(names))


def test_nothing_rests_on_sorry_or_on_an_axiom_beside_the_three_of_lean():
    axioms = {info.name for info in base().env if info.kind == "axiom"}
    assert axioms == ALLOWED | {"sorryAx"}
    assert not [info.name for info in base().env if "sorryAx" in info.mentions]


def test_every_rule_of_simp_is_a_theorem():
    env = base().env
    assert all(isinstance(env[name], TheoremInfo) for name in base().tagged("simp"))


@each("path", library_files(), ids=lambda path: path.stem)
def test_every_file_says_what_it_is_for(path):
    text = path.read_text(encoding="utf-8")
    assert text.startswith("/-\n")
    assert len(text.splitlines()) <= 900


STATEMENTS = {
    "and_comm": "∀ {a b : Prop}, a ∧ b ↔ b ∧ a",
    "and_assoc": "∀ {a b c : Prop}, (a ∧ b) ∧ c ↔ a ∧ b ∧ c",
    "not_or": "∀ {p q : Prop}, ¬(p ∨ q) ↔ ¬p ∧ ¬q",
    "eq_iff_iff": "∀ {a b : Prop}, a = b ↔ (a ↔ b)",
    "and_congr_left_iff": "∀ {a b c : Prop}, (a ∧ c ↔ b ∧ c) ↔ c → (a ↔ b)",
    "or_iff_left_iff_imp": "∀ {a b : Prop}, (a ∨ b ↔ a) ↔ b → a",
    "forall_and": "∀ {α : Sort u} {p q : α → Prop}, (∀ (x : α), p x ∧ q x) ↔ (∀ (x : α), p x) ∧ ∀ (x : α), q x",
    "exists_or": "∀ {α : Sort u} {p q : α → Prop}, (∃ x, p x ∨ q x) ↔ (∃ x, p x) ∨ ∃ x, q x",
    "exists_eq_left": "∀ {α : Sort u} {p : α → Prop} {a' : α}, (∃ a, a = a' ∧ p a) ↔ p a'",
    "Classical.not_forall": "∀ {α : Sort u} {p : α → Prop}, (¬∀ (x : α), p x) ↔ ∃ x, ¬p x",
    "Classical.em": "∀ (p : Prop), p ∨ ¬p",
    "funext": "∀ {α : Sort u} {β : α → Sort v} {f g : (x : α) → β x}, (∀ (x : α), f x = g x) → f = g",
    "congrArg": "∀ {α : Sort u} {β : Sort v} {a₁ a₂ : α} (f : α → β), a₁ = a₂ → f a₁ = f a₂",
    "absurd": "{a : Prop} → {b : Sort v} → a → ¬a → b",
    "Nat.add_comm": "∀ (n m : Nat), n + m = m + n",
    "Nat.add_left_cancel": "∀ {n m k : Nat}, n + m = n + k → m = k",
    "Nat.le_antisymm": "∀ {n m : Nat}, n ≤ m → m ≤ n → n = m",
    "Nat.lt_trichotomy": "∀ (a b : Nat), a < b ∨ a = b ∨ b < a",
    "Nat.eq_zero_or_pos": "∀ (n : Nat), n = 0 ∨ 0 < n",
    "Nat.add_le_add_iff_left": "∀ {m k n : Nat}, n + m ≤ n + k ↔ m ≤ k",
    "Nat.mul_eq_zero": "∀ {m n : Nat}, n * m = 0 ↔ n = 0 ∨ m = 0",
    "Nat.eq_of_mul_eq_mul_left": "∀ {a b c : Nat}, 0 < a → a * b = a * c → b = c",
    "Nat.mul_left_cancel_iff": "∀ {n : Nat}, 0 < n → ∀ {m k : Nat}, n * m = n * k ↔ m = k",
    "Nat.sub_add_cancel": "∀ {n m : Nat}, m ≤ n → n - m + m = n",
    "Nat.sub_le_iff_le_add": "∀ {a b c : Nat}, a - b ≤ c ↔ a ≤ c + b",
    "Nat.lt_sub_iff_add_lt": "∀ {a b c : Nat}, a < c - b ↔ a + b < c",
    "Nat.mul_sub": "∀ (k m n : Nat), k * (m - n) = k * m - k * n",
    "Nat.pow_succ": "∀ {b n : Nat}, b ^ (n + 1) = b ^ n * b",
    "Nat.pow_mul": "∀ (a m n : Nat), a ^ (m * n) = (a ^ m) ^ n",
    "Nat.pow_le_pow_left": "∀ {m n : Nat}, m ≤ n → ∀ (i : Nat), m ^ i ≤ n ^ i",
    "Nat.dvd_antisymm": "∀ {m n : Nat}, m ∣ n → n ∣ m → m = n",
    "Nat.le_of_dvd": "∀ {m n : Nat}, 0 < n → m ∣ n → m ≤ n",
    "Nat.dvd_sub": "∀ {k m n : Nat}, k ∣ m → k ∣ n → k ∣ m - n",
    "Nat.div_add_mod": "∀ (m n : Nat), n * (m / n) + m % n = m",
    "Nat.mod_add_div": "∀ (m k : Nat), m % k + k * (m / k) = m",
    "Nat.mod_lt": "∀ (x : Nat) {y : Nat}, y > 0 → x % y < y",
    "Nat.mod_eq_of_lt": "∀ {a b : Nat}, a < b → a % b = a",
    "Nat.div_eq_of_lt": "∀ {a b : Nat}, a < b → a / b = 0",
    "Nat.add_mod_right": "∀ (x z : Nat), (x + z) % z = x % z",
    "Nat.add_mul_mod_self_left": "∀ (x y z : Nat), (x + y * z) % y = x % y",
    "Nat.div_lt_self": "∀ {n k : Nat}, 0 < n → 1 < k → n / k < n",
    "Nat.dvd_iff_mod_eq_zero": "∀ {k n : Nat}, k ∣ n ↔ n % k = 0",
    "Nat.add_div_right": "∀ (x : Nat) {z : Nat}, 0 < z → (x + z) / z = x / z + 1",
    "Nat.mul_div_cancel": "∀ (m : Nat) {n : Nat}, 0 < n → m * n / n = m",
    "Nat.le_div_iff_mul_le": "∀ {k x y : Nat}, 0 < k → (x ≤ y / k ↔ x * k ≤ y)",
    "Nat.div_mul_le_self": "∀ (m n : Nat), m / n * n ≤ m",
    "Nat.mod_two_eq_zero_or_one": "∀ (n : Nat), n % 2 = 0 ∨ n % 2 = 1",
    "Nat.gcd_comm": "∀ (m n : Nat), m.gcd n = n.gcd m",
    "Nat.dvd_gcd": "∀ {k m n : Nat}, k ∣ m → k ∣ n → k ∣ m.gcd n",
    "Nat.gcd_rec": "∀ (m n : Nat), m.gcd n = (n % m).gcd m",
    "Nat.le_min": "∀ {a b c : Nat}, a ≤ min b c ↔ a ≤ b ∧ a ≤ c",
    "Nat.max_comm": "∀ (a b : Nat), max a b = max b a",
    "Nat.mod_eq": "∀ (x y : Nat), x % y = if 0 < y ∧ y ≤ x then (x - y) % y else x",
    "Nat.decEq": "(n m : Nat) → Decidable (n = m)",
    "List.append_assoc": "∀ {α : Type u} (as bs cs : List α), as ++ bs ++ cs = as ++ (bs ++ cs)",
    "List.length_append": "∀ {α : Type u} {as bs : List α}, (as ++ bs).length = as.length + bs.length",
    "List.length_cons": "∀ {α : Type u} {a : α} {as : List α}, (a :: as).length = as.length + 1",
    "List.map_cons": "∀ {α : Type u} {β : Type v} {f : α → β} {a : α} {l : List α}, "
    "List.map f (a :: l) = f a :: List.map f l",
    "List.reverse_append": "∀ {α : Type u} {as bs : List α}, (as ++ bs).reverse = bs.reverse ++ as.reverse",
    "List.mem_cons": "∀ {α : Type u} {a b : α} {l : List α}, a ∈ b :: l ↔ a = b ∨ a ∈ l",
    "List.not_mem_nil": "∀ {α : Type u} {a : α}, a ∉ []",
    "List.mem_filter": "∀ {α : Type u} {x : α} {p : α → Bool} {as : List α}, "
    "x ∈ List.filter p as ↔ x ∈ as ∧ p x = true",
    "List.forall_mem_cons": "∀ {α : Type u} {p : α → Prop} {a : α} {l : List α}, "
    "(∀ (x : α), x ∈ a :: l → p x) ↔ p a ∧ ∀ (x : α), x ∈ l → p x",
    "List.length_take": "∀ {α : Type u} {i : Nat} {l : List α}, (List.take i l).length = min i l.length",
    "Bool.and_eq_true": "∀ (a b : Bool), ((a && b) = true) = (a = true ∧ b = true)",
    "Bool.not_eq_true": "∀ (b : Bool), (¬b = true) = (b = false)",
    "Option.map_some": "∀ {α : Type u} {β : Type v} {a : α} {f : α → β}, Option.map f (some a) = some (f a)",
}


@each("name", STATEMENTS)
def test_statements_print_as_those_of_lean_core(name):
    assert statement(name) == STATEMENTS[name]


@pytest.mark.parametrize("scope", ["open Nat in\n", "namespace Nat\n"])
def test_protected_theorems_need_their_full_names(scope):
    end = "\nend Nat" if scope.startswith("namespace") else ""
    assert errors(f"{scope}example (a b : Nat) : a + b = b + a := Nat.add_comm a b{end}") == []
    assert errors(f"{scope}example (a : Nat) : a ≤ a.succ := le_succ a{end}") == []
    assert errors(f"{scope}example (a b : Nat) : a + b = b + a := add_comm a b{end}") == [
        "Unknown identifier `add_comm`"
    ]
