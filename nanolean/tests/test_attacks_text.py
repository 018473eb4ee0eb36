"""Attempts to get something false past the prover with Lean text: recursion, types, universes, elimination, numbers."""

import pytest

from nanolean.kernel.env import axioms_of
from nanolean.repl import Repl
from nanolean.tests.attacks import refused, rests_on, unproved
from nanolean.tests.each import each
from nanolean.tests.library import base, run


def attack(attacks: dict[str, object]):
    """A test of all attacks, which fails with the names of those that went through."""
    return each("text", attacks.values(), ids=attacks.keys())


ILL_FOUNDED = {
    "a theorem that is its own proof": "theorem boom : False := boom",
    "a theorem that exact finds in itself": "theorem boom : False := by exact boom",
    "a theorem that apply finds in itself": "theorem boom : False := by apply boom",
    "a definition that is its own value": "def boom : False := boom",
    "a function that calls itself with the same argument": "def f (n : Nat) : Nat := f n + 1",
    "equations that call with the same argument": "def f : Nat → Nat\n  | n => f n + 1",
    "equations that call with the whole pattern": "def f : Nat → Nat\n  | 0 => 0\n  | n+1 => f (n+1) + 1",
    "equations that call with a larger argument": "def f : Nat → Nat\n  | 0 => 0\n  | n+1 => f (n+2)",
    "equations that call with an argument rebuilt": "def f : Nat → Nat\n  | 0 => 0\n  | n+1 => f (Nat.succ n) + 1",
    "equations that call through a nested call": "def f : Nat → Nat\n  | 0 => 0\n  | n+1 => f (f (n + 1))",
    "equations that call through a local function": (
        "def f : Nat → Nat\n  | 0 => 0\n  | n+1 => (fun k => f k) (n+1) + 1"
    ),
    "equations that call through a local definition": (
        "def f : Nat → Nat\n  | 0 => 0\n  | n+1 => let m := n + 1; f m + 1"
    ),
    "equations that name the whole value again": "def f : Nat → Nat\n  | 0 => 0\n  | m@(n+1) => f m + 1",
    "equations that swap their arguments": (
        "def f : Nat → Nat → Nat\n  | 0, _ => 0\n  | n+1, m => f m n + 1\ntheorem boom : f 1 1 = f 1 1 + 1 := rfl"
    ),
    "equations that grow one argument while the other shrinks": (
        "def f : Nat → Nat → Nat\n  | 0, 0 => 0\n  | n+1, m => f n (m+1)\n  | n, m+1 => f (n+1) m"
    ),
    "equations of type False": "def boom : Nat → False\n  | n => boom n",
    "equations of type False by the pattern": "def boom : Nat → False\n  | 0 => boom 1\n  | n+1 => boom (n+2)",
    "equations of a theorem": "theorem boom : ∀ n : Nat, n = n + 1\n  | n => boom n",
    "equations of a theorem by the pattern": (
        "theorem boom : ∀ n : Nat, n = n + 1\n  | 0 => boom 0\n  | n+1 => boom (n+1)"
    ),
    "equations with a call inside of a proof": ("def f : (n : Nat) → n = n + 1\n  | n => by exact f n"),
    "a match that calls with the same argument": (
        "def f (n : Nat) : Nat := match n with\n  | 0 => 0\n  | m+1 => f n + 1"
    ),
    "a match on something else than the argument": (
        "def f (n : Nat) : Nat := match n + 1 with\n  | 0 => 0\n  | m+1 => f m + 1"
    ),
    "recursion on a list that keeps the list": ("def f : List Nat → Nat\n  | [] => 0\n  | x :: xs => f (x :: xs) + 1"),
    "recursion on a list that only changes its head": (
        "def f : List Nat → Nat\n  | [] => 0\n  | x :: xs => f (0 :: xs) + 1"
    ),
    "partial": "partial def boom (n : Nat) : False := boom n",
    "unsafe": "unsafe def boom : False := boom",
    "a circle of two theorems": "mutual\ntheorem boom : False := bang\ntheorem bang : False := boom\nend",
    "termination by a promise": "def boom : Nat → False\n  | n => boom n\ntermination_by n => n\ndecreasing_by sorry",
    "a have that is its own proof": "theorem boom : False := have h : False := h; h",
    "a let that is its own value": "theorem boom : False := let h : False := h; h",
    "a tactic have that is its own proof": "theorem boom : False := by\n  have h : False := h\n  exact h",
    "self-application": "theorem boom : False := (fun x => x x) (fun x => x x)",
    "show from this": "theorem boom : False := show False from this",
}


@attack(ILL_FOUNDED)
def test_ill_founded_recursion_is_refused(text):
    refused(text)


NON_POSITIVE = {
    "a function from the type": "inductive Bad : Type where\n  | mk : (Bad → Nat) → Bad",
    "a function from a function from the type": "inductive Bad : Type where\n  | mk : ((Bad → Nat) → Nat) → Bad",
    "a proof of False from the type": "inductive Bad : Type where\n  | mk : (Bad → False) → Bad",
    "a negation": "inductive Bad : Prop where\n  | mk : ¬ Bad → Bad",
    "behind an abbreviation": (
        "abbrev F (α : Type) : Type := α → Nat\ninductive Bad : Type where\n  | mk : F Bad → Bad"
    ),
    "behind an irreducible definition": (
        "@[irreducible] def F (α : Type) : Type := α → Nat\ninductive Bad : Type where\n  | mk : F Bad → Bad"
    ),
    "in the elements of a list": "inductive Bad : Type where\n  | mk : List (Bad → Nat) → Bad",
    "on one side of an equation": "inductive Bad : Type where\n  | mk : Bad = (Bad → Nat) → Bad",
    "as its own index": "inductive Bad : Type → Type where\n  | mk : Bad (Bad Nat) → Bad Nat",
    "in the result": "inductive Bad : Type → Type where\n  | mk : Bad (Bad Nat)",
    "in an equivalence": "inductive Bad : Prop where\n  | mk : (Bad ↔ False) → Bad",
    "in the witness of an existential": "inductive Bad : Prop where\n  | mk : (∃ b : Bad, True) → Bad",
    "in a structure": "structure Bad : Type where\n  f : Bad → Nat",
    "in a structure of propositions": "structure Bad : Prop where\n  f : Bad → False",
    "in a pair with its own negation": "inductive Bad : Prop where\n  | mk : Bad ∧ ¬ Bad → Bad",
    "at the end of a variable's argument": ("inductive Bad (f : Type → Type) : Type where\n  | mk : f (Bad f) → Bad f"),
}


@attack(NON_POSITIVE)
def test_non_positive_inductive_types_are_refused(text):
    refused(f"{text}\nset_option autoImplicit false\ndef boom : Bad → Nat := fun _ => 0")


UNIVERSES = {
    "Type in Type": "def boom : Type := Type",
    "Prop in Prop": "def boom : Prop := Prop",
    "a type of all types": "inductive U : Type where\n  | mk : Type → U",
    "a structure of all types": "structure U : Type where\n  carrier : Type",
    "a structure of all types in any universe": "structure U.{u} : Type u where\n  carrier : Type u",
    "a type of all propositions in Prop": "structure U : Prop where\n  p : Prop\ndef boom (u : U) : Prop := u.p",
    "two universes made one": "theorem boom.{u, v} : Sort (max u v) = Sort (imax u v) := rfl",
    "a universe and the next": "theorem boom.{u} : Sort u = Sort (u+1) := rfl",
    "too many levels": "theorem boom : Nat = Nat := Eq.refl.{1, 1} Nat",
    "a level for a constant without": "def boom : Nat := Nat.zero.{0}",
    "a level that is not declared": "def boom : Type 1 := Type u",
    "a level that is declared twice": "theorem boom.{u, u} : Sort u = Sort u := rfl",
    "a function type over all types": "def boom : Type := ∀ α : Type, α → α",
    "an impredicative powerset in Type": "def boom : Type := (α : Type) → ((α → Prop) → Prop) → Prop",
    "equality of types of different universes": "theorem boom : Type = Type 1 := rfl",
    "a lift downwards": "inductive Down.{u} (α : Type (u+1)) : Type u where\n  | mk : α → Down α",
    "a level too high to write": "def boom := Type 1000000",
    "a level too high to compute": "def boom := Sort (max 99999999999999999999 1)",
    "an existential over types as data": (
        "inductive Pack : Prop where\n  | mk : Type → Pack\n"
        "def boom (p : Pack) : Type := by cases p with | mk α => exact α"
    ),
}


@attack(UNIVERSES)
def test_universe_tricks_are_refused(text):
    refused(text)


def test_a_paradox_after_hurkens_is_refused_where_it_needs_a_small_universe():
    refused(
        """
        def P (α : Type) : Type := α → Prop
        def U : Type := (α : Type) → (P (P α) → α) → P (P α)
        def tau (t : P (P U)) : U := fun α f p => t (fun x => p (f (x α f)))
        def sigma (s : U) : P (P U) := s U (fun t => tau t)
        theorem boom : False := sorry
        """,
        "Type mismatch",
    )


DATA_FROM_PROOFS = {
    "the witness by projection": "def boom (h : ∃ n : Nat, n = n) : Nat := h.1",
    "the witness by its name": "def boom (h : ∃ n : Nat, n = n) : Nat := h.w",
    "the witness by cases": "def boom (h : ∃ n : Nat, n = n) : Nat := by cases h with | intro w _ => exact w",
    "the witness by rcases": "def boom (h : ∃ n : Nat, n = n) : Nat := by\n  rcases h with ⟨w, _⟩\n  exact w",
    "the witness by obtain": "def boom (h : ∃ n : Nat, n = n) : Nat := by\n  obtain ⟨w, _⟩ := h\n  exact w",
    "the witness by induction": "def boom (h : ∃ n : Nat, n = n) : Nat := by induction h with | intro w _ => exact w",
    "the witness by the recursor": "def boom (h : ∃ n : Nat, n = n) : Nat := Exists.rec (fun w _ => w) h",
    "the witness by the explicit recursor": (
        "def boom (h : ∃ n : Nat, n = n) : Nat := @Exists.rec Nat (fun n => n = n) (fun _ => Nat) (fun w _ => w) h"
    ),
    "the witness by elim": "def boom (h : ∃ n : Nat, n = n) : Nat := h.elim (fun w _ => w)",
    "the witness by match": "def boom (h : ∃ n : Nat, n = n) : Nat := match h with | ⟨w, _⟩ => w",
    "the side of a disjunction by cases": (
        "def boom (h : True ∨ True) : Nat := by\n  cases h\n  · exact 0\n  · exact 1"
    ),
    "the side of a disjunction by elim": "def boom (h : True ∨ True) : Nat := h.elim (fun _ => 0) (fun _ => 1)",
    "the side of a disjunction by the recursor": (
        "def boom (h : True ∨ True) : Nat := @Or.rec True True (fun _ => Nat) (fun _ => 0) (fun _ => 1) h"
    ),
    "the element of a nonempty type": "def boom (h : Nonempty Nat) : Nat := by cases h with | intro n => exact n",
    "the field of a proposition by its name": (
        "structure Box : Prop where\n  n : Nat\ndef boom (b : Box) : Nat := b.n"
    ),
    "the field of a proposition by its place": (
        "structure Box : Prop where\n  n : Nat\ndef boom (b : Box) : Nat := b.1"
    ),
    "the second field that mentions the first": (
        "structure Box : Prop where\n  n : Nat\n  h : n = n\ndef boom (b : Box) : Nat := b.2"
    ),
    "the height of a proof of an order": "def boom (h : 1 ≤ 2) : Nat := by\n  cases h\n  exact 0",
}


@attack(DATA_FROM_PROOFS)
def test_data_cannot_be_taken_from_proofs(text):
    refused(text)


def test_a_false_proposition_gives_data_and_a_conjunction_gives_proofs():
    assert not run("def f (h : False) : Nat := h.elim\ndef g (h : True ∧ True) : True := h.1").messages


NUMBERS = {
    "a literal is not its neighbour": "theorem boom : (1 : Nat) = 2 := rfl",
    "a literal is not a chain of successors that is too short": "theorem boom : 3 = Nat.succ (Nat.succ 0) := rfl",
    "a huge literal is not its neighbour": f"theorem boom : {10**60} = {10**60 + 1} := rfl",
    "the successor of a huge literal": f"theorem boom : Nat.succ {10**60} = {10**60} := by decide",
    "zero by another name": "theorem boom : Nat.zero = 1 := by simp",
    "a bomb of powers by rfl": "theorem boom : 9 ^ 9 ^ 9 ^ 9 = 0 := rfl",
    "a bomb of powers by decide": "theorem boom : 9 ^ 9 ^ 9 ^ 9 = 0 := by decide",
    "a bomb of powers by simp": "theorem boom : 9 ^ 9 ^ 9 ^ 9 = 0 := by simp",
    "a bomb of products": "theorem boom : (2 ^ 600000) * (2 ^ 600000) = 0 := by decide",
    "zero to the zero": "theorem boom : 0 ^ 0 = 0 := by decide",
    "a difference below zero": "theorem boom : 2 - 3 + 3 = 2 := by decide",
    "a quotient by zero": "theorem boom : 5 / 0 = 5 := by decide",
    "a remainder by zero": "theorem boom : 5 % 0 = 0 := by decide",
    "a comparison that always answers true": (
        "def ble (a b : Nat) : Bool := true\ntheorem boom : 3 ≤ 2 := Nat.le_of_ble_eq_true (rfl : ble 3 2 = true)"
    ),
    "zero divides": "theorem boom : 0 ∣ 1 := ⟨1, rfl⟩",
    "everything is below zero": "theorem boom : ∀ n : Nat, n ≤ 0 := by decide",
    "a number with a variable counted as closed": "theorem boom (n : Nat) : n * 0 + n = 0 := rfl",
    "commutativity of truncated difference": "theorem boom (a b : Nat) : a - b = b - a := by ac_rfl",
    "a literal in another type": "inductive N : Type where\n  | zero : N\ntheorem boom : (1 : N) = N.zero := rfl",
    "a decimal": "theorem boom : 1.5 = 1 := rfl",
    "a negative number": "theorem boom : -1 = 0 := rfl",
    "a binary numeral": "theorem boom : 0b10 = 10 := rfl",
}


@attack(NUMBERS)
def test_false_claims_about_numbers_are_refused(text):
    refused(text)


OPEN_ENDS = {
    "a hole": "theorem boom : False := _",
    "a named hole": "theorem boom : False := ?h",
    "a hole in an argument": "theorem boom : False := absurd rfl (_ : ¬ (1 = 1))",
    "refine with a hole": "theorem boom : False := by refine ?_",
    "an unfinished block": "theorem boom : False := by skip",
    "an empty block": "theorem boom : False := by\ntheorem other : True := trivial",
    "an unfinished case": "theorem boom (p q : Prop) (h : p ∨ q) : p := by\n  cases h\n  assumption",
    "a witness that is never given": "theorem boom : ∃ n : Nat, n = n + 1 := by refine ⟨?w, rfl⟩",
    "a witness from a later variable": (
        "theorem boom : ∃ n : Nat, ∀ m : Nat, n = m := by\n  refine ⟨?w, ?h⟩\n  case h => intro m; rfl"
    ),
    "a witness from a later variable by unification": "theorem boom : ∃ n : Nat, ∀ m : Nat, n = m := ⟨_, fun m => rfl⟩",
    "a witness from a later variable by apply": (
        "theorem boom : ∃ n : Nat, ∀ m : Nat, m = n := by\n  apply Exists.intro\n  intro m\n  apply Eq.refl"
    ),
    "a circular unification": "theorem boom : ∃ n : Nat, n = n + 1 := ⟨_, rfl⟩",
    "try around everything": "theorem boom : False := by try exact rfl",
    "repeat around nothing": "theorem boom : False := by repeat rfl",
    "first with skip": "theorem boom : False := by first | rfl | skip",
    "all_goals without goals": "theorem boom : False := by\n  all_goals try rfl",
}


@attack(OPEN_ENDS)
def test_proofs_with_open_ends_are_refused(text):
    refused(text)


REPL_PROOFS = {
    "refine into a hole": (": False", ["refine ?_"]),
    "a have that stays open": (": False", ["have h : False := ?_", "exact h"]),
    "a case that is never visited": ("(p q : Prop) (h : p ∨ q) : p", ["cases h", "assumption"]),
    "a witness that unification must not find": (": ∃ n : Nat, ∀ m : Nat, n = m", ["refine ⟨?_, ?_⟩", "rotate_left"]),
    "two tactics in one text": (": False ∧ True", ["constructor\ntrivial"]),
    "a command behind a tactic": (": False", ["skip\ntheorem boom : True := trivial"]),
    "sorry behind a combinator": (": False", ["first | rfl | sorry"]),
    "sorry in a term": (": False", ["exact sorry"]),
    "sorry in a branch that is not needed": (": True", ["cases (sorry : False)"]),
    "sorryAx": (": False", ["exact sorryAx False true"]),
    "sorryAx by an implicit argument": (": False", ["exact sorryAx _"]),
    "show of something else": (": False", ["show True", "trivial"]),
    "change of something else": (": False", ["change True", "trivial"]),
    "a rewrite with a false equation": ("(n : Nat) (h : n = n) : n = 0", ["rw [h]", "rfl"]),
    "a rewrite backwards that closes by rfl": ("(a b c : Nat) (h : a = b) : a = c", ["rw [← h]"]),
    "specialize at an impossible argument": ("(f : False → False) : False", ["specialize f trivial", "exact f"]),
    "induction that generalizes too little": (
        "(n m : Nat) (h : n = m) : n = 0",
        ["induction n", "rfl", "assumption"],
    ),
    "subst in the wrong direction": ("(a b : Nat) (h : a ≤ b) : b ≤ a", ["subst h", "exact Nat.le_refl _"]),
    "injection into nothing": ("(n : Nat) (h : n = n) : False", ["injection h"]),
    "contradiction between different hypotheses": ("(p q : Prop) (h : p) (k : ¬ q) : False", ["contradiction"]),
    "exfalso twice": (": False", ["exfalso", "exfalso", "assumption"]),
    "symm of an order": ("(a b : Nat) (h : a ≤ b) : b ≤ a", ["symm", "exact h"]),
    "decide with a variable": ("(n : Nat) : n = n + 1", ["decide"]),
    "simp with itself": ("(p : Prop) (h : p → p) : p", ["simp [h]"]),
    "simp with a hypothesis that loops": ("(a b : Nat) (h : a = b) (k : b = a) : a = 0", ["simp [h, k]"]),
    "assumption with another variable of the name": (
        ": ∀ p q : Prop, p → q",
        ["intro p", "intro p", "intro h", "exact h"],
    ),
    "a name that nobody can write": (": ∀ n : Nat, n = 0", ["intro", "exact a✝"]),
    "unfolding what has no value": ("(p : Prop) : p", ["unfold p", "trivial"]),
    "rename to a name that proves it": ("(p q : Prop) (h : q) : p", ["rename_i h", "exact h"]),
    "by_cases without the second case": ("(p : Prop) : p", ["by_cases h : p", "exact h"]),
    "generalizing away the difference": ("(a b : Nat) : a = b", ["generalize a = b", "rfl"]),
    "cases on a number that forgets the successor": ("(n : Nat) : n = 0", ["cases n", "rfl"]),
    "revert and intro under another name": ("(p q : Prop) (h : p) : q", ["revert h", "intro (h : q)", "exact h"]),
    "omega on a false goal": ("(a b : Nat) : a + b = a", ["omega"]),
    "omega on a product": ("(a b : Nat) : a * b = b * a + 1", ["omega"]),
    "grind on a false goal": ("(p q : Prop) (h : p ∨ q) : p", ["grind"]),
}


@each(("statement", "steps"), REPL_PROOFS.values(), ids=REPL_PROOFS.keys())
def test_tactics_do_not_prove_it_step_by_step(statement, steps):
    unproved(statement, *steps)


@each(("statement", "steps"), REPL_PROOFS.values(), ids=REPL_PROOFS.keys())
def test_the_same_tactics_do_not_prove_it_in_a_text(statement, steps):
    if statement == ": True":
        return
    lines = "\n".join(line for step in steps for line in step.split("\n"))
    body = "\n  ".join(lines.split("\n"))
    refused(f"theorem boom {statement} := by\n  {body}")


def test_an_axiom_used_by_an_innocent_name_is_seen():
    rests_on("axiom Nat.add_comm' : False\ntheorem boom : False := Nat.add_comm'", "Nat.add_comm'")


@pytest.mark.parametrize(
    ("text", "tactic"),
    [
        ("theorem boom : ∀ n : Nat, n = n + 1\n  | 0 => by sorry\n  | n+1 => boom (n+1)", "exact boom 0"),
        ("theorem boom (n : Nat) : False := by\n  have h := boom\n  sorry", "exact boom 0"),
        ("theorem boom (n : Nat) : n = n + 1 := by sorry", "exact boom n"),
    ],
)
def test_a_goal_inside_of_a_declaration_is_not_completed_by_the_declaration_itself(text, tactic):
    repl = Repl(base())
    state = repl.answer({"cmd": text})["sorries"][0]["proofState"]
    assert repl.answer({"proofState": state, "tactic": tactic}).get("proofStatus") != "Completed"


def test_a_definition_by_equations_leaves_no_axiom_behind():
    result = run("def double : Nat → Nat\n  | 0 => 0\n  | n+1 => double n + 2\ntheorem t : double 3 = 6 := rfl")
    assert not result.messages
    assert not axioms_of(result.state.env, "t")
    assert "double" not in result.state.env["double"].mentions
